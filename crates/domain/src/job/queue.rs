//! The place of a job among those of its account that wait for a slot.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::{Job, JobPhase};
use crate::ids::JobId;
use crate::priority::{self, Priority};

/// The job with another priority, if it still waits for a slot by it.
pub fn prioritised(job: &Job, priority: Priority) -> Option<Job> {
    (job.waits_by().is_some_and(|present| present != priority)).then(|| Job {
        priority,
        ..job.clone()
    })
}

impl Job {
    /// The priority by which it waits for a slot, while it does.
    pub fn waits_by(&self) -> Option<Priority> {
        match self.phase {
            JobPhase::Queued { .. } => Some(self.priority),
            JobPhase::Creating { .. }
            | JobPhase::Watching(_)
            | JobPhase::Proposed { .. }
            | JobPhase::Ended(_) => None,
        }
    }
}

/// A job's place in the queue for a slot of its account; the lowest place goes first.
pub fn start_place(job: &Job, now: Timestamp) -> (Reverse<u32>, Timestamp, JobId) {
    let (since, refused) = match &job.phase {
        JobPhase::Queued {
            since, refusals, ..
        }
        | JobPhase::Creating { since, refusals } => (*since, *refusals > 0),
        JobPhase::Watching(_) | JobPhase::Proposed { .. } | JobPhase::Ended(_) => {
            (job.created_at, false)
        }
    };
    let (rank, since) = priority::start_place(job.priority, refused, since, now);
    (rank, since, job.id.clone())
}
