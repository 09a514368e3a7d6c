//! Conditions at the end of every story: nothing unfinished without a due time, nothing dead, and nothing left to decide.

use domain::account::Account;
use domain::delivery::Delivery;
use domain::effect::Effect;
use domain::job::{Job, Phase};
use domain::wake::Wake;
use engine::keys;
use engine::ports::{Key, Record};
use engine::settings::TrackedPull;
use serde::de::DeserializeOwned;

use super::World;
use crate::records::kind_of;

/// Whether a record is unfinished, and so needs a due time.
fn is_unfinished(record: &Record) -> bool {
    let Key { pk, sk } = &record.key;
    if sk.starts_with(keys::OUT) {
        return true;
    }
    if sk.starts_with(keys::EFFECT) {
        return !it::<Effect>(record).is_settled();
    }
    if sk.starts_with(keys::WAKE) {
        return !it::<Wake>(record).is_settled();
    }
    if sk != keys::META {
        return false;
    }
    if pk.starts_with("JOB#") {
        return !it::<Job>(record).is_ended();
    }
    if pk.starts_with("PR#") {
        return !it::<TrackedPull>(record).pull.is_settled();
    }
    if pk.starts_with(keys::DELIVERY) {
        return !it::<Delivery>(record).is_terminal();
    }
    // A source whose issues are not read has no row, and one whose pipeline is off has no schedule.
    if pk.starts_with(keys::INTAKE) || pk.starts_with(keys::SCHEDULE) {
        return true;
    }
    pk.starts_with("CFG#account#") && it::<Account>(record).next_poll > jiff::Timestamp::MIN
}

/// The value in a record's body.
fn it<T: DeserializeOwned>(record: &Record) -> T {
    let body: serde_json::Value = serde_json::from_str(&record.body).expect("JSON");
    serde_json::from_value(body["it"].clone()).expect("a known body")
}

impl World {
    /// Ends a story: checks the conditions at the end of every one.
    pub async fn finish(&self) {
        Box::pin(self.step()).await;
        let before = self.ledger.written().len();
        Box::pin(self.step()).await;
        let written = self.ledger.written();
        assert_eq!(
            &written[before..],
            &[] as &[Key],
            "deciding again changed something"
        );
        let (_, dead) = self.backend.queue.depth().await.expect("a queue");
        assert_eq!(dead, 0, "dead letters\n{}", self.story().await);
        for record in self.ledger.everything().await {
            // Panics at a kind that has no golden.
            kind_of(&record.key);
            let lost = is_unfinished(&record) && record.due.is_none();
            assert!(
                !lost,
                "{:?} is unfinished and has no due: {}",
                record.key, record.body
            );
        }
        self.nobody_waits_for_the_dead().await;
    }

    /// A finished job's slot is freed when another job wants one.
    async fn nobody_waits_for_the_dead(&self) {
        for found in self.backend.store.accounts().await.expect("accounts") {
            let queued = self.backend.store.queued(&found.value.name).await;
            if queued.expect("queued jobs").is_empty() {
                continue;
            }
            let slots = self
                .backend
                .store
                .slots(&found.value.name)
                .await
                .expect("slots")
                .value;
            for id in slots.taken.keys() {
                let job = self.backend.must_job(id).await.expect("a job").value;
                let gone = matches!(job.phase, Phase::Ended(_));
                assert!(
                    !gone,
                    "job {id} is over and holds a slot that another one waits for"
                );
            }
        }
    }
}
