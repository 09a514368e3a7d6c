//! The life of a pull request up to its merge: opening, pushing, closing, retargeting, marking ready.

use jiff::Timestamp;

use super::GitHub;
use super::commits::Draft;
use super::events::PullEvent;
use super::new_pull::NewPull;
use super::records::{Issue, Pull, User};
use super::setup::{ChangedFile, NewCommit, RepoSetup};
use super::world::{GitHubRefusal, GitHubWorld};

/// The commit that a new pull request offers, and the branch that it goes to.
pub(crate) struct Offer {
    pub(crate) sha: String,
    pub(crate) base_ref: String,
    /// The tip of that branch.
    pub(crate) opened_on: String,
}

impl GitHub {
    /// Moves a branch to a commit, or makes it there, as a push does. `false` without such a commit.
    pub fn point_branch(&self, now: Timestamp, repo: &str, branch: &str, sha: &str) -> bool {
        let mut world = self.world();
        world.commits.contains_key(sha) && world.move_branch(now, repo, branch, sha).is_ok()
    }

    /// Points a pull request at another base as a person would; a merged or unknown one, or a branch that is not there,
    /// changes nothing.
    pub fn retarget(&self, now: Timestamp, repo: &str, number: u64, base: &str) {
        let mut world = self.world();
        let found = world.pull(repo, number);
        if found.is_ok_and(|pull| pull.merged.is_none() && pull.base_ref != base) {
            drop(world.retarget(now, repo, number, base));
        }
    }
}

impl GitHubWorld {
    /// Opens a pull request with a branch and a commit of its own; a missing repository is declared first.
    pub(crate) fn open_pull(
        &mut self,
        now: Timestamp,
        repo: &str,
        new: NewPull,
    ) -> Result<u64, GitHubRefusal> {
        self.ensure_repo(now, repo);
        let head_repo = new.fork.clone().unwrap_or_else(|| repo.to_owned());
        if self.repo(&head_repo).is_err() {
            self.add_fork(now, repo, &head_repo);
        }
        let base_ref = self.base_or_default(repo, &new.base_branch)?;
        let files = if new.files.is_empty() {
            vec![ChangedFile::modified("README.md")]
        } else {
            new.files.clone()
        };
        let parent = self.repo(repo)?.tip(&base_ref).to_owned();
        let draft = Draft {
            parents: vec![parent.clone()],
            message: &new.title,
            author: User::with_id(&new.author_login, new.author_id),
            files,
        };
        let sha = self.commit_in(now, repo, draft, &[])?;
        let offer = Offer {
            sha: sha.clone(),
            base_ref,
            opened_on: parent,
        };
        let number = self.insert_pull(now, repo, &new, offer)?;
        if new.by_actions_token {
            self.repo_mut(repo)?.without_ci.insert(sha.clone());
        }
        self.move_branch(now, &head_repo, &new.head_branch, &sha)?;
        self.tell_pull(now, repo, number, PullEvent::Opened);
        self.start_ci(now, repo, &new.head_branch, &sha);
        Ok(number)
    }

    pub(crate) fn ensure_repo(&mut self, now: Timestamp, repo: &str) {
        if self.repo(repo).is_err() {
            // One without files needs no git, so it is always made.
            drop(self.add_repo(now, RepoSetup::new(repo)));
        }
    }

    fn base_or_default(&self, repo: &str, base: &str) -> Result<String, GitHubRefusal> {
        let default = &self.repo(repo)?.setup.default_branch;
        Ok(if base.is_empty() {
            default.clone()
        } else {
            base.to_owned()
        })
    }

