//! Three-way merges of texts: verdict and bytes of `git merge-file`, with the places where both sides differ.

#[cfg(test)]
mod tests;

use std::num::NonZeroU8;

use gix_merge::blob::Resolution;
use gix_merge::blob::builtin_driver::text::{Conflict, ConflictStyle, Labels, Merge, Options};

use crate::apply::TEXT_BYTES_MAX;
use crate::place::lines;

/// How many bytes of a file decide whether it is text, as in git.
const BINARY_PROBE_BYTES: usize = 8_000;

/// How long a marker between the sides of a conflict is: no line of a real file begins like that.
const MARKER_LENGTH: u8 = u8::MAX;

/// The most lines of a text that is merged: seconds where lines repeat as badly as they can.
pub const LINES_MAX: usize = 200_000;

/// How far from where it should be a conflict's lines are looked for.
const LINES_SEARCHED: usize = 1_000;

/// What comes of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Both changes together.
    Clean(Vec<u8>),
    /// Both sides changed the same lines.
    Clashing {
        /// Where, in the order of the file.
        places: Vec<Place>,
        /// Both changes together, with their lines in all places.
        theirs: Vec<u8>,
        /// Both changes together, with our lines in all places.
        ours: Vec<u8>,
    },
}

/// A place that both sides changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The first line of it in our file, from one.
    pub line: usize,
    /// Our lines.
    pub ours: Vec<Vec<u8>>,
    /// The lines that both started from.
    pub base: Vec<Vec<u8>>,
    /// Their lines.
    pub theirs: Vec<Vec<u8>>,
}

/// Why texts are not merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unmergeable {
    /// One of them is no text.
    #[error("it is no text")]
    Binary,
    /// One of them is too large.
    #[error("it has over {TEXT_BYTES_MAX} bytes or {LINES_MAX} lines")]
    TooLarge,
    /// One of them has a line like the markers of a conflict.
    #[error("one of its lines is like the markers of a conflict")]
    Marked,
}

/// Merges two texts that began as the same one.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Merged, Unmergeable> {
    [base, ours, theirs].into_iter().try_for_each(check)?;
    let mut input = Default::default();
    let merge = Merge::new(
        &mut input,
        ours,
        base,
        theirs,
        Options::default().diff_algorithm,
    );
    let mut out = Vec::new();
    let marker_size = NonZeroU8::MAX;
    let keep = Conflict::Keep {
        style: ConflictStyle::Diff3,
        marker_size,
    };
    match merge.run(&mut out, Labels::default(), keep) {
        Resolution::Complete | Resolution::CompleteWithAutoResolvedConflict => {
            Ok(Merged::Clean(out))
        }
        Resolution::Conflict => {
            let places = places(&out, ours);
            merge.run(&mut out, Labels::default(), Conflict::ResolveWithTheirs);
            let mut with_ours = Vec::new();
            merge.run(&mut with_ours, Labels::default(), Conflict::ResolveWithOurs);
            Ok(Merged::Clashing {
                places,
                theirs: out,
                ours: with_ours,
            })
        }
    }
}

/// Whether git takes a content for binary.
fn is_binary(content: &[u8]) -> bool {
    content
        .iter()
        .take(BINARY_PROBE_BYTES)
        .any(|byte| *byte == 0)
}

fn check(content: &[u8]) -> Result<(), Unmergeable> {
    if is_binary(content) {
        return Err(Unmergeable::Binary);
    }
    if content.len() > TEXT_BYTES_MAX || lines(content).count() > LINES_MAX {
        return Err(Unmergeable::TooLarge);
    }
    if lines(content).any(|line| marker(line).is_some()) {
        return Err(Unmergeable::Marked);
    }
    Ok(())
}

/// The character of a marker, if a line begins with one.
fn marker(line: &[u8]) -> Option<u8> {
    let first = *line.first().filter(|byte| b"<|=>".contains(byte))?;
    let run = line.iter().take_while(|byte| **byte == first).count();
    (run >= usize::from(MARKER_LENGTH)).then_some(first)
}

/// The places of a text with markers. `ours` is the file whose lines are counted.
fn places(marked: &[u8], ours: &[u8]) -> Vec<Place> {
    let ours: Vec<&[u8]> = lines(ours).collect();
    let mut places: Vec<Place> = Vec::new();
    let mut open: Option<(Place, u8)> = None;
    // Lines of the result with our side in each place, and how far that is from our file.
    let mut written = 0_usize;
    let mut shift = 0_isize;
    for line in lines(marked) {
        open = match (marker(line), open.take()) {
            (Some(b'<'), _) => Some((
                Place {
                    line: 0,
                    ours: vec![],
                    base: vec![],
                    theirs: vec![],
                },
                b'<',
            )),
            (Some(b'>'), Some((mut place, _))) => {
                let at = locate(&ours, &place.ours, written.saturating_add_signed(shift));
                shift = at.cast_signed() - written.cast_signed();
                written += place.ours.len();
                place.line = at + 1;
                places.push(place);
                None
            }
            (Some(side), Some((place, _))) => Some((place, side)),
            (None, Some((mut place, side))) => {
                side_of(&mut place, side).push(line.to_owned());
                Some((place, side))
            }
            (_, None) => {
                written += 1;
                None
            }
        };
    }
    places
}

fn side_of(place: &mut Place, side: u8) -> &mut Vec<Vec<u8>> {
    match side {
        b'<' => &mut place.ours,
        b'|' => &mut place.base,
        _ => &mut place.theirs,
    }
}

/// Where lines are in a file, nearest to where they should be.
fn locate(file: &[&[u8]], block: &[Vec<u8>], expected: usize) -> usize {
    let expected = expected.min(file.len());
    let is_at = |at: &usize| {
        let held = file.get(*at..*at + block.len()).unwrap_or_default();
        held.len() == block.len()
            && held
                .iter()
                .zip(block)
                .all(|(held, line)| same_line(held, line))
    };
    let near =
        (0..=LINES_SEARCHED).flat_map(|far| [Some(expected + far), expected.checked_sub(far)]);
    near.flatten().find(is_at).unwrap_or(expected)
}

/// Equal but for the line end, which a marker adds to a last line.
fn same_line(held: &[u8], line: &[u8]) -> bool {
    held == line || held.trim_ascii_end() == line.trim_ascii_end()
}
