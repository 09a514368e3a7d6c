//! Commits that revert files: such files no longer differ from the commit to which they revert.

use jiff::Timestamp;

use super::GitHub;
use super::records::{Commit, Reverts};
use super::setup::{ChangedFile, NewCommit};
use super::world::GitHubWorld;

impl GitHub {
    /// Pushes a commit as an agent does: one to a branch that conflicts with the base of its pull request resolves that.
    pub fn push_work(&self, now: Timestamp, repo: &str, branch: &str, commit: NewCommit) -> String {
        let mut world = self.world();
        let merges_base = commit.merges_base || world.branch_conflicts(repo, branch);
        let commit = NewCommit {
            merges_base,
            ..commit
        };
        world.push(now, repo, branch, commit).unwrap_or_default()
    }
}

impl GitHubWorld {
    /// Records that files of a commit are as they were when the pull request of its branch was opened.
    pub(crate) fn note_reverts(&mut self, repo: &str, branch: &str, sha: &str, paths: Vec<String>) {
        let Some((base_repo, number)) = self.open_pulls_from(repo, branch).into_iter().next()
        else {
            return;
        };
        let Ok(to) = self
            .pull(&base_repo, number)
            .map(|pull| pull.opened_on.clone())
        else {
            return;
        };
        if let Some(commit) = self.commits.get_mut(sha) {
            commit.reverts = Some(Reverts { paths, to });
        }
    }

    /// Omits the files that are the same at the head as at the merge base. Only reverted files can be.
    pub(crate) fn leave_unchanged(&self, files: &mut Vec<ChangedFile>, base: &str, head: &str) {
        let commits = self.between(base, head);
        if commits.iter().all(|commit| commit.reverts.is_none()) {
            return;
        }
        let parted = self.merge_base(base, head);
        files.retain(|file| {
            self.content(&parted, &file.filename) != self.content(head, &file.filename)
        });
    }

    /// What a file is at a commit, named by the commit that made it so; `None` if nothing touched it.
    fn content(&self, sha: &str, path: &str) -> Option<String> {
        let commit = self.commits.get(sha)?;
        let reverts = commit.reverts.as_ref();
        if let Some(reverts) = reverts.filter(|it| it.paths.iter().any(|it| it == path)) {
            return self.content(&reverts.to, path);
        }
        if commit.files.iter().any(|file| file.filename == path) {
            return Some(commit.sha.clone());
        }
        match commit.parents.as_slice() {
            [] => None,
            [parent] => self.content(parent, path),
            [ours, theirs, ..] => self.merged(commit, ours, theirs, path),
        }
    }

    /// The merged version of a file: that of the side that changed it.
    fn merged(&self, commit: &Commit, ours: &str, theirs: &str, path: &str) -> Option<String> {
        let parted = self.content(&self.merge_base(ours, theirs), path);
        let (ours, theirs) = (self.content(ours, path), self.content(theirs, path));
        if ours == theirs || theirs == parted {
            ours
        } else if ours == parted {
            theirs
        } else {
            Some(commit.sha.clone())
        }
    }
}
