//! Decides what an observation of a session means by the rules of its source, and saves that.

use domain::job::{self, Job, Observation};
use domain::policy::Source;
use domain::step::Step;

use super::Poller;
use super::poll_data::PollData;
use crate::backend::{DECIDE_AGAIN_MAX, Error};
use crate::keys;
use crate::store::Versioned;

impl Poller {
    /// Whether a job's agent, its own or its source's, can be woken, which one poll reads once.
    async fn known_awake(
        &self,
        job: &Job,
        rules: &Source,
        gathered: &mut PollData,
    ) -> Result<bool, Error> {
        let Some(named) = job.agent.as_ref().or(rules.agent.as_ref()) else {
            return Ok(false);
        };
        if let Some(known) = gathered.awake.get(named) {
            return Ok(*known);
        }
        let is_awake = self.backend.awake(Some(named.clone())).await?.is_some();
        gathered.awake.insert(named.clone(), is_awake);
        Ok(is_awake)
    }

    /// Decides about an observation under the given rules.
    async fn means(
        &self,
        found: &Versioned<Job>,
        sight: &Observation,
        rules: &Source,
        gathered: &mut PollData,
    ) -> Result<Step<Job>, Error> {
        let can_be_woken = self.known_awake(&found.value, rules, gathered).await?;
        let policy = rules.policy_for(can_be_woken, &found.value);
        let now = self.backend.now();
        Ok(job::observe(
            &found.value,
            sight,
            now,
            &policy,
            &rules.timing,
        ))
    }

    /// Decides and saves; nothing is written where nothing is new. After a conflict the next poll decides, unless only the row
    /// was moved and not the job. Returns whether the job has what was seen.
    pub(super) async fn decide(
        &self,
        found: &Versioned<Job>,
        sight: &Observation,
        rules: &Source,
        gathered: &mut PollData,
    ) -> Result<bool, Error> {
        let now = self.backend.now();
        let step = self.means(found, sight, rules, gathered).await?;
        let mut found = found.clone();
        for _ in 0..DECIDE_AGAIN_MAX {
            let mut unit = self.backend.unit();
            if !self
                .backend
                .save_job(&mut unit, Some(&found), &step)
                .await?
            {
                return Ok(true);
            }
            let answered = job::answered_since(&found.value, &step.aggregate);
            let over = Box::pin(self.backend.withdraw(&mut unit, &answered)).await?;
            match self.backend.commit(unit).await {
                Err(error) if error.is_conflict() => {
                    self.jobs.invalidate(&keys::job(&found.value.id));
                }
                Ok(()) => {
                    self.jobs.saved(&found, &step, now);
                    Box::pin(self.backend.nudge_after(&over)).await?;
                    return Ok(true);
                }
                Err(error) => return Err(error),
            }
            let again = self.backend.store.job(&found.value.id).await?;
            let Some(again) = again.filter(|again| again.value == found.value) else {
                break;
            };
            found = again;
        }
        tracing::debug!(job.id = %found.value.id, "another process changed the job meanwhile; the next poll decides");
        Ok(false)
    }
}
