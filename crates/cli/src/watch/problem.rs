//! Calls that fail: which may go well later, and how long to wait before.

use std::time::Duration;

use client::Error as CallError;
use tokio::sync::watch;
use tokio::time::timeout;

/// The first wait after a call that failed; it doubles.
const FAILED_FIRST: Duration = Duration::from_secs(1);

/// The longest wait after a call that failed.
const FAILED_MAX: Duration = Duration::from_secs(30);

/// How often calls failed in a row.
#[derive(Default)]
pub(super) struct Waits {
    pub(super) failed: u32,
}

impl Waits {
    /// How long to wait now.
    pub(super) fn next(&mut self) -> Duration {
        let wait = FAILED_FIRST * 2_u32.saturating_pow(self.failed.min(10));
        self.failed += 1;
        wait.min(FAILED_MAX)
    }
}

/// Waits, but no longer than until a stop.
pub(super) async fn paused(wait: Duration, stopped: &mut watch::Receiver<bool>) {
    let _ = timeout(wait, stopped.wait_for(|stop| *stop)).await;
}

/// Whether the same call may go well later.
pub(super) fn is_passing(error: &CallError) -> bool {
    match error {
        CallError::Unreachable { .. } | CallError::NoAnswer { .. } => true,
        CallError::Problem(problem) => {
            problem.status >= 500 || problem.status == 429 || problem.code == "busy"
        }
        CallError::Foreign { status, .. } => *status >= 500 || *status == 429,
        CallError::Base { .. }
        | CallError::GoogleKey
        | CallError::Token
        | CallError::NoTlsProvider
        | CallError::Http(_)
        | CallError::Key
        | CallError::Id(_) => false,
    }
}

/// Whether the event is settled already, or not ours to settle any more.
pub(super) fn is_settled(error: &CallError) -> bool {
    let over = ["lease_lost", "acknowledged", "no_such_wake"];
    code(error).is_some_and(|code| over.contains(&code))
}

/// The code of a refusal by Gaffer.
pub(super) fn code(error: &CallError) -> Option<&str> {
    match error {
        CallError::Problem(problem) => Some(&problem.code),
        CallError::Unreachable { .. }
        | CallError::NoAnswer { .. }
        | CallError::Foreign { .. }
        | CallError::Base { .. }
        | CallError::GoogleKey
        | CallError::Token
        | CallError::NoTlsProvider
        | CallError::Http(_)
        | CallError::Key
        | CallError::Id(_) => None,
    }
}

/// Resolves at a stop.
pub(super) async fn told_off(stopped: &mut watch::Receiver<bool>) {
    // A closed channel means the same.
    let _ = stopped.wait_for(|stop| *stop).await;
}
