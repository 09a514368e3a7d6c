//! The jobs of a delivery, as they become by what it wants of them.

use std::collections::BTreeMap;

use super::*;
use crate::delivery::{JobGlimpse, Purpose, Want};
use crate::ids::JobId;

/// How often one message looks at a delivery.
const LOOKS: u32 = 3;

/// One job.
#[derive(Debug)]
struct Known {
    attempt: u32,
    work: SessionWork,
    reviews: bool,
}

/// All jobs that a delivery has had.
#[derive(Debug, Default)]
pub(super) struct LiveJobs(BTreeMap<JobId, Known>);

fn over() -> SessionWork {
    SessionWork::Ended(JobEnd::Canceled("delivery".to_owned()))
}

impl Known {
    fn is_live(&self) -> bool {
        !matches!(self.work, SessionWork::Ended(_))
    }
}

impl LiveJobs {
    /// What a delivery sees of its job is the case.
    pub(super) fn see(&mut self, delivery: &Delivery, input: &DeliveryInput) {
        let DeliveryInput::Job(sight, _) = input else {
            return;
        };
        let seen = &sight.glimpse;
        if delivery.task.job.as_ref() == Some(&seen.job) {
            let known = Known {
                attempt: seen.attempt,
                work: seen.work.clone(),
                reviews: false,
            };
            self.0.insert(seen.job.clone(), known);
        }
    }

    /// Carries out what a delivery wants of its jobs.
    pub(super) fn follow(&mut self, delivery: &Delivery) {
        for _ in 0..LOOKS {
            for want in wants(delivery, &self.sight(delivery)) {
                self.carry_out(&want);
            }
        }
    }

    /// Whether at most one job works for the delivery, and at most one reviews.
    pub(super) fn is_one_of_each(&self) -> bool {
        let live = |reviews: bool| {
            let all = self.0.values();
            all.filter(|job| job.is_live() && job.reviews == reviews)
                .count()
        };
        live(false) <= 1 && live(true) <= 1
    }

    fn sight(&self, delivery: &Delivery) -> Sight {
        let job = delivery.task.job.as_ref();
        let asked = delivery.review.asked.as_ref();
        let reviewing = asked.and_then(|asked| asked.job.as_ref());
        let leftovers = delivery.leftovers.iter();
        Sight {
            job: job.and_then(|job| self.glimpse(job)),
            review_job: reviewing.is_some_and(|job| self.0.contains_key(job)),
            leftovers_open: leftovers.filter(|job| self.is_live(job)).cloned().collect(),
            issue_open: true,
            ..Sight::default()
        }
    }

    fn is_live(&self, job: &JobId) -> bool {
        self.0.get(job).is_some_and(Known::is_live)
    }

    fn glimpse(&self, job: &JobId) -> Option<JobGlimpse> {
        let known = self.0.get(job)?;
        Some(JobGlimpse {
            job: job.clone(),
            branch: "main".parse().unwrap(),
            attempt: known.attempt,
            work: known.work.clone(),
            pull: None,
            message_sent: None,
            message_refused: None,
            approval_refused: None,
            approved_elsewhere: false,
        })
    }

    fn carry_out(&mut self, want: &Want) {
        if let Want::CreateJob { job, purpose } = want {
            let new = Known {
                attempt: 1,
                work: SessionWork::Waiting,
                reviews: *purpose != Purpose::Work,
            };
            self.0.entry(job.clone()).or_insert(new);
        }
        if let Want::RetryJob {
            job,
            attempt,
            start_over,
            ..
        } = want
            && let Some(known) = self.0.get_mut(job)
        {
            if *start_over {
                known.work = over();
            } else {
                known.attempt = *attempt;
                known.work = SessionWork::Waiting;
            }
        }
        if let Want::CancelJob { job, .. } | Want::LeaveJob { job } = want
            && let Some(known) = self.0.get_mut(job)
        {
            known.work = over();
        }
    }
}