    pub(crate) fn insert_pull(
        &mut self,
        now: Timestamp,
        repo: &str,
        new: &NewPull,
        offer: Offer,
    ) -> Result<u64, GitHubRefusal> {
        let (issue_id, pull_id) = (self.next_id(), self.next_id());
        let association = match (&new.association, &new.fork) {
            (told, _) if !told.is_empty() => told.clone(),
            (_, Some(_)) => "NONE".to_owned(),
            (_, None) => "CONTRIBUTOR".to_owned(),
        };
        let found = self.repo_mut(repo)?;
        let number = found.next_number;
        found.next_number += 1;
        let issue = Issue {
            id: issue_id,
            number,
            title: new.title.clone(),
            body: new.body.clone(),
            author: User::with_id(&new.author_login, new.author_id),
            association,
            labels: new.labels.clone(),
            created_at: now,
            updated_at: now,
            closed_at: None,
            closed_by: None,
            state_reason: None,
        };
        found.issues.insert(number, issue);
        let head_repo = new.fork.as_deref().unwrap_or(repo).to_ascii_lowercase();
        let pull = Pull {
            id: pull_id,
            number,
            head_repo,
            head_ref: new.head_branch.clone(),
            head_sha: offer.sha,
            base_ref: offer.base_ref,
            opened_on: offer.opened_on,
            closed_base_sha: String::new(),
            draft: new.draft,
            merged: None,
            changed_at: now,
            forced_conflict: false,
            stack: None,
            merged_files: Vec::new(),
        };
        found.pulls.insert(number, pull);
        Ok(number)
    }

    /// Pushes a commit to a branch, which is made when it is missing, and answers its SHA.
    pub(crate) fn push(
        &mut self,
        now: Timestamp,
        repo: &str,
        branch: &str,
        new: NewCommit,
    ) -> Result<String, GitHubRefusal> {
        self.ensure_repo(now, repo);
        let found = self.repo(repo)?;
        let default = found.setup.default_branch.clone();
        let tip = match found.tip(branch) {
            "" => found.tip(&default).to_owned(),
            tip => tip.to_owned(),
        };
        let mut parents = vec![tip];
        if new.merges_base {
            parents.extend(self.base_tip_for(repo, branch));
        }
        let author = User::named(&new.author_login);
        let restored = self.restored(repo, branch, &new.reverts);
        let mut files = new.files;
        files.extend(new.reverts.iter().map(|path| ChangedFile::modified(path)));
        let draft = Draft {
            parents,
            message: &new.message,
            author,
            files,
        };
        let sha = self.commit_in(now, repo, draft, &restored)?;
        if !new.reverts.is_empty() {
            self.note_reverts(repo, branch, &sha, new.reverts);
        }
        self.move_branch(now, repo, branch, &sha)?;
        Ok(sha)
    }

    /// The tip of the base of the open pull request whose head is this branch.
    fn base_tip_for(&self, repo: &str, branch: &str) -> Option<String> {
        let (base_repo, number) = self.open_pulls_from(repo, branch).into_iter().next()?;
        let base = self.pull(&base_repo, number).ok()?.base_ref.clone();
        Some(self.repo(&base_repo).ok()?.tip(&base).to_owned())
    }

    /// Whether an open pull request from this branch conflicts with its base.
    pub(crate) fn branch_conflicts(&self, repo: &str, branch: &str) -> bool {
        self.open_pulls_from(repo, branch)
            .into_iter()
            .any(|(base_repo, number)| {
                let repo = self.repo(&base_repo);
                repo.is_ok_and(|repo| {
                    repo.pulls
                        .get(&number)
                        .is_some_and(|pull| self.conflicts(repo, pull))
                })
            })
    }

    /// The open pull requests whose head is this branch: base repository and number.
    pub(crate) fn open_pulls_from(&self, repo: &str, branch: &str) -> Vec<(String, u64)> {
        let head_repo = repo.to_ascii_lowercase();
        let from_here = |pull: &&Pull| pull.head_repo == head_repo && pull.head_ref == branch;
        self.repos
            .iter()
            .flat_map(|(key, repo)| {
                let open = |pull: &&Pull| {
                    repo.issues
                        .get(&pull.number)
                        .is_some_and(|issue| issue.closed_at.is_none())
                };
                repo.pulls
                    .values()
                    .filter(from_here)
                    .filter(open)
                    .map(|pull| (key.clone(), pull.number))
            })
            .collect()
    }

