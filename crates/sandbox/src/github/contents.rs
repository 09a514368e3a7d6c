//! The files of a repository as real git: a bare repository in a temporary folder, driven by the `git` program.
//!
//! Commits are made with the sandbox's clock and the names of its users, so the same story gives the same SHAs.

mod changes;
mod diff;
mod program;
mod reading;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

pub(crate) use changes::{Change, is_odd};
pub(crate) use program::{Signature, Trouble};
pub(crate) use reading::{Found, Listed, ReadCommit};

use super::setup::{ChangedFile, RepoSetup};
use program::Program;

/// The tree without files, which every git knows.
pub(crate) const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The file in the bare repository that says that something was pushed into it.
const PUSHED: &str = "pushed";

/// The file in the bare repository that names the refs which no push may move.
const PROTECTED: &str = "protected";

/// Keeps what no branch has, since commits wait for their branch.
const SETTINGS: &str =
    "[gc]\n\tauto = 0\n[receive]\n\tautogc = false\n[core]\n\tautocrlf = false\n";

/// Notes a push from outside.
const POST_RECEIVE: &str = "#!/bin/sh\n: > \"$GIT_DIR/pushed\"\n";

/// Refuses a push to a protected branch in GitHub's words.
const UPDATE: &str = "#!/bin/sh\nif grep -qxF \"$1\" \"$GIT_DIR/protected\"; then\n  echo \"GH013: Repository rule violations found for $1.\" >&2\n  echo \"Changes must be made through a pull request.\" >&2\n  exit 1\nfi\n";

/// A bare repository. Commits never change, so what was worked out about two of them is kept.
#[derive(Debug)]
pub(crate) struct Contents {
    program: Program,
    /// Deleted with the repository.
    _folder: TempDir,
    diffs: Mutex<BTreeMap<(String, String), Vec<ChangedFile>>>,
    merges: Mutex<BTreeMap<(String, String), Merge>>,
}

/// What comes of merging two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// This tree.
    Clean(String),
    /// A tree with conflict markers in these files; empty where the two have no commit in common.
    Conflict { tree: String, paths: Vec<String> },
}

impl Contents {
    /// Makes the bare repository of a setup and answers it with the tree of its first commit.
    pub(crate) fn from_setup(setup: &RepoSetup) -> Result<(Self, String), Trouble> {
        let folder = TempDir::with_prefix("sandbox-git-").map_err(Trouble::disk)?;
        let program = Program::new(folder.path().to_owned());
        let branch = format!("--initial-branch={}", setup.default_branch);
        program.run(&["init", "--quiet", "--bare", "--template=", &branch])?;
        set_up(folder.path(), setup).map_err(Trouble::disk)?;
        let contents = Self {
            program,
            _folder: folder,
            diffs: Mutex::default(),
            merges: Mutex::default(),
        };
        let mut changes = match &setup.folder {
            Some(folder) if folder.join(".git").exists() => tracked(folder)?,
            Some(folder) => files_of(folder).map_err(Trouble::disk)?,
            None => Vec::new(),
        };
        let texts = setup.files.iter();
        changes.extend(texts.map(|(path, text)| Change::put(path, text)));
        let tree = contents.tree_with(EMPTY_TREE, &changes)?;
        Ok((contents, tree))
    }

    /// Where the bare repository is.
    pub(crate) fn folder(&self) -> &Path {
        self.program.folder()
    }

    /// Leaves a copy with all branches in a folder that is empty or not there.
    pub(crate) fn keep(&self, folder: &Path) -> Result<(), Trouble> {
        let folder = std::path::absolute(folder).map_err(Trouble::disk)?;
        let name = folder.to_str();
        let name = name.ok_or_else(|| Trouble::new("the name of the folder is not UTF-8"))?;
        let copy = ["clone", "--quiet", "--bare", "--no-hardlinks", ".", name];
        self.program.run(&copy)?;
        // The original goes away with the sandbox.
        let forget = ["remote", "remove", "origin"];
        Program::new(folder).run(&forget).map(drop)
    }

    /// Makes a commit, which no branch has yet.
    pub(crate) fn commit(
        &self,
        tree: &str,
        parents: &[String],
        message: &str,
        by: &Signature<'_>,
    ) -> Result<String, Trouble> {
        let mut args = vec!["commit-tree", tree];
        for parent in parents {
            args.extend(["-p", parent.as_str()]);
        }
        let made = self.program.signed(&args, message.as_bytes(), by)?;
        Ok(program::line(&made))
    }

    /// Keeps bytes, which no tree has yet, and answers the id of their blob.
    pub(crate) fn store(&self, bytes: &[u8]) -> Result<String, Trouble> {
        let made = self
            .program
            .feed(&["hash-object", "-w", "--stdin"], bytes)?;
        Ok(program::line(&made))
    }

