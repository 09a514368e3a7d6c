//! Second sessions of a job, which are archived.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use domain::effect::Effect;
use domain::ids::SessionId;
use domain::job::{self, Job, Kin};
use domain::marker::Marker;
use domain::step::Step;
use domain::when::is_within;
use jiff::{SignedDuration, Timestamp};

use super::Poller;
use super::poll::Gathered;
use crate::desk::{Desk, Error, ignore_conflict};
use crate::keys;
use crate::store::Versioned;

/// How long a session counts as no duplicate: its job may be retried, or the store be restored to an earlier state.
const REMEMBERED: SignedDuration = SignedDuration::from_mins(30);

/// A cache of sessions that are no duplicates: a failed one stays in Jules's list for good, and its job need not be
/// read at every poll.
#[derive(Default)]
pub(super) struct Cleared(Mutex<BTreeMap<SessionId, Timestamp>>);

impl Cleared {
    fn knows(&self, session: &SessionId, now: Timestamp) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found_at = all.get(session);
        found_at.is_some_and(|at| is_within(*at, now, REMEMBERED))
    }

    fn note(&self, session: &SessionId, now: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, found_at| is_within(*found_at, now, REMEMBERED));
        all.insert(session.clone(), now);
    }
}

impl Poller {
    /// A create whose answer was lost may have been repeated: a second session with a job's marker is archived.
    pub(super) async fn put_twins_away(
        &self,
        wanted: &BTreeSet<SessionId>,
        gathered: &Gathered,
    ) -> Result<(), Error> {
        let now = self.desk.now();
        // A session that a job watches is its own.
        let others = gathered.views.values();
        let others = others.filter(|view| !view.archived && !wanted.contains(&view.id));
        for view in others {
            let Some(marker) = Marker::find(&view.title)
                .filter(|marker| marker.installation == self.desk.installation)
                .filter(|_| !self.cleared.knows(&view.id, now))
            else {
                continue;
            };
            let Some(found) = self.desk.store.job(&marker.job).await? else {
                self.cleared.note(&view.id, now);
                continue;
            };
            match job::kin(&found.value, &view.id, marker.attempt) {
                Kin::Twin | Kin::Stray => {
                    self.put_away(&found, (&view.id, marker.attempt)).await?;
                }
                Kin::Own | Kin::Ahead => self.cleared.note(&view.id, now),
                // It may turn out to be a duplicate once the job's own session is known.
                Kin::Unsettled => {}
            }
        }
        Ok(())
    }

    /// Puts a session away that its job has no use for, once.
    async fn put_away(&self, found: &Versioned<Job>, twin: (&SessionId, u32)) -> Result<(), Error> {
        let owner = self.desk.store.job_of(twin.0).await?;
        let rules = self.rules(&found.value).await?;
        let step = job::turned_up(&found.value, twin, owner.as_ref(), &rules.timing);
        if step.effects.is_empty() {
            self.cleared.note(twin.0, self.desk.now());
            return Ok(());
        }
        if self.is_wished_for(&found.value, &step).await? {
            return Ok(());
        }
        let mut unit = self.desk.unit();
        self.desk.save_job(&mut unit, Some(found), &step).await?;
        ignore_conflict(self.desk.commit(unit).await)
    }

    /// Whether all effects of a step exist already, so that an identical poll writes nothing.
    async fn is_wished_for(&self, job: &Job, step: &Step<Job>) -> Result<bool, Error> {
        for action in &step.effects {
            let id = Desk::effect_id(action);
            let found = self.desk.store.effect(&keys::job_pk(&job.id), &id).await?;
            // One that is tried no more is no reason to write either.
            let now = self.desk.now();
            let on_its_way =
                |effect: &Versioned<Effect>| effect.value.wished_again(now) == effect.value;
            if !found.as_ref().is_some_and(on_its_way) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
