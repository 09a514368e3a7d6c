//! Answers kept with their ETag: GitHub answers an authorised 304 without spending the budget.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::HeaderValue;
use jiff::Timestamp;

use super::transport::Media;

/// How many answers are kept: about ten for each pull request that is followed at the same time.
pub(crate) const KEPT_ANSWERS_MAX: usize = 512;

/// How many bytes of answers are kept: a small part of the smallest function's memory.
pub(crate) const KEPT_BYTES_MAX: usize = 24 * 1024 * 1024;

/// A larger answer is not kept: it would push out all others.
const KEPT_ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;

/// One kept answer.
#[derive(Debug, Clone)]
pub(crate) struct CachedAnswer {
    /// What GitHub called this version of it.
    pub(crate) etag: HeaderValue,
    pub(crate) body: Bytes,
    /// Where the next page is.
    pub(crate) next: Option<String>,
}

/// So many paths are noted: more base branches than one installation works on.
const NOTED_MAX: usize = 512;

/// Cache of branches without classic protection, by the path of their protection; and when a list last said that only
/// rulesets protect them, if one did.
#[derive(Debug, Default)]
pub(crate) struct UnprotectedBranches(Mutex<BTreeMap<String, Option<Timestamp>>>);

impl UnprotectedBranches {
    /// When only rulesets protected it, if they did; nothing when it may have classic protection.
    pub(crate) fn find(&self, path: &str) -> Option<Option<Timestamp>> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.get(path).copied()
    }

    /// It has none, while there is room for it.
    pub(crate) fn note(&self, path: &str, ruled_at: Option<Timestamp>) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < NOTED_MAX || noted.contains_key(path) {
            noted.insert(path.to_owned(), ruled_at);
        }
    }

    /// It may have some.
    pub(crate) fn forget(&self, path: &str) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.remove(path);
    }
}

/// Kept answers by who asked, by address and by the form that was asked for.
#[derive(Debug, Default)]
pub(crate) struct EtagCache(Mutex<CacheShelf>);

/// Who asked, by the fingerprint of the bearer, and for which address: what one credential may see another may not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    pub(crate) bearer: String,
    pub(crate) url: String,
    pub(crate) media: Media,
}

#[derive(Debug, Default)]
struct CacheShelf {
    answers: HashMap<CacheKey, (u64, Arc<CachedAnswer>)>,
    bytes: usize,
    uses: u64,
}

impl EtagCache {
    /// The kept answer, which counts as used.
    pub(crate) fn find(&self, place: &CacheKey) -> Option<Arc<CachedAnswer>> {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.uses += 1;
        let uses = shelf.uses;
        let (used, kept) = shelf.answers.get_mut(place)?;
        *used = uses;
        Some(Arc::clone(kept))
    }

    /// Keeps an answer, and forgets those that were not used for the longest time.
    pub(crate) fn keep(&self, place: CacheKey, kept: CachedAnswer) {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.forget(&place);
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
                .map(|(place, _)| place.clone());
            let Some(oldest) = oldest else { break };
            shelf.forget(&oldest);
        }
        shelf.uses += 1;
        shelf.bytes += kept.body.len();
        let uses = shelf.uses;
        shelf.answers.insert(place, (uses, Arc::new(kept)));
    }

    pub(crate) fn forget(&self, place: &CacheKey) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .forget(place);
    }
}

impl CacheShelf {
    fn forget(&mut self, place: &CacheKey) {
        if let Some((_, kept)) = self.answers.remove(place) {
            self.bytes -= kept.body.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: usize) -> CachedAnswer {
        CachedAnswer {
            etag: HeaderValue::from_static("\"e\""),
            body: vec![b'x'; bytes].into(),
            next: None,
        }
    }

    fn at(url: &str) -> CacheKey {
        CacheKey {
            bearer: "mine".to_owned(),
            url: url.to_owned(),
            media: Media::Json,
        }
    }

    #[test]
    fn what_one_credential_saw_is_nothing_to_another() {
        let memory = EtagCache::default();
        memory.keep(at("u"), kept(1));
        let other = CacheKey {
            bearer: "other".to_owned(),
            ..at("u")
        };
        assert!(memory.find(&other).is_none() && memory.find(&at("u")).is_some());
        let diff = CacheKey {
            media: Media::Diff,
            ..at("u")
        };
        assert!(memory.find(&diff).is_none(), "it is another text");
    }

    #[test]
    fn the_least_used_goes_first_and_both_limits_hold() {
        let memory = EtagCache::default();
        for i in 0..KEPT_ANSWERS_MAX {
            memory.keep(at(&format!("u{i}")), kept(10));
        }
        assert!(memory.find(&at("u0")).is_some());
        memory.keep(at("one more"), kept(10));
        assert!(memory.find(&at("u0")).is_some() && memory.find(&at("u1")).is_none());
        for i in 0..20 {
            memory.keep(at(&format!("big{i}")), kept(KEPT_ANSWER_BYTES_MAX));
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
        let memory = EtagCache::default();
        memory.keep(at("u"), kept(1));
        memory.keep(at("u"), kept(KEPT_ANSWER_BYTES_MAX + 1));
        assert!(memory.find(&at("u")).is_none());
    }
}
