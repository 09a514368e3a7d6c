//! Webhook deliveries that failed: which to request again, and when to read the log next.
//!
//! GitHub never retries a delivery by itself, but keeps a log of three days and redelivers on request.
//! Source: GitHub, "Handling failed webhook deliveries" and "Viewing webhook deliveries".

mod log;
mod problem;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::ids::DeliveryGuid;
use crate::when::plus;

pub use log::{
    AttemptOutcome, DeliveryAttempt, DeliveryId, HookId, LogPosition, LogStatus, UnknownLog,
    WebhookLog,
};
pub use problem::problem;

/// The events that wake anything here. Of others nothing is lost when they fail.
pub const HANDLED_EVENTS: [&str; 11] = [
    "check_run",
    "check_suite",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_review_thread",
    "push",
    "status",
    "workflow_run",
];

/// GitHub keeps deliveries for three days; what is about to leave the log is not begun with.
pub const LOG_RETENTION: SignedDuration = SignedDuration::from_hours(71);

/// A delivery this recent may change in the log, and older ones may still appear after it.
pub const STILL_SENDING: SignedDuration = SignedDuration::from_mins(3);

/// Delays of the redelivery requests, after the failure and after each attempt: the third outlasts an outage of an hour.
pub const RETRY_DELAYS: [SignedDuration; 3] = [
    SignedDuration::from_mins(5),
    SignedDuration::from_mins(15),
    SignedDuration::from_mins(60),
];

/// How often a delivery is asked for at most: after each of [`RETRY_DELAYS`] once.
pub const MAX_ATTEMPTS: u8 = 3;

/// How long after its last attempt an undelivered webhook is given up. The sweep reads the same facts.
pub const GIVEN_UP_AFTER: SignedDuration = SignedDuration::from_mins(15);

/// Maximum number of requests in one pass: GitHub wants pauses between writes, and our endpoint gets them all at once.
pub const MAX_REDELIVERIES_PER_PASS: usize = 30;

/// Interval of probes with one delivery while nothing gets through. More would only use up the attempts of deliveries.
pub const PROBE_EVERY: SignedDuration = SignedDuration::from_mins(15);

/// How many of the newest deliveries show whether any gets through.
const NEWEST: usize = 5;

/// Maximum number of failed deliveries that a record lists, so that it fits the store. Later ones stay in the log until there is room.
pub const FAILED_MAX: usize = 250;

/// Interval of reads while a delivery is failing or in doubt.
pub const CHECK_SOON: SignedDuration = SignedDuration::from_mins(5);

/// Interval of reads while all is well.
pub const CHECK_INTERVAL: SignedDuration = SignedDuration::from_mins(15);

/// When to retry a log that the credential may not read: permissions change seldom, and only by hand.
pub const FORBIDDEN_FOR: SignedDuration = SignedDuration::from_hours(24);

/// State of one delivery log and of the redeliveries requested from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedeliveryState {
    /// Which log.
    pub log: WebhookLog,
    /// When the log was last read.
    pub looked_at: Option<Timestamp>,
    /// The result of that read.
    pub status: LogStatus,
    /// Everything up to here was taken in.
    pub seen: Option<LogPosition>,
    /// Deliveries that failed and have not arrived since, the oldest first.
    pub failed: Vec<FailedDelivery>,
    /// Since when every delivery fails; `None` while one gets through.
    pub unanswered_since: Option<Timestamp>,
    /// Time of the last redelivery request.
    pub asked_at: Option<Timestamp>,
    /// How many deliveries chosen by the last pass had to wait for GitHub's pace.
    pub left: u64,
    /// Number of redelivery requests.
    pub asked: u64,
    /// Deliveries that never arrived.
    pub given_up: u64,
}

/// A delivery that failed and has not arrived since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedDelivery {
    /// The id that all its attempts share.
    pub guid: DeliveryGuid,
    /// The first attempt, which a redelivery request names.
    pub id: DeliveryId,
    /// The repository's webhook that it belongs to; `None` for the App's.
    pub hook: Option<HookId>,
    /// Time of the first attempt.
    pub at: Timestamp,
    /// How often it was asked for.
    pub asks: u8,
    /// When it was last asked for.
    pub asked_at: Option<Timestamp>,
}

/// What a pass depends on apart from the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedeliveryContext {
    /// Whether anything may be asked for now.
    pub may_ask: bool,
    /// Whether some repository's webhooks have stopped coming.
    pub in_doubt: bool,
}

