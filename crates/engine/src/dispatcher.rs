//! The one hand: handles wake-ups, decides, and is the only one that writes to Jules, GitHub and agents.

mod access;
mod adopt;
mod artifacts;
mod deliveries;
mod delivery;
mod dues;
mod effects;
mod forward;
mod intake;
mod messages;
mod observe;
mod pipeline;
mod pulls;
mod redelivery;
mod slots;
mod sprint;
mod wakes;
mod webhook_activity;
mod webhooks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::effect::{Action, JulesAction};
use domain::failure::{Failure, FailureClass};
use domain::ids::JobId;
use domain::job::{self, JobPhase};
use domain::merge::Hold;
use domain::policy::Source;
use domain::pull::DeliveryHint;
use jiff::{SignedDuration, Timestamp};

use crate::backend::{Backend, DECIDE_AGAIN_MAX, Error, ignore_conflict};
use crate::keys;
use crate::ports::{
    AgentsWrite, Delivery, GitRead, GitWrite, HooksRead, HooksWrite, IssuesRead, IssuesWrite,
    PullsRead, PullsWrite, SessionsRead, SessionsWrite,
};
use crate::store::Versioned;
use crate::work::Work;
pub use deliveries::{AT_ONCE_PER_AGENT, Deliveries};
use pulls::PullWakeup;

pub(crate) use effects::CLOCK_SLACK;

/// Messages taken at once.
pub const BATCH: usize = 10;

/// How long a received message stays hidden: six times what handling one may take.
pub const VISIBILITY: SignedDuration = SignedDuration::from_secs(540);

/// A message whose handling failed is shown again after this.
pub const TRY_AGAIN: SignedDuration = SignedDuration::from_secs(10);

/// Everything that writes outside.
#[derive(Clone)]
pub struct Writers {
    /// To Jules.
    pub sessions: Arc<dyn SessionsWrite>,
    /// To GitHub.
    pub pulls: Arc<dyn PullsWrite>,
    /// To GitHub's issues.
    pub issues: Arc<dyn IssuesWrite>,
    /// To files and branches on GitHub.
    pub git: Arc<dyn GitWrite>,
    /// To GitHub's logs of webhook deliveries.
    pub hooks: Arc<dyn HooksWrite>,
    /// To agents.
    pub agents: Arc<dyn AgentsWrite>,
}

/// Everything that reads outside.
#[derive(Clone)]
pub struct Readers {
    /// Jules.
    pub sessions: Arc<dyn SessionsRead>,
    /// GitHub.
    pub pulls: Arc<dyn PullsRead>,
    /// GitHub's issues.
    pub issues: Arc<dyn IssuesRead>,
    /// Files and branches on GitHub.
    pub git: Arc<dyn GitRead>,
    /// GitHub's logs of webhook deliveries.
    pub hooks: Arc<dyn HooksRead>,
}

/// What is to become of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageOutcome {
    /// It can go: it was handled, or no attempt will ever help.
    Done,
    /// It comes again after [`TRY_AGAIN`].
    Again,
}

/// Handles wake-ups.
pub struct Dispatcher {
    backend: Backend,
    readers: Readers,
    writers: Writers,
    heard: webhook_activity::ActivityCache,
    asked_again: AtomicU64,
    is_deaf: bool,
}

impl Dispatcher {
    /// A dispatcher.
    pub fn new(backend: Backend, readers: Readers, writers: Writers) -> Self {
        Self {
            backend,
            readers,
            writers,
            heard: webhook_activity::ActivityCache::default(),
            asked_again: AtomicU64::new(0),
            is_deaf: false,
        }
    }

    /// The same for a process without a webhook endpoint: it requests no redeliveries.
    pub fn without_webhooks(mut self) -> Self {
        self.is_deaf = true;
        self
    }

    /// Returns the number of webhook redeliveries requested since the last call.
    pub fn take_redelivered(&self) -> u64 {
        self.asked_again.swap(0, Ordering::Relaxed)
    }

