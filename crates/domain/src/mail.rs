//! Mail between personas: events that are only ever added, and what they come to.
//!
//! The log is the truth. Mailboxes are a fold over it, in whatever store its lines are.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::ids::{
    Attachment, InvalidId, MailBody, MailEventId, MailTag, MessageId, PersonaName, Subject,
};

pub use counters::{Added, Counters, LINE_BYTES_MAX, PERSONAS_MAX, Stamp, TooManyPersonas, paged};
pub use folded::{
    Counts, Mail, MessageOrder, NoSuchMessage, ReceivedMessage, RefusedOrder, TAGS_MAX,
};
pub use line::{Entry, Flaw, parse};
pub use log::{FaultKind, Line, Log, LogFault, Seal};
pub use mend::{Imported, Mended, imported, in_order, rebuild, restore, wrong_in_export};
pub use outgoing::{HUMAN, NotSent, Outgoing, Recipient, TEAM_MAX};
pub use page::{BadPage, PAGE_EVENTS, Page, chain, compare, unsealed};
pub use report::{MailImported, MailStats, MailVerified};

mod counters;
mod folded;
mod line;
mod log;
mod mend;
mod outgoing;
mod page;
mod report;

/// Most attachments of a message.
pub const ATTACHMENTS_MAX: usize = 10;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailEvent {
    /// Its id.
    pub id: MailEventId,
    /// When it was.
    pub at: Timestamp,
    /// Which message it is about.
    pub message: MessageId,
    /// Who did it, as the store knows them.
    pub actor: String,
    /// What it was.
    pub what: MailAction,
    /// Fields that this version does not know, kept as they are.
    pub other: Map<String, Value>,
}

/// What happened to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailAction {
    /// It was sent.
    Send(Letter),
    /// Its recipient read it.
    Read {
        /// When.
        at: Timestamp,
    },
    /// Its recipient put a tag on it.
    TagAdd(MailTag),
    /// Its recipient took a tag off it.
    TagRm(MailTag),
    /// Its recipient threw it away.
    Trash,
    /// Its recipient took it back.
    Untrash,
    /// The line that sent it is gone for good: written as `trash` with the tag `lost`.
    Lost,
}

/// A message as the log has it. What is in the log was checked by the rules of its day, so texts are read as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Who wrote it.
    pub from: PersonaName,
    /// Whose mailbox it is in.
    pub to: PersonaName,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub body: String,
    /// Addresses of patches, logs and the like.
    pub attachments: Vec<String>,
}

impl Letter {
    /// A message to be sent.
    pub fn new(
        from: PersonaName,
        to: PersonaName,
        subject: Subject,
        body: MailBody,
        attachments: Vec<Attachment>,
    ) -> Result<Self, InvalidId> {
        if attachments.len() > ATTACHMENTS_MAX {
            return Err(InvalidId::too_many_attachments(attachments.len()));
        }
        Ok(Self {
            from,
            to,
            subject: subject.into(),
            body: body.into(),
            attachments: attachments.into_iter().map(Into::into).collect(),
        })
    }

    /// Checks the texts of a letter from elsewhere by the rules of one that is to be sent.
    fn check_texts(&self) -> Result<(), InvalidId> {
        let attachments = self.attachments.iter().map(|it| it.parse::<Attachment>());
        Self::new(
            self.from.clone(),
            self.to.clone(),
            self.subject.parse()?,
            self.body.parse()?,
            attachments.collect::<Result<_, _>>()?,
        )
        .map(drop)
    }
}

#[cfg(test)]
mod tests;
