//! What a door without a credential waits for: effects and fresh readings, performed by the dispatcher.

use std::time::Duration;

use domain::effect::{Effect, EffectState};
use domain::ids::JobId;

use super::{LOOK_AGAIN, Wish};
use crate::desk::{Desk, Error};
use crate::keys;
use crate::settings::ReadArtifacts;
use crate::work::Work;

impl Desk {
    /// Asks for a fresh reading of what a job has produced and waits for it, at most `within`; none when it is still under way then.
    pub async fn fresh_artifacts(
        &self,
        id: &JobId,
        within: Duration,
    ) -> Result<Option<ReadArtifacts>, Error> {
        self.must_job(id).await?;
        let asked_at = self.now();
        let mut unit = self.unit();
        unit.tell(&keys::job_pk(id), Work::Artifacts { id: id.clone() });
        self.commit(unit).await?;
        let until = tokio::time::Instant::now() + within;
        let mut interval = tokio::time::interval(LOOK_AGAIN);
        loop {
            let found = self
                .store
                .read::<ReadArtifacts>(&keys::artifacts(id))
                .await?;
            if let Some(found) = found.filter(|found| found.value.read_at >= asked_at) {
                return Ok(Some(found.value));
            }
            if tokio::time::Instant::now() >= until {
                return Ok(None);
            }
            tokio::select! {
                () = self.saved() => {}
                _ = interval.tick() => {}
            }
        }
    }

    /// Waits until an effect is settled, at most `within`; answers how far it is then.
    pub async fn settled(&self, wish: &Wish, within: Duration) -> Result<Effect, Error> {
        let until = tokio::time::Instant::now() + within;
        let mut interval = tokio::time::interval(LOOK_AGAIN);
        loop {
            let found = self.store.effect(&wish.pk, &wish.id).await?;
            let found = found.ok_or_else(|| Error::NoSuch {
                what: "effect",
                name: wish.id.to_string(),
            })?;
            let waiting_for_time = matches!(found.value.state, EffectState::Unknown { .. });
            if found.value.is_settled() || waiting_for_time || tokio::time::Instant::now() >= until
            {
                return Ok(found.value);
            }
            tokio::select! {
                () = self.saved() => {}
                _ = interval.tick() => {}
            }
        }
    }
}
