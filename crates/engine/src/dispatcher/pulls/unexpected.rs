//! Compares an unexpected head with the accepted one, with the session's own change set, and with the changes of
//! others.

use domain::facts::PullFacts;
use domain::ids::RepoName;
use domain::job::Job;
use domain::merge::SessionStatus;
use domain::pull;

use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::ports::CommitRange;

impl Dispatcher {
    /// The head's unexpected changes, or `None` inside where they could not be determined; `None` where it needs no
    /// comparison.
    pub(super) async fn unexpected(
        &self,
        pull: &pull::Pull,
        facts: &PullFacts,
        job: &Job,
        session: SessionStatus,
    ) -> Result<Option<Option<Vec<String>>>, Error> {
        let (Some(doubt), Some(files)) = (
            pull::needed_comparison(pull, facts, session),
            facts.files.known(),
        ) else {
            return Ok(None);
        };
        let (repo, base) = (&facts.pull.repo, &facts.base.sha);
        let mut found = Vec::new();
        if doubt.differs {
            let head = &doubt.before;
            let Some(before) = self.changed(repo, CommitRange { base, head }).await? else {
                return Ok(Some(None));
            };
            found = pull::beyond(files, &before);
            // The session's own change set may explain the rest; it is read only when it can matter.
            if !found.is_empty() {
                found = pull::beyond(&found, &self.patched(job, pull).await?);
            }
        }
        if let Some(own) = &doubt.own {
            let on = |head| CommitRange { base: own, head };
            let Some(in_base) = self.changed(repo, on(base)).await? else {
                return Ok(Some(None));
            };
            if files.iter().any(|path| in_base.contains(path)) {
                let since_own = self.changed(repo, on(&facts.head.sha)).await?;
                found.extend(pull::reverted_paths(files, &in_base, since_own.as_deref()));
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(Some(Some(found)))
    }

    /// Whether the head only merged the base into the updated one; `None` where the head needs no comparison.
    pub(super) async fn is_base_merge(
        &self,
        pull: &pull::Pull,
        facts: &PullFacts,
    ) -> Result<Option<bool>, Error> {
        let Some(before) = pull::update_to_check(pull, facts) else {
            return Ok(None);
        };
        let (repo, target) = (&facts.pull.repo, &facts.base.sha);
        let between = CommitRange {
            base: before,
            head: &facts.head.sha,
        };
        let read = self.readers.pulls.is_base_merge(repo, target, between);
        match read.await {
            Ok(is_base_merge) => Ok(Some(is_base_merge)),
            Err(failure) if failure.class.may_pass() => Err(failure.into()),
            // What cannot be compared counts as new work.
            Err(_cannot_be_read) => Ok(Some(false)),
        }
    }

    /// The paths that differ between two commits; `None` where GitHub cannot list them.
    async fn changed(
        &self,
        repo: &RepoName,
        between: CommitRange<'_>,
    ) -> Result<Option<Vec<String>>, Error> {
        match self.readers.pulls.changed(repo, between).await {
            Ok(paths) => Ok(Some(paths)),
            Err(failure) if failure.class.may_pass() => Err(failure.into()),
            Err(_cannot_be_listed) => Ok(None),
        }
    }

    /// The paths in a session's change set; empty where it cannot be read any more.
    async fn patched(&self, job: &Job, pull: &pull::Pull) -> Result<Vec<String>, Error> {
        let Some(session) = &pull.session else {
            return Ok(Vec::new());
        };
        let read = self.readers.sessions.artifacts(&job.account, session);
        match read.await {
            Ok(artifacts) => Ok(pull::paths_of_patch(
                artifacts.patch.as_deref().unwrap_or_default(),
            )),
            Err(failure) if failure.class.may_pass() => Err(failure.into()),
            Err(_no_patch) => Ok(Vec::new()),
        }
    }
}
