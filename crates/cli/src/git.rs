//! The `git` program on a repository of this machine: reads trees, and writes commits without touching the working tree.

mod listing;
mod program;
#[cfg(test)]
mod tests;
mod weaving;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use domain::ids::{BranchName, CommitSha};
use scaffold::commits::CommitLine;
use scaffold::tree::{Content, Entry, Mode, Tree, TreePath};

use crate::error::Error;
use listing::{
    COMMIT_FORM, Row, addition, commit_line, folder_with, next_blob, octal, on_github, removal,
};
use program::{complaint, feed, git_in, run, text};

pub(crate) use weaving::patch;

/// A repository and the folder it is checked out to.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    root: PathBuf,
}

/// A file as a commit gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) path: TreePath,
    pub(crate) text: String,
}

/// Files as a commit gets them beside others that it loses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rearranged {
    /// Files that go.
    pub(crate) removed: Vec<TreePath>,
    /// Files with what another one held: its mode and its blob.
    pub(crate) placed: Vec<(TreePath, Mode, String)>,
    /// Files with a text of their own.
    pub(crate) written: Vec<Written>,
}

/// What a branch came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Put {
    pub(crate) tip: CommitSha,
    /// Whether it had to be moved or made.
    pub(crate) moved: bool,
}

/// How a branch of this repository lies to the one that was fetched from `origin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lag {
    /// It lacks no commit of the other one.
    None,
    /// It lacks commits, and has none of its own.
    Behind,
    /// Each has commits that the other one lacks.
    Diverged,
}

impl Git {
    /// The repository that a folder lies in.
    pub(crate) fn at(folder: &Path) -> Result<Self> {
        let output =
            run(git_in(folder).args(["rev-parse", "--path-format=absolute", "--show-toplevel"]))?;
        if !output.status.success() {
            let what = format!(
                "git finds no repository at {}: {}",
                folder.display(),
                complaint(&output)
            );
            let next = "go into a repository, or make one with `git init`";
            return Err(Error::unfit("no_repository", what, next).into());
        }
        let root = text(&output.stdout)?.trim_end_matches('\n').to_owned();
        Ok(Self { root: root.into() })
    }

