//! The rules of sources, which a poll reads once each.

use std::borrow::Cow;
use std::sync::Arc;

use domain::job::Job;
use domain::policy::Source;

use super::Poller;
use super::poll_data::PollData;
use crate::backend::Error;
use crate::jobs::bare;
use crate::keys;
use crate::store::decode;

impl Poller {
    /// The present rules of a job's source, read once a poll.
    pub(super) async fn rules_in_poll(
        &self,
        job: &Job,
        gathered: &mut PollData,
    ) -> Result<Arc<Source>, Error> {
        if let Some(known) = gathered.rules.get(&job.repo) {
            return Ok(for_job(known, job));
        }
        // An eventually consistent read costs half: a change within the last second counts from the next poll.
        let records = self.backend.store.records();
        let found = records.glance(&[keys::source(&job.repo)]).await?;
        let found = found.first().map(decode::<Source>).transpose()?;
        let rules = Arc::new(found.map_or_else(|| bare(job), |source| source.value));
        gathered.rules.insert(job.repo.clone(), Arc::clone(&rules));
        Ok(for_job(&rules, job))
    }

    pub(super) async fn rules(&self, job: &Job) -> Result<Source, Error> {
        let source = self.backend.store.source(&job.repo).await?;
        let source = source.map_or_else(|| bare(job), |source| source.value);
        Ok(source.for_job(job).into_owned())
    }
}

/// The rules as they count for a job.
fn for_job(rules: &Arc<Source>, job: &Job) -> Arc<Source> {
    match rules.for_job(job) {
        Cow::Borrowed(_) => Arc::clone(rules),
        Cow::Owned(own) => Arc::new(own),
    }
}
