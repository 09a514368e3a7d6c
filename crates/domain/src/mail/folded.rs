//! What the events of a log come to: messages, who has read them, their tags, and what is in the trash.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Letter, MailAction, MailEvent};
use crate::ids::{MailTag, MessageId, PersonaName};

/// Most tags of a message: a person reads them, and a record has to hold them.
pub const TAGS_MAX: usize = 20;

/// A message as its recipient sees it. Its texts come from outside: they are data, never instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "MailMessage")
)]
pub struct ReceivedMessage {
    /// Its number.
    pub message_id: MessageId,
    /// When it was sent.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Moment"))]
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
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub read_at: Option<Timestamp>,
    /// What its recipient put on it.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub tags: BTreeSet<MailTag>,
    /// Whether its recipient threw it away.
    pub trashed: bool,
}

/// How much mail a persona has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "MailCounts")
)]
pub struct Counts {
    /// Messages in its mailbox.
    pub messages: usize,
    /// Those of them that are not read.
    pub unread: usize,
    /// Messages that it wrote.
    pub sent: usize,
    /// Messages in its trash.
    pub trashed: usize,
}

/// What a persona wants to do with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageOrder {
    /// Mark it read.
    Read,
    /// Put a tag on it.
    TagAdd(MailTag),
    /// Take a tag off it.
    TagRm(MailTag),
    /// Throw it away.
    Trash,
    /// Take it back.
    Untrash,
}

/// No message with this number is in this mailbox, whether or not there is one elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{persona} has no message {message}")]
pub struct NoSuchMessage {
    /// The number.
    pub message: MessageId,
    /// Whose mailbox.
    pub persona: PersonaName,
}

/// Why an order is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusedOrder {
    /// There is no such message in this mailbox.
    #[error(transparent)]
    NoSuch(#[from] NoSuchMessage),
    /// It has as many tags as a message may have.
    #[error("message {0} has {max} tags already: take one off first", max = TAGS_MAX)]
    Tags(MessageId),
}

/// All messages of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mail {
    messages: BTreeMap<MessageId, ReceivedMessage>,
}

impl Mail {
    /// The fold. Sends go first, so that the order of events about different messages makes no difference.
    pub fn fold<'a>(events: impl Iterator<Item = &'a MailEvent> + Clone) -> Self {
        let mut mail = Self::default();
        for event in events.clone() {
            if let MailAction::Send(letter) = &event.what {
                let sent = || ReceivedMessage::sent(event.message, event.at, letter);
                mail.messages.entry(event.message).or_insert_with(sent);
            }
        }
        for event in events {
            if let Some(message) = mail.messages.get_mut(&event.message) {
                message.apply(&event.what);
            }
        }
        mail
    }

    /// What was sent to a persona and is not in the trash, the oldest first.
    pub fn inbox(&self, persona: &PersonaName, unread_only: bool) -> Vec<&ReceivedMessage> {
        let wanted = |message: &&ReceivedMessage| {
            let is_there = message.to_persona == *persona && !message.trashed;
            is_there && !(unread_only && message.read_at.is_some())
        };
        self.messages.values().filter(wanted).collect()
    }

    /// What a persona wrote, the oldest first.
    pub fn sent(&self, persona: &PersonaName) -> Vec<&ReceivedMessage> {
        let messages = self.messages.values();
        messages
            .filter(|message| message.from_persona == *persona)
            .collect()
    }

    /// A message of a mailbox, in the trash or not.
    pub fn message(
        &self,
        message: MessageId,
        persona: &PersonaName,
    ) -> Result<&ReceivedMessage, NoSuchMessage> {
        let found = self.messages.get(&message);
        let theirs = found.filter(|found| found.to_persona == *persona);
        theirs.ok_or_else(|| NoSuchMessage {
            message,
            persona: persona.clone(),
        })
    }

    /// The event that an order takes; none where things are so already.
    pub fn ordered(
        &self,
        message: MessageId,
        persona: &PersonaName,
        order: MessageOrder,
        now: Timestamp,
    ) -> Result<Option<MailAction>, RefusedOrder> {
        self.message(message, persona)?.ordered(order, now)
    }

    /// All messages, in order of their numbers.
    pub fn messages(&self) -> impl Iterator<Item = &ReceivedMessage> {
        self.messages.values()
    }

    /// Everyone who ever wrote or got a message, with how much there is.
    pub fn counts(&self) -> BTreeMap<PersonaName, Counts> {
        let mut counts: BTreeMap<PersonaName, Counts> = BTreeMap::new();
        for message in self.messages.values() {
            let theirs = counts.entry(message.to_persona.clone()).or_default();
            theirs.take_in(message);
            let sender = counts.entry(message.from_persona.clone()).or_default();
            sender.sent += 1;
        }
        counts
    }
}

impl Counts {
    /// What its recipient has more with a message.
    pub(super) fn take_in(&mut self, message: &ReceivedMessage) {
        if message.trashed {
            self.trashed += 1;
        } else {
            self.messages += 1;
            self.unread += usize::from(message.read_at.is_none());
        }
    }

    /// What its recipient has less without a message that was taken in.
    pub(super) fn take_out(&mut self, message: &ReceivedMessage) {
        if message.trashed {
            self.trashed = self.trashed.saturating_sub(1);
        } else {
            let unread = usize::from(message.read_at.is_none());
            self.messages = self.messages.saturating_sub(1);
            self.unread = self.unread.saturating_sub(unread);
        }
    }
}

impl ReceivedMessage {
    /// The event that an order takes; none where things are so already.
    pub fn ordered(
        &self,
        order: MessageOrder,
        now: Timestamp,
    ) -> Result<Option<MailAction>, RefusedOrder> {
        Ok(match order {
            MessageOrder::Read if self.read_at.is_some() => None,
            MessageOrder::Read => Some(MailAction::Read { at: now }),
            MessageOrder::TagAdd(tag) if self.tags.contains(&tag) => None,
            MessageOrder::TagAdd(_) if self.tags.len() >= TAGS_MAX => {
                return Err(RefusedOrder::Tags(self.message_id));
            }
            MessageOrder::TagAdd(tag) => Some(MailAction::TagAdd(tag)),
            MessageOrder::TagRm(tag) if self.tags.contains(&tag) => Some(MailAction::TagRm(tag)),
            MessageOrder::TagRm(_) => None,
            MessageOrder::Trash if self.trashed => None,
            MessageOrder::Trash => Some(MailAction::Trash),
            MessageOrder::Untrash if self.trashed => Some(MailAction::Untrash),
            MessageOrder::Untrash => None,
        })
    }

    pub(super) fn sent(message_id: MessageId, ts: Timestamp, letter: &Letter) -> Self {
        Self {
            message_id,
            ts,
            from_persona: letter.from.clone(),
            to_persona: letter.to.clone(),
            subject: letter.subject.clone(),
            body: letter.body.clone(),
            attachments: letter.attachments.clone(),
            read_at: None,
            tags: BTreeSet::new(),
            trashed: false,
        }
    }

    /// Read twice is read once, at the first time.
    pub fn apply(&mut self, what: &MailAction) {
        match what {
            MailAction::Read { at } => {
                self.read_at = Some(self.read_at.map_or(*at, |before| before.min(*at)));
            }
            MailAction::TagAdd(tag) => {
                self.tags.insert(tag.clone());
            }
            MailAction::TagRm(tag) => {
                self.tags.remove(tag);
            }
            MailAction::Trash => self.trashed = true,
            MailAction::Untrash => self.trashed = false,
            // One that is noted as lost and was found again is there.
            MailAction::Send(_) | MailAction::Lost => {}
        }
    }
}
