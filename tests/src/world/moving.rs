//! A world that moves to another store with everything it holds, as `gaffer export` and `gaffer import` move it.

use std::sync::Arc;

use engine::import::{self, Importing};
use engine::ports::{Clock, Record, Records};
use local::{Database, Store};

use super::functions::Functions;
use super::ledger::{Ledger, MortalQueue};
use super::{Ground, SharedClock, Work, World};
use engine::desk::Desk;
use engine::dispatcher::Dispatcher;
use engine::poller::Poller;

impl World {
    /// Moves to a new table and queue of AWS, where functions work. Answers how many effects are in doubt.
    pub async fn move_to_aws(&mut self) -> u64 {
        let clock: Arc<dyn Clock> = Arc::new(SharedClock(self.clock.clone()));
        let ground = crate::cloud::ground(clock).await;
        let all = self.exported(ground.records.clone()).await;
        self.work_by_functions(&ground);
        self.imported(&all).await
    }

    /// Moves to a new database, over which loops work. Answers how many effects are in doubt.
    pub async fn move_to_sqlite(&mut self) -> u64 {
        let database = Database::in_memory().expect("a database");
        let all = self.exported(Arc::new(Store::new(&database))).await;
        self.work_over(&database);
        self.imported(&all).await
    }

    /// Fills another store with everything that is in this one.
    async fn exported(&self, to: Arc<dyn Records>) -> Vec<Record> {
        let all = self.ledger.everything().await;
        let now = self.desk.now();
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
        let ended = self.desk.end_import(all, self.desk.now()).await;
        ended.expect("the end of an import")
    }

    fn work_by_functions(&mut self, ground: &Ground) {
        let clock: Arc<dyn Clock> = Arc::new(SharedClock(self.clock.clone()));
        self.ledger = Arc::new(Ledger::new(ground.records.clone(), self.fate.clone()));
        let queue = Arc::new(MortalQueue {
            queue: ground.queue.clone(),
            fate: self.fate.clone(),
        });
        let installation = self.desk.installation.clone();
        let (ledger, ids) = (self.ledger.clone(), self.ids.clone());
        self.desk = Desk::new(ledger, queue, clock.clone(), ids, installation);
        let (eyes, hands) = (self.eyes.clone(), self.hands.clone());
        let functions = Functions::new(&self.desk, eyes.clone(), hands.clone(), clock);
        self.work = Work::Functions(Box::new(functions));
        self.messages = ground.queue.clone();
        self.poller = Poller::new(self.desk.clone(), eyes.sessions.clone());
        self.dispatcher = Dispatcher::new(self.desk.clone(), eyes, hands);
    }
}
