//! What the dispatcher read outside for somebody who waits for it at a door without a credential.

use domain::conversation::{Cursor, Message, Page};
use domain::failure::Failure;
use domain::ids::SessionId;
use domain::redact::presentable;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Longest reason why something could not be read, in characters.
const FAILURE_CHARS_MAX: usize = 300;

/// A page of a job's conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadMessages {
    /// When the reading began.
    pub read_at: Timestamp,
    /// Whose conversation it is; none while the job has no session.
    pub session: Option<SessionId>,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// Where to go on, as [`Cursor`] writes it.
    pub next: String,
    /// Whether more is there already.
    pub more: bool,
    /// Why it could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl ReadMessages {
    /// Nothing: the reader stands where they stood.
    pub fn nothing(read_at: Timestamp, session: Option<SessionId>, cursor: &Cursor) -> Self {
        Self {
            read_at,
            session,
            messages: Vec::new(),
            next: cursor.to_string(),
            more: false,
            failure: None,
        }
    }

    /// A page that was read.
    pub fn of(read_at: Timestamp, session: SessionId, page: Page) -> Self {
        Self {
            read_at,
            session: Some(session),
            messages: page.messages,
            next: page.next.to_string(),
            more: page.more,
            failure: None,
        }
    }
}

/// A look at a job's session because somebody asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// When it began; what it showed is in the job by then.
    pub read_at: Timestamp,
    /// Why the session could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Why something could not be read, as it is kept and shown.
pub(crate) fn reason(failure: &Failure) -> String {
    presentable(&failure.message, FAILURE_CHARS_MAX)
}
