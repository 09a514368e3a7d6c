//! One run of the command for one event.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

/// In which variable a command finds its event, besides on stdin.
pub(crate) const JULES_EVENT: &str = "JULES_EVENT";

/// How long a command that was asked to end may take to do so.
const GRACE: Duration = Duration::from_secs(10);

/// What is run, and for how long.
pub(super) struct Handler {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    /// Variables that it gets besides ours.
    pub(super) environment: Vec<(&'static str, OsString)>,
    pub(super) timeout: Duration,
    /// Whether its stdout goes to stderr, because stdout is for our own JSON.
    pub(super) quiet: bool,
}

/// How a run ended.
pub(super) enum Ended<O> {
    /// By itself.
    Exited(ExitStatus),
    /// It took too long.
    TimedOut,
    /// It was called off.
    CalledOff(O),
}

impl Handler {
    /// Starts the command in a process group of its own, so that all of it can be ended.
    pub(super) fn start(&self, event: &str) -> Result<Child> {
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
        command
            .spawn()
            .with_context(|| format!("starting `{program}`"))
    }

    /// Gives the command its event and waits until it ends, or has it ended when it takes too long or is called off.
    pub(super) async fn finish<O>(
        &self,
        mut child: Child,
        event: &str,
        off: impl Future<Output = O>,
    ) -> Result<Ended<O>> {
        let stdin = child.stdin.take();
        let waited = async {
            if let Some(mut stdin) = stdin {
                // A command that does not read its stdin is as good as any.
                let _ = stdin.write_all(event.as_bytes()).await;
            }
            child.wait().await
        };
        let ended = tokio::select! {
            ended = tokio::time::timeout(self.timeout, waited) => ended.map_err(|_| Ended::TimedOut),
            off = off => Err(Ended::CalledOff(off)),
        };
        match ended {
            Ok(status) => Ok(Ended::Exited(status.context("waiting for the command")?)),
            Err(why) => {
                end(&mut child).await;
                Ok(why)
            }
        }
    }
}

/// Asks a command to end, and ends it when it does not.
async fn end(child: &mut Child) {
    signal(child, Signal::TERM);
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        signal(child, Signal::KILL);
        // It is gone, whatever waiting for it says.
        let _ = child.wait().await;
    }
}

/// To the command and everything that it started; one that is gone needs none.
fn signal(child: &Child, signal: Signal) {
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(group) = id.and_then(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
}
