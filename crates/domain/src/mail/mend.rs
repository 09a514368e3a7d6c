//! What makes a broken log whole: the valid lines it has, the lines of sealed pages, and a note of every message that is lost.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::line::{Entry, parse};
use super::log::{FaultKind, Line, Log, LogFault, Seal};
use super::page::Page;
use super::{MailAction, MailEvent};
use crate::ids::{MailEventId, MessageId};

/// Who notes that a message is lost.
const MENDER: &str = "rebuild";

/// A log that is whole again. Numbers stay as they are: mail that others name by its number is not renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// The log.
    pub text: Vec<u8>,
    /// How many lines of it were there before.
    pub kept: usize,
    /// How many lines come from sealed pages.
    pub restored: usize,
    /// Lines that are not in it.
    pub rejected: Vec<Vec<u8>>,
    /// Messages that are lost.
    pub lost: Vec<MessageId>,
}

/// Keeps every valid event.
pub fn rebuild(bytes: &[u8], seal: &Seal, now: Timestamp) -> Mended {
    let log = Log::read(bytes, seal);
    let mut text = Vec::new();
    for line in log.lines() {
        text.extend_from_slice(line.bytes);
        text.push(b'\n');
    }
    let gaps = log.missing().iter();
    let numbers = gaps.flat_map(|(from, to)| from.number()..=to.number());
    let lost: Vec<MessageId> = numbers
        .filter_map(|number| number.try_into().ok())
        .collect();
    for message in &lost {
        text.extend_from_slice(noted(*message, now).line().as_bytes());
        text.push(b'\n');
    }
    Mended {
        text,
        kept: log.lines().len(),
        restored: 0,
        rejected: log.rejected().iter().map(|line| line.to_vec()).collect(),
        lost,
    }
}

fn noted(message: MessageId, at: Timestamp) -> MailEvent {
    MailEvent {
        id: MailEventId::of_lost(message),
        at,
        message,
        actor: MENDER.to_owned(),
        what: MailAction::Lost,
        other: serde_json::Map::new(),
    }
}

/// Takes what is sealed, and then what is valid and not sealed.
pub fn restore(bytes: &[u8], pages: &[Page], seal: &Seal, now: Timestamp) -> Mended {
    let sealed = pages.iter().flat_map(Page::lines);
    let sealed: Vec<&[u8]> = sealed.map(|line| line.as_bytes()).collect();
    let known: BTreeSet<&[u8]> = sealed.iter().copied().collect();
    let present: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let there: BTreeSet<&[u8]> = present.iter().copied().collect();
    let restored = known.difference(&there).count();
    let open = present.into_iter().filter(|line| !known.contains(line));
    let all: Vec<&[u8]> = sealed.iter().copied().chain(open).collect();
    let mended = rebuild(&all.join(&b'\n'), seal, now);
    Mended {
        kept: mended.kept.saturating_sub(restored),
        restored,
        ..mended
    }
}

/// What an import adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// What has to be written behind the log.
    pub text: Vec<u8>,
    /// How many events that adds.
    pub added: usize,
    /// How many of the import the log had already.
    pub there: usize,
}

/// The lines of a log, so that each beginning of them is whole too: a note that a message is lost stands where that
/// message would.
pub fn in_order(text: &str) -> Vec<String> {
    let (mut lost, mut others) = (BTreeMap::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match parse(line.as_bytes()) {
            Ok(Entry::Event(event)) if event.what == MailAction::Lost => {
                lost.insert(event.message, line.to_owned());
            }
            entry => others.push((entry.ok(), line.to_owned())),
        }
    }
    let mut ordered = Vec::new();
    for (entry, line) in others {
        if let Some(message) = entry.and_then(|entry| entry.message()) {
            let behind = lost.split_off(&message);
            ordered.extend(std::mem::replace(&mut lost, behind).into_values());
        }
        ordered.push(line);
    }
    ordered.extend(lost.into_values());
    ordered
}

/// What a line sends that cannot be sent here: texts of another log were checked by no one.
fn bad_text(line: &Line<'_>) -> Option<LogFault> {
    let Entry::Event(event) = &line.entry else {
        return None;
    };
    let MailAction::Send(letter) = &event.what else {
        return None;
    };
    let what = FaultKind::Text(letter.check_texts().err()?);
    Some(LogFault {
        line: line.number,
        what,
    })
}

/// What is wrong with the lines of another log. It may be of a part only, so numbers may be left out.
fn wrong_in(incoming: &Log<'_>) -> Vec<LogFault> {
    let is_theirs = |fault: &&LogFault| !matches!(fault.what, FaultKind::Gap { .. });
    let faults = incoming.faults().iter();
    let mut wrong: Vec<LogFault> = faults.filter(is_theirs).cloned().collect();
    wrong.extend(incoming.lines().iter().filter_map(bad_text));
    wrong.sort_by_key(|fault| fault.line);
    wrong
}

/// What is wrong with an export in itself, whatever log it is added to.
pub fn wrong_in_export(export: &[u8]) -> Vec<LogFault> {
    let mut wrong = wrong_in(&Log::read(export, &Seal::default()));
    // Which numbers are too high depends on the log that they are added to.
    wrong.retain(|fault| !matches!(fault.what, FaultKind::Far(_)));
    wrong
}

/// What adds those lines of another log that a log lacks; or why they do not fit.
pub fn imported(bytes: &[u8], other: &[u8], seal: &Seal) -> Result<Imported, Vec<LogFault>> {
    let log = Log::read(bytes, seal);
    // An export may be of a part of the log only.
    let reached = Seal {
        message: Some(log.next()),
        events: 0,
    };
    let incoming = Log::read(other, &reached);
    let wrong = wrong_in(&incoming);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let known: BTreeSet<&[u8]> = log.lines().iter().map(|line| line.bytes).collect();
    let lines = incoming.lines().iter().map(|line| line.bytes);
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = lines.partition(|line| known.contains(line));
    let mut imported = Imported {
        text: Vec::new(),
        added: new.len(),
        there: old.len(),
    };
    if new.is_empty() {
        return Ok(imported);
    }
    imported.text.extend(log.separator().as_bytes());
    imported.text.extend(new.join(&b'\n'));
    imported.text.push(b'\n');
    match Log::read(&[bytes, &imported.text].concat(), seal).faults() {
        [] => Ok(imported),
        faults => Err(faults.to_vec()),
    }
}
