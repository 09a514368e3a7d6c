//! Reads the world about an effect whose outcome is unknown.

use domain::effect::{Action, Effect, Finding};
use domain::facts::PullState;
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, JobId, PlanId, PullRef, RepoName, SessionId};
use domain::session::{ActivityKind, SessionState};
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use super::effects::Outcome;
use crate::desk::Error;

/// Clocks differ: what happened is looked for from this much before the wish.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_secs(120);

impl Dispatcher {
    /// What the world shows of an effect, and the outcome if it happened.
    pub(super) async fn look_for(&self, effect: &Effect) -> Result<(Finding, Outcome), Error> {
        let since = effect.created_at - CLOCK_SLACK;
        let found = match &effect.action {
            Action::CreateSession { job, attempt } => {
                return self.look_for_session(job, *attempt, since).await;
            }
            Action::Merge { pull, .. } => return Ok(self.look_for_merge(pull).await),
            Action::Say { session, text, .. } => {
                self.was_said(
                    &self.account_of_session(session).await?,
                    session,
                    (text, since),
                )
                .await
            }
            Action::ApprovePlan { session, plan } => {
                self.was_approved(&self.account_of_session(session).await?, session, plan)
                    .await
            }
            Action::Archive { session } => {
                self.was_archived(&self.account_of_session(session).await?, session)
                    .await
            }
            Action::MarkReady { pull, .. } => self.facts_show(pull, |facts| !facts.draft).await,
            Action::UpdateBranch { pull, sha } => {
                self.facts_show(pull, |facts| facts.head.sha != *sha).await
            }
            Action::Label { pull, label } => {
                self.facts_show(pull, |facts| facts.labels.contains(label))
                    .await
            }
            Action::Comment { pull, .. } => {
                self.eyes.pulls.has_comment(pull, effect.id.as_str()).await
            }
            Action::DeleteBranch { repo, branch, .. } => self
                .eyes
                .pulls
                .branch(repo, branch)
                .await
                .map(|state| state.sha.is_none()),
        };
        Ok((finding(found), Outcome::Done))
    }

    async fn account_of_session(&self, session: &SessionId) -> Result<AccountName, Error> {
        let unknown = || Error::NoSuch {
            what: "job of session",
            name: session.to_string(),
        };
        let id = self.desk.store.job_of(session).await?.ok_or_else(unknown)?;
        let job = self.desk.store.job(&id).await?.ok_or_else(unknown)?;
        Ok(job.value.account)
    }

    /// The oldest session with the marker is the job's; younger ones are twins, which the poller puts away.
    async fn look_for_session(
        &self,
        id: &JobId,
        attempt: u32,
        since: Timestamp,
    ) -> Result<(Finding, Outcome), Error> {
        let nothing = |finding| (finding, Outcome::Done);
        let Some(job) = self.desk.store.job(id).await? else {
            return Ok(nothing(Finding::NoTrace));
        };
        let mut marker = job.value.marker();
        marker.attempt = attempt;
        Ok(
            match self
                .eyes
                .sessions
                .find(&job.value.account, &marker, since)
                .await
            {
                Err(_) => nothing(Finding::CannotTell),
                Ok(mut views) => {
                    views.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
                    match views.into_iter().next() {
                        Some(view) => (Finding::Happened, Outcome::Created(Box::new(view))),
                        None => nothing(Finding::NoTrace),
                    }
                }
            },
        )
    }

    async fn look_for_merge(&self, pull: &PullRef) -> (Finding, Outcome) {
        match self.eyes.pulls.facts(pull, self.desk.now()).await {
            Err(_) => (Finding::CannotTell, Outcome::Done),
            Ok(facts) => match facts.state {
                PullState::Merged { commit } => (
                    Finding::Happened,
                    Outcome::Merged(commit.unwrap_or(facts.head.sha)),
                ),
                PullState::Open | PullState::Closed => (Finding::NoTrace, Outcome::Done),
            },
        }
    }

    async fn was_said(
        &self,
        account: &AccountName,
        session: &SessionId,
        (text, since): (&str, Timestamp),
    ) -> Result<bool, Failure> {
        let activities = self
            .eyes
            .sessions
            .activities(account, session, Some(since))
            .await?;
        Ok(activities.iter().any(|activity| matches!(&activity.kind, ActivityKind::UserMessaged { text: said } if said.trim() == text.trim())))
    }

    async fn was_approved(
        &self,
        account: &AccountName,
        session: &SessionId,
        plan: &PlanId,
    ) -> Result<bool, Failure> {
        let activities = self
            .eyes
            .sessions
            .activities(account, session, None)
            .await?;
        let named = activities.iter().any(|activity| matches!(&activity.kind, ActivityKind::PlanApproved { plan: approved } if approved.as_ref().is_none_or(|id| id == plan)));
        if named {
            return Ok(true);
        }
        let view = self.eyes.sessions.get(account, session).await?;
        Ok(view.state != SessionState::AwaitingPlanApproval)
    }

    async fn was_archived(
        &self,
        account: &AccountName,
        session: &SessionId,
    ) -> Result<bool, Failure> {
        match self.eyes.sessions.get(account, session).await {
            Err(failure) if failure.class == FailureClass::NotFound => Ok(true),
            found => Ok(found?.archived),
        }
    }

    async fn facts_show(
        &self,
        pull: &PullRef,
        shows: impl Fn(&domain::facts::PullFacts) -> bool,
    ) -> Result<bool, Failure> {
        Ok(shows(&self.eyes.pulls.facts(pull, self.desk.now()).await?))
    }

    /// The default branch of a repository, for jobs that name none.
    pub async fn default_branch(
        &self,
        repo: &RepoName,
    ) -> Result<domain::ids::BranchName, Failure> {
        self.eyes.pulls.default_branch(repo).await
    }
}

fn finding(found: Result<bool, Failure>) -> Finding {
    match found {
        Ok(true) => Finding::Happened,
        Ok(false) => Finding::NoTrace,
        Err(_) => Finding::CannotTell,
    }
}
