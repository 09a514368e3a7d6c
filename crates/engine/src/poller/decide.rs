//! Decides what an observation of a session means by the rules of its source, and saves that.

use domain::job::{self, Job, Sight};
use domain::policy::Source;
use domain::step::Step;

use super::Poller;
use super::poll::Gathered;
use crate::desk::{DECIDE_AGAIN_MAX, Error};
use crate::keys;
use crate::store::Versioned;

impl Poller {
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

    /// Decides about an observation under the given rules.
    async fn means(
        &self,
        found: &Versioned<Job>,
        sight: &Sight,
        (rules, gathered): (&Source, &mut Gathered),
    ) -> Result<Step<Job>, Error> {
        let can_be_woken = self.known_awake(&found.value, rules, gathered).await?;
        let policy = rules.policy_for(can_be_woken, &found.value.terms);
        let now = self.desk.now();
        Ok(job::observe(
            &found.value,
            sight,
            now,
            &policy,
            &rules.timing,
        ))
    }

    /// Decides and saves, unless it is mere progress and can wait. After a conflict the next poll decides, unless
    /// only the row was moved and not the job.
    pub(super) async fn decide(
        &self,
        found: &Versioned<Job>,
        sight: &Sight,
        (rules, gathered): (&Source, &mut Gathered),
    ) -> Result<(), Error> {
        let now = self.desk.now();
        let step = self.means(found, sight, (rules, gathered)).await?;
        let stored = self.known.stored(found);
        if self.known.keeps(&stored, &step, now) {
            return Ok(());
        }
        let mut found = stored;
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
