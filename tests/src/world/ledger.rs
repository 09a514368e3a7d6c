//! The store and the queue of a mortal process, and the book of every key that was ever read or written.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use engine::ports::{
    CommitError, Delivery, DueRow, Key, Page, PageToken, Queue, QueueError, Receipt, Record,
    Records, RecordsError, Write,
};
use jiff::{SignedDuration, Timestamp};

use super::fate::{Acted, Fate};
use super::ground::Whole;

/// How many answers a list is behind that lags.
const ANSWERS_BEHIND: usize = 6;

/// What lists have yet to show, by their names.
type Answers = BTreeMap<String, VecDeque<Page>>;

/// Records that remember every read of one and every write.
pub struct Ledger {
    store: Arc<dyn Whole>,
    fate: Fate,
    read: Arc<Mutex<Vec<Key>>>,
    written: Arc<Mutex<Vec<Key>>>,
    bodies: Arc<Mutex<Vec<(Key, String)>>>,
    /// What lists have yet to show, while they lag behind.
    lagging: Arc<Mutex<Option<Answers>>>,
}

impl Ledger {
    pub(super) fn new(store: Arc<dyn Whole>, fate: Fate) -> Self {
        Self {
            store,
            fate,
            read: Arc::default(),
            written: Arc::default(),
            bodies: Arc::default(),
            lagging: Arc::default(),
        }
    }

    /// The same book for another process over the same records.
    pub(super) fn shared(&self, store: Arc<dyn Whole>, fate: Fate) -> Self {
        Self {
            store,
            fate,
            read: self.read.clone(),
            written: self.written.clone(),
            bodies: self.bodies.clone(),
            lagging: self.lagging.clone(),
        }
    }

    /// The key of every record that was ever asked for by it, in order.
    pub fn read(&self) -> Vec<Key> {
        self.read
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The key of every item that was ever put or deleted, in order.
    pub fn written(&self) -> Vec<Key> {
        self.written
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Every body that was ever put, also of deleted rows, with its key.
    pub fn bodies(&self) -> Vec<(Key, String)> {
        self.bodies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// From now on every list shows its state of some answers before, like an index that lags behind its table.
    pub fn let_lists_lag(&self) {
        *self.lagging.lock().unwrap_or_else(PoisonError::into_inner) = Some(BTreeMap::new());
    }

    /// What a list shows whose first page is this by now.
    fn shown(&self, name: &str, page: Page) -> Page {
        let mut lagging = self.lagging.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lists) = lagging.as_mut() else {
            return page;
        };
        let waiting = lists.entry(name.to_owned()).or_default();
        waiting.push_back(page.clone());
        if waiting.len() > ANSWERS_BEHIND {
            waiting.pop_front();
        }
        waiting.front().cloned().unwrap_or(page)
    }

    /// Everything that is stored.
    pub async fn everything(&self) -> Vec<Record> {
        self.store.everything().await
    }

    fn alive(&self) -> Result<(), RecordsError> {
        let dead = || RecordsError::Unavailable {
            doing: "reading".to_owned(),
            message: "the process is dead".to_owned(),
        };
        if self.fate.is_dead() {
            Err(dead())
        } else {
            Ok(())
        }
    }

    fn note(&self, items: &[Write]) {
        let bodies = items.iter().filter_map(|item| match item {
            Write::Put { record, .. } => Some((record.key.clone(), record.body.clone())),
            Write::Delete { .. } | Write::Check { .. } => None,
        });
        self.bodies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(bodies);
        let keys = items.iter().filter_map(|item| match item {
            Write::Put { record, .. } => Some(record.key.clone()),
            Write::Delete { key, .. } => Some(key.clone()),
            Write::Check { .. } => None,
        });
        self.written
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(keys);
    }
}

/// The name of a commit, for choosing where to die.
fn name_of(items: &[Write]) -> String {
    let keys: Vec<String> = items
        .iter()
        .map(|item| format!("{} {}", item.key().pk, item.key().sk))
        .collect();
    format!("commit {}", keys.join(", "))
}

#[async_trait]
impl Records for Ledger {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        self.alive()?;
        self.fate.reads(&format!("get {} {}", key.pk, key.sk)).await;
        self.read
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(key.clone());
        self.store.get(key).await
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.alive()?;
        self.store.query(pk, prefix, after, limit).await
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.alive()?;
        let is_first = after.is_none();
        let page = self.store.list(name, newest, after, limit).await?;
        Ok(if is_first {
            self.shown(name, page)
        } else {
            page
        })
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        self.alive()?;
        self.store.due(at, limit).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        self.store.next_due().await
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        let name = name_of(&items);
        let kept = items.clone();
        match self.fate.act(&name, self.store.commit(items)).await {
            Acted::Answered(Ok(())) => {
                self.note(&kept);
                Ok(())
            }
            Acted::Answered(Err(error)) => Err(error),
            Acted::Unheard => {
                self.note(&kept);
                Err(CommitError::Unknown("the process is dead".to_owned()))
            }
            Acted::Never => Err(CommitError::Unavailable("the process is dead".to_owned())),
        }
    }

    async fn forget(&self, at: Timestamp, limit: usize) -> Result<usize, CommitError> {
        self.store.forget(at, limit).await
    }
}

/// A queue whose messages a dead process neither sends nor removes.
pub(super) struct MortalQueue {
    pub(super) queue: Arc<dyn Queue>,
    pub(super) fate: Fate,
}

fn dead<T>(doing: &str) -> Result<T, QueueError> {
    Err(QueueError {
        doing: doing.to_owned(),
        message: "the process is dead".to_owned(),
    })
}

#[async_trait]
impl Queue for MortalQueue {
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError> {
        match self
            .fate
            .act(&format!("send {body}"), self.queue.send(body, delay))
            .await
        {
            Acted::Answered(answer) => answer,
            Acted::Never | Acted::Unheard => dead("sending"),
        }
    }

    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError> {
        if self.fate.is_dead() {
            return dead("receiving");
        }
        self.queue.receive(limit, visibility).await
    }

    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError> {
        match self
            .fate
            .act("acknowledge", self.queue.acknowledge(receipt))
            .await
        {
            Acted::Answered(answer) => answer,
            Acted::Never | Acted::Unheard => dead("acknowledging"),
        }
    }

    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError> {
        if self.fate.is_dead() {
            return dead("releasing");
        }
        self.queue.release(receipt, delay).await
    }

    async fn move_back(&self, ahead: SignedDuration) -> Result<(), QueueError> {
        self.queue.move_back(ahead).await
    }

    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        self.queue.depth().await
    }
}
