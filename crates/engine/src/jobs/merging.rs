//! Takes back the approval of an order to merge that was refused.

use domain::ids::JobId;
use domain::job::Order;
use domain::pull::{self, Approval};
use domain::step::Step;

use crate::backend::{Backend, Error, decide_again};
use crate::keys;
use crate::save::EventRoute;
use crate::work::Work;

impl Backend {
    /// Takes the approval of a refused order back, with its record. Returns whether nothing is merged by it any more: it
    /// stays where nothing refuses the head now.
    pub async fn take_approval_back(&self, id: &JobId, given: &Approval) -> Result<bool, Error> {
        decide_again(format!("job {id}"), || async move {
            let found = self.pull_of(id).await?;
            let pull = &found.value.pull;
            if pull.is_settled() || pull.approval.as_ref() != Some(given) {
                return Ok(Some(true));
            }
            let Some(step) = pull::take_back(pull, given, self.now()) else {
                return Ok(Some(false));
            };
            let mut unit = self.unit();
            let (version, read_at) = (Some(found.version), found.value.read_at);
            let route = EventRoute::default();
            self.save_pull(&mut unit, version, (&step, read_at), &route)
                .await?;
            let job = self.must_job(id).await?;
            let mut noted = Step::unchanged(job.value.clone());
            noted.due = job.due;
            let orders = &mut noted.aggregate.order_log;
            orders.retain(|it| it.order != Order::Merge || it.at != given.at);
            self.save_job(&mut unit, Some(&job), &noted).await?;
            let reference = step.aggregate.pull.clone();
            unit.enqueue(&keys::pull_pk(&reference), Work::of_pull(reference));
            Ok(self.try_commit(unit).await?.then_some(true))
        })
        .await
    }
}
