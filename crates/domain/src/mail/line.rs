//! The form of a line: one JSON object with twelve fields, of which those that do not apply are null.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Letter, MailAction, MailEvent};
use crate::ids::{MailEventId, MailTag, MessageId, PersonaName};
use crate::redact::presentable;

/// The tag of the note that a message is lost.
const LOST: &str = "lost";

/// Longest reason of the parser, in characters.
const REASON_CHARS_MAX: usize = 200;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// An event.
    Event(MailEvent),
    /// An event of a type that this version does not know.
    Other {
        /// Its id.
        id: MailEventId,
        /// The message that it seems to be about.
        message: Option<MessageId>,
    },
}

impl Entry {
    /// The event's id.
    pub fn id(&self) -> &MailEventId {
        match self {
            Self::Event(event) => &event.id,
            Self::Other { id, .. } => id,
        }
    }

    /// The message that it is about.
    pub fn message(&self) -> Option<MessageId> {
        match self {
            Self::Event(event) => Some(event.message),
            Self::Other { message, .. } => *message,
        }
    }
}

/// Why a line is no event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It is not one JSON object.
    #[error("it is no JSON object: {0}")]
    Json(String),
    /// A field is missing or wrong.
    #[error("it is no event of mail: {0}")]
    Field(String),
}

/// The types of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EventType {
    Send,
    Read,
    TagAdd,
    TagRm,
    Trash,
    Untrash,
}

/// A line. Nothing is left out when it is written.
#[derive(Debug, Serialize, Deserialize)]
struct Wire {
    event_id: MailEventId,
    ts: Timestamp,
    event_type: EventType,
    message_id: MessageId,
    actor: String,
    from_persona: Option<PersonaName>,
    to_persona: Option<PersonaName>,
    subject: Option<String>,
    body: Option<String>,
    attachments: Option<Vec<String>>,
    read_at: Option<Timestamp>,
    tag: Option<MailTag>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Reads a line.
pub fn parse(line: &[u8]) -> Result<Entry, Flaw> {
    let fields: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| Flaw::Json(reason(&error)))?;
    let kind = fields.get("event_type").cloned().unwrap_or_default();
    if !kind.is_string() {
        return Err(lacks("event_type"));
    }
    if serde_json::from_value::<EventType>(kind).is_err() {
        return unknown(&fields);
    }
    let wire = serde_json::from_value(Value::Object(fields));
    let wire: Wire = wire.map_err(|error| Flaw::Field(reason(&error)))?;
    event(wire).map(Entry::Event)
}

fn reason(error: &serde_json::Error) -> String {
    presentable(&error.to_string(), REASON_CHARS_MAX)
}

fn lacks(field: &str) -> Flaw {
    Flaw::Field(format!("`{field}` is missing or no text"))
}

/// Of a type that is not known, only what every type has is read.
fn unknown(fields: &Map<String, Value>) -> Result<Entry, Flaw> {
    let id = fields.get("event_id").and_then(Value::as_str);
    let id = id.and_then(|id| id.parse().ok());
    let message = fields.get("message_id").and_then(Value::as_i64);
    Ok(Entry::Other {
        id: id.ok_or_else(|| lacks("event_id"))?,
        message: message.and_then(|number| number.try_into().ok()),
    })
}

fn event(wire: Wire) -> Result<MailEvent, Flaw> {
    let tag = wire.tag;
    let what = match wire.event_type {
        EventType::Send => MailAction::Send(Letter {
            from: wire.from_persona.ok_or_else(|| lacks("from_persona"))?,
            to: wire.to_persona.ok_or_else(|| lacks("to_persona"))?,
            subject: wire.subject.ok_or_else(|| lacks("subject"))?,
            body: wire.body.ok_or_else(|| lacks("body"))?,
            attachments: wire.attachments.unwrap_or_default(),
        }),
        EventType::Read => MailAction::Read {
            at: wire.read_at.unwrap_or(wire.ts),
        },
        EventType::TagAdd => MailAction::TagAdd(tag.ok_or_else(|| lacks("tag"))?),
        EventType::TagRm => MailAction::TagRm(tag.ok_or_else(|| lacks("tag"))?),
        EventType::Trash if tag.is_some_and(|tag| tag.as_str() == LOST) => MailAction::Lost,
        EventType::Trash => MailAction::Trash,
        EventType::Untrash => MailAction::Untrash,
    };
    Ok(MailEvent {
        id: wire.event_id,
        at: wire.ts,
        message: wire.message_id,
        actor: wire.actor,
        what,
        other: wire.other,
    })
}

impl From<MailEvent> for Wire {
    fn from(event: MailEvent) -> Self {
        let event_type = match &event.what {
            MailAction::Send(_) => EventType::Send,
            MailAction::Read { .. } => EventType::Read,
            MailAction::TagAdd(_) => EventType::TagAdd,
            MailAction::TagRm(_) => EventType::TagRm,
            MailAction::Trash | MailAction::Lost => EventType::Trash,
            MailAction::Untrash => EventType::Untrash,
        };
        let mut wire = Self {
            event_id: event.id,
            ts: event.at,
            event_type,
            message_id: event.message,
            actor: event.actor,
            from_persona: None,
            to_persona: None,
            subject: None,
            body: None,
            attachments: None,
            read_at: None,
            tag: None,
            other: event.other,
        };
        match event.what {
            MailAction::Send(letter) => {
                wire.from_persona = Some(letter.from);
                wire.to_persona = Some(letter.to);
                wire.subject = Some(letter.subject);
                wire.body = Some(letter.body);
                wire.attachments = Some(letter.attachments);
            }
            MailAction::Read { at } => wire.read_at = Some(at),
            MailAction::TagAdd(tag) | MailAction::TagRm(tag) => wire.tag = Some(tag),
            MailAction::Lost => wire.tag = LOST.parse().ok(),
            MailAction::Trash | MailAction::Untrash => {}
        }
        wire
    }
}

impl MailEvent {
    /// Its line, without the line break. It is plain data with text keys, so writing it cannot fail.
    pub fn line(self) -> String {
        serde_json::to_string(&Wire::from(self)).unwrap_or_default()
    }
}