    /// Receives one batch and handles it; returns how many messages there were.
    pub async fn drain(&self) -> Result<usize, Error> {
        let batch = self.backend.queue.receive(BATCH, VISIBILITY).await?;
        for delivery in &batch {
            self.receive(delivery).await?;
        }
        Ok(batch.len())
    }

    /// Handles one message: acknowledged when done or hopeless, shown again when trying again can help.
    async fn receive(&self, delivery: &Delivery) -> Result<(), Error> {
        let queue = &self.backend.queue;
        match self.handle_message(delivery).await {
            MessageOutcome::Done => queue.acknowledge(&delivery.receipt).await?,
            MessageOutcome::Again => queue.release(&delivery.receipt, TRY_AGAIN).await?,
        }
        Ok(())
    }

    /// Handles one message for its receiver, and says what happens to the message.
    pub async fn handle_message(&self, delivery: &Delivery) -> MessageOutcome {
        let Some(work) = Work::from_body(&delivery.body) else {
            tracing::error!(
                bytes = delivery.body.len(),
                "a malformed message was dropped"
            );
            return MessageOutcome::Done;
        };
        match self.handle(&work).await {
            Ok(()) => MessageOutcome::Done,
            Err(error) => {
                tracing::warn!(%error, ?work, receives = delivery.receives, "a wake-up could not be handled; it comes again");
                MessageOutcome::Again
            }
        }
    }

    /// Handles one wake-up. Handling it twice does nothing twice.
    pub async fn handle(&self, work: &Work) -> Result<(), Error> {
        match work {
            Work::Job { id } => self.job(id).await,
            Work::Pull {
                pull,
                job,
                received_at,
            } => {
                let wakeup = PullWakeup {
                    pull,
                    hint: job.as_ref(),
                    received_at: *received_at,
                    news: DeliveryHint::Changed,
                    sha: None,
                };
                Box::pin(self.pull(&wakeup)).await
            }
            Work::Commit {
                repo,
                sha,
                received_at,
            } => Box::pin(self.commit_moved(repo, sha, *received_at, DeliveryHint::Changed)).await,
            Work::Webhook(event) => Box::pin(self.handle_webhook(event)).await,
            Work::Wake { agent, event } => self.wake(agent, event).await,
            Work::Adopt { id } => self.adopt(id).await,
            Work::Artifacts { id } => self.artifacts(id).await,
            Work::Messages { id, after } => self.messages(id, after).await,
            Work::Look { id, pushed_at } => self.look_now(id, *pushed_at).await,
            Work::Watch { account } => self.watch_soon(account).await,
            Work::Delivery { id } => Box::pin(self.delivery(id)).await,
            Work::Pipeline { id } => Box::pin(self.pipeline(id)).await,
            Work::Schedule { repo } => Box::pin(self.schedule(repo)).await,
            Work::Requirement { repo, id } => Box::pin(self.requirement(repo, id)).await,
            Work::Sprint { repo, number } => Box::pin(self.sprint(repo, *number)).await,
            Work::Personas { repo, number } => self.read_personas(repo, *number).await,
            Work::Transcript { id, run } => self.transcript_for_caller(id, run).await,
            Work::Intake {
                repo,
                number,
                webhook: Some(webhook),
            } => self.handle_issue_webhook(repo, *number, *webhook).await,
            Work::Intake { repo, number, .. } => self.intake(repo, *number).await,
            Work::Issue { issue } => self.read_issue(issue).await,
            Work::Slots { account } => self.slots(account).await,
            Work::Redelivery { log: None } => self.find_hook_logs().await,
            Work::Redelivery { log: Some(log) } => self.redeliver(log).await,
        }
    }

    /// Reads a job's session now, for a caller who waits or after it was pushed to us.
    async fn look_now(&self, id: &JobId, pushed_at: Option<Timestamp>) -> Result<(), Error> {
        match pushed_at {
            None => self.look(id).await,
            Some(at) => self.look_after_push(id, at).await,
        }
    }

