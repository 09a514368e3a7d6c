//! Second sessions of a job, which are archived.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use domain::effect::Effect;
use domain::ids::SessionId;
use domain::job::{self, Job, SessionRelation};
use domain::marker::Marker;
use domain::step::Step;
use domain::when::is_within;
use jiff::{SignedDuration, Timestamp};

use super::Poller;
use super::poll_data::PollData;
use crate::backend::{Backend, Error, ignore_conflict};
use crate::keys;
use crate::store::Versioned;

/// How long a session counts as no duplicate: its job may be retried, or the store be restored to an earlier state.
const REMEMBERED: SignedDuration = SignedDuration::from_mins(30);

/// A cache of sessions that are no duplicates: a failed one stays in Jules's list for good, and its job need not be
/// read at every poll.
#[derive(Default)]
pub(super) struct KnownSingles(Mutex<BTreeMap<SessionId, Timestamp>>);

impl KnownSingles {
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
    pub(super) async fn archive_duplicates(
        &self,
        wanted: &BTreeSet<SessionId>,
        gathered: &PollData,
    ) -> Result<(), Error> {
        let now = self.backend.now();
        // A session that a job watches is its own.
        let others = gathered.views.values();
        let others = others.filter(|view| !view.archived && !wanted.contains(&view.id));
        for view in others {
            let Some(marker) = Marker::find(&view.title)
                .filter(|marker| marker.installation == self.backend.installation)
                .filter(|_| !self.cleared.knows(&view.id, now))
            else {
                continue;
            };
            let Some(found) = self.backend.store.job(&marker.job).await? else {
                self.cleared.note(&view.id, now);
                continue;
            };
            match job::relation(&found.value, &view.id, marker.attempt) {
                SessionRelation::Duplicate | SessionRelation::Stray => {
                    self.put_away(&found, &view.id, marker.attempt).await?;
                }
                SessionRelation::Own | SessionRelation::Ahead => self.cleared.note(&view.id, now),
                // It may turn out to be a duplicate once the job's own session is known.
                SessionRelation::Unsettled => {}
            }
        }
        Ok(())
    }

    /// Puts a session away that its job has no use for, once.
    async fn put_away(
        &self,
        found: &Versioned<Job>,
        duplicate: &SessionId,
        attempt: u32,
    ) -> Result<(), Error> {
        let owner = self.backend.store.job_of(duplicate).await?;
        let rules = self.rules(&found.value).await?;
        let (owner, timing) = (owner.as_ref(), &rules.timing);
        let step = job::session_found(&found.value, duplicate, attempt, owner, timing);
        if step.effects.is_empty() {
            self.cleared.note(duplicate, self.backend.now());
            return Ok(());
        }
        if self.is_wished_for(&found.value, &step).await? {
            return Ok(());
        }
        let mut unit = self.backend.unit();
        self.backend.save_job(&mut unit, Some(found), &step).await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Whether all effects of a step exist already, so that an identical poll writes nothing.
    async fn is_wished_for(&self, job: &Job, step: &Step<Job>) -> Result<bool, Error> {
        for action in &step.effects {
            let id = Backend::effect_id(action);
            let found = self
                .backend
                .store
                .effect(&keys::job_pk(&job.id), &id)
                .await?;
            // One that is tried no more is no reason to write either.
            let now = self.backend.now();
            let on_its_way =
                |effect: &Versioned<Effect>| effect.value.requested_again(now) == effect.value;
            if !found.as_ref().is_some_and(on_its_way) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