/// The decision of one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedeliveryPlan {
    /// The new state. It is saved before anything is requested.
    pub repair: RedeliveryState,
    /// Deliveries to request, the oldest first, as before this pass counted them.
    pub ask: Vec<FailedDelivery>,
    /// The next due time.
    pub due: Timestamp,
}

/// The start of the part of the log that must be read.
pub fn since(repair: &RedeliveryState, now: Timestamp) -> Timestamp {
    let kept = plus(now, -LOG_RETENTION);
    repair.seen.map_or(kept, |seen| seen.at.max(kept))
}

/// Takes in what the log shows, and decides what to ask for again. `attempts` reach back to [`since`], in any order.
pub fn plan_redeliveries(
    known: &RedeliveryState,
    attempts: &[DeliveryAttempt],
    around: RedeliveryContext,
    now: Timestamp,
) -> RedeliveryPlan {
    let mut repair = RedeliveryState {
        looked_at: Some(now),
        status: LogStatus::Read,
        left: 0,
        ..known.clone()
    };
    let mut attempts: Vec<&DeliveryAttempt> = attempts.iter().collect();
    attempts.sort_by_key(|attempt| attempt.mark());
    repair.note_whether_anything_gets_through(&attempts);
    repair.take_in(&attempts, now);
    repair.give_up(now);
    let ask = if around.may_ask {
        repair.choose(MAX_REDELIVERIES_PER_PASS, now)
    } else {
        Vec::new()
    };
    let fails = !repair.failed.is_empty() || repair.unanswered_since.is_some();
    let wait = if fails || around.in_doubt {
        CHECK_SOON
    } else {
        CHECK_INTERVAL
    };
    RedeliveryPlan {
        repair,
        ask,
        due: plus(now, wait),
    }
}

/// Continues the requests of the last pass that GitHub's pace did not allow, without another read of the log; `None` when none is left.
pub fn go_on(known: &RedeliveryState, may_ask: bool, now: Timestamp) -> Option<RedeliveryPlan> {
    let is_young = known.looked_at.is_some_and(|at| plus(at, CHECK_SOON) > now);
    if known.left == 0 || !is_young || !may_ask {
        return None;
    }
    let mut repair = RedeliveryState {
        left: 0,
        ..known.clone()
    };
    let most = usize::try_from(known.left).unwrap_or(usize::MAX);
    let ask = repair.choose(most.min(MAX_REDELIVERIES_PER_PASS), now);
    Some(RedeliveryPlan {
        repair,
        ask,
        due: plus(now, CHECK_SOON),
    })
}

/// There is no webhook of ours.
pub fn without_hook(known: &RedeliveryState, now: Timestamp) -> (RedeliveryState, Timestamp) {
    let repair = RedeliveryState {
        looked_at: Some(now),
        status: LogStatus::NoHook,
        unanswered_since: None,
        ..known.clone()
    };
    (repair, plus(now, CHECK_INTERVAL))
}

/// The log could not be read, or nothing could be asked for.
pub fn refused(
    known: &RedeliveryState,
    failure: &Failure,
    now: Timestamp,
) -> (RedeliveryState, Timestamp) {
    let since = match known.status {
        LogStatus::Forbidden { since } | LogStatus::Unread { since } => since,
        LogStatus::Read | LogStatus::NoHook => now,
    };
    let (standing, wait) = match failure.class.is_hidden() {
        // GitHub answers 404 to credentials without the permission.
        true => (LogStatus::Forbidden { since }, FORBIDDEN_FOR),
        false => {
            let asked = failure.asked_wait().unwrap_or(SignedDuration::ZERO);
            (LogStatus::Unread { since }, CHECK_SOON.max(asked))
        }
    };
    let repair = RedeliveryState {
        looked_at: Some(now),
        status: standing,
        ..known.clone()
    };
    (repair, plus(now, wait))
}

impl RedeliveryState {
    /// The initial state.
    pub fn new(log: WebhookLog) -> Self {
        Self {
            log,
            looked_at: None,
            status: LogStatus::Read,
            seen: None,
            failed: Vec::new(),
            unanswered_since: None,
            asked_at: None,
            left: 0,
            asked: 0,
            given_up: 0,
        }
    }

    /// Restores deliveries whose request was certainly not sent, so that it costs no attempt.
    pub fn not_asked(&mut self, before: &[FailedDelivery]) {
        for failed in &mut self.failed {
            let was = before.iter().find(|was| was.guid == failed.guid);
            if let Some(was) = was.filter(|was| was.asks < failed.asks) {
                failed.clone_from(was);
                self.asked = self.asked.saturating_sub(1);
            }
        }
    }

