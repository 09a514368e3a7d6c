//! What an order about a job of a delivery is for the delivery: the same order about that, so that nothing goes around a
//! checkpoint.

use super::legal::{TransitionError, legal, plan_approval};
use super::{Act, Actor, CommandKind, Delivery, Rules};
use crate::ids::JobId;
use crate::job::{Job, Order};

/// The command that an order to merge the pull request of a job stands for; refused where another job works for the delivery.
///
/// # Errors
/// When it is not the pull request of the delivery: its word would be for one that the order does not name.
pub fn merge_order(
    delivery: &Delivery,
    (job, act): (&JobId, Act),
    (by, rules): (&Actor, &Rules),
) -> Result<Act, TransitionError> {
    if delivery.task.job.as_ref() == Some(job) {
        return Ok(act);
    }
    let sentence = format!(
        "job {job} is not the one that works for the delivery now: a person merges or closes its pull request on GitHub"
    );
    Err(TransitionError {
        code: "other_job",
        sentence,
        legal: legal(delivery, by, rules),
    })
}

/// Whether a person's order about one of its jobs would be taken now, as far as the delivery has a say: only then is the
/// order advised.
pub fn takes_order(delivery: &Delivery, (job, order): (&Job, Order), rules: &Rules) -> bool {
    let person = &Actor::person("a person");
    let takes = |kind| legal(delivery, person, rules).contains(&kind);
    // Orders about what it collected are for its own work, which is not what the job shows.
    let is_meant = !job.collected;
    match order {
        Order::Create | Order::Adopt => false,
        // A message goes to the session.
        Order::Say => !delivery.is_terminal(),
        Order::Approve => {
            let approval = plan_approval(delivery, (&job.id, None), (person, rules));
            approval.is_ok() && takes(CommandKind::Approve)
        }
        Order::Merge => delivery.task.job.as_ref() == Some(&job.id) && takes(CommandKind::Merge),
        Order::Retry => is_meant && takes(CommandKind::Retry),
        Order::Cancel => is_meant && takes(CommandKind::Cancel),
    }
}
