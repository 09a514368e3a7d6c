//! Events about a pull request: once for each cause and head, and for a few heads only.

use jiff::Timestamp;

use super::{Alarm, Outside, Pull};
use crate::event::{Audience, ErrorCause, Event, Occurrence};
use crate::ids::{CommitSha, EventId};
use crate::step::Step;

/// Of so many heads somebody is told the same thing. The number is stored with the pull request, so neither new heads nor flapping wake anybody for ever.
const HEADS_MAX: usize = 3;

/// Raises an alarm, unless it was raised about this head or often enough already. Answers whether it did.
pub(super) fn raise(
    step: &mut Step<Pull>,
    outside: &Outside,
    (cause, reason, sha): (ErrorCause, String, &CommitSha),
    now: Timestamp,
) -> bool {
    let pull = &mut step.aggregate;
    let mut same = pull.alarms.iter().filter(|alarm| alarm.cause == cause);
    let told = same.clone().any(|alarm| alarm.sha == *sha);
    if told || same.by_ref().count() >= heads_max(cause) {
        return false;
    }
    pull.alarms.push(Alarm {
        cause,
        sha: sha.clone(),
    });
    step.events.push(Event {
        id: EventId::of(&format!(
            "{}:{}:{}@{sha}",
            pull.job,
            cause.as_str(),
            pull.pull
        )),
        job: Some(pull.job.clone()),
        account: outside.account.clone(),
        attempt: outside.attempt,
        observed_at: now,
        status: String::new(),
        last_activity: None,
        what: Occurrence::Error { cause, reason },
        audience: Audience::Agent,
    });
    true
}

/// What a repair cap ends is told once; what may come back with a new head a few times.
fn heads_max(cause: ErrorCause) -> usize {
    match cause {
        ErrorCause::CiNeverStarted | ErrorCause::MergeRefused | ErrorCause::MergeBlocked => {
            HEADS_MAX
        }
        ErrorCause::SessionFailed
        | ErrorCause::InvalidJob
        | ErrorCause::CreateRefused
        | ErrorCause::Auth
        | ErrorCause::Network
        | ErrorCause::Budget
        | ErrorCause::CiFailed
        | ErrorCause::Conflict
        | ErrorCause::PullClosed
        | ErrorCause::MessageFailed
        | ErrorCause::ApprovalFailed
        | ErrorCause::TooOften
        | ErrorCause::GitHub
        | ErrorCause::WrongBase => 1,
    }
}
