//! A repository's files as the caller has read them: paths, modes, blobs and texts.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use domain::fence::is_invisible;

/// The longest path in bytes: what Linux allows, and no repository needs more.
const PATH_BYTES_MAX: usize = 4_096;

/// A text of this many bytes is the largest that a prompt includes and the doctor reads.
///
/// The largest file that an agent writes here has 4 KB; sixteen times that leaves room for what people write.
pub const TEXT_BYTES_MAX: usize = 64 * 1_024;

/// Where a file lies, from the root of its repository, with forward slashes.
///
/// Never absolute, never above the root, and without control characters or characters that reorder text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(String);

/// Why a text is no path inside a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    /// It is empty, or one of its parts is, or is a dot.
    #[error("a path has no empty part and no part `.`")]
    EmptyPart,
    /// It starts at the root of a disk.
    #[error("a path starts at the root of the repository, not at the root of a disk")]
    Absolute,
    /// It leaves the repository.
    #[error("a path never goes up with `..`")]
    Upwards,
    /// It holds a character that is not seen, a line end, or a backslash.
    #[error("a path holds no control character, no hidden character and no backslash")]
    Character,
    /// It is longer than a path may be.
    #[error("a path has at most {PATH_BYTES_MAX} bytes")]
    Long,
}

impl TreePath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the file, without its folders.
    pub fn file_name(&self) -> &str {
        self.0
            .rsplit_once('/')
            .map_or(self.as_str(), |(_, name)| name)
    }

    /// The name of the file without what follows its last dot.
    pub fn stem(&self) -> &str {
        match self.file_name().rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            Some(_) | None => self.file_name(),
        }
    }

    /// The folder it lies in, empty for one at the root.
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The rest of the path, if the file lies somewhere below a folder.
    pub fn below(&self, folder: &str) -> Option<&str> {
        self.0.strip_prefix(folder)?.strip_prefix('/')
    }
}

impl FromStr for TreePath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        let unseen = |c: char| is_invisible(c) || matches!(c, '\n' | '\t' | '\\');
        if text.contains(unseen) {
            return Err(InvalidPath::Character);
        }
        if text.len() > PATH_BYTES_MAX {
            return Err(InvalidPath::Long);
        }
        if text.starts_with('/') || has_drive(text) {
            return Err(InvalidPath::Absolute);
        }
        if text.split('/').any(|part| part == "..") {
            return Err(InvalidPath::Upwards);
        }
        if text.split('/').any(|part| part.is_empty() || part == ".") {
            return Err(InvalidPath::EmptyPart);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Whether a path begins with a drive as on Windows, which is absolute there.
fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What git says an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A regular file (100644).
    File,
    /// A regular file that may be run (100755).
    Executable,
    /// A symbolic link (120000).
    Link,
    /// Another repository (160000).
    Submodule,
}

impl Mode {
    /// Whether it holds text or bytes of its own.
    pub fn is_regular(self) -> bool {
        match self {
            Self::File | Self::Executable => true,
            Self::Link | Self::Submodule => false,
        }
    }
}

/// What is known of a file's contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// All of it.
    Text(String),
    /// It is not UTF-8.
    NotText,
    /// It has more than [`TEXT_BYTES_MAX`] bytes, or the caller did not read it for another reason.
    TooLarge,
}

impl Content {
    /// The contents of a file with these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        if bytes.len() > TEXT_BYTES_MAX {
            return Self::TooLarge;
        }
        match str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::NotText,
        }
    }
}

/// One file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What git says it is.
    pub mode: Mode,
    /// The id of its blob, where the tree was read from git.
    pub blob: Option<String>,
    /// Its contents.
    pub content: Content,
}

impl Entry {
    /// A regular file with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            mode: Mode::File,
            blob: None,
            content: Content::Text(text.into()),
        }
    }
}

/// The files of a repository, or of some of its folders, in order of path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    entries: BTreeMap<TreePath, Entry>,
    /// Files that are there and cannot be worked with.
    unusable: Vec<(String, InvalidPath)>,
}

impl Tree {
    /// Puts a file there, in place of the one that is there.
    pub fn put(&mut self, path: TreePath, entry: Entry) {
        self.entries.insert(path, entry);
    }

    /// Notes a file whose path cannot be worked with: nothing reads it, and the doctor reports it.
    pub fn put_unusable(&mut self, path: String, why: InvalidPath) {
        self.unusable.push((path, why));
    }

    /// The files whose paths cannot be worked with.
    pub fn unusable(&self) -> &[(String, InvalidPath)] {
        &self.unusable
    }

    /// Takes a file away.
    pub fn remove(&mut self, path: &TreePath) -> Option<Entry> {
        self.entries.remove(path)
    }

    /// The file at a path.
    pub fn get(&self, path: &TreePath) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// The text of a regular file, if there is one.
    pub fn text(&self, path: &str) -> Option<&str> {
        let entry = self.entries.get(&path.parse().ok()?)?;
        match (&entry.content, entry.mode.is_regular()) {
            (Content::Text(text), true) => Some(text),
            (Content::Text(_), false) | (Content::NotText | Content::TooLarge, _) => None,
        }
    }