    /// GitHub does not know it any more.
    pub fn gone(&mut self, guid: &DeliveryGuid) {
        let before = self.failed.len();
        self.failed.retain(|failed| failed.guid != *guid);
        self.count_given_up(before);
    }

    fn count_given_up(&mut self, before: usize) {
        let fewer = before.saturating_sub(self.failed.len());
        let fewer = u64::try_from(fewer).unwrap_or(u64::MAX);
        self.given_up = self.given_up.saturating_add(fewer);
    }

    fn note_whether_anything_gets_through(&mut self, attempts: &[&DeliveryAttempt]) {
        let seen = self.seen;
        let new = |attempt: &&&DeliveryAttempt| seen.is_none_or(|seen| attempt.mark() > seen);
        let newest: Vec<_> = attempts.iter().rev().filter(new).take(NEWEST).collect();
        let Some(oldest) = newest.last() else {
            return;
        };
        let failed = |attempt: &DeliveryAttempt| attempt.outcome() == AttemptOutcome::Failed;
        if newest.iter().all(|attempt| failed(attempt)) {
            self.unanswered_since.get_or_insert(oldest.at);
        } else if self.unanswered_since.take().is_some() {
            // Attempts at an unreachable endpoint do not count.
            let tried = self
                .failed
                .iter_mut()
                .filter(|failed| failed.asks < MAX_ATTEMPTS);
            tried.for_each(|failed| failed.asked_at = None);
        }
    }

    /// `attempts` are in order.
    fn take_in(&mut self, attempts: &[&DeliveryAttempt], now: Timestamp) {
        let arrived = |guid: &DeliveryGuid| {
            let done = |attempt: &&DeliveryAttempt| attempt.outcome() == AttemptOutcome::Arrived;
            attempts.iter().any(|it| it.guid == *guid && done(it))
        };
        self.failed.retain(|failed| !arrived(&failed.guid));
        let settled = plus(now, -STILL_SENDING);
        for attempt in attempts {
            let known = self.seen.is_some_and(|seen| attempt.mark() <= seen);
            if known || attempt.at > settled {
                continue;
            }
            if is_lost(attempt) && !arrived(&attempt.guid) && !self.has(&attempt.guid) {
                if self.failed.len() >= FAILED_MAX {
                    // It is met again when there is room: `seen` stays before it.
                    return;
                }
                self.failed.push(FailedDelivery::from(*attempt));
            }
            self.seen = Some(attempt.mark());
        }
    }

    fn has(&self, guid: &DeliveryGuid) -> bool {
        self.failed.iter().any(|failed| failed.guid == *guid)
    }

    fn give_up(&mut self, now: Timestamp) {
        let before = self.failed.len();
        self.failed.retain(|failed| {
            let asked_last = failed.asked_at.filter(|_| failed.asks >= MAX_ATTEMPTS);
            let is_over = asked_last.is_some_and(|at| plus(at, GIVEN_UP_AFTER) <= now);
            plus(failed.at, LOG_RETENTION) > now && !is_over
        });
        self.count_given_up(before);
    }

    fn choose(&mut self, most: usize, now: Timestamp) -> Vec<FailedDelivery> {
        let most = match (self.unanswered_since, self.asked_at) {
            (None, _) => most,
            (Some(_), Some(at)) if plus(at, PROBE_EVERY) > now => 0,
            (Some(_), _) => most.min(1),
        };
        let mut ask = Vec::new();
        for failed in &mut self.failed {
            if ask.len() < most && failed.is_ripe(now) {
                ask.push(failed.clone());
                failed.asks += 1;
                failed.asked_at = Some(now);
            }
        }
        if !ask.is_empty() {
            self.asked_at = Some(now);
            self.asked += ask.len() as u64;
        }
        ask
    }
}

/// Whether an attempt is the first of a delivery that needs redelivery. Later attempts are found through it.
fn is_lost(attempt: &DeliveryAttempt) -> bool {
    attempt.outcome() == AttemptOutcome::Failed
        && !attempt.redelivery
        && HANDLED_EVENTS.contains(&attempt.event.as_str())
}

impl FailedDelivery {
    fn is_ripe(&self, now: Timestamp) -> bool {
        let wait = RETRY_DELAYS.get(usize::from(self.asks));
        let since = self.asked_at.unwrap_or(self.at);
        wait.is_some_and(|wait| plus(since, *wait) <= now)
    }
}
