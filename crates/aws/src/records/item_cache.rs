//! A cache of aggregates' items as this process last read or wrote them: a process that decides has just read what it
//! changes, and need not read it again to write it.
//!
//! A cached item may be stale. It is written only under the condition that no other write came between, and no
//! condition is reported as failed because of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::ports::Key;

use super::shared_item::SharedItem;

/// Maximum size of the cache; beyond that it is cleared, which costs a read for each.
const REMEMBERED_MAX: usize = 64;

/// The cache. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct ItemCache(Arc<Mutex<BTreeMap<Key, SharedItem>>>);

impl ItemCache {
    pub(super) fn get(&self, key: &Key) -> Option<SharedItem> {
        self.all().get(key).cloned()
    }

    pub(super) fn keep(&self, home: SharedItem) {
        let mut all = self.all();
        if all.len() >= REMEMBERED_MAX && !all.contains_key(&home.key) {
            all.clear();
        }
        all.insert(home.key.clone(), home);
    }

    pub(super) fn forget(&self, key: &Key) {
        self.all().remove(key);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, SharedItem>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