    /// Handles a job: settles and performs its effects, then handles its deadline.
    async fn job(&self, id: &JobId) -> Result<(), Error> {
        let pk = keys::job_pk(id);
        let Some(found) = self.backend.store.job(id).await? else {
            return Ok(());
        };
        let source = self.source(&found.value.repo).await?;
        let source = source.for_job(&found.value).into_owned();
        let found = if self.run_effects(&pk, &source, None).await? {
            self.backend.store.job(id).await?
        } else {
            Some(found)
        };
        let Some(found) = found else {
            return Ok(());
        };
        match &found.value.phase {
            JobPhase::Queued { .. } => self.slots(&found.value.account).await,
            JobPhase::Watching(_) if found.value.pull().is_none() => {
                self.observe_if_due(found, &source).await
            }
            JobPhase::Watching(_) => {
                self.settle_with_pull(id).await?;
                match self.backend.store.job(id).await? {
                    Some(found) => self.observe_if_due(found, &source).await,
                    None => Ok(()),
                }
            }
            JobPhase::Creating { .. } => self.recreate_if_lost(&found, &source).await,
            JobPhase::Proposed { .. } => self.look_at_proposal(id, &source.timing).await,
            JobPhase::Ended(_) if job::may_still_be_merged(&found.value) => {
                self.settle_with_pull(id).await
            }
            JobPhase::Ended(_) => Ok(()),
        }
    }

    /// A merged or closed pull request ends its job.
    async fn settle_with_pull(&self, id: &JobId) -> Result<(), Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let Some(found) = self.backend.store.job(id).await? else {
                return Ok(());
            };
            let Some(reference) = found.value.pull().cloned() else {
                return Ok(());
            };
            let Some(tracked) = self.backend.store.pull(&reference).await? else {
                return Ok(());
            };
            let domain::pull::PullPhase::Settled { state, sha, .. } = &tracked.value.pull.phase
            else {
                return Ok(());
            };
            let step = job::pull_settled(&found.value, &reference, state, sha, self.backend.now());
            let mut unit = self.backend.unit();
            self.backend
                .save_job(&mut unit, Some(&found), &step)
                .await?;
            let over = self
                .backend
                .withdraw_at_end(&mut unit, &found.value, &step)
                .await?;
            match self.backend.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
                Ok(()) => return self.backend.nudge_after(&over).await,
            }
        }
        Ok(())
    }

    /// A job that waits for a create which is over, or was never saved, goes back to the queue.
    async fn recreate_if_lost(
        &self,
        found: &Versioned<job::Job>,
        source: &Source,
    ) -> Result<(), Error> {
        let now = self.backend.now();
        let overdue = job::deadline(&found.value, &source.timing).is_some_and(|due| due <= now);
        let wished = Action::Jules(JulesAction::CreateSession {
            job: found.value.id.clone(),
            attempt: found.value.attempt,
        });
        let id = Backend::effect_id(&wished);
        let pk = keys::job_pk(&found.value.id);
        let effect = self.backend.store.effect(&pk, &id).await?;
        if !overdue || effect.is_some_and(|effect| !effect.value.is_settled()) {
            return Ok(());
        }
        let lost = Failure::new(FailureClass::Unavailable, "the create was lost").never_sent();
        let step = job::creation_failed(&found.value, &lost, now);
        let mut unit = self.backend.unit();
        self.give_back(&mut unit, &found.value, &lost).await?;
        self.backend.save_job(&mut unit, Some(found), &step).await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// The source of a repository; one that was never added allows nothing.
    async fn source(&self, repo: &domain::ids::RepoName) -> Result<Source, Error> {
        Ok(self.backend.must::<Source>(repo).await?.value)
    }

    /// Whether writing is switched off for a source.
    async fn hold(&self, source: &Source) -> Result<Option<Hold>, Error> {
        if self.backend.observe_only {
            return Ok(Some(Hold::ObserveOnly));
        }
        let paused = source.paused
            || self
                .backend
                .store
                .switches()
                .await?
                .value
                .paused_since
                .is_some();
        Ok(paused.then_some(Hold::Paused))
    }
}
