//! A tree as git has it: paths with their modes and the ids of their blobs, and contents by id.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Contents of blobs, by their ids.
pub type Contents = BTreeMap<BlobId, Vec<u8>>;

/// What became of each path: its new entry, or nothing where it is gone.
pub type Changes = BTreeMap<String, Option<Entry>>;

/// The id of a blob, or the commit of a submodule: SHA-1 as GitHub's repositories use it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId([u8; 20]);

/// A text that is no full id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id has 40 hexadecimal digits: give it whole")]
pub struct InvalidId;

impl BlobId {
    /// The id of no bytes at all.
    pub const EMPTY: Self = Self([
        0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b, 0x29, 0xae, 0x77, 0x5a, 0xd8,
        0xc2, 0xe4, 0x8c, 0x53, 0x91,
    ]);

    /// The id that means "no blob" in the index line of a patch.
    pub const ZERO: Self = Self([0; 20]);

    /// The id that git gives a content; none for one that is made to collide, which git refuses too.
    pub fn from_content(content: &[u8]) -> Option<Self> {
        let mut hasher = gix_hash::hasher(gix_hash::Kind::Sha1);
        hasher.update(format!("blob {}\0", content.len()).as_bytes());
        hasher.update(content);
        let id = hasher.try_finalize().ok()?;
        id.as_slice().try_into().ok().map(Self)
    }
}

impl FromStr for BlobId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let mut bytes = [0; 20];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidId)?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What an entry of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// `100644`.
    File,
    /// `100755`.
    Executable,
    /// `120000`: the content is where it points.
    Symlink,
    /// `160000`: the id is a commit of another repository.
    Submodule,
}

impl Mode {
    /// The mode as git writes it.
    pub fn octal(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
        }
    }

    /// The mode of an entry that is no folder.
    pub fn from_octal(text: &str) -> Option<Self> {
        let all = [Self::File, Self::Executable, Self::Symlink, Self::Submodule];
        all.into_iter().find(|mode| mode.octal() == text)
    }

    /// Whether it holds text or bytes that may be merged.
    pub fn is_file(self) -> bool {
        match self {
            Self::File | Self::Executable => true,
            Self::Symlink | Self::Submodule => false,
        }
    }

    /// Whether two modes differ in the bit to execute at most.
    pub fn same_type(self, other: Self) -> bool {
        self == other || (self.is_file() && other.is_file())
    }
}

/// One path's mode and blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub mode: Mode,
    /// Its blob, or a submodule's commit.
    pub id: BlobId,
}

/// All entries of a tree that are no folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree(BTreeMap<String, Entry>);

impl Tree {
    /// The entry at a path.
    pub fn get(&self, path: &str) -> Option<Entry> {
        self.0.get(path).copied()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries in order of path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Entry)> {
        self.0.iter().map(|(path, entry)| (path.as_str(), *entry))
    }

    /// Puts an entry at a path, or takes away what is there.
    pub fn set(&mut self, path: &str, entry: Option<Entry>) {
        match entry {
            Some(entry) => self.0.insert(path.to_owned(), entry),
            None => self.0.remove(path),
        };
    }

    /// Sets all paths of a change.
    pub fn apply(&mut self, changes: &Changes) {
        for (path, entry) in changes {
            self.set(path, *entry);
        }
    }

    /// What differs from an earlier tree.
    pub fn changes_since(&self, earlier: &Self) -> Changes {
        let gone = earlier.0.keys().filter(|path| !self.0.contains_key(*path));
        let gone = gone.map(|path| (path.clone(), None));
        let set = self
            .0
            .iter()
            .filter(|(path, entry)| earlier.0.get(*path) != Some(*entry));
        gone.chain(set.map(|(path, entry)| (path.clone(), Some(*entry))))
            .collect()
    }

    /// An entry that lies where a path needs a folder, or below where it needs a file.
    pub fn in_the_way(&self, path: &str) -> Option<&str> {
        let above = folders(path).find_map(|folder| self.0.get_key_value(folder));
        above
            .map(|(path, _)| path.as_str())
            .or_else(|| self.below(path))
    }

    fn below(&self, path: &str) -> Option<&str> {
        self.all_below(&format!("{path}/")).next()
    }

    /// The paths of all entries in a folder, whose name ends in a slash.
    pub(crate) fn all_below<'s>(&'s self, folder: &str) -> impl Iterator<Item = &'s str> {
        let from = (
            std::ops::Bound::Included(folder),
            std::ops::Bound::Unbounded,
        );
        let paths = self.0.range::<str, _>(from).map(|(path, _)| path.as_str());
        paths.take_while(move |path| path.starts_with(folder))
    }
}

impl FromIterator<(String, Entry)> for Tree {
    fn from_iter<I: IntoIterator<Item = (String, Entry)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// The folders that a path lies in, outermost first.
pub(crate) fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> Tree {
        let entry = Entry {
            mode: Mode::File,
            id: BlobId::EMPTY,
        };
        paths
            .iter()
            .map(|path| ((*path).to_owned(), entry))
            .collect()
    }

    #[test]
    fn ids_are_those_of_git() {
        assert_eq!(BlobId::from_content(b""), Some(BlobId::EMPTY));
        let hello = BlobId::from_content(b"hello\n").map(|id| id.to_string());
        assert_eq!(
            hello.as_deref(),
            Some("ce013625030ba8dba906f756967f9e9ca394464a")
        );
        assert_eq!("ce01".parse::<BlobId>(), Err(InvalidId));
    }

    #[test]
    fn a_file_and_a_folder_are_in_each_others_way() {
        let tree = tree(&["a/b/c", "a/b-x", "d"]);
        assert_eq!(tree.in_the_way("a/b"), Some("a/b/c"));
        assert_eq!(tree.in_the_way("d/e/f"), Some("d"));
        assert_eq!(tree.in_the_way("a/b/d"), None);
        assert_eq!(tree.in_the_way("a/b-"), None);
    }

    #[test]
    fn a_change_leads_from_one_tree_to_the_other() {
        let (earlier, later) = (tree(&["a", "b"]), tree(&["b", "c"]));
        let changes = later.changes_since(&earlier);
        assert_eq!(changes.keys().collect::<Vec<_>>(), ["a", "c"]);
        let mut woven = earlier;
        woven.apply(&changes);
        assert_eq!(woven, later);
    }
}
