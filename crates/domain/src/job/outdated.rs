//! Messages and approvals of a job that failed, and say nothing about it any more.

use jiff::Timestamp;

use super::watch::{Attention, Watch};
use super::{Job, turns};
use crate::effect::{Action, JulesAction};

/// Whether a message or an approval that failed is past: its job is over or has another session, or since then the session went on,
/// something else was asked or said, the turn passed to the next one, or its silence was told once more.
pub fn is_outdated(job: &Job, action: &Action, failed_at: Timestamp) -> bool {
    let session = match action {
        Action::Jules(
            JulesAction::Say { session, .. } | JulesAction::ApprovePlan { session, .. },
        ) => session,
        Action::Jules(JulesAction::CreateSession { .. } | JulesAction::Archive { .. })
        | Action::Pull(_)
        | Action::Repo(_)
        | Action::Tracker(_) => return false,
    };
    let watch = job.watched().filter(|watch| watch.session == *session);
    watch.is_none_or(|watch| failed_at < turned_at(watch))
}

/// When what is the case now began: the present question or plan, the present turn to answer it, the last answer, what the session did, or
/// the last word about its silence.
fn turned_at(watch: &Watch) -> Timestamp {
    let began = match &watch.attention {
        Attention::None => watch.progress_at,
        Attention::Expecting { since }
        | Attention::Question { since, .. }
        | Attention::Plan { since, .. }
        | Attention::Answered { since } => *since,
    };
    let later = [
        turns::passed_on_at(watch),
        turns::answered_at(watch),
        watch.unconfirmed_since,
        watch.announced.stuck_at,
    ];
    later.into_iter().flatten().fold(began, Timestamp::max)
}
