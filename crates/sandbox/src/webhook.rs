//! Webhooks as GitHub makes them: written down with their due time, signed, posted once, and kept in a delivery log.
//! There is no automatic retry; a redelivery must be asked for.

mod post;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::plus;
use crate::github::HookSetup;

pub use post::sign;
pub(crate) use post::{Courier, HOOK_ID, headers_of};

/// How many deliveries the log keeps.
pub const LOG_LIMIT: usize = 10_000;

/// The target of webhooks and its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookTarget {
    /// The address that gets the POST requests.
    pub url: String,
    /// The shared secret of the signature.
    pub secret: String,
}

/// The faults of webhooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookFaults {
    /// Every so-manieth webhook never arrives; the delivery log shows it as failed.
    pub drop_every: Option<u32>,
    /// Every webhook arrives twice, under one guid.
    pub double: bool,
    /// Webhooks that are due together arrive in reverse order.
    pub reorder: bool,
    /// Every webhook arrives this much late.
    pub delay: SignedDuration,
    /// No webhooks, as if the hook did not exist.
    pub off: bool,
    /// The target is unreachable: every post fails meanwhile, redeliveries too.
    pub down: bool,
}

/// One attempt to deliver one webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delivery {
    /// Number of the attempt.
    pub id: u64,
    /// Names the event; redeliveries carry the same one.
    pub guid: String,
    /// Name of the event.
    pub event: String,
    /// The payload's `action`, if the event has any.
    pub action: Option<String>,
    /// The raw body that was signed.
    pub body: String,
    /// When it was posted.
    pub delivered_at: Timestamp,
    /// Whether someone asked for it again.
    pub redelivery: bool,
    /// What the target answered; `None` when no answer came.
    pub status_code: Option<u16>,
    /// The address it was posted to.
    pub url: String,
}

impl Delivery {
    /// Whether the target accepted it.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.status_code
            .is_some_and(|code| (200..300).contains(&code))
    }
}

/// A webhook that waits for its time.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) guid: String,
    pub(crate) event: String,
    pub(crate) action: Option<String>,
    pub(crate) body: String,
    pub(crate) due: Timestamp,
    pub(crate) redelivery: bool,
    /// Lost on the way, to be logged as failed.
    pub(crate) lost: bool,
}

/// The hook: its target, its waiting deliveries, and its attempts.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) target: Option<WebhookTarget>,
    pub(crate) faults: WebhookFaults,
    pub(crate) hook: HookSetup,
    waiting: Vec<Waiting>,
    log: VecDeque<Delivery>,
    emitted: u64,
    tried: u64,
}

impl Outbox {
    /// Writes an event down. Without a target there is no hook, so nothing is kept.
    pub(crate) fn push(&mut self, now: Timestamp, event: &str, payload: &Value) {
        if self.target.is_none() || self.faults.off || !self.hook.tells(event) {
            return;
        }
        self.emitted += 1;
        let waiting = Waiting {
            guid: guid_of(self.emitted),
            event: event.to_owned(),
            action: payload
                .get("action")
                .and_then(Value::as_str)
                .map(str::to_owned),
            body: self.written(payload),
            due: plus(now, self.faults.delay),
            redelivery: false,
            lost: self.is_lost(),
        };
        if self.faults.double {
            self.waiting.push(waiting.clone());
        }
        self.waiting.push(waiting);
    }

    /// The body as the hook's content type has it.
    fn written(&self, payload: &Value) -> String {
        let json = payload.to_string();
        if !self.hook.form {
            return json;
        }
        url::form_urlencoded::Serializer::new(String::new())
            .append_pair("payload", &json)
            .finish()
    }

    fn is_lost(&self) -> bool {
        let every = self.faults.drop_every.map(u64::from).unwrap_or_default();
        every > 0 && self.emitted.is_multiple_of(every)
    }

    /// Takes what is due, in the order in which it shall arrive.
    pub(crate) fn take_due(&mut self, now: Timestamp) -> Vec<Waiting> {
        let (mut due, later): (Vec<Waiting>, Vec<Waiting>) = self
            .waiting
            .drain(..)
            .partition(|waiting| waiting.due <= now);
        self.waiting = later;
        due.sort_by_key(|waiting| waiting.due);
        due.iter_mut()
            .for_each(|waiting| waiting.lost |= self.faults.down);
        if self.faults.reorder {
            due.reverse();
        }
        due
    }

    /// When the next webhook is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.waiting.iter().map(|waiting| waiting.due).min()
    }

    /// Records one attempt and its outcome.
    pub(crate) fn note(&mut self, now: Timestamp, tried: Waiting, status_code: Option<u16>) {
        self.tried += 1;
        if self.log.len() == LOG_LIMIT {
            self.log.pop_front();
        }
        self.log.push_back(Delivery {
            id: self.tried,
            guid: tried.guid,
            event: tried.event,
            action: tried.action,
            body: tried.body,
            delivered_at: now,
            redelivery: tried.redelivery,
            status_code,
            url: self
                .target
                .as_ref()
                .map(|target| target.url.clone())
                .unwrap_or_default(),
        });
    }

    /// The attempts, oldest first.
    pub(crate) fn deliveries(&self) -> impl DoubleEndedIterator<Item = &Delivery> {
        self.log.iter()
    }

    /// Queues a past delivery again under its old guid; false when there is none of this id.
    /// The faults do not apply to requested redeliveries, unless the target is down.
    pub(crate) fn redeliver(&mut self, now: Timestamp, id: u64) -> bool {
        let Some(past) = self.log.iter().find(|delivery| delivery.id == id) else {
            return false;
        };
        self.waiting.push(Waiting {
            guid: past.guid.clone(),
            event: past.event.clone(),
            action: past.action.clone(),
            body: past.body.clone(),
            due: now,
            redelivery: true,
            lost: false,
        });
        true
    }
}

/// A guid in the usual shape that follows from the number of the event.
fn guid_of(number: u64) -> String {
    format!("72d3162e-cc78-11e3-81ab-{number:012x}")
}
