//! A small GitHub: repositories, pull requests, checks and rules as state, REST and GraphQL answers written from it,
//! and a CI engine that moves with the clock it is given.

mod access;
mod admin;
mod by_hand;
mod checks;
mod ci;
mod closing;
mod commits;
mod contents;
mod deployments;
mod dispatches;
mod events;
mod gate;
mod issues;
mod merge;
mod moves;
mod new_pull;
mod pen;
mod pulls;
mod real;
mod records;
mod reverts;
mod routes;
mod setup;
mod stacks;
mod suites;
mod talk;
#[cfg(test)]
mod tests;
mod view;
mod world;
mod written;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::Error;
use crate::counters::RequestCounts;
use crate::faults::Faults;
use crate::webhook::{Courier, Delivery, WebhookFaults, WebhookTarget};

pub use access::{
    APP_ID, APP_SLUG, Access, DEFAULT_TOKEN, INSTALLATION_ID, Permissions, RATE_LIMIT, Resource,
    TokenKind, TokenSetup,
};
pub use admin::{AdminSetup, AppSetup, HookSetup, InstallationSetup};
pub use checks::Conclusion;
pub(crate) use checks::Phase;
pub use new_pull::NewPull;
pub use records::DeploymentState;
pub use routes::{PREFIX, router};
pub use setup::{
    ACTIONS_APP_ID, ACTIONS_APP_SLUG, ChangedFile, CheckKind, CheckSetup, CiSetup, MergeMethod,
    NewCommit, NewIssue, Outcome, Protection, RepoSetup, RequiredCheck,
};
#[cfg(test)]
pub(crate) use tests::stand;
pub use view::{CommentView, IssueView, PullState, PullView};
pub(crate) use written::WriteOrder;

use merge::{Actor, MergeOrder};
use world::GitHubWorld;

/// The small GitHub; clones share one state.
#[derive(Clone, Debug)]
pub struct GitHub {
    world: Arc<Mutex<GitHubWorld>>,
    /// Held while webhooks are posted, so that they leave one after another.
    courier: Arc<tokio::sync::Mutex<Courier>>,
}

/// How far a check set by hand has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// Waiting for a runner.
    Queued,
    /// Running.
    InProgress,
    /// Ended.
    Completed(Conclusion),
}

