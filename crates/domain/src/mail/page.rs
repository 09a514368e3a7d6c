//! Sealed pages: lines of the log kept apart, each page hashed over the one before, so that a change anywhere shows.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::line::parse;
use super::log::{FaultKind, LOST_MAX, Log, LogFault, Seal};
use crate::ids::{MessageId, digest};

/// So many events make a page.
pub const PAGE_EVENTS: u64 = 100;

/// What stands above the lines of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    page: u64,
    /// How many events there are up to the end of this page.
    events: u64,
    /// The highest message up to the end of this page.
    message: Option<MessageId>,
    /// The hash of the page before.
    before: Option<String>,
    hash: String,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    header: Header,
    lines: Vec<String>,
}

/// Why a page cannot be relied on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPage {
    /// It has no header, or it was changed.
    #[error("it was changed since it was sealed")]
    Changed,
    /// It does not go on where the page before ends.
    #[error("it does not follow the page before it")]
    Apart,
}

impl Page {
    /// Seals lines behind the last page.
    pub fn seal(before: Option<&Self>, lines: Vec<String>) -> Self {
        let known = before.map(|page| &page.header);
        let ids = lines.iter().filter_map(|line| parse(line.as_bytes()).ok());
        let highest = ids.filter_map(|entry| entry.message()).max();
        let mut header = Header {
            page: known.map_or(0, |header| header.page) + 1,
            events: known.map_or(0, |header| header.events) + lines.len() as u64,
            message: highest.max(known.and_then(|header| header.message)),
            before: known.map(|header| header.hash.clone()),
            hash: String::new(),
        };
        header.hash = hash(&header, &lines);
        Self { header, lines }
    }

    /// The page as a text.
    pub fn text(&self) -> String {
        let mut text = head(&self.header);
        for line in &self.lines {
            text.push('\n');
            text.push_str(line);
        }
        text.push('\n');
        text
    }

    /// Reads a page and sees whether it is as it was sealed.
    pub fn parse(text: &str) -> Result<Self, BadPage> {
        let mut lines = text.split_terminator('\n');
        let header = lines
            .next()
            .and_then(|head| serde_json::from_str(head).ok());
        let header: Header = header.ok_or(BadPage::Changed)?;
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        let page = Self { header, lines };
        let is_whole = hash(&page.header, &page.lines) == page.header.hash;
        // The text is compared too, since a header that lacks what may be null reads alike.
        let is_ours = is_whole && page.text() == text;
        is_ours.then_some(page).ok_or(BadPage::Changed)
    }

    /// Its number, from 1.
    pub fn number(&self) -> u64 {
        self.header.page
    }

    /// Its lines.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// How far the log is sealed with this page.
    pub fn seals(&self) -> Seal {
        Seal {
            events: self.header.events,
            message: self.header.message,
        }
    }

    fn follows(&self, before: Option<&Self>) -> bool {
        let again = Self::seal(before, self.lines.clone());
        let most = i64::try_from(self.header.events).unwrap_or(i64::MAX);
        let highest = self.header.message.map_or(0, MessageId::number);
        again == *self && highest <= most.saturating_add(LOST_MAX)
    }
}

/// The header is plain data, so writing it cannot fail.
fn head(header: &Header) -> String {
    serde_json::to_string(header).unwrap_or_default()
}

fn hash(header: &Header, lines: &[String]) -> String {
    let unsigned = Header {
        hash: String::new(),
        ..header.clone()
    };
    digest(&format!("{}\n{}", head(&unsigned), lines.join("\n")))
}

/// How far pages seal a log, if each follows the one before; else the number of the first that does not.
pub fn chain(pages: &[Page]) -> Result<Seal, (u64, BadPage)> {
    let mut before = None;
    for (number, page) in (1..).zip(pages) {
        if !page.follows(before) {
            return Err((number, BadPage::Apart));
        }
        before = Some(page);
    }
    Ok(before.map(Page::seals).unwrap_or_default())
}

/// The lines that no page has.
pub fn unsealed(log: &Log<'_>, pages: &[Page]) -> Vec<String> {
    let entries = pages.iter().flat_map(Page::lines);
    let entries = entries.filter_map(|line| parse(line.as_bytes()).ok());
    let sealed: BTreeSet<_> = entries.map(|entry| entry.id().clone()).collect();
    let lines = log.lines().iter();
    let open = lines.filter(|line| !sealed.contains(line.entry.id()));
    open.map(|line| String::from_utf8_lossy(line.bytes).into_owned())
        .collect()
}

/// Where a log is not as its pages have it.
pub fn compare(log: &Log<'_>, pages: &[Page]) -> Vec<LogFault> {
    let end = log.lines().last().map_or(1, |line| line.number + 1);
    let there = log.lines().iter().map(|line| (line.entry.id(), line));
    let there: BTreeMap<_, _> = there.collect();
    let sealed = pages
        .iter()
        .flat_map(|page| page.lines().iter().map(|line| (page.number(), line)));
    let found = sealed.filter_map(|(page, text)| {
        let entry = parse(text.as_bytes()).ok()?;
        let id = entry.id().clone();
        match there.get(&id) {
            Some(line) if line.bytes == text.as_bytes() => None,
            Some(line) => Some(LogFault {
                line: line.number,
                what: FaultKind::Changed { id, page },
            }),
            None => Some(LogFault {
                line: end,
                what: FaultKind::Gone { id, page },
            }),
        }
    });
    found.collect()
}
