//! Beginning to watch over webhook deliveries. What is found and asked for again is the dispatcher's.

use domain::redelivery::{CHECK_SOON, LogStatus, RedeliveryState};
use domain::when::plus;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Error, IndexEntry, ignore_conflict};
use crate::keys;
use crate::store::Versioned;

/// When it was last asked which logs of webhook deliveries there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookLogs {
    /// When; none before the first time.
    pub looked_at: Option<Timestamp>,
}

impl Backend {
    /// Starts to watch webhook deliveries. After a start the logs are read at once, unless that happened just before.
    pub async fn listen(&self) -> Result<(), Error> {
        let now = self.now();
        let key = keys::hook_logs();
        let found: Option<Versioned<HookLogs>> = self.store.read(&key).await?;
        let looked_at = found.as_ref().and_then(|found| found.value.looked_at);
        if looked_at.is_some_and(|at| plus(at, CHECK_SOON) > now) {
            return Ok(());
        }
        for repair in self.store.repairs().await? {
            self.look_soon(repair).await?;
        }
        let logs = found.as_ref().map(|found| found.value);
        let mut unit = self.unit();
        let place = IndexEntry::due(Some(now));
        let version = found.map(|found| found.version);
        unit.put(key, &logs.unwrap_or_default(), version, place);
        ignore_conflict(self.commit(unit).await)
    }

    /// A source was added: where webhook deliveries are watched, its log is found soon.
    pub async fn listen_to_more(&self) -> Result<(), Error> {
        let key = keys::hook_logs();
        let Some(found) = self.store.read::<HookLogs>(&key).await? else {
            return Ok(());
        };
        let mut unit = self.unit();
        let place = IndexEntry::due(Some(self.now()));
        unit.put(key, &found.value, Some(found.version), place);
        ignore_conflict(self.commit(unit).await)
    }

    async fn look_soon(&self, found: Versioned<RedeliveryState>) -> Result<(), Error> {
        let now = self.now();
        let repair = found.value;
        let young = |at| plus(at, CHECK_SOON) > now;
        let is_forbidden = matches!(repair.status, LogStatus::Forbidden { .. });
        if is_forbidden || repair.looked_at.is_some_and(young) {
            return Ok(());
        }
        let mut unit = self.unit();
        unit.save_due(&repair.log, now, &repair, Some(found.version));
        ignore_conflict(self.commit(unit).await)
    }
}
