//! A whole log: its events, and what is wrong with it. One that is broken has no mailboxes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::line::{Entry, Flaw, parse};
use super::{Mail, MailAction, MailEvent};
use crate::ids::{InvalidId, MailEventId, MessageId};

/// How many more numbers than lines a log may have lost: a number beyond that is nonsense, and filling up to it endless.
pub(super) const LOST_MAX: i64 = 1_000;

/// How far a log is sealed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seal {
    /// How many events are sealed.
    pub events: u64,
    /// The highest message among them.
    pub message: Option<MessageId>,
}

/// A line with an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// As it is, without the line break.
    pub bytes: &'a [u8],
    /// What it says.
    pub entry: Entry,
}

/// What is wrong with a log, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFault {
    /// The number of the line, from 1; the one after the last for what is missing at the end.
    pub line: usize,
    /// What is wrong.
    pub what: FaultKind,
}

impl LogFault {
    /// The first fault, and how many more there are.
    pub fn summary(faults: &[Self]) -> String {
        match faults {
            [] => String::new(),
            [only] => only.to_string(),
            [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
        }
    }
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// What is wrong with a line, or before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// The last line has no end.
    #[error("the last line is torn: it ends within an event")]
    Torn,
    /// It is no event.
    #[error(transparent)]
    Flaw(#[from] Flaw),
    /// Two lines have one id.
    #[error("the event id `{id}` is there twice: line {first} has it too")]
    EventTwice {
        /// The id.
        id: MailEventId,
        /// The line that had it first.
        first: usize,
    },
    /// Two lines send one message.
    #[error("message {message} is sent twice: line {first} sends it too")]
    MessageTwice {
        /// Its number.
        message: MessageId,
        /// The line that sent it first.
        first: usize,
    },
    /// It sends a text that cannot be sent.
    #[error(transparent)]
    Text(#[from] InvalidId),
    /// A number that no log of this length comes to.
    #[error("message {0} is far beyond the messages there are")]
    Far(MessageId),
    /// Numbers are left out.
    #[error("there is a gap: no line sends {}", numbers(*.from, *.to))]
    Gap {
        /// The first that is missing.
        from: MessageId,
        /// The last.
        to: MessageId,
    },
    /// The log has fewer events than its sealed pages.
    #[error("events are missing: the backups have {sealed}, the log has {there}")]
    Short {
        /// How many are sealed.
        sealed: u64,
        /// How many the log has.
        there: u64,
    },
    /// A sealed page has the line otherwise.
    #[error("the event `{id}` is not as page {page} of the backups has it")]
    Changed {
        /// The event.
        id: MailEventId,
        /// The number of the page.
        page: u64,
    },
    /// A sealed page has a line that is not there.
    #[error("the event `{id}` is missing, which page {page} of the backups has")]
    Gone {
        /// The event.
        id: MailEventId,
        /// The number of the page.
        page: u64,
    },
}

fn numbers(from: MessageId, to: MessageId) -> String {
    match from == to {
        true => format!("message {from}"),
        false => format!("the messages {from} to {to}"),
    }
}

/// A log as it was read.
#[derive(Debug, Clone)]
pub struct Log<'a> {
    lines: Vec<Line<'a>>,
    rejected: Vec<&'a [u8]>,
    faults: Vec<LogFault>,
    /// The first and the last of numbers in a row that no line accounts for.
    missing: Vec<(MessageId, MessageId)>,
    next: MessageId,
    /// Whether the last line has its end, so that the next one can follow.
    is_ended: bool,
}

impl<'a> Log<'a> {
    /// Reads a log, of which a part may be sealed.
    pub fn read(bytes: &'a [u8], seal: &Seal) -> Self {
        let mut log = Self {
            lines: Vec::new(),
            rejected: Vec::new(),
            faults: Vec::new(),
            missing: Vec::new(),
            next: MessageId::FIRST,
            is_ended: bytes.is_empty() || bytes.ends_with(b"\n"),
        };
        log.take_lines(bytes);
        log.reject_far(seal);
        log.reject_doubles();
        log.look_for_gaps(seal);
        log.compare_length(seal);
        log.faults.sort_by_key(|fault| fault.line);
        log
    }

    fn take_lines(&mut self, bytes: &'a [u8]) {
        let mut pieces = (1..).zip(bytes.split(|byte| *byte == b'\n')).peekable();
        while let Some((number, piece)) = pieces.next() {
            if piece.trim_ascii().is_empty() {
                continue;
            }
            match parse(piece) {
                Ok(entry) => self.lines.push(Line {
                    number,
                    bytes: piece,
                    entry,
                }),
                Err(_) if pieces.peek().is_none() => {
                    self.reject(number, piece, FaultKind::Torn);
                }
                Err(flaw) => self.reject(number, piece, flaw.into()),
            }
        }
    }

    fn reject(&mut self, line: usize, bytes: &'a [u8], what: FaultKind) {
        self.rejected.push(bytes);
        self.faults.push(LogFault { line, what });
    }

    fn reject_far(&mut self, seal: &Seal) {
        let lines = i64::try_from(self.lines.len()).unwrap_or(i64::MAX);
        let sealed = seal.message.map_or(0, MessageId::number);
        let most = lines.saturating_add(sealed).saturating_add(LOST_MAX);
        for line in std::mem::take(&mut self.lines) {
            match line.entry.message().filter(|id| id.number() > most) {
                Some(far) => self.reject(line.number, line.bytes, FaultKind::Far(far)),
                None => self.lines.push(line),
            }
        }
    }

    /// The first line that has an id, or sends a message, is the one that counts.
    fn reject_doubles(&mut self) {
        let mut events: BTreeMap<MailEventId, usize> = BTreeMap::new();
        let mut sends: BTreeMap<MessageId, usize> = BTreeMap::new();
        for line in std::mem::take(&mut self.lines) {
            let id = line.entry.id().clone();
            if let Some(first) = events.get(&id).copied() {
                let twice = FaultKind::EventTwice { id, first };
                self.reject(line.number, line.bytes, twice);
                continue;
            }
            let sent = sent_by(&line.entry);
            if let Some((message, first)) = sent.and_then(|id| Some((id, *sends.get(&id)?))) {
                let twice = FaultKind::MessageTwice { message, first };
                self.reject(line.number, line.bytes, twice);
                continue;
            }
            events.insert(id, line.number);
            sends.extend(sent.map(|message| (message, line.number)));
            self.lines.push(line);
        }
    }

    fn look_for_gaps(&mut self, seal: &Seal) {
        let accounted: BTreeSet<MessageId> = self.lines.iter().filter_map(accounts_for).collect();
        let named = self.lines.iter().filter_map(|line| line.entry.message());
        let Some(highest) = named.chain(seal.message).max() else {
            return;
        };
        self.next = highest.next();
        let mut wanted = MessageId::FIRST;
        // The number behind the last one closes what is missing at the end.
        for there in accounted.into_iter().chain([self.next]) {
            if let Some(last) = there.before().filter(|last| *last >= wanted) {
                self.missing.push((wanted, last));
            }
            wanted = wanted.max(there.next());
        }
        let gaps: Vec<LogFault> = self
            .missing
            .iter()
            .map(|&(from, to)| self.gap(from, to))
            .collect();
        self.faults.extend(gaps);
    }

    /// Without the pages themselves only their number of events tells that the end of a log is lost.
    fn compare_length(&mut self, seal: &Seal) {
        let (sealed, there) = (seal.events, self.lines.len() as u64);
        if there < sealed {
            let line = self.lines.last().map_or(1, |line| line.number + 1);
            let what = FaultKind::Short { sealed, there };
            self.faults.push(LogFault { line, what });
        }
    }

    /// A gap is told at the first line that needs what is missing.
    fn gap(&self, from: MessageId, to: MessageId) -> LogFault {
        let needs = |line: &&Line<'_>| line.entry.message().is_some_and(|id| id >= from);
        let end = || self.lines.last().map_or(1, |line| line.number + 1);
        let line = self.lines.iter().find(needs);
        LogFault {
            line: line.map_or_else(end, |line| line.number),
            what: FaultKind::Gap { from, to },
        }
    }

    /// Everything that is wrong, by lines.
    pub fn faults(&self) -> &[LogFault] {
        &self.faults
    }

    /// The lines that have events.
    pub fn lines(&self) -> &[Line<'a>] {
        &self.lines
    }

    /// What is no event, or one that was there already.
    pub(super) fn rejected(&self) -> &[&'a [u8]] {
        &self.rejected
    }

    /// The messages that no line sends, though later ones are there.
    pub(super) fn missing(&self) -> &[(MessageId, MessageId)] {
        &self.missing
    }

    /// The number of the next message.
    pub fn next(&self) -> MessageId {
        self.next
    }

    /// The mailboxes.
    pub fn mail(&self) -> Mail {
        Mail::fold(self.lines.iter().filter_map(|line| match &line.entry {
            Entry::Event(event) => Some(event),
            Entry::Other { .. } => None,
        }))
    }

    /// What has to be written behind the log to add these events.
    pub fn addition(&self, events: Vec<MailEvent>) -> String {
        let lines = events.into_iter().map(|event| event.line() + "\n");
        self.separator().to_owned() + &lines.collect::<String>()
    }

    /// What has to stand between the log and the next line.
    pub(super) fn separator(&self) -> &'static str {
        if self.is_ended { "" } else { "\n" }
    }
}

/// The message that a line sends.
fn sent_by(entry: &Entry) -> Option<MessageId> {
    match entry {
        Entry::Event(event) => matches!(event.what, MailAction::Send(_)).then_some(event.message),
        Entry::Other { .. } => None,
    }
}

/// The message that a line accounts for: by sending it, by noting its loss, or by a type that this version does not know.
fn accounts_for(line: &Line<'_>) -> Option<MessageId> {
    match &line.entry {
        Entry::Event(event) => match event.what {
            MailAction::Send(_) | MailAction::Lost => Some(event.message),
            MailAction::Read { .. }
            | MailAction::TagAdd(_)
            | MailAction::TagRm(_)
            | MailAction::Trash
            | MailAction::Untrash => None,
        },
        Entry::Other { message, .. } => *message,
    }
}
