//! Events about a pull request: once for each cause and head, and for a few heads only.

use jiff::Timestamp;

use super::{Alarm, Pull, PullContext};
use crate::event::{ErrorCause, Event, EventContext, FailedCheck, Occurrence};
use crate::fence::{clip, tail};
use crate::ids::EventId;
use crate::redact::{presentable, redact};
use crate::step::Step;

/// For how many heads the same thing is announced. The count is stored with the pull request, so neither new heads
/// nor flapping wake anyone for ever.
const HEADS_MAX: usize = 3;

/// Longest name of a failing check in an event, in characters.
const CHECK_NAME_CHARS_MAX: usize = 100;

/// Longest end of a failing check's output in an event, in characters and in bytes as JSON: a wake has to stay small.
const CHECK_OUTPUT_CHARS_MAX: usize = 1_500;
const CHECK_OUTPUT_BYTES_MAX: usize = 2_400;

/// Raises an alarm, unless it was raised about this head or often enough already. Returns whether it did.
pub(super) fn raise(
    step: &mut Step<Pull>,
    outside: &PullContext,
    alarm: Alarm,
    reason: String,
    now: Timestamp,
) -> bool {
    let said = outside
        .logs
        .first()
        .filter(|_| alarm.cause == ErrorCause::CiFailed);
    let check = said.map(kept);
    let pull = &mut step.aggregate;
    let mut same = pull.alarms.iter().filter(|it| it.cause == alarm.cause);
    let told = same.clone().any(|it| it.sha == alarm.sha);
    if told || same.by_ref().count() >= heads_max(&alarm.cause) {
        return false;
    }
    pull.alarms.push(alarm.clone());
    let Alarm { cause, sha } = alarm;
    let id = EventId::from_name(&format!(
        "{}:{}:{}@{sha}",
        pull.job,
        cause.as_str(),
        pull.pull
    ));
    let what = Occurrence::Error { cause, reason };
    let mut event = about(pull, outside, id, what, now);
    event.aid.check = check;
    step.events.push(event);
    true
}

/// An event about a pull request.
pub(super) fn about(
    pull: &Pull,
    outside: &PullContext,
    id: EventId,
    what: Occurrence,
    now: Timestamp,
) -> Event {
    Event {
        job: Some(pull.job.clone()),
        attempt: outside.attempt,
        aid: EventContext {
            session: outside.session_page.clone(),
            pull: Some(pull.pull.clone()),
            check: None,
            whole: None,
            delivery: pull.delivery.clone(),
        },
        ..Event::new(id, outside.account.clone(), now, what)
    }
}

/// The part of a check's output that a wake contains.
fn kept(check: &FailedCheck) -> FailedCheck {
    FailedCheck {
        name: presentable(&check.name, CHECK_NAME_CHARS_MAX),
        output: tail(
            &redact(&clip(&check.output, usize::MAX)),
            CHECK_OUTPUT_CHARS_MAX,
            CHECK_OUTPUT_BYTES_MAX,
        ),
        page: check.page.clone(),
    }
}

/// The limit of heads for a cause: one where a repair cap ends it, a few where it may come back with a new head.
fn heads_max(cause: &ErrorCause) -> usize {
    match cause {
        ErrorCause::CiNeverStarted | ErrorCause::MergeRefused | ErrorCause::MergeBlocked => {
            HEADS_MAX
        }
        ErrorCause::SessionFailed
        | ErrorCause::SessionPaused
        | ErrorCause::UnknownState
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
        | ErrorCause::PhaseFailed
        | ErrorCause::Schedule
        | ErrorCause::Pipeline
        | ErrorCause::WrongBase
        | ErrorCause::Other(_) => 1,
    }
}
