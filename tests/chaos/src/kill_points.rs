//! The child's records: every commit shows how far an effect is, so this is where the child stops dead at a chosen moment.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use domain::effect::{Action, Effect, EffectState, JulesAction};
use domain::job::Job;
use domain::wake::{Wake, WakeState};
use engine::keys;
use engine::ports::{
    Clock, CommitError, DueRow, Key, Page, PageToken, Record, Records, RecordsError, Write,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::moment::{KillPlace, Kind, Moment};
use crate::output;

/// Records in whose commits a process dies.
pub(crate) struct KillPoints {
    records: Arc<dyn Records>,
    clock: Arc<dyn Clock>,
    moments: BTreeSet<Moment>,
}

/// The moments around one commit.
#[derive(Default)]
struct Around {
    before: Vec<Moment>,
    after: Vec<Moment>,
}

/// A record's body as the engine writes it.
#[derive(Deserialize)]
struct Body<T> {
    it: T,
}

impl KillPoints {
    pub(crate) fn new(
        records: Arc<dyn Records>,
        clock: Arc<dyn Clock>,
        moments: BTreeSet<Moment>,
    ) -> Self {
        Self {
            records,
            clock,
            moments,
        }
    }

    async fn around(&self, items: &[Write]) -> Around {
        let mut around = Around::default();
        if self.moments.is_empty() {
            return around;
        }
        for item in items {
            let Write::Put { record, .. } = item else {
                continue;
            };
            let Key { pk, sk } = &record.key;
            if sk.starts_with(keys::EFFECT) {
                let old = self.stored::<Effect>(&record.key).await;
                let (Some(old), Some(new)) = (old, read::<Effect>(&record.body)) else {
                    continue;
                };
                let Some(kind) = self.kind(pk, &new.action).await else {
                    continue;
                };
                around.of_effect(kind, &old, &new, self.clock.now());
            } else if pk.starts_with("AGT#") && sk.starts_with(keys::WAKE) {
                let old = self.stored::<Wake>(&record.key).await;
                around.of_wake(old, read(&record.body), self.clock.now());
            }
        }
        around
    }

    /// What an effect is, with the help of the job it belongs to; none where no job plays it.
    async fn kind(&self, pk: &str, action: &Action) -> Option<Kind> {
        let Action::Jules(JulesAction::Archive { session }) = action else {
            return Kind::of(action);
        };
        let (pk, sk) = (pk.to_owned(), keys::META.to_owned());
        let job = self.stored::<Job>(&Key { pk, sk }).await;
        match job.as_ref().and_then(Job::session) {
            Some(own) if own != session => Some(Kind::ArchiveDuplicate),
            Some(_) | None => Kind::of(action),
        }
    }

    async fn stored<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        read(&self.records.get(key).await.ok()??.body)
    }

    fn die_at(&self, moments: &[Moment]) {
        if let Some(moment) = moments.iter().find(|it| self.moments.contains(it)) {
            stop_dead(*moment);
        }
    }
}

fn read<T: DeserializeOwned>(body: &str) -> Option<T> {
    serde_json::from_str::<Body<T>>(body)
        .ok()
        .map(|body| body.it)
}

/// Says where it stands and does nothing more; the runtime has one thread, so nothing else is done either until the kill comes.
fn stop_dead(moment: Moment) {
    let said = output::json_line(&json!({ "reached": moment.to_string() }));
    while said.is_ok() {
        std::thread::park();
    }
}

impl Around {
    fn of_effect(&mut self, kind: Kind, old: &Effect, new: &Effect, now: Timestamp) {
        if old.state == new.state {
            return;
        }
        match old.state {
            EffectState::Intent { .. } => {
                if matches!(new.state, EffectState::Started { .. }) {
                    self.after.push(at(kind, KillPlace::Before));
                }
            }
            EffectState::Started { until, .. } if until > now => {
                self.before.push(at(kind, KillPlace::After));
            }
            EffectState::Unknown { .. } => self.before.push(at(kind, KillPlace::Settling)),
            EffectState::Started { .. } | EffectState::Done { .. } | EffectState::Failed { .. } => {
            }
        }
    }

    fn of_wake(&mut self, old: Option<Wake>, new: Option<Wake>, now: Timestamp) {
        let (Some(old), Some(new)) = (old, new) else {
            return;
        };
        let sends = matches!(new.state, WakeState::Sending { .. });
        match old.state {
            WakeState::Pending { .. } if sends => {
                self.after.push(at(Kind::Wake, KillPlace::Before))
            }
            WakeState::Sending { until, .. } if sends && until <= now => {
                self.before.push(at(Kind::Wake, KillPlace::Settling));
            }
            WakeState::Sending { .. } if !sends => {
                self.before.push(at(Kind::Wake, KillPlace::After))
            }
            WakeState::Pending { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Acknowledged { .. }
            | WakeState::Dead { .. } => {}
        }
    }
}

fn at(kind: Kind, place: KillPlace) -> Moment {
    Moment { kind, place }
}

#[async_trait]
impl Records for KillPoints {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        self.records.get(key).await
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.records.query(pk, prefix, after, limit).await
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.records.list(name, newest, after, limit).await
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        self.records.due(at, limit).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        self.records.next_due().await
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        let around = self.around(&items).await;
        self.die_at(&around.before);
        self.records.commit(items).await?;
        self.die_at(&around.after);
        Ok(())
    }
}
