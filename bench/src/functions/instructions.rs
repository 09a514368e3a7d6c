//! Instructions of a process, counted by valgrind: the same to a few thousand in each run, whatever else the machine does.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

use super::process::Process;
use super::subject::Subject;

const ADVICE: &str = "instructions are counted by valgrind (on Debian: apt-get install valgrind). Install it and run this again";

/// What counts, and where it says so.
pub(super) struct Counter {
    log: PathBuf,
}

impl Counter {
    /// A counter that writes into a folder.
    pub(super) async fn new(folder: &Path) -> Result<Self> {
        let there = Command::new("valgrind").arg("--version").output().await;
        let there = there.context("starting `valgrind`").context(ADVICE)?;
        ensure!(
            there.status.success(),
            "`valgrind --version` failed. {ADVICE}"
        );
        let log = folder.join("instructions.log");
        Ok(Self { log })
    }

    /// Millions of instructions until the first question for an event.
    pub(super) async fn until_ready(&self, subject: &Subject) -> Result<f64> {
        let (process, _) = Process::start(subject, &self.watcher()).await?;
        process.end().await?;
        self.counted()
    }

    /// Millions of instructions of a program that ends by itself.
    pub(super) async fn of_program(&self, program: &Path, argument: &str) -> Result<f64> {
        let watcher = self.watcher();
        let (valgrind, arguments) = watcher.split_first().context("a watcher")?;
        let status = Command::new(valgrind)
            .args(arguments)
            .arg(program)
            .arg(argument)
            .status()
            .await
            .context("starting `valgrind`")?;
        ensure!(
            status.success(),
            "{} ended with {status}",
            program.display()
        );
        self.counted()
    }

    fn watcher(&self) -> Vec<String> {
        let log = format!("--log-file={}", self.log.display());
        let out = "--callgrind-out-file=/dev/null".to_owned();
        let tool = "--tool=callgrind".to_owned();
        vec!["valgrind".to_owned(), tool, out, log]
    }

    fn counted(&self) -> Result<f64> {
        let log = std::fs::read_to_string(&self.log);
        let log = log.with_context(|| format!("reading {}", self.log.display()))?;
        let count = log.lines().find_map(|line| {
            let (_, count) = line.split_once("Collected : ")?;
            count.trim().parse::<f64>().ok()
        });
        let count = count.with_context(|| format!("valgrind told no count:\n{log}"))?;
        Ok(count / 1e6)
    }
}