    /// Moves a branch to a commit and performs the consequences.
    pub(crate) fn move_branch(
        &mut self,
        now: Timestamp,
        repo: &str,
        branch: &str,
        sha: &str,
    ) -> Result<(), GitHubRefusal> {
        self.point(repo, branch, Some(sha))?;
        let found = self.repo_mut(repo)?;
        let before = found.branches.insert(branch.to_owned(), sha.to_owned());
        let on_base = found.setup.default_branch == branch && found.ci().on_base;
        self.tell_push(now, repo, branch, (before.as_deref(), Some(sha)));
        for (base_repo, number) in self.open_pulls_from(repo, branch) {
            self.move_head(now, &base_repo, number, sha)?;
        }
        self.base_moved(now, repo, branch)?;
        if on_base {
            self.start_ci(now, repo, branch, sha);
        }
        Ok(())
    }

    fn move_head(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        sha: &str,
    ) -> Result<(), GitHubRefusal> {
        let pull = self.pull_mut(repo, number)?;
        let before = std::mem::replace(&mut pull.head_sha, sha.to_owned());
        if before == sha {
            // The pull request was opened with this very commit.
            return Ok(());
        }
        pull.changed_at = now;
        pull.forced_conflict = false;
        let branch = pull.head_ref.clone();
        self.issue_mut(repo, number)?.updated_at = now;
        self.tell_pull(now, repo, number, PullEvent::Synchronize { before });
        self.start_ci(now, repo, &branch, sha);
        Ok(())
    }

    /// Recomputes the mergeability of every open pull request onto a moved branch.
    fn base_moved(
        &mut self,
        now: Timestamp,
        repo: &str,
        branch: &str,
    ) -> Result<(), GitHubRefusal> {
        for pull in self.repo_mut(repo)?.pulls.values_mut() {
            if pull.base_ref == branch && pull.merged.is_none() {
                pull.changed_at = now;
            }
        }
        Ok(())
    }

    /// Records the base's tip of a pull request that is about to be closed.
    pub(crate) fn freeze_base(&mut self, repo: &str, number: u64) -> Result<(), GitHubRefusal> {
        if let Ok(pull) = self.pull(repo, number) {
            let tip = self.repo(repo)?.tip(&pull.base_ref).to_owned();
            self.pull_mut(repo, number)?.closed_base_sha = tip;
        }
        Ok(())
    }

    /// Points an open pull request at another base.
    pub(crate) fn retarget(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        base: &str,
    ) -> Result<(), GitHubRefusal> {
        if self.repo(repo)?.tip(base).is_empty() {
            return Err(GitHubRefusal::new(422, "Validation Failed"));
        }
        let pull = self.pull_mut(repo, number)?;
        let from = std::mem::replace(&mut pull.base_ref, base.to_owned());
        pull.changed_at = now;
        self.issue_mut(repo, number)?.updated_at = now;
        self.tell_pull(
            now,
            repo,
            number,
            PullEvent::Edited {
                base_from: Some(from),
            },
        );
        Ok(())
    }

    /// Marks a draft as ready for review; one that is ready stays so.
    pub(crate) fn mark_ready(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
    ) -> Result<(), GitHubRefusal> {
        let pull = self.pull_mut(repo, number)?;
        if std::mem::take(&mut pull.draft) {
            self.issue_mut(repo, number)?.updated_at = now;
            self.tell_pull(now, repo, number, PullEvent::ReadyForReview);
            if self.repo(repo)?.ci().again_on_ready {
                let pull = self.pull(repo, number)?;
                let (branch, sha) = (pull.head_ref.clone(), pull.head_sha.clone());
                self.restart_ci(now, repo, &branch, &sha);
            }
        }
        Ok(())
    }

    /// Deletes a branch and closes the pull requests from it, as GitHub does.
    pub(crate) fn delete_branch(
        &mut self,
        now: Timestamp,
        repo: &str,
        branch: &str,
    ) -> Result<(), GitHubRefusal> {
        let found = self.repo_mut(repo)?;
        let Some(tip) = found.branches.remove(branch) else {
            return Err(GitHubRefusal::new(422, "Reference does not exist"));
        };
        self.point(repo, branch, None)?;
        self.tell_push(now, repo, branch, (Some(&tip), None));
        for (base_repo, number) in self.open_pulls_from(repo, branch) {
            let author = self.issue(&base_repo, number)?.author.clone();
            self.close(now, &base_repo, number, &author)?;
        }
        Ok(())
    }
}
