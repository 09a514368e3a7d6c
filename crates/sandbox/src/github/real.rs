//! Repositories with files: git makes and merges their commits, and the graph knows them like all others.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::json;

use super::commits::Draft;
use super::contents::{Change, Contents, EMPTY_TREE, Merge, ReadCommit, Signature, Trouble};
use super::events::PullEvent;
use super::pulls::Offer;
use super::records::{Commit, Real, User};
use super::setup::ChangedFile;
use super::world::{GitHubRefusal, GitHubWorld, Repo};
use super::{GitHub, NewPull};

/// A commit of a tree that is there.
pub(crate) struct TreeDraft<'a> {
    pub(crate) tree: &'a str,
    pub(crate) parents: &'a [String],
    pub(crate) message: &'a str,
    pub(crate) author: User,
}

impl GitHub {
    /// The bare repository of a repository with files, to clone from and to push to; it goes away with the sandbox.
    #[must_use]
    pub fn folder(&self, repo: &str) -> Option<PathBuf> {
        let world = self.world();
        let contents = world.repo(repo).ok()?.contents.as_ref()?;
        Some(contents.folder().to_owned())
    }

    /// Leaves a bare copy of a repository with files in a folder that is empty or not there.
    ///
    /// # Errors
    /// What git or the disk says; without such a repository that it is missing.
    pub fn keep(&self, repo: &str, folder: &Path) -> io::Result<()> {
        let world = self.world();
        let contents = world.contents(repo);
        let contents = contents.map_err(|refusal| io::Error::other(refusal.message))?;
        contents.keep(folder).map_err(io::Error::other)
    }
}

pub(crate) fn refused(trouble: Trouble) -> GitHubRefusal {
    let message = trouble.to_string();
    tracing::warn!(message, "the git of a repository refuses");
    GitHubRefusal::new(422, message)
}

impl GitHubWorld {
    /// Declares a repository with the files of its setup. Without git it is not declared.
    pub(crate) fn add_real_repo(&mut self, now: Timestamp, mut repo: Repo) -> Result<(), Trouble> {
        let (contents, tree) = Contents::from_setup(&repo.setup)?;
        let (key, home, branch) = (repo.key(), repo.id, repo.setup.default_branch.clone());
        let author = User::named(repo.owner());
        repo.contents = Some(contents);
        self.repos.insert(key.clone(), repo);
        let draft = TreeDraft {
            tree: &tree,
            parents: &[],
            message: "Initial commit",
            author,
        };
        let made = self.commit_tree(now, home, &draft).and_then(|sha| {
            self.point(&key, &branch, Some(&sha))?;
            self.repo_mut(&key)?.branches.insert(branch, sha);
            Ok(())
        });
        made.map_err(|refusal| Trouble::new(refusal.message))
    }

    /// The numbers of the repositories whose git holds a commit.
    fn homes_of(&self, sha: &str) -> Option<&BTreeSet<u64>> {
        let real = self.commits.get(sha)?.real.as_ref()?;
        Some(&real.homes)
    }

    /// The number of the repository whose git holds a commit: this one, if it does, and else the one that it was forked from.
    fn home_for(&self, repo: &str, sha: &str) -> Option<u64> {
        let homes = self.homes_of(sha)?;
        let found = self.repo(repo).ok()?;
        let parent = found.fork_of.as_ref().and_then(|of| self.repo(of).ok());
        let mut near = [Some(found), parent].into_iter().flatten();
        let near = near.find(|it| homes.contains(&it.id)).map(|it| it.id);
        near.or_else(|| homes.first().copied())
    }

    /// Whether the git of a repository holds a commit.
    fn is_home(&self, home: u64, sha: &str) -> bool {
        self.homes_of(sha).is_some_and(|it| it.contains(&home))
    }

    /// A git that holds both commits.
    pub(crate) fn contents_of(&self, one: &str, other: &str) -> Option<&Contents> {
        let mut both = self.homes_of(one)?.intersection(self.homes_of(other)?);
        both.find_map(|home| self.repo_by_id(*home).ok()?.contents.as_ref())
    }

    /// The git of a repository; one without files has none.
    pub(crate) fn contents(&self, repo: &str) -> Result<&Contents, GitHubRefusal> {
        let contents = self.repo(repo)?.contents.as_ref();
        contents.ok_or_else(GitHubRefusal::not_found)
    }

    fn home(&self, home: u64) -> Result<&Contents, GitHubRefusal> {
        let contents = self.repo_by_id(home)?.contents.as_ref();
        contents.ok_or_else(GitHubRefusal::not_found)
    }

    /// The files that a head changed since it left its base.
    pub(crate) fn real_files(
        &self,
        contents: &Contents,
        base: &str,
        head: &str,
    ) -> Vec<ChangedFile> {
        let parted = self.merge_base(base, head);
        let from = if parted.is_empty() {
            EMPTY_TREE
        } else {
            &parted
        };
        contents.diff(from, head).unwrap_or_else(|trouble| {
            tracing::error!(%trouble, "two commits cannot be compared");
            Vec::new()
        })
    }

