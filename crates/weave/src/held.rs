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

/// The blobs whose contents [`holds`] needs; without one of them its path counts as missing.
pub fn needs(tree: &Tree, changed: &BTreeMap<String, Change>) -> BTreeSet<BlobId> {
    let other = changed
        .iter()
        .filter(|(path, change)| tree.get(path) != change.after);
    let entries = other.flat_map(|(path, change)| [change.before, tree.get(path), change.after]);
    let files = entries.flatten().filter(|entry| entry.mode.is_file());
    files.map(|entry| entry.id).collect()
}

/// Whether a tree holds all of a change: each path is as the change makes it, or has all lines that the change makes there.
pub fn holds(tree: &Tree, changed: &BTreeMap<String, Change>, contents: &Contents) -> bool {
    changed
        .iter()
        .all(|(path, change)| holds_path(tree.get(path), *change, contents))
}

fn holds_path(ours: Option<Entry>, change: Change, contents: &Contents) -> bool {
    if ours == change.after {
        return true;
    }
    let (Some(ours), Some(theirs)) = (ours, change.after) else {
        return false;
    };
    let sets_mode = change
        .before
        .is_none_or(|before| before.mode != theirs.mode);
    if sets_mode && ours.mode != theirs.mode {
        return false;
    }
    let base = change.before.map_or(BlobId::EMPTY, |before| before.id);
    if theirs.id == base || theirs.id == ours.id {
        return true;
    }
    let mut entries = [Some(ours), Some(theirs), change.before]
        .into_iter()
        .flatten();
    let are_files = entries.all(|entry| entry.mode.is_file());
    let find = |id: BlobId| {
        let empty = (id == BlobId::EMPTY).then_some(&[][..]);
        contents.get(&id).map(Vec::as_slice).or(empty)
    };
    let texts = (find(base), find(ours.id), find(theirs.id));
    let (Some(base), Some(ours), Some(theirs)) = texts else {
        return false;
    };
    are_files && holds_text(base, ours, theirs)
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
