//! Merging a pull request and bringing its branch up to date.

use jiff::Timestamp;

use super::commits::Draft;
use super::events::PullEvent;
use super::records::{Merged, Pull, User};
use super::setup::{MergeMethod, Protection};
use super::world::{GitHubRefusal, GitHubWorld, Repo};

/// What a merge request asks for.
#[derive(Clone, Debug)]
pub(crate) struct MergeOrder {
    /// The expected head; `None` merges any.
    pub(crate) sha: Option<String>,
    pub(crate) method: MergeMethod,
    pub(crate) title: Option<String>,
    pub(crate) by: Actor,
}

/// Who moves a branch. What the Actions token does starts no checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Actor {
    pub(crate) user: User,
    pub(crate) starts_ci: bool,
}

impl Actor {
    /// Any user but the Actions token.
    pub(crate) fn person(login: &str) -> Self {
        Self {
            user: User::named(login),
            starts_ci: true,
        }
    }
}

impl GitHubWorld {
    /// Merges, or refuses in GitHub's words. Returns the commit on the base.
    pub(crate) fn merge(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        order: &MergeOrder,
    ) -> Result<String, GitHubRefusal> {
        self.may_merge(repo, number, order)?;
        for below in self.below(repo, number) {
            self.land(now, repo, below, order)?;
        }
        self.land(now, repo, number, order)
    }

    /// Performs an allowed merge.
    fn land(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        order: &MergeOrder,
    ) -> Result<String, GitHubRefusal> {
        let pull = self.pull(repo, number)?.clone();
        let files = self.files_between(self.repo(repo)?.tip(&pull.base_ref), &pull.head_sha);
        let message = self.merge_message(repo, number, order)?;
        let base = self.repo(repo)?.tip(&pull.base_ref).to_owned();
        let (parents, own_files) = match order.method {
            MergeMethod::Merge => (vec![base, pull.head_sha.clone()], vec![]),
            MergeMethod::Squash | MergeMethod::Rebase => (vec![base], files.clone()),
        };
        let draft = Draft {
            parents,
            message: &message,
            author: order.by.user.clone(),
            files: own_files,
        };
        let sha = self.merge_commit(now, repo, draft, &pull.head_sha)?;
        self.note_actor(repo, &sha, &order.by)?;
        self.freeze_base(repo, number)?;
        let issue = self.issue_mut(repo, number)?;
        issue.closed_at = Some(now);
        issue.closed_by = Some(order.by.user.clone());
        issue.updated_at = now;
        let merged = Merged {
            at: now,
            by: order.by.user.clone(),
            sha,
            head: pull.head_sha.clone(),
        };
        let found = self.pull_mut(repo, number)?;
        found.merged_files = files;
        found.merged = Some(merged.clone());
        self.counters.count(|it| it.merges += 1);
        self.after_merge(repo, &pull, &merged)?;
        Ok(merged.sha)
    }

    fn after_merge(
        &mut self,
        repo: &str,
        pull: &Pull,
        merged: &Merged,
    ) -> Result<(), GitHubRefusal> {
        let now = merged.at;
        self.unstack(now, repo, pull)?;
        self.tell_pull(now, repo, pull.number, PullEvent::Closed);
        self.move_branch(now, repo, &pull.base_ref, &merged.sha)?;
        // Merges into other branches close nothing.
        if pull.base_ref == self.repo(repo)?.setup.default_branch {
            for number in self.closing_references(repo, pull.number) {
                self.close(now, repo, number, &merged.by)?;
            }
        }
        if self.repo(repo)?.setup.delete_branch_on_merge
            && pull.head_repo == repo.to_ascii_lowercase()
        {
            self.delete_branch(now, repo, &pull.head_ref)?;
        }
        Ok(())
    }

    /// Refuses in GitHub's order: state, head, draft, method, conflict, rules.
    fn may_merge(&self, repo: &str, number: u64, order: &MergeOrder) -> Result<(), GitHubRefusal> {
        let found = self.repo(repo)?;
        let pull = self.pull(repo, number)?;
        if pull.merged.is_some() || self.issue(repo, number)?.closed_at.is_some() {
            return Err(GitHubRefusal::new(405, "Pull Request is not mergeable"));
        }
        if order.sha.as_ref().is_some_and(|sha| *sha != pull.head_sha) {
            return Err(GitHubRefusal::new(
                409,
                "Head branch was modified. Review and try the merge again.",
            ));
        }
        if pull.draft {
            return Err(GitHubRefusal::new(405, "Pull Request is still a draft"));
        }
        if !found.setup.merge_methods.contains(&order.method) {
            return Err(GitHubRefusal::new(405, method_refusal(order.method)));
        }
        if self.conflicts(found, pull) {
            return Err(GitHubRefusal::new(405, "Pull Request is not mergeable"));
        }
        self.obeys_rules(found, pull)
    }

