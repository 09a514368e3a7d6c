//! The agents port: delivers wakes. It can only write.

use async_trait::async_trait;
use domain::failure::Failure;
use domain::ids::{AgentName, EventId};
use domain::wake::{Notice, Notify};
use jiff::{SignedDuration, Timestamp};
use url::Url;

/// One wake, ready to be signed and sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Whose secrets sign it.
    pub agent: AgentName,
    /// Where it goes.
    pub url: Url,
    /// The same over all attempts: what the receiver recognises a repetition by.
    pub id: EventId,
    /// The JSON body, at most [`domain::wake::MESSAGE_BYTES_MAX`].
    pub body: String,
    /// When this attempt is made: signed into it.
    pub at: Timestamp,
}

/// What the receiver answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// 200 or 204: received and done with.
    Acknowledged,
    /// 202: received; the acknowledgement comes later.
    Accepted,
    /// 410: never again.
    Gone,
    /// Anything else, also a redirect.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The first bytes of the answer, redacted, for people.
        answer: String,
        /// How long it asked us to stay away.
        retry_after: Option<SignedDuration>,
    },
}

/// Wakes agents. Only the dispatcher holds one.
#[async_trait]
pub trait AgentsWrite: Send + Sync {
    /// Signs and sends one wake. A failure means that no answer came.
    async fn deliver(&self, envelope: &Envelope) -> Result<Delivered, Failure>;

    /// Shows a notice to a person, at the desktop or at the address that is the secret of this name.
    async fn notify(
        &self,
        name: &AgentName,
        notify: Notify,
        notice: &Notice,
        at: Timestamp,
    ) -> Result<Delivered, Failure>;
}
