//! What a decision leads to.

use jiff::Timestamp;

use crate::effect::Action;
use crate::event::Event;
use crate::ids::{AccountName, DeliveryId, JobId, PullRef};

/// The outcome of one decision: all of it is saved together, and only then is anything done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<A> {
    /// The new state of the aggregate.
    pub aggregate: A,
    /// Occurrences seen for the first time.
    pub events: Vec<Event>,
    /// Announced events with an addition, such as a late text.
    pub amended: Vec<Event>,
    /// Actions outside. The same decision made twice has the same id and stays one effect.
    pub effects: Vec<Action>,
    /// Other aggregates that should be handled again.
    pub follow_ups: Vec<FollowUp>,
    /// When this aggregate is due next; `None` only when it is finished.
    pub due: Option<Timestamp>,
}

/// Another aggregate that should be handled again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowUp {
    /// A job.
    Job(JobId),
    /// A pull request.
    Pull(PullRef),
    /// A delivery.
    Delivery(DeliveryId),
    /// The queue of jobs that wait for a slot on an account.
    Slots(AccountName),
}

impl<A> Step<A> {
    /// A step that so far does nothing.
    pub fn unchanged(aggregate: A) -> Self {
        Self {
            aggregate,
            events: Vec::new(),
            amended: Vec::new(),
            effects: Vec::new(),
            follow_ups: Vec::new(),
            due: None,
        }
    }
}