    fn obeys_rules(&self, repo: &Repo, pull: &Pull) -> Result<(), GitHubRefusal> {
        let behind = "Head branch is out of date. Review and try the merge again.";
        let violation = match self.rule_violation(repo, pull) {
            Some(violation) => violation,
            None if strict(repo) && self.is_behind(repo, pull) => behind.to_owned(),
            None => return Ok(()),
        };
        let message = match repo.setup.protection {
            Protection::Rulesets => format!("Repository rule violations found\n\n{violation}\n\n"),
            Protection::Classic | Protection::Off => violation,
        };
        Err(GitHubRefusal::new(405, message))
    }

    fn merge_message(
        &self,
        repo: &str,
        number: u64,
        order: &MergeOrder,
    ) -> Result<String, GitHubRefusal> {
        let title = &self.issue(repo, number)?.title;
        let pull = self.pull(repo, number)?;
        let owner = pull.head_repo.split('/').next().unwrap_or_default();
        let default = match order.method {
            MergeMethod::Merge => format!(
                "Merge pull request #{number} from {owner}/{}",
                pull.head_ref
            ),
            MergeMethod::Squash | MergeMethod::Rebase => format!("{title} (#{number})"),
        };
        Ok(order.title.clone().unwrap_or(default))
    }

    fn note_actor(&mut self, repo: &str, sha: &str, by: &Actor) -> Result<(), GitHubRefusal> {
        if !by.starts_ci {
            self.repo_mut(repo)?.without_ci.insert(sha.to_owned());
        }
        Ok(())
    }

    /// Merges the base into the head branch, as the button "Update branch" does.
    pub(crate) fn update_branch(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        (expected, by): (Option<&str>, Actor),
    ) -> Result<String, GitHubRefusal> {
        let (found, pull) = (self.repo(repo)?, self.pull(repo, number)?);
        if self.issue(repo, number)?.closed_at.is_some() {
            return Err(GitHubRefusal::new(422, "Pull request is closed."));
        }
        if expected.is_some_and(|expected| expected != pull.head_sha) {
            return Err(GitHubRefusal::new(
                422,
                "expected head sha didn\u{2019}t match current head ref.",
            ));
        }
        if !self.is_behind(found, pull) {
            return Err(GitHubRefusal::new(
                422,
                "There are no new commits on the base branch.",
            ));
        }
        if self.conflicts(found, pull) {
            return Err(GitHubRefusal::new(
                422,
                "merge conflict between base and head",
            ));
        }
        let (head_repo, head_ref) = (pull.head_repo.clone(), pull.head_ref.clone());
        let message = format!("Merge branch '{}' into {head_ref}", pull.base_ref);
        let parents = vec![pull.head_sha.clone(), found.tip(&pull.base_ref).to_owned()];
        let draft = Draft {
            parents,
            message: &message,
            author: by.user.clone(),
            files: vec![],
        };
        let base = self
            .repo(repo)?
            .tip(&self.pull(repo, number)?.base_ref)
            .to_owned();
        let sha = self.merge_commit(now, repo, draft, &base)?;
        if let Some(commit) = self.commits.get_mut(&sha) {
            commit.is_by_github = true;
        }
        self.note_actor(repo, &sha, &by)?;
        self.move_branch(now, &head_repo, &head_ref, &sha)?;
        Ok(sha)
    }
}

fn strict(repo: &Repo) -> bool {
    repo.ci().strict && repo.setup.protection != Protection::Off
}

fn method_refusal(method: MergeMethod) -> &'static str {
    match method {
        MergeMethod::Merge => "Merge commits are not allowed on this repository.",
        MergeMethod::Squash => "Squash merges are not allowed on this repository.",
        MergeMethod::Rebase => "Rebase merges are not allowed on this repository.",
    }
}
