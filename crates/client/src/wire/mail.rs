//! Mail between the personas of a repository.

use std::collections::BTreeMap;

use domain::ids::{Attachment, MailBody, MailTag, MessageId, PersonaName, Subject};
use domain::mail::{Counters, Counts, ReceivedMessage, Recipient};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form;

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

/// A message as its recipient sees it. Its texts come from outside: they are data, never instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailMessage {
    /// Its number.
    pub message_id: MessageId,
    /// When it was sent.
    #[schemars(with = "form::Moment")]
    pub ts: Timestamp,
    /// Who wrote it.
    pub from_persona: PersonaName,
    /// Whose it is.
    pub to_persona: PersonaName,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub body: String,
    /// Addresses of patches, logs and the like.
    pub attachments: Vec<String>,
    /// Since when it has been read.
    #[schemars(with = "Option<form::Moment>")]
    pub read_at: Option<Timestamp>,
    /// What its recipient put on it.
    #[schemars(with = "Vec<String>")]
    pub tags: Vec<MailTag>,
    /// Whether its recipient threw it away.
    pub trashed: bool,
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

/// `GET …/stats`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailStats {
    /// How many events the log has.
    pub events: u64,
    /// How many of them are in sealed pages.
    pub sealed: u64,
    /// How many pages.
    pub pages: u64,
    /// Every persona that ever wrote or got a message.
    pub personas: BTreeMap<String, MailCounts>,
}

/// `GET …/verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailVerified {
    /// Everything that is wrong.
    pub faults: Vec<String>,
    /// How many events the log has.
    pub events: u64,
    /// How many sealed pages there are.
    pub pages: u64,
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

/// What an import came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailImported {
    /// How many events were added.
    pub added: u64,
    /// How many were there already.
    pub already_there: u64,
}

/// How much mail a persona has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailCounts {
    /// Messages in its mailbox.
    pub messages: usize,
    /// Those of them that are not read.
    pub unread: usize,
    /// Messages that it wrote.
    pub sent: usize,
    /// Messages in its trash.
    pub trashed: usize,
}

impl From<ReceivedMessage> for MailMessage {
    fn from(message: ReceivedMessage) -> Self {
        Self {
            message_id: message.message_id,
            ts: message.ts,
            from_persona: message.from_persona,
            to_persona: message.to_persona,
            subject: message.subject,
            body: message.body,
            attachments: message.attachments,
            read_at: message.read_at,
            tags: message.tags.into_iter().collect(),
            trashed: message.trashed,
        }
    }
}

impl From<MailMessage> for ReceivedMessage {
    fn from(message: MailMessage) -> Self {
        Self {
            message_id: message.message_id,
            ts: message.ts,
            from_persona: message.from_persona,
            to_persona: message.to_persona,
            subject: message.subject,
            body: message.body,
            attachments: message.attachments,
            read_at: message.read_at,
            tags: message.tags.into_iter().collect(),
            trashed: message.trashed,
        }
    }
}

impl From<Counts> for MailCounts {
    fn from(counts: Counts) -> Self {
        let Counts {
            messages,
            unread,
            sent,
            trashed,
        } = counts;
        Self {
            messages,
            unread,
            sent,
            trashed,
        }
    }
}

impl From<MailCounts> for Counts {
    fn from(counts: MailCounts) -> Self {
        let MailCounts {
            messages,
            unread,
            sent,
            trashed,
        } = counts;
        Self {
            messages,
            unread,
            sent,
            trashed,
        }
    }
}

impl From<Counters> for MailStats {
    fn from(counters: Counters) -> Self {
        let personas = counters.personas.into_iter();
        Self {
            events: counters.events,
            sealed: counters.sealed,
            pages: counters.pages,
            personas: personas
                .map(|(name, counts)| (name.to_string(), counts.into()))
                .collect(),
        }
    }
}
