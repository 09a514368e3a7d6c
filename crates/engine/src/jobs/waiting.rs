//! What a door without a credential waits for: effects and fresh readings, performed by the dispatcher.

use std::time::Duration;

use domain::conversation::Cursor;
use domain::effect::{Effect, EffectState};
use domain::ids::JobId;
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;

use super::Wish;
use crate::desk::{Desk, Error};
use crate::keys;
use crate::ports::Key;
use crate::readings::{Looked, ReadMessages};
use crate::settings::{PatchPage, ReadArtifacts};
use crate::wait::Seen;
use crate::work::Work;

/// Whoever asks to see a job again so soon is shown what the one before saw: nobody uses up Jules's patience by asking often.
pub(crate) const SEEN_JUST_NOW: SignedDuration = SignedDuration::from_secs(5);

/// Where the page of a job's conversation after a cursor is kept.
pub(crate) fn conversation_key(id: &JobId, cursor: &Cursor) -> Key {
    keys::messages(id, &cursor.digest())
}

impl Desk {
    /// Asks for a fresh reading of what a job has produced and waits for it, at most `within`; none when it is still under way then.
    pub async fn fresh_artifacts(
        &self,
        id: &JobId,
        within: Duration,
    ) -> Result<Option<ReadArtifacts>, Error> {
        let work = Work::Artifacts { id: id.clone() };
        let since = self.ask_for(id, work).await?;
        let is_fresh = |read: &ReadArtifacts| read.read_at >= since;
        self.awaited(&keys::artifacts(id), is_fresh, within).await
    }

    /// A further piece of the patch as it was last read, with all else that was; none where there is no such piece.
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

    /// Asks for what was said after a cursor and waits for it, at most `within`; none when it is still being read then.
    pub async fn fresh_messages(
        &self,
        id: &JobId,
        cursor: &Cursor,
        within: Duration,
    ) -> Result<Option<ReadMessages>, Error> {
        let (id, after) = (id.clone(), cursor.to_string());
        let key = conversation_key(&id, cursor);
        let since = self
            .ask_for(&id.clone(), Work::Messages { id, after })
            .await?;
        let is_fresh = |read: &ReadMessages| read.read_at >= since;
        self.awaited(&key, is_fresh, within).await
    }

    /// Asks for a job's session to be looked at and waits until it was, at most `within`; none when it is not yet then.
    pub async fn fresh_look(&self, id: &JobId, within: Duration) -> Result<Option<Looked>, Error> {
        let key = keys::looked(id);
        let just_now = self.now() - SEEN_JUST_NOW;
        let last = self.store.read::<Looked>(&key).await?;
        if let Some(last) = last.filter(|last| last.value.read_at > just_now) {
            return Ok(Some(last.value));
        }
        let look = Work::Look {
            id: id.clone(),
            pushed_at: None,
        };
        let since = self.ask_for(id, look).await?;
        self.awaited(&key, |looked: &Looked| looked.read_at >= since, within)
            .await
    }

    /// Sends a job's wake-up, and answers when that was.
    async fn ask_for(&self, id: &JobId, work: Work) -> Result<Timestamp, Error> {
        self.must_job(id).await?;
        let asked_at = self.now();
        let mut unit = self.unit();
        unit.tell(&keys::job_pk(id), work);
        self.commit(unit).await?;
        Ok(asked_at)
    }

    /// Waits for a record to be as it is wanted, at most `within`.
    async fn awaited<T: DeserializeOwned + Send>(
        &self,
        key: &Key,
        is_wanted: impl Fn(&T) -> bool + Send + Sync,
        within: Duration,
    ) -> Result<Option<T>, Error> {
        self.look_within(within, || async {
            let found = self.store.read::<T>(key).await?;
            let wanted = found.map(|found| found.value).filter(|it| is_wanted(it));
            let is_enough = wanted.is_some();
            Ok(Seen::if_enough(wanted, is_enough))
        })
        .await
    }

    /// Waits until an effect is settled, at most `within`; answers how far it is then.
    pub async fn settled(&self, wish: &Wish, within: Duration) -> Result<Effect, Error> {
        self.look_within(within, || async {
            let found = self.store.effect(&wish.pk, &wish.id).await?;
            let found = found.ok_or_else(|| Error::NoSuch {
                what: "effect",
                name: wish.id.to_string(),
            })?;
            let waiting_for_time = matches!(found.value.state, EffectState::Unknown { .. });
            let is_enough = found.value.is_settled() || waiting_for_time;
            Ok(Seen::if_enough(found.value, is_enough))
        })
        .await
    }
}
