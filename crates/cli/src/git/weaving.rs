//! What the weaver needs of a repository: a whole tree, blobs by their ids, and woven files in the working tree.

use std::collections::BTreeSet;

use anyhow::{Context, Result, anyhow, ensure};
use domain::ids::CommitSha;
use weave::tree::{BlobId, Changes, Contents, Entry, Mode, Tree};

use super::Git;
use super::listing::{addition, next_if_there, removal};
use super::program::{feed, git_in, text};

impl Git {
    /// Every entry of a commit that is no folder.
    pub(crate) fn entries(&self, commit: &CommitSha) -> Result<Tree> {
        let mut listed = self.git();
        listed.args(["ls-tree", "-r", "-z", commit.as_str()]);
        let listed = feed(&mut listed, b"")?;
        let rows = listed.split(|byte| *byte == 0);
        let entries = rows.filter(|row| !row.is_empty()).map(entry);
        entries
            .collect::<Result<_>>()
            .with_context(|| format!("reading the files of {commit}"))
    }

    /// The contents of those blobs that are there.
    pub(crate) fn contents(&self, ids: &BTreeSet<BlobId>) -> Result<Contents> {
        let asked: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let said = feed(self.git().args(["cat-file", "--batch"]), asked.as_bytes())?;
        let mut rest = said.as_slice();
        let mut contents = Contents::new();
        for id in ids {
            let found = next_if_there(&mut rest).with_context(|| format!("reading {id}"))?;
            contents.extend(found.map(|content| (*id, content)));
        }
        Ok(contents)
    }

    /// The blobs whose ids begin like these, in their order; none where it is not one.
    pub(crate) fn blobs_that_begin(&self, shortened: &[&str]) -> Result<Vec<Option<BlobId>>> {
        let asked: String = shortened
            .iter()
            .map(|id| format!("{id}^{{blob}}\n"))
            .collect();
        let mut checked = self.git();
        checked.args(["cat-file", "--batch-check=%(objectname)"]);
        let said = feed(&mut checked, asked.as_bytes())?;
        let found: Vec<_> = text(&said)?.lines().map(|id| id.parse().ok()).collect();
        ensure!(
            found.len() == shortened.len(),
            "git answered {} of {} questions about blobs",
            found.len(),
            shortened.len()
        );
        Ok(found)
    }

    /// The paths at which the working tree is other than a commit.
    pub(crate) fn changed_since(&self, commit: &CommitSha) -> Result<BTreeSet<String>> {
        let mut compared = self.git();
        let names = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff"];
        compared.args(names).args([commit.as_str(), "--"]);
        let listed = feed(&mut compared, b"")?;
        let paths = listed.split(|byte| *byte == 0).filter(|it| !it.is_empty());
        Ok(paths
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect())
    }

    /// Changes files of the working tree as they differ from a commit, all of them or none. The index stays.
    pub(crate) fn change_files(
        &self,
        commit: &CommitSha,
        changes: &Changes,
        made: &Contents,
    ) -> Result<()> {
        self.stored(made.values().map(Vec::as_slice))?;
        let tree = self.tree_with(Some(commit), &rows(changes))?;
        let patch = self.patch_between(commit.as_str(), &tree)?;
        // What the person set about white space is for patches that people write.
        let mut applied = self.git();
        applied.args([
            "apply",
            "--whitespace=nowarn",
            "--no-ignore-whitespace",
            "-",
        ]);
        feed(&mut applied, &patch).map(drop)
    }

    /// What differs between two trees, to the last byte.
    fn patch_between(&self, from: &str, to: &str) -> Result<Vec<u8>> {
        let mut compared = self.git();
        let exact = [
            "diff-tree",
            "-p",
            "--binary",
            "--full-index",
            "--no-renames",
        ];
        let plain = ["--no-ext-diff", "--no-textconv", from, to];
        feed(compared.args(exact).args(plain), b"")
    }
}

/// A change as a patch, made in a repository that has nothing else.
pub(crate) fn patch(before: &Tree, changes: &Changes, contents: &Contents) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir().context("making a folder for a repository")?;
    let mut begun = git_in(folder.path());
    feed(begun.args(["init", "--quiet", "--template="]), b"")?;
    let git = Git::at(folder.path())?;
    git.stored(contents.values().map(Vec::as_slice))?;
    let old = changes.keys().map(|path| (path.clone(), before.get(path)));
    let from = git.tree_with(None, &rows(&old.collect()))?;
    let to = git.tree_with(None, &rows(changes))?;
    git.patch_between(&from, &to)
}

/// One row of `git ls-tree`.
fn entry(row: &[u8]) -> Result<(String, Entry)> {
    let odd = || anyhow!("git listed a file in an unknown form");
    let row = text(row).context("a path is not UTF-8, and such files are woven with git only")?;
    let (facts, path) = row.split_once('\t').ok_or_else(odd)?;
    let mut facts = facts.split_ascii_whitespace();
    let mode = facts.next().and_then(Mode::from_octal).ok_or_else(odd)?;
    let id = facts.nth(1).ok_or_else(odd)?;
    let id = id
        .parse()
        .with_context(|| format!("reading the id of {path}"))?;
    Ok((path.to_owned(), Entry { mode, id }))
}

/// Rows of an index for what differs; a file goes before another one lies where it needs a folder.
fn rows(changes: &Changes) -> String {
    let gone = changes.iter().filter(|(_, entry)| entry.is_none());
    let gone = gone.map(|(path, _)| removal(path));
    let set = changes.iter().filter_map(|(path, entry)| {
        let Entry { mode, id } = (*entry)?;
        Some(addition(path, mode.octal(), &id.to_string()))
    });
    gone.chain(set).collect()
}
