//! A delivery: what it sees of others, what it decides by that, and what it wants of them.

mod announcements;
mod parts;
mod providers;
mod transcripts;
mod wants;

use domain::delivery::{
    self, Delivery, DeliveryInput, JobGlimpse, JobSight, PullGlimpse, ReviewSight, RunStatus,
    SessionWork, Sight,
};
use domain::ids::{DeliveryId, PlanId, PullRef};
use domain::policy::{Source, Timing};
use domain::step::Step;

use super::Dispatcher;
use super::dues::is_due_kept;
use crate::backend::{Error, decide_again, ignore_conflict};
use crate::keys;
use crate::store::Versioned;
use crate::work::Work;

/// How often one message looks at a delivery: what it wants of others may change what it sees.
const LOOKS_MAX: u32 = 3;

impl Dispatcher {
    /// Handles a delivery: performs its effects, decides by what it sees, and carries out what it wants.
    pub(super) async fn delivery(&self, id: &DeliveryId) -> Result<(), Error> {
        let Some(found) = self.backend.store.get::<Delivery>(id).await? else {
            return Ok(());
        };
        let source = match self.source(&found.value.repo).await {
            Err(Error::NoSuch { .. }) if may_be_left(&found.value) => {
                return self.end_looks(id).await;
            }
            source => source?,
        };
        let pk = keys::delivery_pk(id);
        let mut ended = Vec::new();
        for _ in 0..LOOKS_MAX {
            let delivery = self.look_at_delivery(id, &source).await?;
            let sight = self.sight_of(&delivery, &source.timing).await?;
            let (again, failed) = self.carry_out_all(&delivery, &sight, &source).await?;
            self.run_effects(&pk, &source, None).await?;
            ended = delivery::transcripts_wanted(&delivery, self.backend.now());
            if let Some(error) = failed {
                return Err(error);
            }
            if !again {
                break;
            }
        }
        // Nothing else waits for these readings.
        Box::pin(self.keep_transcripts(id, &ended)).await;
        Ok(())
    }

