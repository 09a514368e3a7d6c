//! Waiting for effects and fresh readings that the dispatcher performs, since the API holds no credential.

use std::time::Duration;

use domain::conversation::ConversationCursor;
use domain::effect::{Effect, EffectState};
use domain::ids::JobId;
use domain::when::plus;
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;

use super::EffectRef;
use crate::backend::{Backend, DECIDE_AGAIN_MAX, Error, IndexEntry};
use crate::ports::Key;
use crate::readings::{Dated, ReadCounter, ReadMessages, SessionCheck};
use crate::settings::{PatchPage, ReadArtifacts};
use crate::wait::WaitState;
use crate::work::Work;
use crate::{keys, retention};

/// A repeated request about a job within this time gets the previous answer: frequent requests must not use up
/// Jules's limits.
pub(crate) const SEEN_JUST_NOW: SignedDuration = SignedDuration::from_secs(5);

/// Where the page of a job's conversation after a cursor is kept.
pub(crate) fn conversation_key(id: &JobId, cursor: &ConversationCursor) -> Key {
    keys::messages(id, &cursor.digest())
}

impl Backend {
    /// Requests a fresh read of what a job has produced and waits for it, at most `within`; `None` when it is not
    /// there by then.
    pub async fn fresh_artifacts(
        &self,
        id: &JobId,
        within: Duration,
    ) -> Result<Option<ReadArtifacts>, Error> {
        let work = Work::Artifacts { id: id.clone() };
        self.read_for(id, keys::artifacts(id), work, within).await
    }

    /// A further piece of the last read patch, with the rest of that reading; `None` where there is no such piece.
    pub async fn kept_artifacts(
        &self,
        id: &JobId,
        page: u32,
    ) -> Result<Option<(ReadArtifacts, PatchPage)>, Error> {
        self.must_job(id).await?;
        let first = self.store.read(&keys::artifacts(id)).await?;
        let first = first.map(|found| found.value);
        let Some(first) = first.filter(|it: &ReadArtifacts| page <= it.further) else {
            return Ok(None);
        };
        let piece = self.store.read(&keys::artifacts_page(id, page)).await?;
        let piece = piece.map(|found| found.value);
        // A piece of another reading is no piece of this one.
        let piece = piece.filter(|it: &PatchPage| it.read_at == first.read_at);
        Ok(piece.map(|piece| (first, piece)))
    }

    /// Requests the messages after a cursor and waits for them, at most `within`; `None` when they are not there by then.
    pub async fn fresh_messages(
        &self,
        id: &JobId,
        cursor: &ConversationCursor,
        within: Duration,
    ) -> Result<Option<ReadMessages>, Error> {
        let work = Work::Messages {
            id: id.clone(),
            after: cursor.to_string(),
        };
        self.read_for(id, conversation_key(id, cursor), work, within)
            .await
    }

    /// Requests a read of a job's session and waits for it, at most `within`; `None` when it is not done by then.
    pub async fn fresh_look(
        &self,
        id: &JobId,
        within: Duration,
    ) -> Result<Option<SessionCheck>, Error> {
        let look = Work::Look {
            id: id.clone(),
            pushed_at: None,
        };
        self.read_for(id, keys::session_check(id), look, within)
            .await
    }

    /// What is read under a key: what was read just now, else what a message has read, awaited at most `within`.
    pub(crate) async fn fresh<T: DeserializeOwned + Dated + Send>(
        &self,
        key: Key,
        work: Work,
        within: Duration,
    ) -> Result<Option<T>, Error> {
        let just_now = plus(self.now(), -SEEN_JUST_NOW);
        let last = self.store.read::<T>(&key).await?.map(|last| last.value);
        match last.filter(|last| last.read_at() > just_now) {
            Some(last) => Ok(Some(last)),
            None => self.read_anew(key, work, within).await,
        }
    }

    /// What a message reads from now on, awaited at most `within`: what was read before may have changed since.
    pub(crate) async fn read_anew<T: DeserializeOwned + Dated + Send>(
        &self,
        key: Key,
        work: Work,
        within: Duration,
    ) -> Result<Option<T>, Error> {
        let since = self.now();
        let mut unit = self.unit();
        unit.enqueue(&key.pk, work);
        self.commit(unit).await?;
        self.awaited(&key, since, within).await
    }

    /// Returns what is cached under a key if it was read just now; else reads it again, unless that was done often
    /// enough.
    pub(crate) async fn read_for<T: DeserializeOwned + Dated + Send>(
        &self,
        id: &JobId,
        key: Key,
        work: Work,
        within: Duration,
    ) -> Result<Option<T>, Error> {
        let just_now = plus(self.now(), -SEEN_JUST_NOW);
        let last = self.store.read::<T>(&key).await?.map(|last| last.value);
        if let Some(last) = last.filter(|last| last.read_at() > just_now) {
            return Ok(Some(last));
        }
        match self.ask_for(id, &work).await? {
            Some(since) => self.awaited(&key, since, within).await,
            None => Ok(None),
        }
    }

    /// Sends a job's wake-up, and returns when that was; `None` when it was sent as often as it may be.
    async fn ask_for(&self, id: &JobId, work: &Work) -> Result<Option<Timestamp>, Error> {
        self.must_job(id).await?;
        for _ in 0..DECIDE_AGAIN_MAX {
            let key = keys::readings(id);
            let found = self.store.read::<ReadCounter>(&key).await?;
            let asked_at = self.now();
            let before = found.as_ref().map(|found| &found.value);
            let Some(readings) = ReadCounter::one_more(before, asked_at) else {
                return Ok(None);
            };
            let mut unit = self.unit();
            let place = IndexEntry::until(asked_at, retention::ANSWER);
            unit.put(key, &readings, found.map(|found| found.version), place);
            unit.enqueue(&keys::job_pk(id), work.clone());
            match self.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome.map(|()| Some(asked_at)),
            }
        }
        Ok(None)
    }

    /// Waits for a requested read, at most `within`.
    pub(crate) async fn awaited<T: DeserializeOwned + Dated + Send>(
        &self,
        key: &Key,
        since: Timestamp,
        within: Duration,
    ) -> Result<Option<T>, Error> {
        self.look_within(within, || async {
            let found = self.store.read::<T>(key).await?.map(|found| found.value);
            let wanted = found.filter(|read| read.read_at() >= since);
            let is_enough = wanted.is_some();
            Ok(WaitState::if_enough(wanted, is_enough))
        })
        .await
    }

    /// Waits until an effect is settled, at most `within`; returns its state then.
    pub async fn settled(&self, effect_ref: &EffectRef, within: Duration) -> Result<Effect, Error> {
        self.look_within(within, || async {
            let found = self.store.effect(&effect_ref.pk, &effect_ref.id).await?;
            let found = found.ok_or_else(|| Error::NoSuch {
                what: "effect",
                name: effect_ref.id.to_string(),
            })?;
            let waiting_for_time = matches!(found.value.state, EffectState::Unknown { .. });
            let is_enough = found.value.is_settled() || waiting_for_time;
            Ok(WaitState::if_enough(found.value, is_enough))
        })
        .await
    }
}
