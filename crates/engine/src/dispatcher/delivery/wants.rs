//! Carries out what a delivery wants of others, by the functions that orders of people use. Ids, causes and conditions
//! make it harmless to carry out the same thing twice.

use domain::delivery::{Actor, Delivery, Purpose, Want};
use domain::effect::{Action, TrackerAction};
use domain::ids::{CommitSha, DeliveryId, JobId, PullRef};
use domain::job::{self, NewJob};
use domain::outgoing_text;
use domain::policy::{Source, Terms};
use domain::pull::{DeliveryHint, MergeApproval, MergeStyle};

use crate::backend::{Backend, Error, ignore_conflict};
use crate::deliveries::order_giver;
use crate::dispatcher::Dispatcher;
use crate::dispatcher::pulls::PullWakeup;
use crate::jobs::JobRef;
use crate::keys;

impl Dispatcher {
    /// Carries out one want. Returns whether the delivery has to be looked at again for it. What cannot be done now is
    /// wanted again at the next look.
    pub(super) async fn carry_out(
        &self,
        delivery: &Delivery,
        want: &Want,
        source: &Source,
    ) -> Result<bool, Error> {
        let id = &delivery.id;
        let outcome = match want {
            Want::CreateJob { job, purpose } => {
                self.create_job(delivery, (job, purpose), source).await
            }
            Want::RetryJob {
                job,
                reason,
                start_over,
                ..
            } => {
                let named = named(id, job, &Actor::System);
                if *start_over {
                    let by = order_giver(id, &Actor::System);
                    self.backend.cancel_job(&named, &by).await.map(drop)
                } else {
                    let reason = reason.as_deref();
                    self.backend.retry_job(&named, reason).await.map(drop)
                }
            }
            Want::ApprovePlan { job, plan, by } => {
                let named = named(id, job, by);
                self.backend
                    .approve_plan(&named, Some(plan))
                    .await
                    .map(drop)
            }
            Want::Say { job, text, cause } => {
                let text = outgoing_text::requested_change(text.as_deref());
                let named = named(id, job, &Actor::System);
                self.backend.say(&named, &text, cause).await.map(drop)
            }
            Want::CancelJob { job, by } => {
                let named = named(id, job, by);
                self.backend
                    .cancel_job(&named, &order_giver(id, by))
                    .await
                    .map(drop)
            }
            Want::ApprovePull { head, by, .. } => self.approve_pull(delivery, head, by).await,
            Want::ReadPull { pull } => return self.read_pull(pull).await,
            Want::CloseIssue { issue } => {
                let issue = issue.clone();
                self.want_effect(id, TrackerAction::CloseIssue { issue })
                    .await
            }
            Want::LeaveJob { .. }
            | Want::AskReviewer { .. }
            | Want::ClosePull { .. }
            | Want::CreateChild { .. }
            | Want::CallOffChild { .. }
            | Want::DispatchWorkflow { .. }
            | Want::AskProvider { .. }
            | Want::TellFailed { .. } => Ok(()),
        };
        match outcome {
            Err(Error::NotNow(refused)) => {
                tracing::info!(delivery.id = %id, code = refused.code, "{refused}");
                Ok(false)
            }
            outcome => outcome.map(|()| false),
        }
    }

    /// Creates the job of a delivery, under the id that was saved with the decision.
    async fn create_job(
        &self,
        delivery: &Delivery,
        (id, purpose): (&JobId, &Purpose),
        source: &Source,
    ) -> Result<(), Error> {
        let Some(branch) = source.branch.clone() else {
            return Ok(());
        };
        let prompt = match purpose {
            Purpose::Work => outgoing_text::delivery_task(delivery),
            Purpose::Review { pull, head } => outgoing_text::review_task(delivery, pull, head),
        };
        let now = self.backend.now();
        let new = NewJob {
            id: id.clone(),
            installation: self.backend.installation.clone(),
            account: source.account.clone(),
            repo: delivery.repo.clone(),
            branch,
            title: Some(delivery.summary.clone()),
            prompt,
            agent: None,
            resume: None,
            priority: delivery.priority,
            terms: Terms::default(),
            delivery: Some(delivery.id.clone()),
        };
        let mut step = job::create(new, now)?;
        let by = order_giver(&delivery.id, &Actor::System);
        job::record_order(&mut step.aggregate, job::Order::Create, &by, now);
        let mut unit = self.backend.unit();
        self.backend.save_job(&mut unit, None, &step).await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Says that the head may be merged that a person let go on.
    async fn approve_pull(
        &self,
        delivery: &Delivery,
        head: &CommitSha,
        by: &Actor,
    ) -> Result<(), Error> {
        let Some(job) = &delivery.task.job else {
            return Ok(());
        };
        let name = order_giver(&delivery.id, by);
        let word = MergeApproval {
            by: &name,
            style: &MergeStyle::default(),
        };
        let named = named(&delivery.id, job, by);
        let approved = self.backend.approve_merge(&named, Some(head), &word).await;
        approved.map(drop)
    }

    async fn read_pull(&self, pull: &PullRef) -> Result<bool, Error> {
        let wakeup = PullWakeup {
            pull,
            hint: None,
            received_at: None,
            news: DeliveryHint::Changed,
            sha: None,
        };
        self.pull(&wakeup).await.map(|()| true)
    }

    /// Saves an effect of a delivery; the same one is saved once.
    async fn want_effect(&self, id: &DeliveryId, action: TrackerAction) -> Result<(), Error> {
        let mut unit = self.backend.unit();
        let action = [Action::Tracker(action)];
        self.backend
            .save_effects(&mut unit, &keys::delivery_pk(id), &action)
            .await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Whether the issue of a delivery was closed by us, or is about to be.
    pub(super) async fn was_told_to_close(&self, delivery: &Delivery) -> Result<bool, Error> {
        let Some(issue) = delivery.issue.clone() else {
            return Ok(false);
        };
        let action = Action::Tracker(TrackerAction::CloseIssue { issue });
        let pk = keys::delivery_pk(&delivery.id);
        let id = Backend::effect_id(&action);
        Ok(self.backend.store.effect(&pk, &id).await?.is_some())
    }
}

/// A job as a delivery names it in its orders.
fn named(delivery: &DeliveryId, job: &JobId, by: &Actor) -> JobRef {
    JobRef {
        job: job.clone(),
        session: None,
        by: Some(order_giver(delivery, by)),
    }
}
