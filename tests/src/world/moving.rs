//! A world that moves to another store with everything it holds, as `gaffer export` and `gaffer import` move it.

use std::sync::Arc;

use engine::dispatcher::Dispatcher;
use engine::import::{self, Importing};
use engine::poller::Poller;
use engine::ports::{Clock, Record, Records};
use local::{Database, Store};

use super::birth::Birth;
use super::drift::SharedClock;
use super::ledger::Ledger;
use super::{Setup, Work, World};
use crate::cloud::Cloud;

impl World {
    /// Moves to a new table and queue of AWS, where functions work. Returns how many effects are in doubt.
    pub async fn move_to_aws(&mut self) -> u64 {
        let clock: Arc<dyn Clock> = Arc::new(SharedClock(self.clock.clone(), self.drift.clone()));
        let cloud = Cloud::new(clock, None).await;
        let all = self.exported(cloud.seen_by_tests().records).await;
        self.work_by_functions(&cloud);
        self.secrets.all_changed();
        self.cloud = Some(Box::new(cloud));
        self.imported(&all).await
    }

    /// Moves to a new database, over which loops work. Returns how many effects are in doubt.
    pub async fn move_to_sqlite(&mut self) -> u64 {
        let database = Database::in_memory().expect("a database");
        let all = self.exported(Arc::new(Store::new(&database))).await;
        self.work_over(&database);
        self.imported(&all).await
    }

    /// Fills another store with everything that is in this one.
    async fn exported(&self, to: Arc<dyn Records>) -> Vec<Record> {
        let all = self.ledger.everything().await;
        let now = self.backend.now();
        let importing = Importing {
            from: now,
            records: all.len() as u64,
        };
        let begun = import::begin(to.as_ref(), &[], importing).await;
        begun.expect("an empty store");
        let filled = import::fill(to.as_ref(), &all, now).await;
        filled.expect("a filled store");
        all
    }

    async fn imported(&self, all: &[Record]) -> u64 {
        let ended = self.backend.end_import(all, self.backend.now()).await;
        ended.expect("the end of an import")
    }

    fn work_by_functions(&mut self, cloud: &Cloud) {
        let ground = cloud.seen_by_tests();
        let setup = Setup {
            observe_only: self.backend.observe_only,
            ..Setup::default()
        };
        let birth = Birth {
            setup: &setup,
            sandbox: &self.sandbox,
            clock: Arc::new(SharedClock(self.clock.clone(), self.drift.clone())),
            ids: self.ids.clone(),
            ledger: Arc::new(Ledger::new(ground.records.clone(), self.fate.clone())),
        };
        self.work = Work::Functions(Box::new(birth.functions(cloud, &self.fate)));
        self.backend = birth.backend(ground.clone(), &self.fate, birth.ledger.clone());
        self.ledger = birth.ledger;
        self.messages = ground.queue;
        let (readers, writers) = (self.readers.clone(), self.writers.clone());
        self.poller = Poller::new(self.backend.clone(), readers.sessions.clone());
        self.dispatcher = Dispatcher::new(self.backend.clone(), readers, writers);
    }
}
