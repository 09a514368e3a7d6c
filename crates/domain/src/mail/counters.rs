//! Mail where each event is a record of its own: what is counted beside the log, and what one more event changes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Counts, Letter, Log, MailAction, MailEvent, MessageOrder, Page, ReceivedMessage, RefusedOrder,
    Seal,
};
use crate::fence::encoded_len;
use crate::ids::{MailEventId, MessageId, PersonaName};

/// Most personas that have mail in one repository: they are counted in one record.
pub const PERSONAS_MAX: usize = 200;

/// Longest line, in bytes as JSON: it has to fit a record.
pub const LINE_BYTES_MAX: usize = 60_000;

/// What is counted of the mail of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// How many events the log has.
    pub events: u64,
    /// The highest message.
    pub message: Option<MessageId>,
    /// How many events are sealed.
    pub sealed: u64,
    /// In how many pages.
    pub pages: u64,
    /// How much mail each persona has that ever wrote or got some.
    pub personas: BTreeMap<PersonaName, Counts>,
}

/// Who adds an event, and when.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// The id of the event.
    pub id: MailEventId,
    /// When it is.
    pub at: Timestamp,
    /// Who does it, as the store knows them.
    pub actor: String,
}

/// One more event, and the message as it is with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The line of the log.
    pub line: String,
    /// The message.
    pub message: ReceivedMessage,
}

/// There are as many personas as mail can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{max} personas have mail already, and `{0}` would be one more", max = PERSONAS_MAX)]
pub struct TooManyPersonas(pub PersonaName);

impl Counters {
    /// What is counted of a whole log.
    pub fn of(log: &Log<'_>, sealed: u64, pages: u64) -> Self {
        Self {
            events: log.lines().len() as u64,
            message: log.next().before(),
            sealed,
            pages,
            personas: log.mail().counts(),
        }
    }

    /// How far the log is sealed as far as these counters tell.
    pub fn seal(&self) -> Seal {
        Seal {
            events: self.events,
            message: self.message,
        }
    }

    /// Whether all of these can have mail.
    pub fn must_take<'p>(
        &self,
        personas: impl IntoIterator<Item = &'p PersonaName>,
    ) -> Result<(), TooManyPersonas> {
        let personas = personas.into_iter();
        let new: BTreeSet<_> = personas
            .filter(|it| !self.personas.contains_key(*it))
            .collect();
        let room = PERSONAS_MAX.saturating_sub(self.personas.len());
        match new.into_iter().nth(room) {
            Some(persona) => Err(TooManyPersonas(persona.clone())),
            None => Ok(()),
        }
    }

    /// Sends a message.
    pub fn send(&mut self, letter: Letter, stamp: Stamp) -> Result<Added, TooManyPersonas> {
        self.must_take([&letter.from, &letter.to])?;
        let number = self.message.map_or(MessageId::FIRST, MessageId::next);
        let message = ReceivedMessage::sent(number, stamp.at, &letter);
        self.count(&letter.from, |counts| counts.sent += 1);
        self.count(&letter.to, |counts| counts.take_in(&message));
        self.message = Some(number);
        Ok(self.added(message, MailAction::Send(letter), stamp))
    }

    /// Carries an order about a message out; none where things are so already.
    pub fn order(
        &mut self,
        message: &ReceivedMessage,
        order: MessageOrder,
        stamp: Stamp,
    ) -> Result<Option<Added>, RefusedOrder> {
        let Some(what) = message.ordered(order, stamp.at)? else {
            return Ok(None);
        };
        let mut next = message.clone();
        next.apply(&what);
        self.count(&message.to_persona, |counts| {
            counts.take_out(message);
            counts.take_in(&next);
        });
        Ok(Some(self.added(next, what, stamp)))
    }

    fn count(&mut self, persona: &PersonaName, change: impl FnOnce(&mut Counts)) {
        change(self.personas.entry(persona.clone()).or_default());
    }

    fn added(&mut self, message: ReceivedMessage, what: MailAction, stamp: Stamp) -> Added {
        self.events += 1;
        let event = MailEvent {
            id: stamp.id,
            at: stamp.at,
            message: message.message_id,
            actor: stamp.actor,
            what,
            other: serde_json::Map::new(),
        };
        Added {
            line: event.line(),
            message,
        }
    }

    /// Notes that pages were sealed.
    pub fn sealed_with(&mut self, pages: &[Page]) {
        if let Some(last) = pages.last() {
            self.sealed = last.seals().events;
            self.pages = last.number();
        }
    }
}

/// Seals lines behind a page, in pages of at most a hundred that fit a record each.
pub fn paged(mut before: Option<Page>, lines: Vec<String>) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let (mut open, mut bytes) = (Vec::new(), 0);
    for line in lines {
        let more = encoded_len(&line);
        let is_full = open.len() as u64 >= super::PAGE_EVENTS;
        if !open.is_empty() && (is_full || bytes + more > LINE_BYTES_MAX) {
            pages.push(sealed(&mut before, std::mem::take(&mut open)));
            bytes = 0;
        }
        open.push(line);
        bytes += more;
    }
    if !open.is_empty() {
        pages.push(sealed(&mut before, open));
    }
    pages
}

fn sealed(before: &mut Option<Page>, lines: Vec<String>) -> Page {
    let page = Page::seal(before.as_ref(), lines);
    *before = Some(page.clone());
    page
}