impl GitHub {
    /// A GitHub without repositories that accepts [`DEFAULT_TOKEN`].
    #[must_use]
    pub fn new(counters: RequestCounts, faults: Faults) -> Self {
        Self {
            world: Arc::new(Mutex::new(GitHubWorld::new(counters, faults))),
            courier: Arc::default(),
        }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, GitHubWorld> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the base of the API addresses in webhook payloads, for example `http://127.0.0.1:4010/github`.
    pub fn set_base(&self, base: &str) {
        self.world().base = base.trim_end_matches('/').to_owned();
    }

    /// Declares a repository with one commit on its default branch; one of the same name is replaced.
    ///
    /// # Errors
    /// [`Error::Git`] when it has files, and git is not there or refuses them.
    pub fn add_repo(&self, now: Timestamp, repo: RepoSetup) -> Result<(), Error> {
        let name = repo.full_name.clone();
        let made = self.world().add_repo(now, repo);
        made.map_err(|trouble| Error::Git {
            repo: name,
            problem: trouble.to_string(),
        })
    }

    /// Adds a token, or replaces the one with the same secret.
    pub fn add_token(&self, token: TokenSetup) {
        self.world().add_token(token);
    }

    /// Changes the hook's settings; waiting deliveries are posted unchanged.
    pub fn set_hook(&self, hook: HookSetup) {
        self.world().outbox.hook = hook;
    }

    /// Changes what the App may do, and where.
    pub fn set_app(&self, app: AppSetup) {
        self.world().app = app;
    }

    /// Forgets a token, as a person who revokes it.
    pub fn revoke_token(&self, token: &str) {
        self.world().tokens.remove(token);
    }

    /// Changes the checks and rules of a repository; already planned checks stay unchanged.
    pub fn set_ci(&self, repo: &str, ci: CiSetup) {
        self.change_repo(repo, |setup| setup.ci = ci);
    }

    /// Changes any setting of a repository but its name and id; an unknown repository changes nothing.
    pub fn change_repo(&self, repo: &str, change: impl FnOnce(&mut RepoSetup)) {
        if let Ok(found) = self.world().repo_mut(repo) {
            let name = found.setup.full_name.clone();
            change(&mut found.setup);
            found.setup.full_name = name;
            if let Some(contents) = &found.contents {
                contents.protect(&found.setup.protected_branches);
            }
        }
    }

    /// Opens a pull request with a branch and a commit of its own, starts its checks, and answers its number.
    /// A repository or fork that does not exist yet is declared first.
    pub fn open_pull(&self, now: Timestamp, repo: &str, pull: NewPull) -> u64 {
        // The repository was just ensured, so there is nothing left that could be missing.
        self.world().open_pull(now, repo, pull).unwrap_or_default()
    }

    /// Pushes a commit to a branch and answers its SHA. If the branch conflicts with the base of its pull
    /// request, the commit resolves that, as an agent's does that was asked to; see [`Self::push_commit`].
    #[expect(
        clippy::too_many_arguments,
        reason = "the short form that stories use; `push_commit` takes one value"
    )]
    pub fn push(
        &self,
        now: Timestamp,
        repo: &str,
        branch: &str,
        message: &str,
        author_login: &str,
    ) -> String {
        let commit = NewCommit {
            message: message.to_owned(),
            author_login: author_login.to_owned(),
            ..NewCommit::default()
        };
        self.push_work(now, repo, branch, commit)
    }

    /// Pushes a commit of which everything is said, and answers its SHA.
    /// A branch that does not exist is made from the default branch.
    pub fn push_commit(
        &self,
        now: Timestamp,
        repo: &str,
        branch: &str,
        commit: NewCommit,
    ) -> String {
        self.world()
            .push(now, repo, branch, commit)
            .unwrap_or_default()
    }

    /// Merges as a person with every right would, bypassing no rule; false when GitHub refuses.
    pub fn merge_by_hand(&self, now: Timestamp, repo: &str, number: u64, login: &str) -> bool {
        let order = MergeOrder {
            sha: None,
            method: MergeMethod::Squash,
            title: None,
            by: Actor::person(login),
        };
        self.world().merge(now, repo, number, &order).is_ok()
    }

    /// Converts a pull request to a draft or back, without a webhook.
    pub fn set_draft(&self, repo: &str, number: u64, draft: bool) {
        if let Ok(pull) = self.world().pull_mut(repo, number) {
            pull.draft = draft;
        }
    }

    /// Declares that a pull request conflicts with its base, until its head moves or this is taken back.
    pub fn set_conflict(&self, now: Timestamp, repo: &str, number: u64, conflict: bool) {
        if let Ok(pull) = self.world().pull_mut(repo, number) {
            pull.forced_conflict = conflict;
            pull.changed_at = now;
        }
    }

    /// Submits a review of the present head: `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`.
    pub fn review(
        &self,
        now: Timestamp,
        repo: &str,
        number: u64,
        (login, state, body): (&str, &str, &str),
    ) {
        drop(self.world().review(now, repo, number, (login, state, body)));
    }

    /// Sets a check run by hand; creates it when the commit has none of this name. The clock no longer moves it.
    pub fn set_check(
        &self,
        now: Timestamp,
        repo: &str,
        (sha, name): (&str, &str),
        state: CheckState,
    ) {
        let phase = match state {
            CheckState::Queued => Phase::Queued,
            CheckState::InProgress => Phase::InProgress,
            CheckState::Completed(conclusion) => Phase::Completed(conclusion),
        };
        self.world().set_check(now, repo, (sha, name), phase);
    }

    /// Ends every unfinished check of a commit.
    pub fn finish_checks(&self, now: Timestamp, repo: &str, sha: &str, conclusion: Conclusion) {
        self.world().finish_checks(now, repo, sha, conclusion);
    }

    /// The state of a pull request; `None` when it does not exist.
    #[must_use]
    pub fn pull(&self, repo: &str, number: u64) -> Option<PullView> {
        view::load(&self.world(), repo, number)
    }

    /// The numbers of all pull requests of a repository.
    #[must_use]
    pub fn pulls(&self, repo: &str) -> Vec<u64> {
        let world = self.world();
        world
            .repo(repo)
            .map(|repo| repo.pulls.keys().copied().collect())
            .unwrap_or_default()
    }

    /// The SHA a branch points to; `None` when there is no such branch.
    #[must_use]
    pub fn branch(&self, repo: &str, branch: &str) -> Option<String> {
        let world = self.world();
        world.repo(repo).ok()?.branches.get(branch).cloned()
    }

    /// What a commit says; `None` when there is no such commit.
    #[must_use]
    pub fn message(&self, sha: &str) -> Option<String> {
        let world = self.world();
        world.commits.get(sha).map(|it| it.message.clone())
    }

    /// What a commit changes; nothing when there is no such commit.
    #[must_use]
    pub fn changed_by(&self, sha: &str) -> Vec<ChangedFile> {
        let world = self.world();
        world
            .commits
            .get(sha)
            .map(|it| it.files.clone())
            .unwrap_or_default()
    }

    /// Whether a branch exists; `None` when the repository does not.
    #[must_use]
    pub fn branch_exists(&self, repo: &str, branch: &str) -> Option<bool> {
        let world = self.world();
        world
            .repo(repo)
            .ok()
            .map(|repo| repo.branches.contains_key(branch))
    }

    /// Performs everything of the CI engine that is due.
    pub fn advance(&self, now: Timestamp) {
        self.world().advance(now);
    }

    /// When a check moves or a webhook leaves next.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        let world = self.world();
        let check = world.next_change().map(|(due, ..)| due);
        [check, world.outbox.next_due()].into_iter().flatten().min()
    }

    /// Sets where webhooks go; without a target there is no hook, and events are not kept.
    pub fn set_webhook(&self, target: Option<WebhookTarget>) {
        self.world().outbox.target = target;
    }

    /// Where webhooks go.
    #[must_use]
    pub fn webhook(&self) -> Option<WebhookTarget> {
        self.world().outbox.target.clone()
    }

    /// Sets the faults of webhooks from now on.
    pub fn set_webhook_faults(&self, faults: WebhookFaults) {
        self.world().outbox.faults = faults;
    }

    /// The faults of webhooks.
    #[must_use]
    pub fn webhook_faults(&self) -> WebhookFaults {
        self.world().outbox.faults.clone()
    }

    /// The delivery log, oldest first: one entry for each attempt.
    #[must_use]
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.world().outbox.deliveries().cloned().collect()
    }

    /// Queues a past delivery again under its old guid; false when there is none of this id.
    pub fn redeliver(&self, now: Timestamp, id: u64) -> bool {
        self.world().outbox.redeliver(now, id)
    }

    /// Posts all webhooks that are due, one after another, waits for the answers, and returns how many were
    /// posted. What the answers' handlers cause meanwhile waits for the next call.
    pub async fn deliver_due(&self, now: Timestamp) -> usize {
        let courier = self.courier.lock().await;
        let (target, due) = {
            let mut world = self.world();
            (world.outbox.target.clone(), world.outbox.take_due(now))
        };
        // Without a target there is no hook any more, and its waiting deliveries are dropped.
        let Some(target) = target else { return 0 };
        let mut posted = 0;
        for waiting in due {
            let status = courier.post(&target, &waiting).await;
            posted += usize::from(!waiting.lost);
            let sent = status.is_some_and(|status| (200..300).contains(&status));
            let mut world = self.world();
            world.outbox.note(now, waiting, status);
            world.counters.count(|it| {
                if sent {
                    it.webhooks_sent += 1
                } else {
                    it.webhooks_failed += 1
                }
            });
        }
        posted
    }
}
