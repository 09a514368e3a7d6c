//! The events that may still wait, however many came after them.

use std::collections::BTreeSet;

use domain::event::Event;
use domain::ids::JobId;
use domain::job::Job;

use super::{PAGE, in_order, jobs_of};
use crate::backend::{Backend, Error};
use crate::counts::UNFINISHED_JOBS;
use crate::keys;

impl Backend {
    /// The events of all jobs and deliveries that are not over, and the newest of everything else, the oldest first.
    pub(super) async fn of_unfinished(&self) -> Result<Vec<Event>, Error> {
        let mut events = self.store.recent_events(PAGE).await?;
        let mut jobs: BTreeSet<JobId> = BTreeSet::new();
        for found in self.store.open_deliveries().await? {
            let pk = keys::delivery_pk(&found.value.id);
            events.extend(self.store.events_below(&pk).await?);
            jobs.extend(jobs_of(&found.value).cloned());
        }
        for account in self.store.accounts().await? {
            for which in UNFINISHED_JOBS {
                let list = keys::jobs_of(which, &account.value.name);
                let found = self.store.all::<Job>(&list).await?;
                jobs.extend(found.into_iter().map(|found| found.value.id));
            }
        }
        for job in &jobs {
            events.extend(self.store.events(job).await?);
        }
        Ok(in_order(events))
    }
}
