//! One run of the command for one event.

use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::WatchOutcome;
use crate::error::Error;

/// The variable in which a command finds its event, which is also on stdin.
pub(crate) const JULES_EVENT: &str = "JULES_EVENT";

/// Where commands are found without PATH, as the system does.
const USUAL_FOLDERS: &str = "/bin:/usr/bin";

/// How long a command that was asked to end may take to do so.
const GRACE: Duration = Duration::from_secs(10);

/// Refuses a missing command before any wait, not at the first event.
pub(super) fn there(program: OsString) -> Result<OsString, Error> {
    let can_be_run = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    let given = Path::new(&program);
    let found = if given.components().count() > 1 {
        can_be_run(given)
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_else(|| USUAL_FOLDERS.into());
        std::env::split_paths(&folders).any(|folder| can_be_run(&folder.join(given)))
    };
    if found {
        return Ok(program);
    }
    Err(Error::usage(
        format!("`{}` is no command that can be run", given.display()),
        "give one that is there and may be executed, after `--`",
    ))
}

/// What is run, and for how long.
pub(super) struct Handler {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    /// Additional environment variables.
    pub(super) environment: Vec<(&'static str, OsString)>,
    pub(super) timeout: Duration,
    /// Whether its stdout goes to stderr, because stdout is for our own JSON.
    pub(super) quiet: bool,
}

impl Handler {
    /// Starts the command in a process group of its own, so that all of it can be ended.
    pub(super) fn start(&self, event: &str) -> Result<Running> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env(JULES_EVENT, event)
            .stdin(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if self.quiet {
            command.stdout(std::io::stderr());
        }
        let program = self.program.to_string_lossy();
        let child = command.spawn();
        let child = child.with_context(|| format!("starting `{program}`"))?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let group = Group(id.and_then(Pid::from_raw));
        Ok(Running { child, group })
    }

    /// Gives the command its event and waits until it ends, or has it ended when it takes too long or is cancelled.
    pub(super) async fn finish(
        &self,
        mut running: Running,
        event: &str,
        off: impl Future<Output = WatchOutcome>,
    ) -> Result<WatchOutcome> {
        let stdin = running.child.stdin.take();
        let waited = async {
            if let Some(mut stdin) = stdin {
                // A command that does not read its stdin is as good as any.
                let _ = stdin.write_all(event.as_bytes()).await;
            }
            running.child.wait().await
        };
        let ended = tokio::select! {
            // A command that has just ended is done.
            biased;
            ended = tokio::time::timeout(self.timeout, waited) => ended.map_err(|_| WatchOutcome::Back {
                why: format!("it took longer than {:?}", self.timeout),
            }),
            off = off => Err(off),
        };
        match ended {
            Ok(status) => {
                let status = status.context("waiting for the command")?;
                // Processes that it left running on purpose are its own affair.
                running.group.0 = None;
                Ok(judged(status))
            }
            Err(outcome) => {
                running.end().await;
                Ok(outcome)
            }
        }
    }
}

/// How a run ended that was not cancelled.
fn judged(status: ExitStatus) -> WatchOutcome {
    match (status.success(), status.code()) {
        (true, _) => WatchOutcome::Done,
        (false, Some(code)) => WatchOutcome::Back {
            why: format!("exit code {code}"),
        },
        (false, None) => WatchOutcome::Back {
            why: format!("{status}"),
        },
    }
}

/// A command that runs, with everything that it started.
pub(super) struct Running {
    child: Child,
    group: Group,
}

impl Running {
    /// Asks the whole group to end, and kills the rest.
    async fn end(mut self) {
        self.group.signal(Signal::TERM);
        // What its first process leaves behind is ended with the group.
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        self.group.signal(Signal::KILL);
        // The process has ended, whatever the wait returns.
        let _ = self.child.wait().await;
    }
}

/// A process group that is killed when this is dropped.
struct Group(Option<Pid>);

impl Group {
    /// Signals the whole group; an ended one needs none.
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
