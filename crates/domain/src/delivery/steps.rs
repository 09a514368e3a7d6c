//! Steps that several phases and commands take.

use super::moves::Moving;
use super::{Actor, Approved, Fault, JobEnd, SessionWork};
use crate::effect::ATTEMPTS_MAX;
use crate::ids::CommitSha;
use crate::pull::MergeStyle;

/// Goes on to the next phase unless a person has to approve that.
pub(super) fn goes_on(moving: &mut Moving<'_>) -> bool {
    let waits = moving.delivery.awaits_approval();
    if !waits {
        moving.go_on(&Actor::System);
    }
    !waits
}

/// The approval of a reviewed head is also the word that its merge waits for.
pub(super) fn let_go_on(
    moving: &mut Moving<'_>,
    head: Option<CommitSha>,
    style: &MergeStyle,
    by: &Actor,
) {
    moving.delivery.review.approved = head.map(|head| Approved {
        head,
        by: by.clone(),
        at: moving.now,
        style: style.clone(),
    });
}

/// Why a job that ended cannot go on; none where its pull request tells more.
fn fault(end: &JobEnd) -> Option<(Fault, String)> {
    let told = |fault, text: &str| Some((fault, text.to_owned()));
    match end {
        JobEnd::Merged | JobEnd::PullClosed | JobEnd::Completed => None,
        JobEnd::Failed(why) => told(Fault::SessionFailed, &format!("the session failed: {why}")),
        JobEnd::Lost => told(Fault::SessionLost, "the session is gone"),
        JobEnd::Refused(why) => {
            let text = format!("Jules would not create the session: {why}");
            told(Fault::SessionRefused, &text)
        }
        JobEnd::Canceled(by) => told(Fault::JobCanceled, &format!("{by} called the job off")),
    }
}

/// Fails the phase if its session cannot go on.
pub(super) fn session_failed(moving: &mut Moving<'_>) -> bool {
    let found = match moving.delivery.job_seen().map(|job| &job.work) {
        Some(SessionWork::Ended(end)) => fault(end),
        Some(SessionWork::Waiting | SessionWork::Working | SessionWork::Asking) => None,
        Some(SessionWork::Planned(_) | SessionWork::Resting(_)) | None => None,
    };
    if let Some((code, text)) = &found {
        moving.fail(*code, text, &Actor::System);
    }
    found.is_some()
}

/// Fails the phase if Jules did not take the approval of its plan, and is not asked again: its session would wait for ever.
pub(super) fn approval_refused(moving: &mut Moving<'_>) -> bool {
    let seen = moving.delivery.job_seen();
    let refused = seen.and_then(|seen| seen.approval_refused.as_ref());
    let given_up = refused.filter(|refused| refused.again_at.is_none());
    let text = given_up.map(|refused| {
        let why = &refused.why;
        format!("Jules refused the approval of its plan in {ATTEMPTS_MAX} attempts: {why}")
    });
    if let Some(text) = &text {
        moving.fail(Fault::ApprovalRefused, text, &Actor::System);
    }
    text.is_some()
}

/// Fails the phase if its session was not told what it has to be told, and will not be: nothing else would end the wait for it.
pub(super) fn message_refused(moving: &mut Moving<'_>) -> bool {
    let message = moving.delivery.task.message.as_ref();
    let seen = moving.delivery.job_seen();
    let is_refused = message
        .zip(seen)
        .is_some_and(|(message, seen)| message.is_refused(seen));
    if is_refused {
        let text = format!("Jules took no message to its session in {ATTEMPTS_MAX} attempts");
        moving.fail(Fault::MessageRefused, &text, &Actor::System);
    }
    is_refused
}