    /// Whether anything lies at a path, whatever it is.
    pub fn has(&self, path: &str) -> bool {
        path.parse()
            .is_ok_and(|path: TreePath| self.entries.contains_key(&path))
    }

    /// Whether a folder holds any file. Git knows no empty ones.
    pub fn has_folder(&self, folder: &str) -> bool {
        self.below(folder).next().is_some()
    }

    /// The files somewhere below a folder, in order of path.
    pub fn below(&self, folder: &str) -> impl Iterator<Item = (&TreePath, &Entry)> {
        let start = TreePath(format!("{folder}/"));
        let range = self.entries.range(start..);
        range.take_while(move |(path, _)| path.below(folder).is_some())
    }

    /// All files, in order of path.
    pub fn iter(&self) -> impl Iterator<Item = (&TreePath, &Entry)> {
        self.entries.iter()
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Extend<(TreePath, Entry)> for Tree {
    fn extend<T: IntoIterator<Item = (TreePath, Entry)>>(&mut self, files: T) {
        self.entries.extend(files);
    }
}

impl FromIterator<(TreePath, Entry)> for Tree {
    fn from_iter<T: IntoIterator<Item = (TreePath, Entry)>>(files: T) -> Self {
        Self {
            entries: files.into_iter().collect(),
            unusable: Vec::new(),
        }
    }
}

/// One file that is to be other than it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It has this text, whether it was there or not.
    Write(TreePath, String),
    /// It is gone.
    Remove(TreePath),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> TreePath {
        text.parse().unwrap()
    }

    #[test]
    fn a_path_stays_inside_its_repository() {
        for (text, why) in [
            ("", InvalidPath::EmptyPart),
            ("a//b", InvalidPath::EmptyPart),
            ("a/", InvalidPath::EmptyPart),
            ("./a", InvalidPath::EmptyPart),
            ("/etc/passwd", InvalidPath::Absolute),
            ("C:/a", InvalidPath::Absolute),
            ("../a", InvalidPath::Upwards),
            ("a/../../b", InvalidPath::Upwards),
            ("a/..", InvalidPath::Upwards),
            ("a\\..\\b", InvalidPath::Character),
            ("a\nb", InvalidPath::Character),
            ("a\0b", InvalidPath::Character),
            ("a\u{202e}b", InvalidPath::Character),
        ] {
            assert_eq!(text.parse::<TreePath>(), Err(why), "{text:?}");
        }
        let long = "a".repeat(PATH_BYTES_MAX + 1);
        assert_eq!(long.parse::<TreePath>(), Err(InvalidPath::Long));
        for text in ["a", ".jules/JULES.md", "a/b..c/..d", "ä/中.yml", "..."] {
            assert_eq!(path(text).as_str(), text);
        }
    }

    #[test]
    fn a_path_has_a_folder_a_name_and_a_stem() {
        let file = path(".jules/exchange/changes.yml");
        assert_eq!(
            (file.folder(), file.file_name(), file.stem()),
            (".jules/exchange", "changes.yml", "changes")
        );
        assert_eq!(file.below(".jules"), Some("exchange/changes.yml"));
        assert_eq!(file.below(".jul"), None);
        let hidden = path(".gitkeep");
        assert_eq!((hidden.folder(), hidden.stem()), ("", ".gitkeep"));
    }

    #[test]
    fn a_folder_holds_what_lies_below_it_only() {
        let files = [
            ".jules/a",
            ".jules-old/b",
            ".jules/c/d",
            ".jules",
            ".julesz/e",
        ];
        let tree: Tree = files
            .into_iter()
            .map(|file| (path(file), Entry::text("")))
            .collect();
        let below: Vec<_> = tree
            .below(".jules")
            .map(|(path, _)| path.as_str())
            .collect();
        assert_eq!(below, [".jules/a", ".jules/c/d"]);
        assert!(tree.has_folder(".jules/c") && !tree.has_folder(".jules/a"));
        assert!(tree.has(".jules/a") && !tree.has(".jules/c") && !tree.has("../x"));
    }

    #[test]
    fn only_a_regular_file_of_text_has_a_text() {
        let entry = |mode, content| Entry {
            mode,
            blob: None,
            content,
        };
        let mut tree = Tree::default();
        tree.put(
            path("text"),
            entry(Mode::Executable, Content::from_bytes(b"x")),
        );
        tree.put(path("link"), entry(Mode::Link, Content::from_bytes(b"x")));
        tree.put(
            path("bytes"),
            entry(Mode::File, Content::from_bytes(&[0xff])),
        );
        let large = vec![b'x'; TEXT_BYTES_MAX + 1];
        tree.put(
            path("large"),
            entry(Mode::File, Content::from_bytes(&large)),
        );
        let texts = ["text", "link", "bytes", "large", "gone"].map(|it| tree.text(it));
        assert_eq!(texts, [Some("x"), None, None, None, None]);
        assert_eq!(tree.len(), 4);
    }
}
