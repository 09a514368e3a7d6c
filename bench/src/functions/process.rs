//! One process behind the Runtime API: started, invoked, and measured from outside.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use axum::body::Bytes;
use tokio::process::{Child, Command};

use super::runtime_api::{RuntimeApi, Said};
use super::subject::Subject;

/// Longest wait for anything a process does: under an instruction counter Node.js takes a minute to begin.
const PATIENCE: Duration = Duration::from_secs(300);

/// A process that asks for events.
pub(super) struct Process {
    child: Child,
    api: RuntimeApi,
}

impl Process {
    /// Starts it, under a measuring program if there is one, and waits for its first request for an event; returns
    /// how long that took.
    pub(super) async fn start(subject: &Subject, watcher: &[String]) -> Result<(Self, Duration)> {
        let api = RuntimeApi::open().await?;
        let mut command = command(subject, watcher);
        command.env("AWS_LAMBDA_RUNTIME_API", api.address.to_string());
        let began = Instant::now();
        let child = command.spawn();
        let child = child.with_context(|| format!("starting {}", subject.name))?;
        let mut process = Self { child, api };
        let asked = process.asked().await?;
        Ok((process, asked.duration_since(began)))
    }

    /// Hands over one event, and answers how long the process took over it and what it said. Afterwards it has asked for the next.
    pub(super) async fn invoke(&mut self, event: &Bytes) -> Result<(Duration, Bytes)> {
        let began = Instant::now();
        self.api.hand(event.clone())?;
        let (at, body) = match self.heard().await? {
            Said::Answered(at, body) => (at, body),
            Said::Asked(_) => bail!("it asked for another event before it answered"),
            Said::Failed(why) => bail!("it failed: {why}"),
        };
        self.asked().await?;
        Ok((at.duration_since(began), body))
    }

    /// The most memory that it has held so far, in kilobytes.
    pub(super) fn peak_kb(&self) -> Result<f64> {
        let id = self.child.id().context("it has ended")?;
        let path = format!("/proc/{id}/status");
        let status = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let number = number.and_then(|number| number.trim().parse().ok());
        number.with_context(|| format!("{path} tells no VmHWM"))
    }

    /// Ends it as Lambda does, and waits until it is gone.
    pub(super) async fn end(mut self) -> Result<()> {
        let id = self.child.id().context("it has ended by itself")?;
        let told = Command::new("kill").arg(id.to_string()).status().await;
        let told = told.context("starting `kill`")?;
        ensure!(told.success(), "`kill {id}` ended with {told}");
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended
            .context("it does not end")?
            .context("waiting for it")?;
        Ok(())
    }

    async fn asked(&mut self) -> Result<Instant> {
        match self.heard().await? {
            Said::Asked(at) => Ok(at),
            Said::Answered(..) => Err(anyhow!("it answered an event that was not asked")),
            Said::Failed(why) => Err(anyhow!("it could not begin: {why}")),
        }
    }

    async fn heard(&mut self) -> Result<Said> {
        let heard = async {
            tokio::select! {
                said = self.api.hear() => said,
                ended = self.child.wait() => {
                    let ended = ended.context("waiting for it")?;
                    Err(anyhow!("it ended by itself with {ended}"))
                }
            }
        };
        let heard = tokio::time::timeout(PATIENCE, heard).await;
        heard.context("it does nothing")?
    }
}

fn command(subject: &Subject, watcher: &[String]) -> Command {
    let mut command = match watcher {
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(&subject.program);
            command
        }
        [] => Command::new(&subject.program),
    };
    command
        .args(&subject.arguments)
        .env_clear()
        .envs(subject.environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    command
}