    /// The folder that everything is checked out to.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The branch that is checked out; none where a commit is.
    pub(crate) fn branch(&self) -> Result<Option<String>> {
        self.asked(&["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    /// The folder whose working tree has a branch checked out, if there is one.
    pub(crate) fn checked_out(&self, branch: &BranchName) -> Result<Option<String>> {
        let listed = self.said(&["worktree", "list", "--porcelain"])?;
        Ok(folder_with(branch.as_str(), &listed))
    }

    /// The commit that a revision names, if there is one.
    pub(crate) fn commit(&self, revision: &str) -> Result<Option<CommitSha>> {
        let named = format!("{revision}^{{commit}}");
        let sha = self.asked(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &named,
        ])?;
        let sha = sha.map(|sha| sha.parse());
        sha.transpose()
            .with_context(|| format!("reading what git says of {revision}"))
    }

    /// The commit that a person named.
    pub(crate) fn must_commit(&self, revision: &str) -> Result<CommitSha> {
        let missing = || {
            let what = format!("there is no commit `{revision}`");
            let next = "name a branch, a tag or a SHA of this repository";
            anyhow::Error::from(Error::unfit("no_commit", what, next))
        };
        self.commit(revision)?.ok_or_else(missing)
    }

    /// The tip of a branch: that of this repository, else the one that was fetched from `origin`.
    pub(crate) fn tip(&self, branch: &BranchName) -> Result<Option<CommitSha>> {
        match self.commit(&format!("refs/heads/{branch}"))? {
            Some(tip) => Ok(Some(tip)),
            None => self.commit(&format!("refs/remotes/origin/{branch}")),
        }
    }

    /// Whether a branch of this repository lacks commits that were fetched from `origin`, and has others.
    pub(crate) fn lag(&self, branch: &BranchName) -> Result<Lag> {
        let here = self.commit(&format!("refs/heads/{branch}"))?;
        let there = self.commit(&format!("refs/remotes/origin/{branch}"))?;
        let (Some(here), Some(there)) = (here, there) else {
            return Ok(Lag::None);
        };
        let lacks = |one: &CommitSha, other: &CommitSha| -> Result<bool> {
            let lacking = format!("{one}..{other}");
            Ok(self.said(&["rev-list", "--count", &lacking])? != "0")
        };
        Ok(match (lacks(&here, &there)?, lacks(&there, &here)?) {
            (false, _) => Lag::None,
            (true, false) => Lag::Behind,
            (true, true) => Lag::Diverged,
        })
    }

    /// The files of some folders at a commit.
    pub(crate) fn tree(&self, commit: &CommitSha, folders: &[&str]) -> Result<Tree> {
        let mut listed = self.git();
        listed
            .args(["ls-tree", "-r", "-z", "--long", commit.as_str(), "--"])
            .args(folders);
        let listed = feed(&mut listed, b"")?;
        let rows = listed.split(|byte| *byte == 0);
        let rows: Result<Vec<Row>> = rows.filter(|row| !row.is_empty()).map(Row::read).collect();
        let rows = rows?;
        let wanted = rows.iter().filter(|row| row.is_read());
        let mut texts = self.blobs(wanted.map(|row| row.blob.as_str()))?.into_iter();
        let mut tree = Tree::default();
        for row in rows {
            let content = if row.is_read() {
                Content::from_bytes(&texts.next().context("git left a file out")?)
            } else {
                Content::TooLarge
            };
            let entry = Entry {
                mode: row.mode,
                blob: Some(row.blob),
                content,
            };
            match row.path {
                Ok(path) => tree.put(path, entry),
                Err((path, why)) => tree.put_unusable(path, why),
            }
        }
        Ok(tree)
    }

    /// The contents of blobs, in their order.
    fn blobs<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Result<Vec<Vec<u8>>> {
        let ids: Vec<&str> = ids.collect();
        let asked: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let said = feed(self.git().args(["cat-file", "--batch"]), asked.as_bytes())?;
        let mut rest = said.as_slice();
        ids.iter()
            .map(|id| next_blob(&mut rest).with_context(|| format!("reading {id}")))
            .collect()
    }

    /// Commits files on top of a branch, or begins the branch at `start`. Other files stay as they are, and there is no
    /// commit where all of these are there already.
    pub(crate) fn put(
        &self,
        branch: &BranchName,
        start: &CommitSha,
        files: &[Written],
        subject: &str,
    ) -> Result<Put> {
        let rows = self.written(files)?;
        self.advance(branch, start, &rows, subject)
    }

    /// Commits files that change their places, in one commit with those that are written and removed.
    pub(crate) fn rearrange(
        &self,
        branch: &BranchName,
        start: &CommitSha,
        files: &Rearranged,
        subject: &str,
    ) -> Result<Put> {
        let removed = files.removed.iter().map(|path| removal(path.as_str()));
        let placed = files.placed.iter();
        let placed = placed.map(|(path, mode, blob)| addition(path.as_str(), octal(*mode), blob));
        let rows: String = removed.chain(placed).collect();
        let rows = rows + &self.written(&files.written)?;
        self.advance(branch, start, &rows, subject)
    }

    /// Commits rows of an index on top of a branch, if they change anything.
    fn advance(
        &self,
        branch: &BranchName,
        start: &CommitSha,
        rows: &str,
        subject: &str,
    ) -> Result<Put> {
        let reference = format!("refs/heads/{branch}");
        let old = self.commit(&reference)?;
        let parent = old.as_ref().unwrap_or(start);
        let tree = self.tree_with(Some(parent), rows)?;
        let tip = if self.said(&["rev-parse", &format!("{parent}^{{tree}}")])? == tree {
            parent.clone()
        } else {
            self.known()?;
            let made = self.said(&["commit-tree", &tree, "-p", parent.as_str(), "-m", subject])?;
            made.parse().context("reading the id of a new commit")?
        };
        let moved = old.as_ref() != Some(&tip);
        if moved {
            self.move_branch(branch, old.as_ref(), &tip, subject)?;
        }
        Ok(Put { tip, moved })
    }

    /// Moves a branch from where it was read, or makes it. Refuses where another process did so meanwhile.
    fn move_branch(
        &self,
        branch: &BranchName,
        old: Option<&CommitSha>,
        tip: &CommitSha,
        subject: &str,
    ) -> Result<()> {
        let reference = format!("refs/heads/{branch}");
        let was = old.map_or("", CommitSha::as_str);
        let tip = tip.as_str();
        let Err(error) = self.said(&["update-ref", "-m", subject, &reference, tip, was]) else {
            return Ok(());
        };
        if self.commit(&reference)?.as_ref() == old {
            return Err(error);
        }
        let what = format!("another command made or moved the branch {branch} meanwhile");
        Err(Error::refused("branch_moved", what, "run it again").into())
    }

    /// Refuses where git cannot say whose a commit is.
    fn known(&self) -> Result<()> {
        let (author, committer) = ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT");
        for name in [author, committer] {
            if self.asked(&["var", name])?.is_none() {
                let next =
                    "tell it with `git config user.name NAME` and `git config user.email ADDRESS`";
                let what = "git does not know whose the commit is";
                return Err(Error::unfit("no_identity", what, next).into());
            }
        }
        Ok(())
    }

    /// The id of the tree of a commit with these rows in place of its own, or of these rows alone.
    fn tree_with(&self, commit: Option<&CommitSha>, rows: &str) -> Result<String> {
        let folder = tempfile::tempdir().context("making a folder for an index")?;
        let index = folder.path().join("index");
        let with_index = |arguments: &[&str], fed: &[u8]| {
            let mut command = self.git();
            command.env("GIT_INDEX_FILE", &index).args(arguments);
            feed(&mut command, fed)
        };
        if let Some(commit) = commit {
            with_index(&["read-tree", commit.as_str()], b"")?;
        }
        with_index(&["update-index", "-z", "--index-info"], rows.as_bytes())?;
        let tree = with_index(&["write-tree"], b"")?;
        Ok(text(&tree)?.trim().to_owned())
    }

    /// Stores texts as blobs and returns their rows of an index.
    fn written(&self, files: &[Written]) -> Result<String> {
        let blobs = self.stored(files.iter().map(|file| file.text.as_bytes()))?;
        let rows = files.iter().zip(blobs.lines());
        Ok(rows
            .map(|(file, blob)| addition(file.path.as_str(), octal(Mode::File), blob))
            .collect())
    }

    /// Stores contents as blobs, all of them by one process, and returns their ids, one a line.
    fn stored<'a>(&self, contents: impl Iterator<Item = &'a [u8]>) -> Result<String> {
        let folder = tempfile::tempdir().context("making a folder for contents")?;
        let mut paths = String::new();
        for (number, content) in contents.enumerate() {
            let path = folder.path().join(number.to_string());
            fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
            paths.push_str(&format!("{}\n", path.display()));
        }
        let arguments = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
        let ids = feed(self.git().args(arguments), paths.as_bytes())?;
        Ok(text(&ids)?.to_owned())
    }

    /// The last commits that lead to one, which is among them, the newest first.
    pub(crate) fn log(&self, tip: &CommitSha, most: usize) -> Result<Vec<CommitLine>> {
        let most = format!("--max-count={most}");
        let arguments = ["log", "-z", COMMIT_FORM, &most, tip.as_str(), "--"];
        let listed = feed(self.git().args(arguments), b"")?;
        let listed = String::from_utf8_lossy(&listed);
        let rows = listed.split('\0').filter(|row| !row.trim().is_empty());
        rows.map(commit_line).collect()
    }

    /// The paths of the files that differ between two commits.
    pub(crate) fn changed(&self, old: &CommitSha, new: &CommitSha) -> Result<Vec<String>> {
        let (old, new) = (old.as_str(), new.as_str());
        let listed = self.said(&["diff", "--name-only", "--no-renames", "-z", old, new, "--"])?;
        let paths = listed.split('\0').filter(|path| !path.is_empty());
        Ok(paths.map(str::to_owned).collect())
    }

    /// Whether files below a folder differ from the commit that is checked out, or are not known to git.
    pub(crate) fn is_changed(&self, folder: &str) -> Result<bool> {
        let folder = format!(":(top){folder}");
        let listed = self.said(&["status", "--porcelain", "--", &folder])?;
        Ok(!listed.is_empty())
    }

    /// The files below a folder that git knows, by their paths from the root.
    pub(crate) fn tracked(&self, folder: &str) -> Result<Vec<String>> {
        let folder = format!(":(top){folder}");
        let listed = self.said(&["ls-files", "-z", "--", &folder])?;
        let paths = listed.split('\0').filter(|path| !path.is_empty());
        Ok(paths.map(str::to_owned).collect())
    }

    /// Deletes a branch and returns where it was.
    pub(crate) fn delete(&self, branch: &BranchName) -> Result<Option<CommitSha>> {
        let reference = format!("refs/heads/{branch}");
        let tip = self.commit(&reference)?;
        if let Some(tip) = &tip {
            self.said(&["update-ref", "-d", &reference, tip.as_str()])?;
        }
        Ok(tip)
    }

    /// The repository on GitHub that the remote `origin` names.
    pub(crate) fn origin(&self) -> Result<Option<String>> {
        let address = self.asked(&["config", "--get", "remote.origin.url"])?;
        Ok(address.as_deref().and_then(on_github).map(str::to_owned))
    }

    /// What git answers, or nothing where it says no.
    fn asked(&self, arguments: &[&str]) -> Result<Option<String>> {
        let output = run(self.git().args(arguments))?;
        if !output.status.success() {
            return Ok(None);
        }
        Ok(Some(text(&output.stdout)?.trim().to_owned()))
    }

    /// What git answers, where it has to.
    pub(crate) fn said(&self, arguments: &[&str]) -> Result<String> {
        let said = feed(self.git().args(arguments), b"")?;
        Ok(text(&said)?.trim().to_owned())
    }

    fn git(&self) -> Command {
        git_in(&self.root)
    }
}
