//! Reads what a session and its people said to each other, page by page, from a cursor.

mod span;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::fence::encoded_len;
use crate::ids::{ActivityId, SessionId};
use crate::redact::storable;
use crate::session::{ACTIVITY_OVERLAP, Activity, ActivityKind, Plan};
use crate::when::plus;
use span::{MessagePosition, SPAN, Span, compact};

/// Most messages on a page.
pub const MESSAGES_MAX: usize = 20;

/// Longest message, in bytes as JSON; the whole of it stays with Jules.
pub const MESSAGE_BYTES_MAX: usize = 8_000;

/// The same for a full text: as much as a page holds.
const WHOLE_BYTES_MAX: usize = PAGE_BYTES_MAX;

/// Heaviest page, in bytes of its messages as JSON: it is kept in one record.
pub const PAGE_BYTES_MAX: usize = 24 * 1024;

/// Maximum number of messages of one second that a cursor lists by name; it covers earlier ones with one span.
const SEEN_IDS_MAX: usize = 16;

/// Maximum number of spans in a cursor: one of the last second, and one of what Jules's clock dates ahead of ours.
const SPANS_MAX: usize = 2;

/// Most messages that a whole cursor remembers by name: each of its spans may be as full as it gets.
const NAMES_MAX: usize = SEEN_IDS_MAX * SPANS_MAX;

/// How many digits a cursor's digest has.
const DIGITS: usize = 16;

/// How a cursor begins: another form gets another number.
const FORM: &str = "m1";

/// The same for cursors that also include plans and reasons of failures.
const WHOLE: &str = "w1";

/// A reader's position in a session's conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConversationCursor(Option<CursorPosition>);

/// The reader has everything up to a moment, and these messages of the second before it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CursorPosition {
    session: SessionId,
    through: Timestamp,
    told: BTreeSet<ActivityId>,
    spans: Vec<Span>,
    /// Whether the page includes plans and reasons of failures.
    whole: bool,
}

impl CursorPosition {
    fn was_told(&self, at: Timestamp, id: &ActivityId) -> bool {
        self.told.contains(id) || self.spans.iter().any(|span| span.holds(at, id))
    }

    fn form(&self) -> &'static str {
        if self.whole { WHOLE } else { FORM }
    }
}

/// A text is no cursor of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not a cursor of ours: leave it out to begin anew")]
pub struct InvalidConversationCursor;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person, an agent or Gaffer, to Jules.
    User,
    /// Jules.
    Assistant,
}

impl Role {
    /// The role as it travels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Jules's id of it.
    pub id: ActivityId,
    /// Who said it.
    pub role: Role,
    /// When.
    pub at: Timestamp,
    /// The text without secrets, cut to [`MESSAGE_BYTES_MAX`] unless the reader asked for all; untrusted data.
    pub text: String,
}

/// A page of messages, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePage {
    /// The messages.
    pub messages: Vec<Message>,
    /// The next cursor; the given one when there is nothing new.
    pub next: ConversationCursor,
    /// Whether more messages exist already.
    pub more: bool,
}

impl ConversationCursor {
    /// The cursor at which the full text of a message, plan or reason can be read.
    pub fn whole(session: &SessionId, at: Timestamp) -> Self {
        Self(Some(CursorPosition {
            session: session.clone(),
            through: at,
            told: BTreeSet::new(),
            spans: Vec::new(),
            whole: true,
        }))
    }

    /// The start of the part of a session's log that must be read; `None` for all of it.
    pub fn from(&self, session: &SessionId) -> Option<Timestamp> {
        self.stand_in(session)
            .map(|stand| plus(stand.through, -ACTIVITY_OVERLAP))
    }

    /// A short name of it, to keep its page under.
    pub fn digest(&self) -> String {
        let digest = hex::encode(Sha256::digest(self.to_string()));
        digest.chars().take(DIGITS).collect()
    }

    /// Whether the page includes plans and reasons of failures.
    fn is_whole(&self) -> bool {
        self.0.as_ref().is_some_and(|stand| stand.whole)
    }

    /// The position in this session; a later session of the job starts from its beginning.
    fn stand_in(&self, session: &SessionId) -> Option<&CursorPosition> {
        self.0.as_ref().filter(|stand| stand.session == *session)
    }
}

/// The messages of a session after a cursor, out of its log since [`ConversationCursor::from`].
pub fn page(
    session: &SessionId,
    activities: &[Activity],
    cursor: &ConversationCursor,
    now: Timestamp,
) -> MessagePage {
    let from = cursor.from(session);
    let stand = cursor.stand_in(session);
    let is_new = |message: &Message| {
        from.is_none_or(|from| message.at >= from)
            && stand.is_none_or(|stand| !stand.was_told(message.at, &message.id))
    };
    let is_whole = cursor.is_whole();
    let told = |activity| said(activity, is_whole);
    let mut fresh: Vec<Message> = activities.iter().filter_map(told).filter(is_new).collect();
    fresh.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    fresh.dedup_by(|a, b| a.id == b.id);
    let there = fresh.len();
    let untold: Vec<MessagePosition> = fresh.split_off(fitting(&fresh)).iter().map(place).collect();
    let read = PageMessages {
        activities,
        told: &fresh,
        untold: &untold,
    };
    MessagePage {
        next: after(session, cursor, read, now),
        more: fresh.len() < there,
        messages: fresh,
    }
}

