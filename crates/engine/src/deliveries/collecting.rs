//! Sessions that were begun elsewhere and become runs of deliveries.

use domain::delivery::{
    self, Act, Actor, Command, Delivery, DeliveryInput, RunResult, TransitionError,
};
use domain::ids::{DeliveryId, EventId, JobId};
use domain::step::Step;

use crate::backend::{Backend, Error, decide_again};
use crate::keys;
use crate::work::Work;

impl Backend {
    /// Adds the session of a job as a run. The job belongs to the delivery from that commit on, so that of two deliveries which
    /// collect it at once one is refused.
    pub async fn collect(
        &self,
        id: &DeliveryId,
        job: &JobId,
        name: &str,
        by: &Actor,
    ) -> Result<Delivery, Error> {
        decide_again(format!("delivery {id}"), || async move {
            let found = self.must::<Delivery>(id).await?;
            if delivery::was_taken(&found.value, name) {
                return Ok(Some(found.value));
            }
            let owned = self.must_job(job).await?;
            let rules = self.delivery_rules(&found.value).await?;
            let result = RunResult::of_collected(&owned.value, id);
            let result = result.map_err(|(code, sentence)| TransitionError {
                code,
                sentence,
                legal: delivery::legal(&found.value, by, &rules),
            })?;
            let input = DeliveryInput::Command(Command {
                id: name.to_owned(),
                by: by.clone(),
                act: Act::Collect {
                    job: job.clone(),
                    session: owned.value.session().cloned(),
                    result,
                },
            });
            let step = delivery::apply(&found.value, &input, self.now(), &rules)?;
            let mut unit = self.unit();
            let mut over = self.save_delivery(&mut unit, Some(&found), &step).await?;
            unit.enqueue(&keys::delivery_pk(id), Work::Delivery { id: id.clone() });
            let mut taken = Step::unchanged(owned.value.clone());
            taken.due = owned.due;
            taken.aggregate.delivery = Some(id.clone());
            taken.aggregate.collected = true;
            // From now on it is reached through the delivery, whose agent its source names.
            taken.aggregate.agent = None;
            self.save_job(&mut unit, Some(&owned), &taken).await?;
            // Its last judgement says what is awaited of a job of no delivery.
            if let Some(pull) = taken.aggregate.pull().cloned() {
                let judge = Work::of_pull(pull);
                unit.enqueue(&keys::job_pk(job), judge);
            }
            let past = self.told_before(job, &step.aggregate).await?;
            over.extend(self.withdraw(&mut unit, &past).await?);
            if !self.try_commit(unit).await? {
                return Ok(None);
            }
            self.nudge_after(&over).await?;
            Ok(Some(step.aggregate))
        })
        .await
    }

    /// The events of a job that its delivery has gone on from.
    pub(super) async fn told_before(
        &self,
        job: &JobId,
        delivery: &Delivery,
    ) -> Result<Vec<EventId>, Error> {
        let mut events = self.store.events(job).await?;
        events.retain(|event| delivery::is_past(delivery, event));
        Ok(events.into_iter().map(|event| event.id).collect())
    }
}
