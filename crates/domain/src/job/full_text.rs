//! Address of the full text that was cut for an event.

use jiff::Timestamp;

use super::log::{REASON_BYTES_MAX, TEXT_BYTES_MAX};
use super::watch::Watch;
use super::{Job, PendingPlan};
use crate::conversation::ConversationCursor;
use crate::event::{ErrorCause, Occurrence};
use crate::fence::is_clipped;
use crate::session::Plan;
use crate::wake;

/// The address at the HTTP API; `None` where the event contains everything.
pub(super) fn full_text_url(job: &Job, watch: &Watch, what: &Occurrence) -> Option<String> {
    let at = cut_at(watch, what)?;
    let cursor = ConversationCursor::whole(&watch.session, at);
    Some(format!("/jobs/{}/messages?cursor={cursor}", job.id))
}

/// When that was said of which the event has only the beginning.
fn cut_at(watch: &Watch, what: &Occurrence) -> Option<Timestamp> {
    let talk = &watch.log;
    match what {
        Occurrence::Question { text } => {
            let said = talk.agent.as_ref();
            let same = said.filter(|said| text.as_ref() == Some(&said.text))?;
            is_clipped(&same.text, TEXT_BYTES_MAX).then_some(same.at)
        }
        Occurrence::PlanApproval { plan } => plan_cut_at(watch, plan.as_ref()?),
        Occurrence::UnreviewedPlan { plan } => plan_cut_at(watch, plan),
        Occurrence::Error { cause, reason } => {
            let is_its =
                *cause == ErrorCause::SessionFailed && is_clipped(reason, REASON_BYTES_MAX);
            talk.failed_at.filter(|_| is_its)
        }
        Occurrence::UnexpectedPush { .. }
        | Occurrence::Completed { .. }
        | Occurrence::Stuck { .. }
        | Occurrence::Delivery { .. }
        | Occurrence::News(_) => None,
    }
}

fn plan_cut_at(watch: &Watch, plan: &Plan) -> Option<Timestamp> {
    let same = |waiting: &&PendingPlan| waiting.plan.id == plan.id;
    let waiting = watch.log.plan.as_ref().filter(same)?;
    (waiting.cut || !wake::shows_whole(plan)).then_some(waiting.at)
}
