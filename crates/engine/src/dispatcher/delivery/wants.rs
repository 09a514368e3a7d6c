//! Carries out what a delivery wants of others, by the functions that orders of people use. Ids, causes and conditions
//! make it harmless to carry out the same thing twice.

use domain::delivery::{Actor, Child, Delivery, DeliveryInput, Purpose, Want, order_giver};
use domain::effect::{Action, EffectState, PullAction, TrackerAction};
use domain::failure::FailureClass;
use domain::ids::{BranchName, CommitSha, DeliveryId, JobId, PullRef};
use domain::job::{self, NewJob};
use domain::outgoing_text;
use domain::policy::{Source, Terms};
use domain::pull::{DeliveryHint, MergeApproval, MergeStyle};
use domain::refusal::NotNow;

use super::announcements::DeliveryQuestion;
use super::providers::dispatch;
use crate::backend::{Backend, Error, ignore_conflict};
use crate::deliveries::DeliveryOrder;
use crate::dispatcher::Dispatcher;
use crate::dispatcher::pulls::PullWakeup;
use crate::jobs::{JobRef, JobTask};
use crate::keys;

impl Dispatcher {
    /// Carries out one want. Returns whether the delivery has to be looked at again for it. What is refused now is wanted
    /// again at the next look.
    pub(super) async fn carry_out(
        &self,
        delivery: &Delivery,
        want: &Want,
        source: &Source,
    ) -> Result<bool, Error> {
        let id = &delivery.id;
        let outcome = match want {
            Want::ReadSession { job } => return self.read_session(job).await,
            Want::ReadPull { pull } => return self.read_pull(pull).await,
            Want::ReadPart { id } => return self.read_part(id).await,
            Want::AskProvider { phase } => {
                return self.ask_provider(delivery, *phase, source).await;
            }
            Want::CreateJob { job, purpose } => {
                self.create_job(delivery, job, purpose, source).await
            }
            Want::RetryJob { .. }
            | Want::ApprovePlan { .. }
            | Want::Say { .. }
            | Want::CancelJob { .. }
            | Want::LeaveJob { .. }
            | Want::PrioritiseJob { .. } => self.order_job(delivery, want, source).await,
            Want::ApprovePull {
                head, by, style, ..
            } => self.approve_pull(delivery, head, style, by).await,
            Want::ClosePull { pull, newer } => self.replace_pull(id, pull, newer).await,
            Want::CreateChild { child } => self.create_child(delivery, child).await,
            Want::CancelChild { id, by } => {
                let input = DeliveryInput::Cancelled(by.clone());
                self.show_delivery(id, &input).await.map(drop)
            }
            Want::Ask {
                ask,
                audience,
                cause,
            } => {
                let question = DeliveryQuestion {
                    ask,
                    audience: *audience,
                    cause,
                };
                self.ask(delivery, question, source).await
            }
            Want::TellFailed {
                audience, cause, ..
            } => {
                self.announce_failure(delivery, *audience, cause.as_str(), source)
                    .await
            }
            Want::Tell { .. } => self.tell_issue(id).await,
            Want::DispatchWorkflow { .. } | Want::CloseIssue { .. } => {
                self.want_effects(id, &on_tracker(delivery, want)).await
            }
        };
        outcome.map(|()| false)
    }