    /// Makes a commit of a tree in the git of a repository.
    pub(crate) fn commit_tree(
        &mut self,
        now: Timestamp,
        home: u64,
        draft: &TreeDraft<'_>,
    ) -> Result<String, GitHubRefusal> {
        let by = Signature {
            login: &draft.author.login,
            id: draft.author.id,
            at: now,
        };
        let contents = self.home(home)?;
        let made = contents.commit(draft.tree, draft.parents, draft.message, &by);
        let sha = made.map_err(refused)?;
        self.learn(home, &sha)?;
        Ok(sha)
    }

    /// Makes a commit that says which files it changes. In git each of them gets one line more, or what `restored` says.
    pub(crate) fn commit_in(
        &mut self,
        now: Timestamp,
        repo: &str,
        draft: Draft<'_>,
        restored: &[Change],
    ) -> Result<String, GitHubRefusal> {
        let first = draft.parents.first().cloned().unwrap_or_default();
        let Some(home) = self.home_for(repo, &first) else {
            return Ok(self.commit(now, draft));
        };
        let contents = self.home(home)?;
        let base = match draft.parents.get(1) {
            Some(theirs) => settled(contents, &first, theirs)?,
            None => first,
        };
        let mut changes = Vec::new();
        for file in &draft.files {
            let is_restored =
                |it: &Change| matches!(it, Change::Restore { path, .. } if *path == file.filename);
            if !restored.iter().any(is_restored) {
                changes.push(made_up(file, draft.message));
            }
        }
        changes.extend(restored.iter().cloned());
        let tree = contents.tree_with(&base, &changes).map_err(refused)?;
        let draft = TreeDraft {
            tree: &tree,
            parents: &draft.parents,
            message: draft.message,
            author: draft.author,
        };
        self.commit_tree(now, home, &draft)
    }

    /// Makes the commit of a merge of `other` into the first parent of the draft.
    pub(crate) fn merge_commit(
        &mut self,
        now: Timestamp,
        repo: &str,
        draft: Draft<'_>,
        other: &str,
    ) -> Result<String, GitHubRefusal> {
        let first = draft.parents.first().cloned().unwrap_or_default();
        let Some(home) = self.home_for(repo, &first) else {
            return Ok(self.commit(now, draft));
        };
        let conflict = || GitHubRefusal::new(405, "Pull Request is not mergeable");
        if !self.is_home(home, other) {
            return Err(conflict());
        }
        let merged = self.home(home)?.merge(&first, other);
        let Merge::Clean(tree) = merged.map_err(refused)? else {
            return Err(conflict());
        };
        let draft = TreeDraft {
            tree: &tree,
            parents: &draft.parents,
            message: draft.message,
            author: draft.author,
        };
        self.commit_tree(now, home, &draft)
    }

    /// What puts files back to how they were when the pull request of a branch was opened.
    pub(crate) fn restored(&self, repo: &str, branch: &str, paths: &[String]) -> Vec<Change> {
        let pulls = self.open_pulls_from(repo, branch);
        let pull = pulls.first().and_then(|(base, n)| self.pull(base, *n).ok());
        let Some(pull) = pull.filter(|pull| self.homes_of(&pull.opened_on).is_some()) else {
            return Vec::new();
        };
        let restore = |path: &String| Change::Restore {
            path: path.clone(),
            from: pull.opened_on.clone(),
        };
        paths.iter().map(restore).collect()
    }

    /// Points a branch of git at a commit, or deletes it.
    pub(crate) fn point(
        &self,
        repo: &str,
        branch: &str,
        sha: Option<&str>,
    ) -> Result<(), GitHubRefusal> {
        let found = self.repo(repo)?;
        let Some(contents) = &found.contents else {
            return Ok(());
        };
        if sha.is_some_and(|sha| !self.is_home(found.id, sha)) {
            return Err(GitHubRefusal::new(422, "Object does not exist"));
        }
        contents.point(branch, sha).map_err(|trouble| {
            drop(refused(trouble));
            GitHubRefusal::new(422, "Reference update failed")
        })
    }

    /// Takes up a commit of git, and those that it builds on.
    pub(crate) fn learn(&mut self, home: u64, sha: &str) -> Result<(), GitHubRefusal> {
        let repo = self.repo_by_id(home)?;
        let known: Vec<String> = repo.branches.values().cloned().collect();
        let read = self.home(home)?.commits(sha, &known).map_err(refused)?;
        for commit in read {
            let known = self.commits.get_mut(&commit.sha);
            if let Some(real) = known.and_then(|known| known.real.as_mut()) {
                real.homes.insert(home);
            } else {
                let commit = self.taken_up(home, commit)?;
                self.commits.insert(commit.sha.clone(), commit);
            }
        }
        Ok(())
    }

