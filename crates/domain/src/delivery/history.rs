//! The history of a delivery: one span for each phase and status it was in, with who brought it there.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::run::RUNS_MAX;
use super::{Actor, Delivery, Executor, Phase, RunStatus, Verdict};

/// Most spans of one delivery.
pub const SPANS_MAX: usize = 200;

/// Spans that are kept back for the end of a delivery whose history is full. One decision opens fewer than half of
/// them.
const SPANS_KEPT_BACK: usize = 16;

/// The history is full when the record has so many bytes without its plan. What one decision adds by itself, the end of
/// a full delivery and a plan still fit then: the store takes no more than 64 KB.
const RECORD_BYTES_MAX: usize = 36 * 1024;

/// A command is refused that would make the record longer than this, without its plan. The 40 runs may still add 50
/// bytes each about their transcripts.
const ORDERED_BYTES_MAX: usize = 41 * 1024;

/// A time in one phase and one status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRun {
    /// The phase.
    pub phase: Phase,
    /// Its status.
    pub run_status: RunStatus,
    /// What the review came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Who began it.
    pub actor: Actor,
}

impl PhaseRun {
    /// What executes the phase.
    pub fn executor(&self) -> Executor {
        self.phase.executor()
    }
}

/// Ends the open span and opens the next one.
pub(super) fn turn(delivery: &mut Delivery, actor: &Actor, now: Timestamp) {
    end(delivery, now);
    delivery.phase_runs.push(PhaseRun {
        phase: delivery.phase,
        run_status: delivery.run_status,
        verdict: delivery.verdict,
        started_at: now,
        ended_at: None,
        actor: actor.clone(),
    });
}

/// Ends the open span, if one is open.
fn end(delivery: &mut Delivery, now: Timestamp) {
    if let Some(open) = delivery.phase_runs.last_mut() {
        // A clock that was set back ends no span before it began.
        open.ended_at.get_or_insert(now.max(open.started_at));
    }
}

/// Since when the delivery is where it is.
pub(super) fn since(delivery: &Delivery) -> Timestamp {
    let open = delivery.phase_runs.last();
    open.map_or(delivery.created_at, |open| open.started_at)
}

/// Since when it goes on from its last failure, or from its beginning. A failure with which it waits now is none to go on from.
pub(super) fn tried_since(delivery: &Delivery) -> Timestamp {
    let has_failed = |span: &&PhaseRun| span.run_status == RunStatus::Failed;
    let spans = delivery.phase_runs.iter().rev().skip_while(has_failed);
    let tried = spans.take_while(|span| !has_failed(span)).last();
    tried.map_or(delivery.created_at, |span| span.started_at)
}

/// Since when a run of the workflow that deploys the delivery is awaited: a retry waits for a run of its own.
pub fn deploying_since(delivery: &Delivery) -> Timestamp {
    let begins = (Phase::Deploy, RunStatus::Pending);
    let mut spans = delivery.phase_runs.iter().rev();
    let began = spans.find(|span| (span.phase, span.run_status) == begins);
    began.map_or_else(|| since(delivery), |span| span.started_at)
}

/// Since when the delivery is deployed again after a failure: what had failed before says nothing of the present deployment.
pub fn deploying_again_since(delivery: &Delivery) -> Option<Timestamp> {
    let failed = (Phase::Deploy, RunStatus::Failed);
    let mut spans = delivery.phase_runs.iter();
    let has_failed = spans.any(|span| (span.phase, span.run_status) == failed);
    has_failed.then(|| deploying_since(delivery))
}

/// When the last deployment of the delivery was seen to have failed. A phase that was cancelled says nothing of it.
pub fn deploy_failed_at(delivery: &Delivery) -> Option<Timestamp> {
    let failed = (Phase::Deploy, RunStatus::Failed);
    let mut spans = delivery.phase_runs.iter().rev();
    let last =
        spans.find(|span| (span.phase, span.run_status) == failed && span.actor == Actor::System);
    last.map(|span| span.started_at)
}

/// Whether there is no room for more than the end of the delivery.
pub(super) fn is_full(delivery: &Delivery) -> bool {
    delivery.phase_runs.len() + SPANS_KEPT_BACK > SPANS_MAX
        || delivery.runs.len() >= RUNS_MAX
        || record_bytes(delivery) > RECORD_BYTES_MAX
}

/// Whether a command made the record so long that not everything else that may follow would fit.
pub(super) fn is_too_long(delivery: &Delivery) -> bool {
    record_bytes(delivery) > ORDERED_BYTES_MAX
}

/// How many bytes the record has without the text of its plan, which has a limit of its own.
fn record_bytes(delivery: &Delivery) -> usize {
    let plan = delivery.plan.as_ref().map_or(0, |plan| plan.content.len());
    let whole = serde_json::to_string(delivery).map_or(usize::MAX, |text| text.len());
    whole.saturating_sub(plan)
}
