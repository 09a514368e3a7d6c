//! A world whose store is backed up and restored while everything outside stays in its new state.

use std::path::Path;
use std::sync::Arc;

use engine::backend::Backend;
use engine::dispatcher::Dispatcher;
use engine::poller::Poller;
use engine::ports::Clock;
use local::{DATABASE_FILE, Database, LocalQueue, Staged, Store};

use super::drift::SharedClock;
use super::ledger::{Ledger, MortalQueue};
use super::{Work, World};

impl World {
    /// Writes a backup like `gaffer backup`, while everything keeps running.
    pub fn back_up(&self, to: &Path) {
        let folder = self.folder.as_ref().expect("a world on disk");
        let now = self.backend.now();
        local::back_up(&folder.join(DATABASE_FILE), to, &[], now).expect("a backup");
    }

    /// Goes on with a backup in a new folder, as after `gaffer restore`; the previous store is dropped. Returns how
    /// many effects are in doubt.
    pub async fn restore(&mut self, backup: &Path, folder: &Path) -> u64 {
        assert!(self.api.is_none(), "the API holds the queue of before");
        local::prepare_folder(folder).expect("a folder");
        let staged = Staged::new(backup, folder).expect("a sound backup");
        self.work_over(&Database::open(&staged.database()).expect("a copy"));
        let doubted = self
            .backend
            .mark_restored(staged.about().made_at)
            .await
            .expect("a marked copy");
        self.work_over(&Database::in_memory().expect("a database"));
        staged
            .put_in_place(&folder.join("aside"))
            .expect("a restored folder");
        self.work_over(&Database::open(&folder.join(DATABASE_FILE)).expect("a database"));
        self.folder = Some(folder.to_owned());
        doubted
    }

    /// Moves everything with a memory over to another database.
    pub fn work_over(&mut self, database: &Database) {
        let clock: Arc<dyn Clock> = Arc::new(SharedClock(self.clock.clone(), self.drift.clone()));
        let queue = LocalQueue::new(database, "work", clock.clone());
        self.ledger = Arc::new(Ledger::new(
            Arc::new(Store::new(database)),
            self.fate.clone(),
        ));
        let mortal_queue = Arc::new(MortalQueue {
            queue: Arc::new(queue.clone()),
            fate: self.fate.clone(),
        });
        let installation = self.backend.installation.clone();
        let observe_only = self.backend.observe_only;
        self.backend = Backend::new(
            self.ledger.clone(),
            mortal_queue,
            clock,
            self.ids.clone(),
            installation,
        )
        .observe_only(observe_only);
        self.work = Work::Loops;
        self.messages = Arc::new(queue);
        self.poller = Poller::new(self.backend.clone(), self.readers.sessions.clone());
        self.dispatcher = Dispatcher::new(
            self.backend.clone(),
            self.readers.clone(),
            self.writers.clone(),
        );
    }
}
