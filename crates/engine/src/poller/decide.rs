//! What a sight of a session means by the rules of its source, decided and saved.

use std::sync::Arc;

use domain::job::{self, Job, Sight};
use domain::policy::Source;

use super::Poller;
use super::poll::Gathered;
use crate::desk::{DECIDE_AGAIN_MAX, Error};
use crate::jobs::bare;
use crate::keys;
use crate::store::Versioned;

impl Poller {
    /// The rules of a job's source, which one poll reads once.
    pub(super) async fn known_rules(
        &self,
        job: &Job,
        gathered: &mut Gathered,
    ) -> Result<Arc<Source>, Error> {
        if let Some(known) = gathered.rules.get(&job.repo) {
            return Ok(Arc::clone(known));
        }
        let rules = Arc::new(self.rules(job).await?);
        gathered.rules.insert(job.repo.clone(), Arc::clone(&rules));
        Ok(rules)
    }

    /// Whether a job's agent, its own or its source's, can be woken, which one poll reads once.
    async fn known_awake(
        &self,
        job: &Job,
        rules: &Source,
        gathered: &mut Gathered,
    ) -> Result<bool, Error> {
        let Some(named) = job.agent.as_ref().or(rules.agent.as_ref()) else {
            return Ok(false);
        };
        if let Some(known) = gathered.awake.get(named) {
            return Ok(*known);
        }
        let is_awake = self.desk.awake(Some(named.clone())).await?.is_some();
        gathered.awake.insert(named.clone(), is_awake);
        Ok(is_awake)
    }

    pub(super) async fn rules(&self, job: &Job) -> Result<Source, Error> {
        let source = self.desk.store.source(&job.repo).await?;
        Ok(source.map_or_else(|| bare(job), |source| source.value))
    }

    /// Decides and saves, unless it is nothing but progress and can wait. Whoever lost a race leaves it to the next poll, unless only the row was moved and not the job.
    pub(super) async fn decide(
        &self,
        found: &Versioned<Job>,
        sight: &Sight,
        (rules, gathered): (&Source, &mut Gathered),
    ) -> Result<(), Error> {
        let can_be_woken = self.known_awake(&found.value, rules, gathered).await?;
        let policy = rules.policy_for(can_be_woken, &found.value.terms);
        let now = self.desk.now();
        let step = job::observe(&found.value, sight, now, &policy, &rules.timing);
        let mut found = self.known.stored(found);
        if self.known.keeps(&found, &step, now) {
            return Ok(());
        }
        for _ in 0..DECIDE_AGAIN_MAX {
            let mut unit = self.desk.unit();
            if !self.desk.save_job(&mut unit, Some(&found), &step).await? {
                return Ok(());
            }
            match self.desk.commit(unit).await {
                Err(error) if error.is_conflict() => {
                    let key = keys::job(&found.value.id);
                    self.known.forget(&key, None, now);
                }
                Ok(()) => {
                    self.known.saved(&found, &step, now);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
            let again = self.desk.store.job(&found.value.id).await?;
            let Some(again) = again.filter(|again| again.value == found.value) else {
                break;
            };
            found = again;
        }
        self.known.lost(&found.value, now);
        tracing::debug!(job.id = %found.value.id, "somebody else changed the job meanwhile; the next poll decides");
        Ok(())
    }
}
