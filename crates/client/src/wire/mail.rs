//! Mail between the personas of a repository.

use domain::ids::{Attachment, MailBody, MailTag, MessageId, PersonaName, Subject};
use domain::mail::Recipient;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is told of mail, under its names in the documents.
pub use domain::mail::{
    Counts as MailCounts, MailImported, MailStats, MailVerified, ReceivedMessage as MailMessage,
};

/// How many messages a part of a mailbox has when nothing else is asked for, and at most.
pub const MAILBOX_LIMIT_MAX: u32 = 100;

/// The last page that a log of mail can have.
pub const MAIL_LOG_PAGE_MAX: u32 = 1_000_000;

/// `POST /api/mail/{owner}/{name}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMail {
    /// Who writes it; the persona of the token, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PersonaName>,
    /// To whom: a persona, or `all@team` for every persona that has mail or is in the newest sprint.
    pub to: Recipient,
    /// What it is about: one line.
    pub subject: Subject,
    /// What it says: at most 16,000 bytes as JSON.
    pub body: MailBody,
    /// Addresses with https, at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

/// A message was sent: to each of the team one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailSent {
    /// The messages, in order of their numbers.
    pub sent: Vec<SentMessage>,
}

/// One message that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentMessage {
    /// Its number.
    pub message_id: MessageId,
    /// Whose mailbox it is in.
    pub to_persona: PersonaName,
}

/// `GET /api/mail/{owner}/{name}/{persona}`: the oldest first, without what is in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mailbox {
    /// Whose it is.
    pub persona: PersonaName,
    /// The messages.
    pub messages: Vec<MailMessage>,
    /// Whether there are more behind them.
    pub more: bool,
}

/// `POST …/read`, `…/trash` and `…/untrash`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkMail {}

/// `POST …/tag`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagMail {
    /// The tag.
    pub tag: MailTag,
    /// Whether it is taken off.
    #[serde(default)]
    pub remove: bool,
}

/// `GET …/log`: a page of the log of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailLog {
    /// The lines as they are, in order.
    pub lines: Vec<String>,
    /// The page behind it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_page: Option<u32>,
}

/// `POST …/rebuild`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailRebuilt {
    /// How many rows were not what the log comes to, and are now.
    pub changed: u64,
}

/// `POST …/seal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailSealed {
    /// How many events were put into pages.
    pub sealed: u64,
}

/// `POST …/import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportMail {
    /// Lines of an export, in order.
    pub lines: Vec<String>,
}
