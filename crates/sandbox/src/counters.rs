//! What the servers saw and did: counters and a request log, the witnesses that tests ask.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use crate::faults::Service;

/// How many requests the log remembers; a demo left open over night stays small.
pub const LOG_LIMIT: usize = 50_000;

/// Counts of things that really happened, and (`_calls`) of requests that asked for them
/// and that no fault stopped before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Pull requests merged.
    pub merges: u64,
    /// Requests to merge, refused ones included.
    pub merge_calls: u64,
    /// User messages written to sessions through the API.
    pub messages: u64,
    /// Requests to send a message, refused ones included.
    pub message_calls: u64,
    /// Sessions created through the API.
    pub creates: u64,
    /// Requests to create a session, refused ones included.
    pub create_calls: u64,
    /// Plans approved through the API.
    pub approvals: u64,
    /// Requests to approve a plan, refused ones included.
    pub approve_calls: u64,
    /// Sessions archived through the API.
    pub archives: u64,
    /// Sessions deleted through the API.
    pub deletes: u64,
    /// Issue comments written through the API.
    pub comments: u64,
    /// Issue comments changed through the API.
    pub comment_edits: u64,
    /// Labels put on or taken off through the API.
    pub labels: u64,
    /// Pull requests and issues closed through the API.
    pub closes: u64,
    /// Runs of workflows that were dispatched through the API.
    pub dispatches: u64,
    /// Branches deleted.
    pub branch_deletes: u64,
    /// Pull request branches brought up to date with their base.
    pub branch_updates: u64,
    /// Drafts marked ready for review.
    pub ready_for_review: u64,
    /// Requests that reached an agent's receiver.
    pub wakes_received: u64,
    /// Bytes of the bodies of those requests.
    pub wake_bytes: u64,
    /// Requests that reached Jules.
    pub jules_calls: u64,
    /// Requests that reached GitHub.
    pub github_calls: u64,
    /// GitHub reads answered 304.
    pub github_not_modified: u64,
    /// Mutating requests that reached GitHub.
    pub github_writes: u64,
    /// Webhooks that the target answered with success.
    pub webhooks_sent: u64,
    /// Webhooks that failed or were refused.
    pub webhooks_failed: u64,
}

/// One request that reached the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Logged {
    /// When it arrived.
    pub at: Timestamp,
    /// Which server it reached.
    pub service: Service,
    /// The method, upper case.
    pub method: String,
    /// Path below the server's base, with the query.
    pub path: String,
    /// The status answered; 0 when there was no answer: the connection was cut, or the client gave up.
    pub status: u16,
    /// Bytes of the answer's body, where its length is known.
    pub bytes: u64,
    /// The fault that struck it, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// The shared sheet on which both servers tally; clones write to the same sheet.
#[derive(Clone, Debug, Default)]
pub struct RequestCounts {
    sheet: Arc<Mutex<Sheet>>,
    in_flight: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct Sheet {
    counters: Counters,
    log: VecDeque<Logged>,
}

impl RequestCounts {
    /// Changes the counters, for example `counters.count(|it| it.merges += 1)`.
    pub fn count(&self, change: impl FnOnce(&mut Counters)) {
        change(&mut self.sheet().counters);
    }

    /// A snapshot of the counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.sheet().counters
    }

    /// Writes one request to the log; the oldest leaves at [`LOG_LIMIT`].
    pub fn log(&self, entry: Logged) {
        let mut sheet = self.sheet();
        if sheet.log.len() == LOG_LIMIT {
            sheet.log.pop_front();
        }
        sheet.log.push_back(entry);
    }

    /// Notes that a request came in.
    pub(crate) fn came(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the end of a request, whatever its outcome.
    pub(crate) fn went(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many requests are being answered just now.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// The request log, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Logged> {
        self.sheet().log.iter().cloned().collect()
    }

    fn sheet(&self) -> MutexGuard<'_, Sheet> {
        self.sheet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
