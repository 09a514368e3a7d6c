//! Answers kept with their ETag: GitHub answers an authorised 304 without spending the budget.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::HeaderValue;

/// How many answers are kept: about ten for each pull request that is followed at the same time.
pub(crate) const KEPT_ANSWERS_MAX: usize = 512;

/// How many bytes of answers are kept: a small part of the smallest function's memory.
pub(crate) const KEPT_BYTES_MAX: usize = 24 * 1024 * 1024;

/// A larger answer is not kept: it would push out all others.
const KEPT_ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;

/// One kept answer.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// What GitHub called this version of it.
    pub(crate) etag: HeaderValue,
    /// The body.
    pub(crate) body: Bytes,
    /// Where the next page is.
    pub(crate) next: Option<String>,
}

/// Kept answers by address. All of them were asked for with the same Accept header.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    answers: HashMap<String, (u64, Arc<Kept>)>,
    bytes: usize,
    uses: u64,
}

impl Memory {
    /// The kept answer, which counts as used.
    pub(crate) fn find(&self, url: &str) -> Option<Arc<Kept>> {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.uses += 1;
        let uses = shelf.uses;
        let (used, kept) = shelf.answers.get_mut(url)?;
        *used = uses;
        Some(Arc::clone(kept))
    }

    /// Keeps an answer, and forgets those that were not used for the longest time.
    pub(crate) fn keep(&self, url: &str, kept: Kept) {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.forget(url);
        if kept.body.len() > KEPT_ANSWER_BYTES_MAX {
            return;
        }
        while shelf.answers.len() >= KEPT_ANSWERS_MAX
            || shelf.bytes + kept.body.len() > KEPT_BYTES_MAX
        {
            let oldest = shelf
                .answers
                .iter()
                .min_by_key(|(_, (used, _))| *used)
                .map(|(url, _)| url.clone());
            let Some(oldest) = oldest else { break };
            shelf.forget(&oldest);
        }
        shelf.uses += 1;
        shelf.bytes += kept.body.len();
        let uses = shelf.uses;
        shelf.answers.insert(url.to_owned(), (uses, Arc::new(kept)));
    }

    /// Forgets one answer.
    pub(crate) fn forget(&self, url: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .forget(url);
    }
}

impl Shelf {
    fn forget(&mut self, url: &str) {
        if let Some((_, kept)) = self.answers.remove(url) {
            self.bytes -= kept.body.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: usize) -> Kept {
        Kept {
            etag: HeaderValue::from_static("\"e\""),
            body: vec![b'x'; bytes].into(),
            next: None,
        }
    }

    #[test]
    fn the_least_used_goes_first_and_both_limits_hold() {
        let memory = Memory::default();
        for i in 0..KEPT_ANSWERS_MAX {
            memory.keep(&format!("u{i}"), kept(10));
        }
        assert!(memory.find("u0").is_some());
        memory.keep("one more", kept(10));
        assert!(memory.find("u0").is_some() && memory.find("u1").is_none());
        for i in 0..20 {
            memory.keep(&format!("big{i}"), kept(KEPT_ANSWER_BYTES_MAX));
        }
        let shelf = memory.0.lock().unwrap();
        assert!(shelf.bytes <= KEPT_BYTES_MAX && shelf.answers.len() <= KEPT_ANSWERS_MAX);
        assert_eq!(
            shelf.bytes,
            shelf
                .answers
                .values()
                .map(|(_, kept)| kept.body.len())
                .sum::<usize>()
        );
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_replaces_what_was() {
        let memory = Memory::default();
        memory.keep("u", kept(1));
        memory.keep("u", kept(KEPT_ANSWER_BYTES_MAX + 1));
        assert!(memory.find("u").is_none());
    }
}
