//! Conditions at the end of every story: nothing unfinished without a due time, nothing dead, and nothing left to decide.

use domain::job::JobPhase;
use engine::ports::{Key, Record};
use engine::work::Work;
use serde_json::Value;

use super::World;
use crate::records::{Kind, kind_of};

/// The value in a record's body.
fn it(record: &Record) -> Value {
    let mut body: Value = serde_json::from_str(&record.body).expect("JSON");
    body["it"].take()
}

/// Fails for an unfinished record without a due, and for a due that the poller only logs.
fn check_due(record: &Record) {
    // Panics at a kind that has no golden.
    let kind = kind_of(&record.key);
    let is_unfinished = kind.is_unfinished(&it(record));
    let Record { key, body, due, .. } = record;
    let is_lost = is_unfinished == Some(true) && due.is_none();
    assert!(!is_lost, "{key:?} is unfinished and has no due: {body}");
    let is_handled = Work::of_due(key).is_some() || matches!(kind, Kind::Account | Kind::Outbox);
    let is_known = is_unfinished.is_some() && is_handled;
    assert!(
        due.is_none() || is_known,
        "{key:?} is due, which `Work::of_due` or `Kind::is_unfinished` does not know: {body}"
    );
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
            check_due(&record);
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
                let gone = matches!(job.phase, JobPhase::Ended(_));
                assert!(
                    !gone,
                    "job {id} is over and holds a slot that another one waits for"
                );
            }
        }
    }
}
