//! A cache of the sources' rules. How often a session is read may depend on cached rules; decisions about it use
//! fresh ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::ids::RepoName;
use domain::job::Job;
use domain::policy::Source;
use domain::when::is_within;
use jiff::{SignedDuration, Timestamp};

use super::Poller;
use super::poll::Gathered;
use crate::desk::Error;
use crate::jobs::bare;
use crate::keys;
use crate::store::decode;

/// Cache lifetime of rules, in a process that ticks alone: a changed meaning of the same observation is seen after
/// this.
const REMEMBERED: SignedDuration = SignedDuration::from_mins(1);

/// The cached rules.
#[derive(Default)]
pub(super) struct Rules(Mutex<BTreeMap<RepoName, (Timestamp, Arc<Source>)>>);

impl Rules {
    fn get(&self, repo: &RepoName, now: Timestamp) -> Option<Arc<Source>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, rules) = all.get(repo)?;
        is_within(*at, now, REMEMBERED).then(|| Arc::clone(rules))
    }

    fn keep(&self, rules: &Arc<Source>, now: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, (at, _)| is_within(*at, now, REMEMBERED));
        all.insert(rules.repo.clone(), (now, Arc::clone(rules)));
    }
}

impl Poller {
    /// The rules of a job's source, which one poll reads once at the most.
    pub(super) async fn known_rules(
        &self,
        job: &Job,
        gathered: &mut Gathered,
    ) -> Result<Arc<Source>, Error> {
        if let Some(known) = gathered.rules.get(&job.repo) {
            return Ok(Arc::clone(known));
        }
        if !gathered.alone {
            return self.rules_now(job, gathered).await;
        }
        let now = self.desk.now();
        if let Some(rules) = self.remembered.get(&job.repo, now) {
            return Ok(rules);
        }
        let records = self.desk.store.records();
        let found = records.glance(&[keys::source(&job.repo)]).await?;
        let found = found.first().map(decode::<Source>).transpose()?;
        let rules = Arc::new(found.map_or_else(|| bare(job), |source| source.value));
        self.remembered.keep(&rules, now);
        Ok(rules)
    }

    /// The present rules of a job's source, read once a poll.
    pub(super) async fn rules_now(
        &self,
        job: &Job,
        gathered: &mut Gathered,
    ) -> Result<Arc<Source>, Error> {
        if let Some(known) = gathered.rules.get(&job.repo) {
            return Ok(Arc::clone(known));
        }
        let rules = Arc::new(self.rules(job).await?);
        self.remembered.keep(&rules, self.desk.now());
        gathered.rules.insert(job.repo.clone(), Arc::clone(&rules));
        Ok(rules)
    }

    pub(super) async fn rules(&self, job: &Job) -> Result<Source, Error> {
        let source = self.desk.store.source(&job.repo).await?;
        Ok(source.map_or_else(|| bare(job), |source| source.value))
    }
}
