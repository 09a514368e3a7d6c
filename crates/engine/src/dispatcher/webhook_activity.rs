//! Records that a repository's webhooks arrive, with a write now and then.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::ids::RepoName;
use domain::webhook_activity::{self, WebhookActivity};
use jiff::Timestamp;

use super::Dispatcher;
use crate::backend::{Error, IndexEntry, ignore_conflict};
use crate::keys;
use crate::store::Versioned;

/// What this process knows to be noted already, so that most webhooks cost no reading either.
#[derive(Default)]
pub(super) struct ActivityCache(Mutex<BTreeMap<String, WebhookActivity>>);

impl ActivityCache {
    fn get(&self, repo: &RepoName) -> Option<WebhookActivity> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&repo.key()).copied()
    }

    fn keep(&self, repo: &RepoName, feed: WebhookActivity) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(repo.key(), feed);
    }
}

impl Dispatcher {
    /// A webhook about a source of ours came. After a conflict the other writer's record counts.
    pub(super) async fn note_webhook(&self, repo: &RepoName, at: Timestamp) -> Result<(), Error> {
        if webhook_activity::note(self.heard.get(repo), at).is_none() {
            return Ok(());
        }
        let key = keys::webhook_activity(repo);
        let found: Option<Versioned<WebhookActivity>> = self.backend.store.read(&key).await?;
        let stored = found.as_ref().map(|found| found.value);
        let Some(next) = webhook_activity::note(stored, at) else {
            stored
                .into_iter()
                .for_each(|feed| self.heard.keep(repo, feed));
            return Ok(());
        };
        let mut unit = self.backend.unit();
        unit.put(
            key,
            &next,
            found.map(|found| found.version),
            IndexEntry::default(),
        );
        ignore_conflict(self.backend.commit(unit).await)?;
        self.heard.keep(repo, next);
        Ok(())
    }
}
