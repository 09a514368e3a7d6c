//! The homes of aggregates as this process has read or written them last: who decides has just read what it changes, and need not read it once more to write it.
//!
//! A home may be old. It is only written under the condition that nobody else has written it since, and no condition is said to fail by it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::ports::Key;

use super::home::Home;

/// Most homes that are remembered; beyond that all are forgotten, which costs a read each.
const REMEMBERED_MAX: usize = 64;

/// What is remembered. Clones remember together.
#[derive(Debug, Clone, Default)]
pub(super) struct Homes(Arc<Mutex<BTreeMap<Key, Home>>>);

impl Homes {
    pub(super) fn get(&self, key: &Key) -> Option<Home> {
        self.all().get(key).cloned()
    }

    pub(super) fn keep(&self, home: Home) {
        let mut all = self.all();
        if all.len() >= REMEMBERED_MAX && !all.contains_key(&home.key) {
            all.clear();
        }
        all.insert(home.key.clone(), home);
    }

    pub(super) fn forget(&self, key: &Key) {
        self.all().remove(key);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, Home>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
