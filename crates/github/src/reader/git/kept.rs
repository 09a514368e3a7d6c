//! Blobs and trees that were read: what an id names never changes, so a process asks for it once.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

use domain::ids::{CommitSha, RepoName};
use weave::tree::{BlobId, Tree};

/// How many bytes of blobs are kept, and how many of trees: a small part of the smallest function's memory.
const KEPT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What an entry of a tree takes apart from its path, in bytes.
const ENTRY_BYTES: usize = 100;

/// What was read of repositories. A weave asks GitHub about its pull requests first, so nothing is had from here without access.
#[derive(Debug, Default)]
pub(crate) struct KeptObjects {
    blobs: Shelf<Vec<u8>>,
    trees: Shelf<Tree>,
}

impl KeptObjects {
    pub(super) fn blob(&self, repo: &RepoName, id: BlobId) -> Option<Vec<u8>> {
        self.blobs.find(repo, &id)
    }

    pub(super) fn keep_blob(&self, repo: &RepoName, id: BlobId, bytes: &[u8]) {
        self.blobs.keep(repo, &id, bytes.to_vec(), bytes.len());
    }

    pub(super) fn tree(&self, repo: &RepoName, commit: &CommitSha) -> Option<Tree> {
        self.trees.find(repo, commit)
    }

    pub(super) fn keep_tree(&self, repo: &RepoName, commit: &CommitSha, tree: &Tree) {
        let bytes: usize = tree.iter().map(|(path, _)| path.len() + ENTRY_BYTES).sum();
        self.trees.keep(repo, commit, tree.clone(), bytes);
    }
}

/// Values by repository and id.
#[derive(Debug, Default)]
struct Shelf<V>(Mutex<Held<V>>);

#[derive(Debug, Default)]
struct Held<V> {
    values: HashMap<(RepoName, String), V>,
    bytes: usize,
}

impl<V: Clone> Shelf<V> {
    fn find(&self, repo: &RepoName, id: &impl Display) -> Option<V> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.values.get(&(repo.clone(), id.to_string())).cloned()
    }

    /// Keeps a value. A full shelf is emptied first: what is wanted again is read again.
    fn keep(&self, repo: &RepoName, id: &impl Display, value: V, bytes: usize) {
        if bytes > KEPT_BYTES_MAX {
            return;
        }
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.bytes + bytes > KEPT_BYTES_MAX {
            held.values.clear();
            held.bytes = 0;
        }
        let place = (repo.clone(), id.to_string());
        if held.values.insert(place, value).is_none() {
            held.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop() -> RepoName {
        "acme/shop".parse().unwrap()
    }

    #[test]
    fn a_full_shelf_is_emptied_and_what_is_too_large_is_not_kept() {
        let shelf = Shelf::default();
        let half = KEPT_BYTES_MAX / 2;
        for (id, bytes) in [(1, half), (1, half), (2, half), (9, KEPT_BYTES_MAX + 1)] {
            shelf.keep(&shop(), &id, id, bytes);
        }
        let found = |id: i32| shelf.find(&shop(), &id);
        assert_eq!((found(1), found(2), found(9)), (Some(1), Some(2), None));
        shelf.keep(&shop(), &3, 3, 1);
        assert_eq!((found(1), found(2), found(3)), (None, None, Some(3)));
    }

    #[test]
    fn what_one_repository_has_is_not_in_another() {
        let kept = KeptObjects::default();
        let id = BlobId::from_content(b"x").unwrap();
        kept.keep_blob(&shop(), id, b"x");
        let other: RepoName = "acme/other".parse().unwrap();
        assert_eq!(kept.blob(&other, id), None);
        assert_eq!(kept.blob(&shop(), id), Some(b"x".to_vec()));
    }
}
