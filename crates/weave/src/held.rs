//! Whether a tree holds a change that a session joined with others: all that the change makes is there, whatever else is.
//!
//! Such a change is in no tree as it was made, since it conflicts, so its lines are looked for where it makes them.
//! What cannot be told counts as missing: a join that is written in other words is not recognised.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::member::Change;
use crate::three_way::{Merged, Place, merge};
use crate::tree::{BlobId, Contents, Entry, Tree};

/// How many blobs are compared for one change at most, three for most paths: all of them are in memory at once.
pub const BLOBS_MAX: usize = 90;

/// The blobs whose contents [`holds`] needs; without one of them its path counts as missing. None if it is not held whatever they are,
/// or if there are too many to tell.
pub fn needs(tree: &Tree, changed: &BTreeMap<String, Change>) -> Option<BTreeSet<BlobId>> {
    let mut ids = BTreeSet::new();
    for (path, change) in changed {
        match by_ids(tree.get(path), *change) {
            ByIds::Held => {}
            ByIds::Missing => return None,
            ByIds::Texts(texts) => ids.extend(texts),
        }
        if ids.len() > BLOBS_MAX {
            return None;
        }
    }
    Some(ids)
}

/// Whether a tree holds all of a change: each path is as the change makes it, or has all lines that the change makes there.
pub fn holds(tree: &Tree, changed: &BTreeMap<String, Change>, contents: &Contents) -> bool {
    changed
        .iter()
        .all(|(path, change)| holds_path(tree.get(path), *change, contents))
}

/// What modes and ids alone say of a path.
enum ByIds {
    /// All of the change is there.
    Held,
    /// Some of it is not.
    Missing,
    /// These texts say it: as it was, as it is in the tree, and as the change makes it.
    Texts([BlobId; 3]),
}

fn by_ids(ours: Option<Entry>, change: Change) -> ByIds {
    if ours == change.after {
        return ByIds::Held;
    }
    let (Some(now), Some(theirs)) = (ours, change.after) else {
        return ByIds::Missing;
    };
    let sets_mode = change
        .before
        .is_none_or(|before| before.mode != theirs.mode);
    // What is as it was before has nothing of the change.
    if ours == change.before || sets_mode && now.mode != theirs.mode {
        return ByIds::Missing;
    }
    let base = change.before.map_or(BlobId::EMPTY, |before| before.id);
    if theirs.id == base || theirs.id == now.id {
        return ByIds::Held;
    }
    let mut entries = [Some(now), Some(theirs), change.before]
        .into_iter()
        .flatten();
    match entries.all(|entry| entry.mode.is_file()) {
        true => ByIds::Texts([base, now.id, theirs.id]),
        false => ByIds::Missing,
    }
}

fn holds_path(ours: Option<Entry>, change: Change, contents: &Contents) -> bool {
    let texts = match by_ids(ours, change) {
        ByIds::Held => return true,
        ByIds::Missing => return false,
        ByIds::Texts(texts) => texts,
    };
    let texts = texts.map(|id| {
        let empty = (id == BlobId::EMPTY).then_some(&[][..]);
        contents.get(&id).map(Vec::as_slice).or(empty)
    });
    let [Some(base), Some(ours), Some(theirs)] = texts else {
        return false;
    };
    holds_text(base, ours, theirs)
}

/// The change would bring nothing more, but for places where its lines stand among others.
fn holds_text(base: &[u8], ours: &[u8], theirs: &[u8]) -> bool {
    match merge(base, ours, theirs) {
        Ok(Merged::Clean(both)) => both == ours,
        Ok(Merged::Clashing {
            places,
            ours: without,
            ..
        }) => without == ours && places.iter().all(holds_place),
        Err(_) => false,
    }
}

/// How often each line stands somewhere.
type Counts<'l> = BTreeMap<&'l [u8], usize>;

/// The lines that a change brings stand there in their order, and those that it takes away do not. That says nothing of lines
/// that are moved or repeated, so a change that does it counts as missing.
fn holds_place(place: &Place) -> bool {
    let (ours, base) = (counts(&place.ours), counts(&place.base));
    let theirs = counts(&place.theirs);
    let lines = place.theirs.iter().map(Vec::as_slice);
    let (kept, brought): (Vec<&[u8]>, Vec<&[u8]>) = lines.partition(|line| base.contains_key(line));
    let taken_away: Vec<&[u8]> = base
        .iter()
        .filter(|(line, before)| count(&theirs, line) < **before)
        .map(|(line, _)| *line)
        .collect();
    let changes_lines = !brought.is_empty() || !taken_away.is_empty();
    let mut gone = taken_away.into_iter();
    changes_lines
        && gone.all(|line| count(&ours, line) <= count(&theirs, line))
        && stand_in_order(&kept, &place.base)
        && stand_in_order(&brought, &place.ours)
}

fn counts(lines: &[Vec<u8>]) -> Counts<'_> {
    let mut counts = Counts::new();
    for line in lines {
        *counts.entry(line.as_slice()).or_default() += 1;
    }
    counts
}

fn count(counts: &Counts<'_>, line: &[u8]) -> usize {
    counts.get(line).copied().unwrap_or_default()
}

/// Whether lines stand among others, in their order.
fn stand_in_order(wanted: &[&[u8]], lines: &[Vec<u8>]) -> bool {
    let mut lines = lines.iter();
    let mut wanted = wanted.iter();
    wanted.all(|wanted| lines.any(|line| line.as_slice() == *wanted))
}