    /// Gives an order to the job of a delivery.
    async fn order_job(
        &self,
        delivery: &Delivery,
        want: &Want,
        source: &Source,
    ) -> Result<(), Error> {
        let (id, backend) = (&delivery.id, &self.backend);
        let system = &Actor::System;
        if let Want::RetryJob { job, attempt, .. } = want
            && backend.must_job(job).await?.value.attempt >= *attempt
        {
            // Another look was quicker.
            return Ok(());
        }
        match want {
            Want::RetryJob {
                job,
                start_over: true,
                ..
            } => {
                let (named, by) = (named(id, job, system), order_giver(id, system));
                backend.cancel_job(&named, &by).await.map(drop)
            }
            Want::RetryJob { job, reason, .. } => {
                self.retry_session(delivery, job, reason.as_deref(), source)
                    .await
            }
            Want::ApprovePlan { job, plan, by } => {
                let named = named(id, job, by);
                backend.approve_plan(&named, Some(plan)).await.map(drop)
            }
            Want::Say {
                job,
                phase,
                text,
                cause,
            } => {
                let has_pull = delivery.task.pull.is_some();
                let text = outgoing_text::requested_change(*phase, has_pull, text.as_deref());
                let named = named(id, job, system);
                backend.say(&named, &text, cause).await.map(drop)
            }
            Want::CancelJob { job, by } => {
                let (named, giver) = (named(id, job, by), order_giver(id, by));
                match by {
                    Actor::System => backend.put_away_job(&named, &giver).await.map(drop),
                    Actor::Agent(_) | Actor::Person(_) => {
                        backend.cancel_job(&named, &giver).await.map(drop)
                    }
                }
            }
            Want::LeaveJob { job } => backend.leave_job(job).await,
            Want::PrioritiseJob { job, priority } => backend.prioritise_job(job, *priority).await,
            Want::CreateJob { .. }
            | Want::ApprovePull { .. }
            | Want::ReadSession { .. }
            | Want::ReadPull { .. }
            | Want::ClosePull { .. }
            | Want::CreateChild { .. }
            | Want::ReadPart { .. }
            | Want::CancelChild { .. }
            | Want::DispatchWorkflow { .. }
            | Want::AskProvider { .. }
            | Want::Ask { .. }
            | Want::Tell { .. }
            | Want::TellFailed { .. }
            | Want::CloseIssue { .. } => Ok(()),
        }
    }

    /// Gives the job of a delivery another session. Its plan or what it says of itself may have changed since the last one began.
    async fn retry_session(
        &self,
        delivery: &Delivery,
        job: &JobId,
        reason: Option<&str>,
        source: &Source,
    ) -> Result<(), Error> {
        let branch = self.backend.must_job(job).await?.value.branch;
        let task = self.task(delivery, job, source, &branch).await?;
        let named = named(&delivery.id, job, &Actor::System);
        let retried = self.backend.retry_with(&named, reason, Some(&task));
        retried.await.map(drop)
    }

    /// What the session of a delivery works on, and what its job does for a pipeline by that.
    async fn task(
        &self,
        delivery: &Delivery,
        job: &JobId,
        source: &Source,
        branch: &BranchName,
    ) -> Result<JobTask, Error> {
        let Some(requirement) = &delivery.requirement else {
            return Ok((outgoing_text::delivery_task(delivery), None));
        };
        let plan = outgoing_text::given_plan(delivery);
        let (asked, place) = ((requirement, plan), (source, branch));
        let made = Box::pin(self.implementer(job, asked, place)).await;
        let (prompt, part) = made.map_err(no_files)?;
        Ok((prompt, Some(Box::new(part))))
    }

