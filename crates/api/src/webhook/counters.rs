//! Counters of webhook deliveries: all that is kept of a refused one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use client::wire::WebhookCounts;
use github::webhook::Rejected;
use jiff::{SignedDuration, Timestamp};

/// How often a refused signature is logged; those between are counted.
const LOGGED_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// Counters since the process began.
#[derive(Debug, Default)]
pub struct WebhookCounters {
    accepted: AtomicU64,
    ignored: AtomicU64,
    refused: AtomicU64,
    unsigned: Mutex<Unsigned>,
}

/// Refused signatures, of which anyone can send as many as they like.
#[derive(Debug, Default)]
struct Unsigned {
    logged_at: Option<Timestamp>,
    /// How many since then.
    more: u64,
}

impl WebhookCounters {
    /// A snapshot of the counters.
    pub fn counts(&self) -> WebhookCounts {
        WebhookCounts {
            accepted: self.accepted.load(Ordering::Relaxed),
            ignored: self.ignored.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    pub(super) fn accepted(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn ignored(&self) {
        self.ignored.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// A signature was refused: counted, and logged once a minute.
    pub(super) fn unsigned(&self, why: Rejected, now: Timestamp) {
        self.refused();
        if let Some(count) = self.to_log(now) {
            tracing::warn!(%why, count, "webhook deliveries were refused");
        }
    }

    /// How many refused signatures are to be logged now, if it is time to.
    fn to_log(&self, now: Timestamp) -> Option<u64> {
        let mut unsigned = self.unsigned.lock().unwrap_or_else(PoisonError::into_inner);
        unsigned.more += 1;
        let recently = |at: Timestamp| now.duration_since(at).abs() < LOGGED_EVERY;
        if unsigned.logged_at.is_some_and(recently) {
            return None;
        }
        unsigned.logged_at = Some(now);
        Some(std::mem::take(&mut unsigned.more))
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use super::*;

    /// Everything that was logged.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_refused_signature_is_counted_and_the_log_says_why_and_how_many() {
        let (log, counters) = (Log::default(), WebhookCounters::default());
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            for second in 0..=60 {
                let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second);
                counters.unsigned(Rejected::Mismatch, now);
            }
        });
        assert_eq!(counters.counts().refused, 61);
        let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let counts: Vec<_> = logged
            .lines()
            .map(|line| line.contains("count=60"))
            .collect();
        assert_eq!(counts, [false, true], "{logged}");
        let why = format!("why={}", Rejected::Mismatch);
        assert!(logged.lines().all(|line| line.contains(&why)), "{logged}");
    }

    #[test]
    fn refused_signatures_are_logged_once_a_minute_with_their_count() {
        let counters = WebhookCounters::default();
        let begin = Timestamp::UNIX_EPOCH;
        let at = |seconds| begin + SignedDuration::from_secs(seconds);
        let logged: Vec<_> = (0..130).filter_map(|n| counters.to_log(at(n))).collect();
        assert_eq!(logged, [1, 60, 60]);
    }
}
