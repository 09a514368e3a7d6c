//! The commit graph: new commits, what lies between two of them, and whether two sides conflict.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::contents::{Merge, Trouble};
use super::records::{Commit, User};
use super::setup::{ChangedFile, RepoSetup};
use super::world::{GitHubWorld, Repo, sha_of};

/// What a new commit holds.
pub(crate) struct Draft<'a> {
    pub(crate) parents: Vec<String>,
    pub(crate) message: &'a str,
    pub(crate) author: User,
    pub(crate) files: Vec<ChangedFile>,
}

impl GitHubWorld {
    /// Stores a commit and returns its SHA, which depends on the order of events and not on its text.
    pub(crate) fn commit(&mut self, now: Timestamp, draft: Draft<'_>) -> String {
        let serial = self.next_id().to_string();
        let sha = sha_of(&["commit", &serial]);
        let commit = Commit {
            sha: sha.clone(),
            parents: draft.parents,
            message: draft.message.to_owned(),
            author: draft.author,
            at: now,
            files: draft.files,
            reverts: None,
            is_by_github: false,
            real: None,
        };
        self.commits.insert(sha.clone(), commit);
        sha
    }

    /// Declares a repository with one first commit on its default branch. Only one with files needs git, and can fail.
    pub(crate) fn add_repo(&mut self, now: Timestamp, setup: RepoSetup) -> Result<(), Trouble> {
        let id = if setup.id == 0 {
            self.next_id()
        } else {
            setup.id
        };
        let mut repo = Repo::new(setup, id, now);
        if repo.setup.is_real() {
            return self.add_real_repo(now, repo);
        }
        let author = User::named(repo.owner());
        let draft = Draft {
            parents: vec![],
            message: "Initial commit",
            author,
            files: vec![],
        };
        let sha = self.commit(now, draft);
        repo.branches.insert(repo.setup.default_branch.clone(), sha);
        self.repos.insert(repo.key(), repo);
        Ok(())
    }

    /// Declares a fork that shares the tip of the default branch.
    pub(crate) fn add_fork(&mut self, now: Timestamp, upstream: &str, fork: &str) {
        let Ok(source) = self.repo(upstream) else {
            return;
        };
        let (branch, name) = (
            source.setup.default_branch.clone(),
            source.full_name().to_owned(),
        );
        let tip = source.tip(&branch).to_owned();
        let setup = RepoSetup {
            default_branch: branch.clone(),
            ..RepoSetup::new(fork)
        };
        let id = self.next_id();
        let mut repo = Repo::new(setup, id, now);
        repo.fork_of = Some(name);
        repo.branches.insert(branch, tip);
        self.repos.insert(repo.key(), repo);
    }

    /// A commit and everything it builds on.
    pub(crate) fn ancestors(&self, sha: &str) -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&Commit> = self.commits.get(sha).into_iter().collect();
        while let Some(commit) = open.pop() {
            if seen.insert(commit.sha.as_str()) {
                open.extend(
                    commit
                        .parents
                        .iter()
                        .filter_map(|parent| self.commits.get(parent)),
                );
            }
        }
        seen
    }

    /// The commits that `head` has and `base` lacks, oldest first.
    pub(crate) fn between(&self, base: &str, head: &str) -> Vec<&Commit> {
        let known = self.ancestors(base);
        let mut commits: Vec<&Commit> = self
            .ancestors(head)
            .difference(&known)
            .filter_map(|sha| self.commits.get(*sha))
            .collect();
        let generation = |it: &Commit| it.real.as_ref().map_or(0, |real| real.generation);
        commits.sort_by(|one, other| {
            (one.at, generation(one), &one.sha).cmp(&(other.at, generation(other), &other.sha))
        });
        commits
    }

    /// The files that differ between two commits, each once, with the sums of their lines.
    pub(crate) fn files_between(&self, base: &str, head: &str) -> Vec<ChangedFile> {
        if let Some(contents) = self.contents_of(base, head) {
            return self.real_files(contents, base, head);
        }
        let mut files: Vec<ChangedFile> = Vec::new();
        for file in self
            .between(base, head)
            .into_iter()
            .flat_map(|commit| &commit.files)
        {
            match files
                .iter_mut()
                .find(|known| known.filename == file.filename)
            {
                Some(known) => {
                    known.additions += file.additions;
                    known.deletions += file.deletions;
                }
                None => files.push(file.clone()),
            }
        }
        self.leave_unchanged(&mut files, base, head);
        files
    }

    /// Whether both sides changed the same file since they parted.
    pub(crate) fn overlap(&self, base: &str, head: &str) -> bool {
        if let Some(contents) = self.contents_of(base, head) {
            return !matches!(contents.merge(base, head), Ok(Merge::Clean(_)));
        }
        let ours = self.files_between(base, head);
        let theirs = self.files_between(head, base);
        ours.iter()
            .any(|file| theirs.iter().any(|other| other.filename == file.filename))
    }

    /// The newest commit both sides share.
    pub(crate) fn merge_base(&self, base: &str, head: &str) -> String {
        let ours = self.ancestors(head);
        let shared = self
            .ancestors(base)
            .into_iter()
            .filter(|sha| ours.contains(sha));
        shared
            .filter_map(|sha| self.commits.get(sha))
            // Later commits have more ancestors, even with the same time.
            .max_by_key(|commit| self.ancestors(&commit.sha).len())
            .map(|commit| commit.sha.clone())
            .unwrap_or_default()
    }
}