    /// Creates the job of a delivery, under the id that was saved with the decision.
    async fn create_job(
        &self,
        delivery: &Delivery,
        id: &JobId,
        purpose: &Purpose,
        source: &Source,
    ) -> Result<(), Error> {
        let Some(branch) = source.branch.clone() else {
            return Ok(());
        };
        let (prompt, part) = match purpose {
            Purpose::Work => self.task(delivery, id, source, &branch).await?,
            Purpose::Review { pull, head } => {
                (outgoing_text::review_task(delivery, pull, head), None)
            }
        };
        let now = self.backend.now();
        let new = NewJob {
            id: id.clone(),
            installation: self.backend.installation.clone(),
            account: source.account.clone(),
            repo: delivery.repo.clone(),
            branch,
            title: Some(outgoing_text::delivery_title(delivery, purpose)),
            prompt,
            agent: None,
            resume: None,
            priority: delivery.priority,
            terms: Terms::default(),
            part,
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
        style: &MergeStyle,
        by: &Actor,
    ) -> Result<(), Error> {
        let Some(job) = &delivery.task.job else {
            return Ok(());
        };
        let name = order_giver(&delivery.id, by);
        let word = MergeApproval { by: &name, style };
        let named = named(&delivery.id, job, by);
        let approved = self.backend.approve_merge(&named, Some(head), &word).await;
        approved.map(drop)
    }

    /// Reads the session of a job. Returns whether it could be read.
    pub(super) async fn read_session(&self, job: &JobId) -> Result<bool, Error> {
        let began = self.backend.now();
        self.look(job).await?;
        let read_at = self.session_read_at(job).await?;
        Ok(read_at.is_some_and(|at| at >= began))
    }

    pub(super) async fn read_pull(&self, pull: &PullRef) -> Result<bool, Error> {
        let wakeup = PullWakeup {
            pull,
            hint: None,
            received_at: None,
            news: DeliveryHint::Changed,
            sha: None,
        };
        self.pull(&wakeup).await.map(|()| true)
    }

    /// Closes the pull request of an earlier attempt, with a pointer to the newer one.
    async fn replace_pull(
        &self,
        id: &DeliveryId,
        pull: &PullRef,
        newer: &PullRef,
    ) -> Result<(), Error> {
        let by = order_giver(id, &Actor::System);
        self.backend.close_pull(pull, &by).await?;
        let pointer = Action::Pull(PullAction::Comment {
            pull: pull.clone(),
            text: outgoing_text::replaced_by(newer),
            cause: format!("replaced:{newer}"),
        });
        self.want_effects(id, &[pointer]).await
    }

    /// Creates a part of a delivery, under the id that was saved with the split.
    async fn create_child(&self, delivery: &Delivery, child: &Child) -> Result<(), Error> {
        let order = DeliveryOrder::of_part(delivery, child);
        self.backend.create_delivery(&order).await.map(drop)
    }

    /// Saves effects of a delivery; the same one is saved once.
    async fn want_effects(&self, id: &DeliveryId, actions: &[Action]) -> Result<(), Error> {
        let mut unit = self.backend.unit();
        self.backend
            .save_effects(&mut unit, &keys::delivery_pk(id), actions)
            .await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Whether the issue of a delivery was closed by us, or is about to be. What failed is asked for again.
    pub(super) async fn was_told_to_close(&self, delivery: &Delivery) -> Result<bool, Error> {
        let Some(issue) = delivery.issue.clone() else {
            return Ok(false);
        };
        let action = Action::Tracker(TrackerAction::CloseIssue { issue });
        let pk = keys::delivery_pk(&delivery.id);
        let id = Backend::effect_id(&action);
        let found = self.backend.store.effect(&pk, &id).await?;
        Ok(found.is_some_and(|found| match found.value.state {
            EffectState::Failed { .. } => false,
            EffectState::Intent { .. }
            | EffectState::Started { .. }
            | EffectState::Unknown { .. }
            | EffectState::Done { .. } => true,
        }))
    }
}

/// What a want does to an issue, or to what deploys; nothing for other wants.
fn on_tracker(delivery: &Delivery, want: &Want) -> Vec<Action> {
    let action = match want {
        Want::CloseIssue { issue } => Action::Tracker(TrackerAction::CloseIssue {
            issue: issue.clone(),
        }),
        Want::DispatchWorkflow {
            file,
            branch,
            cause,
        } => dispatch(delivery, file, branch, cause),
        Want::CreateJob { .. }
        | Want::RetryJob { .. }
        | Want::ApprovePlan { .. }
        | Want::Say { .. }
        | Want::CancelJob { .. }
        | Want::LeaveJob { .. }
        | Want::PrioritiseJob { .. }
        | Want::ApprovePull { .. }
        | Want::ReadSession { .. }
        | Want::ReadPull { .. }
        | Want::ClosePull { .. }
        | Want::CreateChild { .. }
        | Want::ReadPart { .. }
        | Want::CancelChild { .. }
        | Want::AskProvider { .. }
        | Want::Ask { .. }
        | Want::Tell { .. }
        | Want::TellFailed { .. } => return Vec::new(),
    };
    vec![action]
}

/// Files that are too large, or that may not be read, stay so until a person changes that: a delivery shows it as what it is refused.
fn no_files(error: Error) -> Error {
    // A commit that is new is found a moment later.
    if let Error::Outside(failure) = &error
        && !failure.class.may_pass()
        && failure.class != FailureClass::NotFound
    {
        return NotNow::new("no_files", failure.to_string()).into();
    }
    error
}

/// A job as a delivery names it in its orders.
fn named(delivery: &DeliveryId, job: &JobId, by: &Actor) -> JobRef {
    JobRef {
        job: job.clone(),
        session: None,
        by: Some(order_giver(delivery, by)),
    }
}
