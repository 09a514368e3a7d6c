//! Executions that are asked for by their name: each is one of the usual commands, by where the delivery is.

use super::legal::legal;
use super::{Act, Actor, CommandKind, Delivery, Phase, Rules, RunStatus, TransitionError};

/// What is to be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// The plan.
    Plan,
    /// The change.
    Implement,
    /// The review of the change.
    Review,
    /// The change once more, as its review wants it.
    Fix,
}

impl Execution {
    /// In one word.
    fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Implement => "implement",
            Self::Review => "review",
            Self::Fix => "fix",
        }
    }
}

/// The command that an execution is now. `reason` says what has to change; what the review said without it.
///
/// # Errors
/// When the delivery is elsewhere.
pub fn execution(
    delivery: &Delivery,
    wanted: Execution,
    reason: Option<String>,
    by: &Actor,
    rules: &Rules,
) -> Result<Act, TransitionError> {
    let may = legal(delivery, by, rules);
    let at = |phase| delivery.phase == phase && !delivery.is_terminal();
    let (approve, retry) = (Act::APPROVE, Act::Retry { reason: None });
    let ways = match wanted {
        Execution::Plan => vec![(Phase::Plan, Act::Start), (Phase::Plan, retry)],
        Execution::Implement => vec![(Phase::Plan, approve), (Phase::Implement, retry)],
        Execution::Review => vec![(Phase::Implement, approve), (Phase::Review, retry)],
        Execution::Fix => {
            let feedback = reason.or(delivery.feedback.clone()).unwrap_or_default();
            vec![(Phase::Review, Act::Reject { reason: feedback })]
        }
    };
    let mut open = ways.into_iter();
    let open = open.find(|(phase, act)| at(*phase) && may.contains(&act.kind()));
    open.map(|(_, act)| act)
        .ok_or_else(|| not_here(delivery, wanted, may))
}

fn not_here(delivery: &Delivery, wanted: Execution, legal: Vec<CommandKind>) -> TransitionError {
    let (phase, status) = (delivery.phase, delivery.run_status);
    let what = wanted.word();
    let (code, sentence) = match status {
        RunStatus::Running | RunStatus::Blocked => (
            "under_way",
            format!("there is nothing to {what}: the delivery is at {phase}, {status} already"),
        ),
        RunStatus::Pending | RunStatus::Succeeded | RunStatus::Failed => (
            "not_here",
            format!("there is nothing to {what} now: the delivery is at {phase}, {status}"),
        ),
    };
    TransitionError {
        code,
        sentence,
        legal,
    }
}
