//! Hunks placed in a file by the rules of `git apply`, on bytes.
//!
//! A hunk is looked for at its new line, then one after, one before, two after, and so on.
//! There is no fuzz and there are no rules for white space.

use std::collections::HashMap;

/// Comparisons of lines for one file: far more than real patches take, and less than a second.
const WORK_MAX: u64 = 50_000_000;

/// Lines that are moved as fast as one is compared.
const LINES_MOVED_PER_COMPARISON: u64 = 16;

/// One place of a file that a patch changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The first old line as the patch says, from one; zero where there is none.
    pub old_start: usize,
    /// The first new line as the patch says.
    pub new_start: usize,
    /// Its lines with their line ends.
    pub lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// It stays.
    Context(Vec<u8>),
    /// It goes.
    Removed(Vec<u8>),
    /// It comes.
    Added(Vec<u8>),
}

/// Why a hunk has no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    /// Its old lines are nowhere where they may be.
    #[error("the lines around line {0} are not there")]
    NotFound(usize),
    /// The file would go on in the middle of a line, which git does when a last line is the last no more.
    #[error("a last line without its end would join the line after it")]
    Joins,
    /// The search would take too long.
    #[error("the lines repeat so often that the search takes too long")]
    TooMuchWork,
}

impl Hunk {
    /// The lines that have to be there.
    fn before(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.lines.iter().filter_map(|line| match line {
            Line::Context(text) | Line::Removed(text) => Some(text.as_slice()),
            Line::Added(_) => None,
        })
    }

    /// The lines that are there afterwards.
    fn after(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().filter_map(|line| match line {
            Line::Context(text) | Line::Added(text) => Some(text.as_slice()),
            Line::Removed(_) => None,
        })
    }

    /// Whether it ends in a line that stays.
    fn has_trailing_context(&self) -> bool {
        matches!(self.lines.last(), Some(Line::Context(_)))
    }
}

/// The content after all hunks, or why one has no place.
pub fn place(content: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, Misplaced> {
    let mut image = Image::new(content);
    hunks.iter().try_for_each(|hunk| image.put(hunk))?;
    image.content()
}

/// Lines with their line ends.
pub(crate) fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split_inclusive(|byte| *byte == b'\n')
}

/// A line of the file as it is so far.
#[derive(Clone, Copy)]
struct Held {
    /// Equal lines have equal numbers.
    number: u32,
    /// A hunk wrote it.
    written: bool,
}

/// The file as it is so far.
struct Image<'a> {
    held: Vec<Held>,
    texts: Vec<&'a [u8]>,
    numbers: HashMap<&'a [u8], u32>,
    work_left: u64,
}

/// The old lines of a hunk, and where they may be.
struct Wanted {
    numbers: Vec<u32>,
    /// The number of the last line with a line end, if it has none in the patch and may have one here.
    ended: Option<u32>,
    at_start: bool,
    at_end: bool,
}

impl<'a> Image<'a> {
    fn new(content: &'a [u8]) -> Self {
        let mut image = Self {
            held: Vec::new(),
            texts: Vec::new(),
            numbers: HashMap::new(),
            work_left: WORK_MAX,
        };
        image.held = lines(content).map(|line| image.hold(line, false)).collect();
        image
    }

    fn hold(&mut self, text: &'a [u8], written: bool) -> Held {
        Held {
            number: self.number(text),
            written,
        }
    }

    fn number(&mut self, text: &'a [u8]) -> u32 {
        let next = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            next
        })
    }

    fn put(&mut self, hunk: &'a Hunk) -> Result<(), Misplaced> {
        let wanted = self.wanted(hunk);
        let from = hunk.new_start.saturating_sub(1);
        let at = self
            .find(&wanted, from)?
            .ok_or(Misplaced::NotFound(hunk.old_start))?;
        let new: Vec<Held> = hunk.after().map(|line| self.hold(line, true)).collect();
        if new.len() != wanted.numbers.len() {
            let moved = self.held.len().saturating_sub(at) as u64;
            self.spend(moved / LINES_MOVED_PER_COMPARISON)?;
        }
        self.held.splice(at..at + wanted.numbers.len(), new);
        Ok(())
    }

    fn wanted(&mut self, hunk: &'a Hunk) -> Wanted {
        let numbers: Vec<u32> = hunk.before().map(|line| self.number(line)).collect();
        let at_end = !hunk.has_trailing_context();
        let open = hunk
            .before()
            .last()
            .filter(|line| !line.ends_with(b"\n") && !at_end);
        let ended = open.and_then(|line| {
            let ended = [line, b"\n"].concat();
            self.numbers.get(ended.as_slice()).copied()
        });
        Wanted {
            numbers,
            ended,
            at_start: hunk.old_start <= 1,
            at_end,
        }
    }

    /// The first place that fits, nearest to `from`, the one after before the one before.
    fn find(&mut self, wanted: &Wanted, from: usize) -> Result<Option<usize>, Misplaced> {
        let Some(last) = self.held.len().checked_sub(wanted.numbers.len()) else {
            return Ok(None);
        };
        let only = match (wanted.at_start, wanted.at_end) {
            (true, true) if last > 0 => return Ok(None),
            (true, _) => Some(0),
            (false, true) => Some(last),
            (false, false) => None,
        };
        if let Some(only) = only {
            return Ok(self.fits(wanted, only)?.then_some(only));
        }
        let from = from.min(self.held.len());
        for distance in 0..=self.held.len() {
            let after = from + distance;
            if after <= last && self.fits(wanted, after)? {
                return Ok(Some(after));
            }
            let before = from.checked_sub(distance).filter(|at| *at <= last);
            if let Some(before) = before
                && self.fits(wanted, before)?
            {
                return Ok(Some(before));
            }
        }
        Ok(None)
    }

    fn fits(&mut self, wanted: &Wanted, at: usize) -> Result<bool, Misplaced> {
        let held = self.held.get(at..).unwrap_or_default();
        let last = wanted.numbers.len().saturating_sub(1);
        let differs =
            wanted
                .numbers
                .iter()
                .zip(held)
                .enumerate()
                .position(|(i, (wanted_number, held))| {
                    let ended = i == last && wanted.ended == Some(held.number);
                    held.written || (held.number != *wanted_number && !ended)
                });
        self.spend(differs.unwrap_or(last) as u64 + 1)?;
        Ok(differs.is_none())
    }

    fn spend(&mut self, work: u64) -> Result<(), Misplaced> {
        self.work_left = self
            .work_left
            .checked_sub(work)
            .ok_or(Misplaced::TooMuchWork)?;
        Ok(())
    }

    fn content(self) -> Result<Vec<u8>, Misplaced> {
        let texts = self
            .held
            .iter()
            .filter_map(|held| self.texts.get(held.number as usize));
        let texts: Vec<&[u8]> = texts.copied().collect();
        let ends = texts.iter().rev().skip(1).all(|line| line.ends_with(b"\n"));
        if ends {
            Ok(texts.concat())
        } else {
            Err(Misplaced::Joins)
        }
    }
}

#[cfg(test)]
mod tests;