fn said(activity: &Activity, is_whole: bool) -> Option<Message> {
    let (role, text) = match &activity.kind {
        ActivityKind::AgentMessaged { text } => (Role::Assistant, Cow::Borrowed(text)),
        ActivityKind::UserMessaged { text } => (Role::User, Cow::Borrowed(text)),
        ActivityKind::PlanGenerated(plan) if is_whole => (Role::Assistant, Cow::Owned(steps(plan))),
        ActivityKind::Failed { reason } if is_whole => (Role::Assistant, Cow::Borrowed(reason)),
        ActivityKind::PlanGenerated(_)
        | ActivityKind::PlanApproved { .. }
        | ActivityKind::Progressed { .. }
        | ActivityKind::Completed
        | ActivityKind::Failed { .. }
        | ActivityKind::Other { .. } => return None,
    };
    let longest = if is_whole {
        WHOLE_BYTES_MAX
    } else {
        MESSAGE_BYTES_MAX
    };
    Some(Message {
        id: activity.id.clone(),
        role,
        at: activity.at,
        text: storable(&text, longest),
    })
}

/// All steps of a plan, for reading.
fn steps(plan: &Plan) -> String {
    let mut text = format!("Plan {}:", plan.id);
    for (number, step) in (1..).zip(&plan.steps) {
        text.push_str(&format!("\n{number}. {}", step.title));
        if !step.description.is_empty() {
            text.push_str(&format!("\n{}", step.description));
        }
    }
    text
}

/// How many messages fit on a page; the first always does.
fn fitting(messages: &[Message]) -> usize {
    let mut left = PAGE_BYTES_MAX;
    let fits = messages.iter().take(MESSAGES_MAX).take_while(|message| {
        let bytes = encoded_len(&message.text);
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    });
    fits.count()
}

fn place(message: &Message) -> MessagePosition {
    (message.at, message.id.clone())
}

/// What was read of a session for a page.
#[derive(Clone, Copy)]
struct PageMessages<'a> {
    activities: &'a [Activity],
    /// The messages of the page.
    told: &'a [Message],
    /// Where the messages are that the page has no room for.
    untold: &'a [MessagePosition],
}

/// The cursor after a page. A clock of Jules's that runs ahead of ours hides nothing that comes later.
fn after(
    session: &SessionId,
    cursor: &ConversationCursor,
    read: PageMessages<'_>,
    now: Timestamp,
) -> ConversationCursor {
    let PageMessages {
        activities,
        told,
        untold,
    } = read;
    // Dates ahead of our clock must not move the position; those messages are kept by name.
    let Some(newest) = told.iter().map(|message| message.at.min(now)).max() else {
        return cursor.clone();
    };
    let before = cursor.stand_in(session);
    let through = before.map_or(newest, |stand| stand.through.max(newest));
    let from = plus(through, -ACTIVITY_OVERLAP);
    let was_told = |it: &&Activity| {
        told.iter().any(|message| message.id == it.id)
            || before.is_some_and(|stand| stand.was_told(it.at, &it.id))
    };
    let whole = cursor.is_whole();
    let recent = activities
        .iter()
        .filter(|it| said(it, whole).is_some() && it.at >= from);
    let recent = recent.filter(was_told).map(|it| (it.at, it.id.clone()));
    let (ahead, recent): (Vec<MessagePosition>, Vec<MessagePosition>) =
        recent.partition(|(at, _)| *at > through);
    let (ahead, later) = compact(ahead, untold);
    let (span, names) = compact(recent, untold);
    ConversationCursor(Some(CursorPosition {
        session: session.clone(),
        through,
        told: names.into_iter().chain(later).collect(),
        spans: span.into_iter().chain(ahead).collect(),
        whole,
    }))
}

impl fmt::Display for ConversationCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(stand) = &self.0 else {
            return f.write_str(FORM);
        };
        let (form, through) = (stand.form(), stand.through);
        write!(f, "{form}.{}.{}", stand.session, through.as_nanosecond())?;
        stand
            .spans
            .iter()
            .try_for_each(|span| write!(f, ".{span}"))?;
        stand.told.iter().try_for_each(|told| write!(f, ".{told}"))
    }
}

impl FromStr for ConversationCursor {
    type Err = InvalidConversationCursor;

    fn from_str(text: &str) -> Result<Self, InvalidConversationCursor> {
        let mut parts = text.split('.');
        let whole = match parts.next() {
            Some(FORM) => false,
            Some(WHOLE) => true,
            Some(_) | None => return Err(InvalidConversationCursor),
        };
        let session = match parts.next() {
            Some(session) => session,
            None if !whole => return Ok(Self(None)),
            None => return Err(InvalidConversationCursor),
        };
        let session = session.parse().map_err(|_| InvalidConversationCursor)?;
        let through: i128 = parts
            .next()
            .and_then(|through| through.parse().ok())
            .ok_or(InvalidConversationCursor)?;
        let through = Timestamp::from_nanosecond(through).map_err(|_| InvalidConversationCursor)?;
        let (spans, told): (Vec<&str>, Vec<&str>) = parts.partition(|part| part.starts_with(SPAN));
        if told.len() > NAMES_MAX || spans.len() > SPANS_MAX {
            return Err(InvalidConversationCursor);
        }
        let spans = spans.into_iter().map(str::parse);
        let told = told.into_iter().map(str::parse);
        Ok(Self(Some(CursorPosition {
            session,
            through,
            told: told
                .collect::<Result<_, _>>()
                .map_err(|_| InvalidConversationCursor)?,
            spans: spans.collect::<Result<_, _>>()?,
            whole,
        })))
    }
}

#[cfg(test)]
mod tests;