    fn taken_up(&self, home: u64, read: ReadCommit) -> Result<Commit, GitHubRefusal> {
        let before = read.parents.first().map_or(EMPTY_TREE, String::as_str);
        let files = self.home(home)?.diff(before, &read.sha).map_err(refused)?;
        let parents = read.parents.iter().filter_map(|it| self.commits.get(it));
        let generations = parents.filter_map(|it| Some(it.real.as_ref()?.generation));
        let generation = generations.max().unwrap_or(0) + 1;
        Ok(Commit {
            sha: read.sha,
            parents: read.parents,
            message: read.message,
            author: User::named(&read.author),
            at: read.at,
            files,
            reverts: None,
            is_by_github: false,
            real: Some(Real {
                homes: BTreeSet::from([home]),
                tree: read.tree,
                generation,
            }),
        })
    }

    /// Follows what was pushed into the bare repositories from outside.
    pub(crate) fn notice_pushes(&mut self, now: Timestamp) {
        let pushed = |repo: &Repo| repo.contents.as_ref().is_some_and(Contents::was_pushed);
        let all = self.repos.iter().filter(|(_, repo)| pushed(repo));
        let pushed: Vec<String> = all.map(|(key, _)| key.clone()).collect();
        for repo in pushed {
            if let Err(refusal) = self.follow(now, &repo) {
                tracing::error!(message = refusal.message, repo, "a push is not followed");
            }
        }
    }

    fn follow(&mut self, now: Timestamp, repo: &str) -> Result<(), GitHubRefusal> {
        let found = self.repo(repo)?;
        let (home, known) = (found.id, found.branches.clone());
        let branches = self.contents(repo)?.branches().map_err(refused)?;
        for (name, sha) in &branches {
            if known.get(name) != Some(sha) {
                self.learn(home, sha)?;
                self.move_branch(now, repo, name, sha)?;
            }
        }
        for name in known.keys().filter(|name| !branches.contains_key(*name)) {
            self.delete_branch(now, repo, name)?;
        }
        Ok(())
    }

    /// Opens a pull request from a branch that is there.
    pub(crate) fn offer_pull(
        &mut self,
        now: Timestamp,
        repo: &str,
        new: &NewPull,
    ) -> Result<u64, GitHubRefusal> {
        let found = self.repo(repo)?;
        let (base, head) = (&new.base_branch, &new.head_branch);
        let error = |field: &str| {
            let error = json!({ "resource": "PullRequest", "field": field, "code": "invalid" });
            GitHubRefusal::invalid(error)
        };
        let (base_tip, tip) = (found.tip(base).to_owned(), found.tip(head).to_owned());
        if base_tip.is_empty() {
            return Err(error("base"));
        }
        if tip.is_empty() {
            return Err(error("head"));
        }
        let custom = |message: String| {
            let error = json!({ "resource": "PullRequest", "code": "custom", "message": message });
            GitHubRefusal::invalid(error)
        };
        if self.between(&base_tip, &tip).is_empty() {
            return Err(custom(format!("No commits between {base} and {head}")));
        }
        let same = |(at, n): &(String, u64)| {
            let pull = self.pull(at, *n);
            at == &found.key() && pull.is_ok_and(|pull| pull.base_ref == *base)
        };
        if self.open_pulls_from(repo, head).iter().any(same) {
            let name = format!("{}:{head}", found.owner());
            return Err(custom(format!("A pull request already exists for {name}.")));
        }
        let offer = Offer {
            sha: tip.clone(),
            base_ref: base.clone(),
            opened_on: base_tip,
        };
        let number = self.insert_pull(now, repo, new, offer)?;
        if new.by_actions_token {
            self.repo_mut(repo)?.without_ci.insert(tip.clone());
        }
        self.tell_pull(now, repo, number, PullEvent::Opened);
        self.start_ci(now, repo, head, &tip);
        Ok(number)
    }
}

/// The tree of two commits, in which conflicts are settled as the first one has it.
fn settled(contents: &Contents, ours: &str, theirs: &str) -> Result<String, GitHubRefusal> {
    match contents.merge(ours, theirs).map_err(refused)? {
        Merge::Clean(tree) => Ok(tree),
        Merge::Conflict { tree, .. } if tree.is_empty() => Ok(ours.to_owned()),
        Merge::Conflict { tree, paths } => {
            let restore = |path: String| Change::Restore {
                path,
                from: ours.to_owned(),
            };
            let changes: Vec<Change> = paths.into_iter().map(restore).collect();
            contents.tree_with(&tree, &changes).map_err(refused)
        }
    }
}

/// What a change that only names its file does in git.
fn made_up(file: &ChangedFile, message: &str) -> Change {
    let path = file.filename.clone();
    match (file.status.as_str(), &file.previous_filename) {
        ("removed", _) => Change::Remove(path),
        ("renamed", Some(from)) => Change::Move {
            from: from.clone(),
            to: path,
        },
        (_, _) => Change::Append {
            path,
            line: message.lines().next().unwrap_or_default().to_owned(),
        },
    }
}
