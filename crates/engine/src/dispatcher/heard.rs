//! Records that a repository's webhooks arrive, with a write now and then.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::feed::{self, Feed};
use domain::ids::RepoName;
use jiff::Timestamp;

use super::Dispatcher;
use crate::desk::{Error, Place, ignore_conflict};
use crate::keys;
use crate::store::Versioned;

/// What this process knows to be noted already, so that most webhooks cost no reading either.
#[derive(Default)]
pub(super) struct Heard(Mutex<BTreeMap<String, Feed>>);

impl Heard {
    fn of(&self, repo: &RepoName) -> Option<Feed> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&repo.key()).copied()
    }

    fn keep(&self, repo: &RepoName, feed: Feed) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(repo.key(), feed);
    }
}

impl Dispatcher {
    /// A webhook about a source of ours came. After a conflict the other writer's record counts.
    pub(super) async fn heard_of(&self, repo: &RepoName, at: Timestamp) -> Result<(), Error> {
        if feed::note(self.heard.of(repo), at).is_none() {
            return Ok(());
        }
        let key = keys::feed(repo);
        let found: Option<Versioned<Feed>> = self.desk.store.read(&key).await?;
        let stored = found.as_ref().map(|found| found.value);
        let Some(next) = feed::note(stored, at) else {
            stored
                .into_iter()
                .for_each(|feed| self.heard.keep(repo, feed));
            return Ok(());
        };
        let mut unit = self.desk.unit();
        unit.put(
            key,
            &next,
            found.map(|found| found.version),
            Place::default(),
        );
        ignore_conflict(self.desk.commit(unit).await)?;
        self.heard.keep(repo, next);
        Ok(())
    }
}
