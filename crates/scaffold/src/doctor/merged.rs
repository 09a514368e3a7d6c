//! The doctor before a merge: over the files that the merge would make, and for what is new in them.

use std::collections::BTreeMap;

use super::{Finding, Level};
use crate::tree::{Tree, TreePath};

/// The files as the merge of a head onto a base would leave them.
///
/// `changed` has every path that the head changed since it left the base, the old names of renamed files among them:
/// what the base has beside them stays, although the head does not know it.
pub fn merged<'a>(
    base: &Tree,
    head: &Tree,
    changed: impl IntoIterator<Item = &'a TreePath>,
) -> Tree {
    let mut tree = base.clone();
    for path in changed {
        match head.get(path) {
            Some(entry) => tree.put(path.clone(), entry.clone()),
            None => {
                let _gone = tree.remove(path);
            }
        }
    }
    tree
}

/// The errors that the base does not have as well. Lines move, so the same sentence about the same file is the same error.
pub fn new_errors(base: &[Finding], merged: &[Finding]) -> Vec<Finding> {
    let key = |it: &Finding| (it.file.clone(), it.rule, it.what.clone());
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    for finding in base {
        *known.entry(key(finding)).or_default() += 1;
    }
    let errors = merged.iter().filter(|it| it.level == Level::Error);
    let new = errors.filter(|it| match known.get_mut(&key(it)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    });
    new.cloned().collect()
}
