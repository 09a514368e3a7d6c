//! What came of webhook deliveries: all that is kept of a refused one.

use std::sync::atomic::{AtomicU64, Ordering};

use client::wire::WebhookCounts;

/// Counters since the process began.
#[derive(Debug, Default)]
pub struct WebhookCounters {
    accepted: AtomicU64,
    ignored: AtomicU64,
    refused: AtomicU64,
}

impl WebhookCounters {
    /// The counters as they are.
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
}
