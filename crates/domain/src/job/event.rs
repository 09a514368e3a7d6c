//! An event about the watched session.

use jiff::Timestamp;

use super::Job;
use super::full_text::full_text_url;
use super::watch::Watch;
use crate::event::{Audience, Event, EventContext, Occurrence};
use crate::ids::EventId;
use crate::web_page::WebPage;

/// An event about the watched session; `key` names the occurrence within the job.
pub(super) fn event(
    job: &Job,
    watch: &Watch,
    (key, what, audience): (&str, Occurrence, Audience),
    now: Timestamp,
) -> Event {
    let whole = full_text_url(job, watch, &what);
    Event {
        id: EventId::from_name(&format!("{}:{key}", job.id)),
        job: Some(job.id.clone()),
        account: job.account.clone(),
        attempt: job.attempt,
        observed_at: now,
        status: watch.state.as_str().to_owned(),
        last_activity: watch.log.through,
        what,
        audience,
        seq: None,
        aid: EventContext {
            session: watch.url.as_deref().and_then(WebPage::from_service),
            pull: watch.pull.clone(),
            check: None,
            whole,
            delivery: job.delivery.clone(),
        },
    }
}
