//! What an order about a job of a delivery is for the delivery: the same order about that, so that nothing goes around a
//! checkpoint. A job that was collected does no work of the delivery, so an order about it is about that job alone.

use super::legal::{TransitionError, legal, plan_approval};
use super::{Act, Actor, CommandKind, Delivery, Rules};
use crate::ids::DeliveryId;
use crate::job::{Job, Order};

/// The delivery that is called off with a job, if the job belongs to one.
pub fn called_off_with(job: &Job) -> Option<&DeliveryId> {
    job.delivery.as_ref().filter(|_| !job.collected)
}

/// The command that an order to merge the pull request of a job stands for; refused where another job works for the delivery.
///
/// # Errors
/// When it is not the pull request of the delivery: its word would be for one that the order does not name.
pub fn merge_order(
    delivery: &Delivery,
    job: &Job,
    act: Act,
    by: &Actor,
    rules: &Rules,
) -> Result<Act, TransitionError> {
    if delivery.task.job.as_ref() == Some(&job.id) {
        return Ok(act);
    }
    let instead = "a person merges or closes its pull request on GitHub";
    Err(other_job(delivery, job, instead, by, rules))
}

/// The command that a retry of a job stands for; refused for one that was collected.
///
/// # Errors
/// When the delivery only collected the job: a retry of the delivery would be about another one.
pub fn retry_order(
    delivery: &Delivery,
    job: &Job,
    act: Act,
    by: &Actor,
    rules: &Rules,
) -> Result<Act, TransitionError> {
    if !job.collected {
        return Ok(act);
    }
    let instead = "what was collected gets no other session";
    Err(other_job(delivery, job, instead, by, rules))
}

fn other_job(
    delivery: &Delivery,
    job: &Job,
    instead: &str,
    by: &Actor,
    rules: &Rules,
) -> TransitionError {
    let works = match &delivery.task.job {
        Some(own) => format!("that is job {own}"),
        None => "there is none".to_owned(),
    };
    let id = &job.id;
    let sentence =
        format!("job {id} is not the one that works for the delivery now ({works}): {instead}");
    TransitionError {
        code: "other_job",
        sentence,
        legal: legal(delivery, by, rules),
    }
}

/// Whether a person's order about one of its jobs would be taken now, as far as the delivery has a say: only then is the
/// order advised.
pub fn takes_order(delivery: &Delivery, job: &Job, order: Order, rules: &Rules) -> bool {
    let person = &Actor::person("a person");
    let takes = |kind| legal(delivery, person, rules).contains(&kind);
    match order {
        Order::Create | Order::Adopt => false,
        // A message goes to the session.
        Order::Say => !delivery.is_terminal(),
        Order::Approve => {
            let approval = plan_approval(delivery, &job.id, None, person, rules);
            approval.is_ok() && takes(CommandKind::Approve)
        }
        Order::Merge => delivery.task.job.as_ref() == Some(&job.id) && takes(CommandKind::Merge),
        Order::Retry => !job.collected && takes(CommandKind::Retry),
        Order::Cancel => called_off_with(job).is_none() || takes(CommandKind::Cancel),
    }
}
