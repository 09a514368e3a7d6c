//! The removal of a requirement: what goes with it, and what waits for a decider again.

use domain::pipeline::RequirementRef;

use super::{requirement, with_requirement};
use crate::layout::{Layout, stream_of};
use crate::tree::{Change, Tree, TreePath};

/// What goes with a requirement: its file and its events, where they are there. An event that was added to its file since is pending
/// again: nothing was done about it.
pub fn removal(tree: &Tree, known: &RequirementRef) -> Vec<Change> {
    let files = std::iter::once(&known.path).chain(&known.events);
    let files = files.filter_map(|path| path.parse::<TreePath>().ok());
    let files = files.filter(|path| tree.get(path).is_some());
    let added = added(tree, known).unwrap_or_default();
    files.map(Change::Remove).chain(added).collect()
}

/// The events that only the present file names, moved back; none if it cannot be read.
fn added(tree: &Tree, known: &RequirementRef) -> Option<Vec<Change>> {
    let path: TreePath = known.path.parse().ok()?;
    let paths = Layout::paths(tree).ok()?.of_stream(tree, &stream_of(&path));
    let now = requirement(tree, &paths, &path)?.reference;
    let is_new = |path: &&String| !known.events.contains(path);
    let back = |path: &String| {
        let path: TreePath = path.parse().ok()?;
        let text = with_requirement(tree.text(path.as_str())?, "")?;
        let place = format!("{}/{}", paths.pending, path.file_name());
        Some([
            Change::Write(place.parse().ok()?, text),
            Change::Remove(path),
        ])
    };
    let added = now.events.iter().filter(is_new);
    Some(added.filter_map(back).flatten().collect())
}
