//! Performs one effect that was started: one match, one call each, nothing left to decide.

use std::time::Duration;

use domain::effect::{Action, Effect, EffectFinding};
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, BranchName, CommitSha, JobId, RepoName, SessionId};
use domain::job::{self, Job};
use domain::outgoing_text;
use domain::policy::{PlanApproval, Source};

use super::Dispatcher;
use super::effects::EffectOutcome;
use super::settle::CLOCK_SLACK;
use crate::backend::Error;
use crate::ports::NewSession;

/// Time limit for reading an earlier session's changes: the create that waits for it is held for
/// [`START_HOLD`](domain::effect::START_HOLD).
const EARLIER_WITHIN: Duration = Duration::from_secs(15);

impl Dispatcher {
    /// Makes the call. Its failure is an outcome; an error means that the target could not even be determined.
    pub(super) async fn perform(
        &self,
        effect: &Effect,
        source: &Source,
    ) -> Result<EffectOutcome, Error> {
        let done = |result: Result<(), Failure>| match result {
            Ok(()) => EffectOutcome::Done,
            Err(failure) => EffectOutcome::Failed(failure),
        };
        Ok(match &effect.action {
            Action::CreateSession { job, attempt } => {
                if let Some(found) = self.created_before(effect, job, *attempt).await? {
                    return Ok(found);
                }
                self.create(job, source).await?
            }
            Action::Say { session, text, .. } => done(
                self.writers
                    .sessions
                    .send(&self.account_of(session, source).await?, session, text)
                    .await,
            ),
            Action::ApprovePlan { session, plan } => {
                let watch = self.watching(session).await?;
                if watch.is_some_and(|watch| job::is_worked_on(&watch, plan)) {
                    // Nothing waits for it any more: it was approved after the fact.
                    return Ok(EffectOutcome::Done);
                }
                let account = self.account_of(session, source).await?;
                done(self.writers.sessions.approve(&account, session).await)
            }
            Action::Archive { session } => done(
                self.writers
                    .sessions
                    .archive(&self.account_of(session, source).await?, session)
                    .await,
            ),
            Action::Merge {
                pull,
                sha,
                method,
                title,
                ..
            } => {
                let pulls = &self.writers.pulls;
                let merged = pulls.merge(pull, sha, *method, title.as_deref()).await;
                merged.map_or_else(EffectOutcome::Failed, EffectOutcome::Merged)
            }
            Action::MarkReady { pull, node_id, .. } => {
                done(self.writers.pulls.mark_ready(pull, node_id).await)
            }
            Action::UpdateBranch { pull, sha } => {
                done(self.writers.pulls.update_branch(pull, sha).await)
            }
            Action::Comment { pull, text, .. } => done(
                self.writers
                    .pulls
                    .comment(pull, text, effect.id.as_str())
                    .await,
            ),
            Action::Label { pull, label, .. } => done(self.writers.pulls.label(pull, label).await),
            Action::ClosePull { pull } => done(self.writers.pulls.close(pull).await),
            Action::DeleteBranch { repo, branch, sha } => {
                done(self.delete_branch(repo, branch, sha).await)
            }
            Action::Repo(action) => self.act_on_repo(action).await?,
            Action::Tracker(action) => done(self.track(action).await),
        })
    }

    /// Before another attempt, the account is searched for a session that an earlier attempt made after all.
    async fn created_before(
        &self,
        effect: &Effect,
        job: &JobId,
        attempt: u32,
    ) -> Result<Option<EffectOutcome>, Error> {
        if effect.attempt() <= 1 {
            return Ok(None);
        }
        let since = effect.created_at - CLOCK_SLACK;
        let (finding, outcome) = self.look_for_session(job, attempt, since).await?;
        Ok(match finding {
            EffectFinding::Happened => Some(outcome),
            EffectFinding::NoTrace => None,
            EffectFinding::CannotTell => {
                let doing = "looking for a session of an earlier try before creating another";
                let failure = Failure::new(FailureClass::Unavailable, doing).never_sent();
                Some(EffectOutcome::Failed(failure))
            }
        })
    }

    async fn create(&self, id: &JobId, source: &Source) -> Result<EffectOutcome, Error> {
        let found = self
            .backend
            .store
            .job(id)
            .await?
            .ok_or_else(|| Error::NoSuch {
                what: "job",
                name: id.to_string(),
            })?;
        let job = found.value;
        let session = NewSession {
            prompt: self.prompt(&job).await,
            title: outgoing_text::session_title(&job),
            repo: job.repo.clone(),
            branch: job.branch.clone(),
            require_plan_approval: match job.plan_approver(source.policy.plan_approval) {
                PlanApproval::Auto => false,
                PlanApproval::Agent | PlanApproval::Human | PlanApproval::Delivery => true,
            },
            automation: job.terms.automation,
        };
        Ok(
            match self.writers.sessions.create(&job.account, &session).await {
                Ok(view) => EffectOutcome::Created(Box::new(view)),
                Err(failure) => EffectOutcome::Failed(failure),
            },
        )
    }

    /// The task, and for another session the result of the previous one. Unreadable parts are omitted: the work does not wait for them.
    async fn prompt(&self, job: &Job) -> String {
        let patch = match job.earlier.last() {
            None => None,
            Some(session) => {
                let reading = self.readers.sessions.artifacts(&job.account, session);
                let read = tokio::time::timeout(EARLIER_WITHIN, reading).await;
                read.ok().and_then(Result::ok).and_then(|read| read.patch)
            }
        };
        outgoing_text::another_session(job, patch.as_deref())
    }

    /// A branch is deleted only if it still has the commit that is known and no open pull request is based on it.
    async fn delete_branch(
        &self,
        repo: &RepoName,
        branch: &BranchName,
        sha: &CommitSha,
    ) -> Result<(), Failure> {
        let state = self.readers.pulls.branch(repo, branch).await?;
        let left_alone = |why: String| {
            Err(Failure::new(
                FailureClass::Conflict,
                format!("left the branch `{branch}` of {repo} alone: {why}"),
            ))
        };
        match state.sha {
            None => Ok(()),
            Some(now) if now != *sha => left_alone(format!("it moved on to {now}")),
            Some(_) if state.based_on_it > 0 => left_alone(format!(
                "{} open pull requests are based on it",
                state.based_on_it
            )),
            Some(_) => self.writers.pulls.delete_branch(repo, branch).await,
        }
    }

    /// The account that a session's job works on; sessions without a job belong to the source's account.
    pub(super) async fn account_of(
        &self,
        session: &SessionId,
        source: &Source,
    ) -> Result<AccountName, Error> {
        let Some(id) = self.backend.store.job_of(session).await? else {
            return Ok(source.account.clone());
        };
        let job = self.backend.store.job(&id).await?;
        Ok(job.map_or_else(|| source.account.clone(), |job| job.value.account))
    }
}
