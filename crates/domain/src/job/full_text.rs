//! Address of the full text that was cut for an event.

use jiff::Timestamp;

use super::log::{REASON_BYTES_MAX, TEXT_BYTES_MAX};
use super::watch::Watch;
use super::{Job, JobPhase, PendingPlan};
use crate::conversation::ConversationCursor;
use crate::event::{ErrorCause, Occurrence};
use crate::fence::is_clipped;
use crate::ids::PlanId;
use crate::wake;

/// The address at the HTTP API; `None` where the event contains everything.
pub(super) fn full_text_url(job: &Job, watch: &Watch, what: &Occurrence) -> Option<String> {
    Some(address(job, watch, cut_at(watch, what)?))
}

/// The same of a plan with which a session waits.
pub fn whole_plan_url(job: &Job, plan: &PlanId) -> Option<String> {
    let JobPhase::Watching(watch) = &job.phase else {
        return None;
    };
    Some(address(job, watch, plan_cut_at(watch, plan)?))
}

fn address(job: &Job, watch: &Watch, at: Timestamp) -> String {
    let cursor = ConversationCursor::whole(&watch.session, at);
    format!("/jobs/{}/messages?cursor={cursor}", job.id)
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
        Occurrence::PlanApproval { plan } => plan_cut_at(watch, &plan.as_ref()?.id),
        Occurrence::UnreviewedPlan { plan } => plan_cut_at(watch, &plan.id),
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

fn plan_cut_at(watch: &Watch, plan: &PlanId) -> Option<Timestamp> {
    let same = |waiting: &&PendingPlan| waiting.plan.id == *plan;
    let waiting = watch.log.plan.as_ref().filter(same)?;
    (waiting.cut || !wake::shows_whole(&waiting.plan)).then_some(waiting.at)
}
