//! Who is waited for: what the one rule of that looks at is loaded here, for one job and for all that are watched.

use std::collections::BTreeMap;

use domain::job::{self, Job, Phase, WaitsFor};

use crate::desk::{Desk, Error};

impl Desk {
    /// Who has to do something before a job goes on.
    pub async fn waits_for(&self, job: &Job) -> Result<WaitsFor, Error> {
        if !matches!(job.phase, Phase::Watching(_)) {
            return Ok(job::waits_for(job, None, None));
        }
        let pull = match job.pull() {
            Some(reference) => self.store.pull(reference).await?,
            None => None,
        };
        let pull = pull.map(|found| found.value.pull);
        let agent = self.route(job).await?.agent.map(|agent| agent.name);
        Ok(job::waits_for(job, pull.as_ref(), agent.as_ref()))
    }

    /// How many watched jobs wait for whom.
    pub(crate) async fn watched_wait_for(&self) -> Result<BTreeMap<String, u64>, Error> {
        let mut counts = BTreeMap::new();
        for account in self.store.accounts().await? {
            for job in self.store.watched(&account.value.name).await? {
                let who = self.waits_for(&job.value).await?.who;
                *counts.entry(who.word().to_owned()).or_insert(0) += 1;
            }
        }
        Ok(counts)
    }
}