    /// Points a branch at a commit, or deletes it.
    pub(crate) fn point(&self, branch: &str, sha: Option<&str>) -> Result<(), Trouble> {
        let name = format!("refs/heads/{branch}");
        let args = match sha {
            Some(sha) => vec!["update-ref", &name, sha],
            None => vec!["update-ref", "-d", &name],
        };
        self.program.run(&args).map(drop)
    }

    /// Names the branches that no push may move, instead of those named before.
    pub(crate) fn protect(&self, branches: &[String]) {
        if let Err(error) = protect(self.folder(), branches) {
            tracing::error!(%error, "the protected branches of a repository stay as they were");
        }
    }

    /// Whether something was pushed from outside since this was asked last.
    pub(crate) fn was_pushed(&self) -> bool {
        fs::remove_file(self.folder().join(PUSHED)).is_ok()
    }

    /// The branches as they are in the bare repository.
    pub(crate) fn branches(&self) -> Result<BTreeMap<String, String>, Trouble> {
        let format = "--format=%(refname:lstrip=2)%09%(objectname)";
        let found = self.program.run(&["for-each-ref", format, "refs/heads/"])?;
        let text = String::from_utf8_lossy(&found).into_owned();
        let pairs = text.lines().filter_map(|line| line.split_once('\t'));
        Ok(pairs
            .map(|(name, sha)| (name.to_owned(), sha.to_owned()))
            .collect())
    }

    /// What comes of merging two commits.
    pub(crate) fn merge(&self, ours: &str, theirs: &str) -> Result<Merge, Trouble> {
        let key = (ours.to_owned(), theirs.to_owned());
        let mut known = self.merges.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(merge) = known.get(&key) {
            return Ok(merge.clone());
        }
        let merge = self.work_out(ours, theirs)?;
        known.insert(key, merge.clone());
        Ok(merge)
    }

    fn work_out(&self, ours: &str, theirs: &str) -> Result<Merge, Trouble> {
        let args = [
            "merge-tree",
            "--write-tree",
            "-z",
            "--name-only",
            "--no-messages",
            ours,
            theirs,
        ];
        let (code, output) = self.program.attempt(&args)?;
        let mut parts = program::parts(&output).into_iter();
        let tree = parts.next().unwrap_or_default();
        Ok(match code {
            Some(0) => Merge::Clean(tree),
            _ => Merge::Conflict {
                tree,
                paths: parts.collect(),
            },
        })
    }
}

fn set_up(folder: &Path, setup: &RepoSetup) -> std::io::Result<()> {
    let mut config = fs::read_to_string(folder.join("config"))?;
    config.push_str(SETTINGS);
    fs::write(folder.join("config"), config)?;
    protect(folder, &setup.protected_branches)?;
    fs::create_dir_all(folder.join("hooks"))?;
    for (name, text) in [("post-receive", POST_RECEIVE), ("update", UPDATE)] {
        let path = folder.join("hooks").join(name);
        fs::write(&path, text)?;
        program::make_executable(&path)?;
    }
    Ok(())
}

/// Names the branches that no push may move.
fn protect(folder: &Path, branches: &[String]) -> std::io::Result<()> {
    let names: String = branches
        .iter()
        .map(|it| format!("refs/heads/{it}\n"))
        .collect();
    fs::write(folder.join(PROTECTED), names)
}

/// The files of a folder that git tracks there, as they lie in it: ignored ones can be secret, or very many.
fn tracked(folder: &Path) -> Result<Vec<Change>, Trouble> {
    let listed = Program::new(folder.to_owned()).run(&["ls-files", "-z"])?;
    let mut changes = Vec::new();
    for path in program::parts(&listed) {
        let place = folder.join(&path);
        let found = fs::symlink_metadata(&place);
        if found.is_ok_and(|found| found.is_file()) {
            changes.push(put(&place, path).map_err(Trouble::disk)?);
        }
    }
    Ok(changes)
}

/// A file of this machine, under its path in a repository.
fn put(place: &Path, path: String) -> std::io::Result<Change> {
    Ok(Change::Put {
        path,
        bytes: fs::read(place)?,
        is_executable: program::is_executable(&fs::metadata(place)?),
    })
}

/// The files of a folder, without those of its own git.
fn files_of(folder: &Path) -> std::io::Result<Vec<Change>> {
    let mut changes = Vec::new();
    let mut open: Vec<(PathBuf, String)> = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() && name != ".git" {
                open.push((entry.path(), format!("{path}/")));
            } else if kind.is_file() {
                changes.push(put(&entry.path(), path)?);
            }
        }
    }
    Ok(changes)
}
