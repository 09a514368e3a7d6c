//! What git lists: the files of a commit, blobs, and working trees.

use anyhow::{Context, Result, anyhow};
use domain::ids::CommitSha;
use jiff::Timestamp;
use scaffold::commits::CommitLine;
use scaffold::tree::{InvalidPath, Mode, TEXT_BYTES_MAX, TreePath};

/// What stands for no blob.
const NO_BLOB: &str = "0000000000000000000000000000000000000000";

/// One row of `git ls-tree --long`.
pub(super) struct Row {
    /// Its path, or the same as text and why it cannot be worked with.
    pub(super) path: Result<TreePath, (String, InvalidPath)>,
    pub(super) mode: Mode,
    pub(super) blob: String,
    bytes: Option<usize>,
}

impl Row {
    pub(super) fn read(row: &[u8]) -> Result<Self> {
        let odd = || anyhow!("git listed a file in an unknown form");
        let row = String::from_utf8_lossy(row);
        let (facts, path) = row.split_once('\t').ok_or_else(odd)?;
        let mut facts = facts.split_ascii_whitespace();
        let mode = match facts.next() {
            Some("100644") => Mode::File,
            Some("100755") => Mode::Executable,
            Some("120000") => Mode::Link,
            Some("160000") => Mode::Submodule,
            Some(_) | None => return Err(odd()),
        };
        let blob = facts.nth(1).ok_or_else(odd)?.to_owned();
        let bytes = facts.next().and_then(|bytes| bytes.parse().ok());
        // What is no UTF-8 shows as U+FFFD, which no path of ours holds.
        let path = match path.parse() {
            _ if path.contains(char::REPLACEMENT_CHARACTER) => {
                Err((path.to_owned(), InvalidPath::Character))
            }
            Ok(path) => Ok(path),
            Err(why) => Err((path.to_owned(), why)),
        };
        Ok(Self {
            path,
            mode,
            blob,
            bytes,
        })
    }

    /// Whether its contents are read: a submodule has none, and a large file is none of ours.
    pub(super) fn is_read(&self) -> bool {
        self.path.is_ok()
            && self.mode != Mode::Submodule
            && self.bytes.is_some_and(|bytes| bytes <= TEXT_BYTES_MAX)
    }
}

/// How `git log` is asked for a commit: its id, its time and its message, a line each.
pub(super) const COMMIT_FORM: &str = "--format=%H%n%ct%n%B";

/// A commit of `git log`.
pub(super) fn commit_line(row: &str) -> Result<CommitLine> {
    let mut lines = row.lines();
    let mut next = || lines.next().unwrap_or_default();
    let (sha, at, subject) = (next(), next(), next());
    let odd = || format!("reading what git says of the commit {sha}");
    let at = at.parse::<i64>().with_context(odd)?;
    Ok(CommitLine {
        sha: sha.parse::<CommitSha>().with_context(odd)?,
        subject: subject.to_owned(),
        at: Timestamp::from_second(at).with_context(odd)?,
    })
}

/// The row of an index that puts a file there.
pub(super) fn addition(path: &str, mode: &str, blob: &str) -> String {
    format!("{mode} {blob}\t{path}\0")
}

/// A mode as git writes it.
pub(super) fn octal(mode: Mode) -> &'static str {
    match mode {
        Mode::File => "100644",
        Mode::Executable => "100755",
        Mode::Link => "120000",
        Mode::Submodule => "160000",
    }
}

/// The row of an index that takes a file away.
pub(super) fn removal(path: &str) -> String {
    format!("0 {NO_BLOB}\t{path}\0")
}

/// The next blob of what `git cat-file --batch` says: a line with its length, then its bytes and a line end.
pub(super) fn next_blob(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let line = rest.iter().position(|byte| *byte == b'\n')?;
    let (head, body) = rest.split_at(line);
    let head = str::from_utf8(head).ok()?;
    let length: usize = head.rsplit_once(' ')?.1.parse().ok()?;
    let body = body.get(1..)?;
    let blob = body.get(..length)?.to_vec();
    *rest = body.get(length + 1..)?;
    Some(blob)
}

/// The same, or nothing where git has no such blob.
pub(super) fn next_if_there(rest: &mut &[u8]) -> Option<Option<Vec<u8>>> {
    let line = rest.iter().position(|byte| *byte == b'\n')?;
    if rest.get(..line)?.ends_with(b" missing") {
        *rest = rest.get(line + 1..)?;
        return Some(None);
    }
    next_blob(rest).map(Some)
}

/// The folder that has a branch checked out, of what `git worktree list --porcelain` says.
pub(super) fn folder_with(branch: &str, listed: &str) -> Option<String> {
    let wanted = format!("branch refs/heads/{branch}");
    let mut folder = None;
    for line in listed.lines() {
        if let Some(path) = line.strip_prefix("worktree ") {
            folder = Some(path);
        } else if line == wanted {
            return folder.map(str::to_owned);
        }
    }
    None
}

/// `owner/name` of an address on GitHub, in the forms that git takes.
pub(super) fn on_github(address: &str) -> Option<&str> {
    let starts = [
        "https://github.com/",
        "ssh://git@github.com/",
        "git@github.com:",
    ];
    let mut paths = starts
        .into_iter()
        .filter_map(|start| address.strip_prefix(start));
    let path = paths.next()?.trim_end_matches('/');
    Some(path.strip_suffix(".git").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_on_github_is_known_by_its_remote() {
        for (address, expected) in [
            ("https://github.com/acme/shop.git", Some("acme/shop")),
            ("https://github.com/acme/shop/", Some("acme/shop")),
            ("git@github.com:acme/shop.git", Some("acme/shop")),
            ("ssh://git@github.com/acme/shop", Some("acme/shop")),
            ("https://gitlab.com/acme/shop.git", None),
        ] {
            assert_eq!(on_github(address), expected, "{address}");
        }
    }

    #[test]
    fn the_folder_of_a_branch_is_that_of_its_working_tree() {
        let listed = "worktree /a\nHEAD 1\nbranch refs/heads/main\n\nworktree /b c\nHEAD 2\nbranch refs/heads/jules\n\nworktree /d\nHEAD 3\ndetached\n";
        assert_eq!(folder_with("jules", listed).as_deref(), Some("/b c"));
        assert_eq!(folder_with("jul", listed), None);
    }
}
