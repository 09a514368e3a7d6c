//! How news of a repository reaches us: by webhooks, or only because we look.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// Granularity of the stored time of the last webhook: a busy repository must not cost a write for each.
pub const NOTED_EVERY: SignedDuration = SignedDuration::from_mins(5);

/// A repository that sent webhooks, and then none for this long, has probably stopped sending them.
pub const SILENT_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// When a repository's webhooks came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookActivity {
    /// When the last one came that was noted.
    pub webhook_at: Timestamp,
}

/// How news of a repository reaches us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "feed")]
pub enum WebhookHealth {
    /// No webhook ever came: pull requests are read at intervals.
    Polled,
    /// Webhooks arrive.
    Webhooks {
        /// About when the last one came.
        last: Timestamp,
    },
    /// Webhooks came, but have stopped: pull requests are read at intervals.
    Silent {
        /// About when the last one came.
        last: Timestamp,
    },
}

impl WebhookHealth {
    /// Whether webhooks arrive now.
    pub fn is_arriving(self) -> bool {
        match self {
            Self::Webhooks { .. } => true,
            Self::Polled | Self::Silent { .. } => false,
        }
    }
}

/// The state to store for a webhook; `None` when the stored time is recent enough.
pub fn note(known: Option<WebhookActivity>, at: Timestamp) -> Option<WebhookActivity> {
    let young = |known: WebhookActivity| at.duration_since(known.webhook_at) < NOTED_EVERY;
    (!known.is_some_and(young)).then_some(WebhookActivity { webhook_at: at })
}

/// Derives the health of the webhook feed from its stored state.
pub fn health(known: Option<WebhookActivity>, now: Timestamp) -> WebhookHealth {
    let Some(WebhookActivity { webhook_at: last }) = known else {
        return WebhookHealth::Polled;
    };
    if now.duration_since(last) < SILENT_AFTER {
        WebhookHealth::Webhooks { last }
    } else {
        WebhookHealth::Silent { last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::at;

    #[test]
    fn a_webhook_is_noted_now_and_then() {
        let noted = note(None, at(0));
        assert_eq!(noted, Some(WebhookActivity { webhook_at: at(0) }));
        assert_eq!(note(noted, at(299)), None);
        assert_eq!(note(noted, at(-10)), None, "a late one");
        assert_eq!(
            note(noted, at(300)),
            Some(WebhookActivity {
                webhook_at: at(300)
            })
        );
    }

    #[test]
    fn a_feed_is_healthy_while_webhooks_come() {
        let last = at(0);
        let known = Some(WebhookActivity { webhook_at: last });
        let day = 24 * 3_600;
        assert_eq!(health(None, at(0)), WebhookHealth::Polled);
        assert_eq!(health(known, at(day - 1)), WebhookHealth::Webhooks { last });
        assert_eq!(health(known, at(day)), WebhookHealth::Silent { last });
    }
}
