//! Trees made of others by changes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::program::{line, parts};
use super::{Contents, Trouble};

/// One change of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A file has these bytes.
    Put {
        path: String,
        /// Its bytes.
        bytes: Vec<u8>,
        /// Whether it may be run.
        is_executable: bool,
    },
    /// A file gets one more line; it is made where it is missing.
    Append { path: String, line: String },
    /// A path has this object: a file, a link, another repository, or a folder with all that is in it.
    Place {
        path: String,
        /// The mode in octal digits.
        mode: String,
        /// The object.
        oid: String,
    },
    /// A file, or a folder with all that is in it, is gone; it has to be there.
    Remove(String),
    /// A file bears another name; it has to be there.
    Move {
        /// The old path.
        from: String,
        /// The new one.
        to: String,
    },
    /// A path is as it is in another tree or commit, or missing as it is there.
    Restore {
        path: String,
        /// The other one.
        from: String,
    },
}

impl Change {
    /// A file has this text.
    pub(crate) fn put(path: &str, text: &str) -> Self {
        Self::Put {
            path: path.to_owned(),
            bytes: text.as_bytes().to_vec(),
            is_executable: false,
        }
    }

    /// Where something is put, or taken away.
    fn path(&self) -> &str {
        match self {
            Self::Put { path, .. }
            | Self::Append { path, .. }
            | Self::Place { path, .. }
            | Self::Remove(path)
            | Self::Move { to: path, .. }
            | Self::Restore { path, .. } => path,
        }
    }
}

/// Whether git would leave a path out of an index, without a word.
pub(crate) fn is_odd(path: &str) -> bool {
    let odd = |part: &str| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git");
    path.contains('\0') || path.split('/').any(odd)
}

/// Mode and object of each file.
type Files = BTreeMap<String, (String, String)>;

const FOLDER: &str = "040000";
const FILE: &str = "100644";
const EXECUTABLE: &str = "100755";

impl Contents {
    /// The tree of another one, or of a commit, with changes made to it in their order.
    pub(crate) fn tree_with(&self, base: &str, changes: &[Change]) -> Result<String, Trouble> {
        if let Some(path) = changes.iter().map(Change::path).find(|path| is_odd(path)) {
            return Err(Trouble::new(format!("`{path}` is no path of a file")));
        }
        let mut files = self.files(base)?;
        let mut blobs = self.write_blobs(&files, changes)?.into_iter();
        for change in changes {
            match change {
                Change::Put {
                    path,
                    is_executable,
                    ..
                } => {
                    let mode = if *is_executable { EXECUTABLE } else { FILE };
                    put(&mut files, path, mode, &blobs.next().unwrap_or_default());
                }
                Change::Append { path, .. } => {
                    put(&mut files, path, FILE, &blobs.next().unwrap_or_default());
                }
                Change::Place { path, mode, oid } if mode == FOLDER => {
                    clear(&mut files, path);
                    for (below, object) in self.files(oid)? {
                        files.insert(format!("{path}/{below}"), object);
                    }
                }
                Change::Place { path, mode, oid } => put(&mut files, path, mode, oid),
                Change::Remove(path) => {
                    if !clear(&mut files, path) {
                        return Err(Trouble::new(format!("there is no {path} to remove")));
                    }
                }
                Change::Move { from, to } => {
                    let moved = files.remove(from);
                    let (mode, oid) =
                        moved.ok_or_else(|| Trouble::new(format!("there is no {from} to move")))?;
                    put(&mut files, to, &mode, &oid);
                }
                Change::Restore { path, from } => match self.files(from)?.remove(path) {
                    Some((mode, oid)) => put(&mut files, path, &mode, &oid),
                    None => {
                        clear(&mut files, path);
                    }
                },
            }
        }
        self.write_tree(&files)
    }

    /// All files of a tree or a commit.
    fn files(&self, tree: &str) -> Result<Files, Trouble> {
        let listed = self.program.run(&["ls-tree", "-r", "-z", tree])?;
        let entries = parts(&listed).into_iter().filter_map(|entry| {
            let (object, path) = entry.split_once('\t')?;
            let mut words = object.split(' ');
            let (mode, _, oid) = (words.next()?, words.next()?, words.next()?);
            Some((path.to_owned(), (mode.to_owned(), oid.to_owned())))
        });
        Ok(entries.collect())
    }

    /// The blobs that changes put, in their order.
    fn write_blobs(&self, files: &Files, changes: &[Change]) -> Result<Vec<String>, Trouble> {
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for change in changes {
            match change {
                Change::Put { bytes, .. } => texts.push(bytes.clone()),
                Change::Append { path, line } => {
                    let mut bytes = match files.get(path) {
                        Some((_, oid)) => self.program.run(&["cat-file", "blob", oid])?,
                        None => Vec::new(),
                    };
                    bytes.extend(line.bytes().chain([b'\n']));
                    texts.push(bytes);
                }
                Change::Place { .. }
                | Change::Remove(_)
                | Change::Move { .. }
                | Change::Restore { .. } => {}
            }
        }
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let scratch = tempfile::tempdir_in(self.folder()).map_err(Trouble::disk)?;
        let mut names = String::new();
        for (at, bytes) in texts.iter().enumerate() {
            let path = scratch.path().join(at.to_string());
            std::fs::write(&path, bytes).map_err(Trouble::disk)?;
            names.push_str(&format!("{}\n", path.display()));
        }
        let args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
        let made = self.program.feed(&args, names.as_bytes())?;
        let made = String::from_utf8_lossy(&made).into_owned();
        Ok(made.lines().map(str::to_owned).collect())
    }

    fn write_tree(&self, files: &Files) -> Result<String, Trouble> {
        let scratch = tempfile::tempdir_in(self.folder()).map_err(Trouble::disk)?;
        let index: PathBuf = scratch.path().join("index");
        let entries: String = files
            .iter()
            .map(|(path, (mode, oid))| format!("{mode} {oid}\t{path}\0"))
            .collect();
        let args = ["update-index", "-z", "--index-info"];
        self.program.with_index(&index, &args, entries.as_bytes())?;
        let made = self.program.with_index(&index, &["write-tree"], &[])?;
        Ok(line(&made))
    }
}

/// Puts a file there, in place of a folder of that name and of files that bear the names of its folders.
fn put(files: &mut Files, path: &str, mode: &str, oid: &str) {
    clear(files, path);
    for (at, _) in path.match_indices('/') {
        files.remove(&path[..at]);
    }
    files.insert(path.to_owned(), (mode.to_owned(), oid.to_owned()));
}

/// Takes away a file, or a folder with all that is in it. False when nothing was there.
fn clear(files: &mut Files, path: &str) -> bool {
    let folder = format!("{path}/");
    let before = files.len();
    files.retain(|other, _| other != path && !other.starts_with(&folder));
    files.len() < before
}