    /// Carries out everything that a delivery wants, and keeps with it why it did not get what it needs. Returns whether
    /// it has to be looked at again, and the first error.
    async fn carry_out_all(
        &self,
        delivery: &Delivery,
        sight: &Sight,
        source: &Source,
    ) -> Result<(bool, Option<Error>), Error> {
        let (mut again, mut failed, mut refused) = (false, None, None);
        for want in delivery::wants(delivery, sight) {
            // One that fails stops neither the others nor the effects.
            match self.carry_out(delivery, &want, source).await {
                Ok(more) => again |= more,
                Err(error @ (Error::NotNow(_) | Error::Transition(_))) => {
                    tracing::info!(delivery.id = %delivery.id, %error, "a want was refused");
                    refused = refused.or(want.is_needed().then(|| error.to_string()));
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if refused.is_some() || delivery.refused.is_some() {
            let input = DeliveryInput::AskedFor(refused);
            self.show_delivery(&delivery.id, &input).await?;
        }
        Ok((again, failed))
    }

    /// The source was removed since, and nothing more is wanted but the transcripts of what was done: the row would
    /// stay due for ever.
    async fn end_looks(&self, id: &DeliveryId) -> Result<(), Error> {
        let now = self.backend.now();
        let ended =
            delivery::transcripts_wanted(&self.backend.must::<Delivery>(id).await?.value, now);
        Box::pin(self.keep_transcripts(id, &ended)).await;
        let found = &self.backend.must::<Delivery>(id).await?;
        let step = Step {
            due: delivery::transcript_due(&found.value, now),
            ..Step::unchanged(found.value.clone())
        };
        let mut unit = self.backend.unit();
        self.backend
            .save_delivery(&mut unit, Some(found), &step)
            .await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Decides by what is seen of others now, and saves the decision.
    async fn look_at_delivery(&self, id: &DeliveryId, source: &Source) -> Result<Delivery, Error> {
        decide_again(format!("delivery {id}"), || async move {
            let found = self.backend.must::<Delivery>(id).await?;
            let step = self.decided(&found.value, source).await?;
            if is_same(&found, &step, self.backend.now()) {
                return Ok(Some(step.aggregate));
            }
            let mut unit = self.backend.unit();
            let answered = self
                .backend
                .save_delivery(&mut unit, Some(&found), &step)
                .await?;
            if !self.backend.try_commit(unit).await? {
                return Ok(None);
            }
            self.backend.nudge_after(&answered).await?;
            Ok(Some(step.aggregate))
        })
        .await
    }

    /// Shows something to a delivery, if there is one. Returns whether that changed it.
    pub(super) async fn show_delivery(
        &self,
        id: &DeliveryId,
        input: &DeliveryInput,
    ) -> Result<bool, Error> {
        decide_again(format!("delivery {id}"), || async move {
            let Some(found) = self.backend.store.get::<Delivery>(id).await? else {
                return Ok(Some(false));
            };
            let rules = self.backend.delivery_rules(&found.value).await?;
            let step = delivery::apply(&found.value, input, self.backend.now(), &rules)?;
            if step.aggregate == found.value {
                return Ok(Some(false));
            }
            let mut unit = self.backend.unit();
            let answered = self
                .backend
                .save_delivery(&mut unit, Some(&found), &step)
                .await?;
            unit.enqueue(&keys::delivery_pk(id), Work::Delivery { id: id.clone() });
            if !self.backend.try_commit(unit).await? {
                return Ok(None);
            }
            self.backend.nudge_after(&answered).await?;
            Ok(Some(true))
        })
        .await
    }

    /// The next state of a delivery by its job, its pull request and the time.
    async fn decided(&self, before: &Delivery, source: &Source) -> Result<Step<Delivery>, Error> {
        let now = self.backend.now();
        let rules = self.backend.delivery_rules(before).await?.into_owned();
        let apply = |delivery: &Delivery, input: DeliveryInput| {
            delivery::apply(delivery, &input, now, &rules).map_err(Error::from)
        };
        let mut next = before.clone();
        // First: a merge of it ends whatever came after it.
        if let Some(earlier) = &next.task.earlier_pull {
            next = self.with_pull(&next, earlier, &apply).await?;
        }
        // Before the job: what a later reading showed may not be in it yet.
        let session_read_at = match (&next.trouble, &next.task.job) {
            (Some(_), Some(job)) => self.session_read_at(job).await?,
            (None, _) | (_, None) => None,
        };
        if let Some(job) = &next.task.job
            && let Some(job) = self.backend.store.job(job).await?
        {
            let sight = JobSight::of_job(&job.value, &source.timing, now);
            let read_at = session_read_at;
            next = apply(&next, DeliveryInput::Job(Box::new(sight), read_at))?.aggregate;
        }
        if let Some(pull) = &next.task.pull {
            next = self.with_pull(&next, pull, &apply).await?;
        }
        if let Some(job) = next.reviewing_job()
            && let Some(job) = self.backend.store.job(job).await?
        {
            let sight = ReviewSight::of(&job.value, &source.timing, now);
            next = apply(&next, DeliveryInput::Review(sight))?.aggregate;
        }
        for child in next.children.clone() {
            if let Some(found) = self.backend.store.get::<Delivery>(&child.id).await? {
                let state = delivery::ChildState::of(&found.value);
                next = apply(&next, DeliveryInput::Child(child.id, state))?.aggregate;
            }
        }
        if next.trouble.is_some() && !next.children.is_empty() {
            let parts = self.parts_sight(&next).await?;
            next = apply(&next, DeliveryInput::Parts(parts))?.aggregate;
        }
        apply(&next, DeliveryInput::Deadline)
    }

    /// The state of a delivery after it has seen a pull request of its own.
    async fn with_pull(
        &self,
        delivery: &Delivery,
        pull: &PullRef,
        apply: impl Fn(&Delivery, DeliveryInput) -> Result<Step<Delivery>, Error>,
    ) -> Result<Delivery, Error> {
        let Some(found) = self.backend.store.pull(pull).await? else {
            return Ok(delivery.clone());
        };
        let found = found.value;
        let glimpse = Box::new(PullGlimpse::of_pull(&found.pull));
        let read_at = found.read_at.unwrap_or(found.pull.since);
        Ok(apply(delivery, DeliveryInput::Pull(glimpse, read_at))?.aggregate)
    }

    /// What is the case while a delivery wants something.
    async fn sight_of(&self, delivery: &Delivery, timing: &Timing) -> Result<Sight, Error> {
        let store = &self.backend.store;
        let mut sight = Sight::default();
        if let Some(job) = &delivery.task.job
            && let Some(job) = store.job(job).await?
        {
            let glimpse = JobGlimpse::of_job(&job.value, timing, self.backend.now());
            sight.job = Some(glimpse);
            sight.waits_by = job.value.waits_by();
        }
        let asked = delivery.review.asked.as_ref();
        if let Some(job) = asked.and_then(|asked| asked.job.as_ref())
            && let Some(job) = store.job(job).await?
        {
            sight.review_job = true;
            let glimpse = JobGlimpse::of_job(&job.value, timing, self.backend.now());
            sight.review_plan = plan_of(&glimpse);
        }
        if let Some(pull) = &delivery.task.pull
            && let Some(pull) = store.pull(pull).await?
        {
            sight.approved = pull.value.pull.approval;
        }
        if let Some(pull) = &delivery.task.earlier_pull
            && let Some(pull) = store.pull(pull).await?
        {
            sight.earlier_pull_open = !pull.value.pull.is_settled();
        }
        for leftover in &delivery.leftovers {
            let job = store.job(leftover).await?;
            if job.is_some_and(|job| !job.value.is_ended()) {
                sight.leftovers_open.push(leftover.clone());
            }
        }
        for child in &delivery.children {
            if let Some(found) = store.get::<Delivery>(&child.id).await? {
                let is_over = found.value.is_terminal();
                let same = if is_over {
                    &mut sight.children_over
                } else {
                    &mut sight.children_open
                };
                same.push(child.id.clone());
            }
        }
        sight.issue_open = delivery.issue.is_some() && !self.was_told_to_close(delivery).await?;
        Ok(sight)
    }
}

/// Whether a delivery is closed, or failed, so that its source may be removed.
fn may_be_left(delivery: &Delivery) -> bool {
    delivery.is_terminal() || delivery.run_status == RunStatus::Failed
}

/// The plan with which a session waits.
fn plan_of(glimpse: &JobGlimpse) -> Option<PlanId> {
    match &glimpse.work {
        SessionWork::Planned(plan) => Some(plan.clone()),
        SessionWork::Waiting | SessionWork::Working | SessionWork::Asking => None,
        SessionWork::Resting(_) | SessionWork::Ended(_) => None,
    }
}

/// Whether nothing has to be saved: nothing changed, and it is read again early enough.
fn is_same(found: &Versioned<Delivery>, step: &Step<Delivery>, now: jiff::Timestamp) -> bool {
    found.value == step.aggregate && is_due_kept(found.due, step.due, now)
}
