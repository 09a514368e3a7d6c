//! Who is waited for: of each job one answer, which every surface shows.

use jiff::Timestamp;

use super::silence::{is_halted, is_silent, silence_audience};
use super::watch::{Attention, Watch};
use super::{Job, JobPhase, WaitParty, WaitReason, WaitsFor, completion, turns};
use crate::event::Audience;
use crate::ids::AgentName;
use crate::merge::Reason;
use crate::policy::Answerer;
use crate::pull::{self, Pull};
use crate::session::SessionState;

impl WaitsFor {
    /// Whether its delivery decides what happens next, so that the delivery tells who is waited for.
    pub fn is_told_by_delivery(&self, job: &Job) -> bool {
        let is_of_delivery = matches!(
            self.what,
            WaitReason::Plan | WaitReason::Delivery | WaitReason::Result | WaitReason::Approval
        );
        job.delivery.is_some() && !job.collected && is_of_delivery
    }
}

/// Who is waited for. `woken` is the agent that would be woken: the job's or its source's, if it exists and takes wakes.
pub fn waits_for(job: &Job, pull: Option<&Pull>, woken: Option<&AgentName>) -> WaitsFor {
    let pull = pull.map(|pull| (pull, job.is_on_woven()));
    match &job.phase {
        JobPhase::Queued { since, .. } => {
            WaitsFor::new(WaitParty::Gaffer, WaitReason::Slot, *since)
        }
        JobPhase::Creating { since, .. } => {
            WaitsFor::new(WaitParty::Jules, WaitReason::Session, *since)
        }
        JobPhase::Ended(ending) => WaitsFor::new(WaitParty::Nobody, WaitReason::Ended, ending.at),
        JobPhase::Proposed { since, .. } => match pull {
            Some((pull, on_woven)) => pull::waits_for(pull, on_woven, woken),
            None => WaitsFor::new(WaitParty::Gaffer, WaitReason::Reading, *since),
        },
        JobPhase::Watching(watch) => match &watch.attention {
            // Its delivery approves it, or waits for a person itself.
            Attention::Plan { since, .. } if job.delivery.is_some() => {
                WaitsFor::new(WaitParty::Gaffer, WaitReason::Plan, *since)
            }
            Attention::Plan { .. }
            | Attention::None
            | Attention::Expecting { .. }
            | Attention::Question { .. }
            | Attention::Answered { .. } => watched(watch, pull, woken),
        },
    }
}

/// Who a job waits for, as far as the job's own record shows: lists count many jobs by it without other reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobWait {
    /// These.
    Is(WaitParty),
    /// The agent if it can be woken, else a person.
    Woken,
    /// Its pull request decides.
    Pull,
    /// It is counted with the delivery that it works for.
    Delivery,
}

/// Who a job waits for, as far as its own record shows.
pub fn job_wait(job: &Job) -> JobWait {
    if job.delivery.is_some() && !job.collected {
        return JobWait::Delivery;
    }
    let by_pull = match &job.phase {
        JobPhase::Watching(watch) => is_told_by_pull(watch),
        JobPhase::Proposed { pull, .. } => pull.is_some(),
        JobPhase::Queued { .. } | JobPhase::Creating { .. } | JobPhase::Ended(_) => false,
    };
    if by_pull {
        return JobWait::Pull;
    }
    let who = waits_for(job, None, any_agent().as_ref()).who;
    match who == WaitParty::Agent {
        true => JobWait::Woken,
        false => JobWait::Is(who),
    }
}

/// What keeps the pull request of a job from being woven, or blocks its merge, while the job waits for that.
pub fn hindrance<'a>(job: &Job, pull: &'a Pull) -> Option<&'a Reason> {
    match job_wait(job) {
        JobWait::Pull => pull::hindrance(pull, job.is_on_woven()),
        JobWait::Is(_) | JobWait::Woken | JobWait::Delivery => None,
    }
}

/// Placeholder for any agent.
fn any_agent() -> Option<AgentName> {
    "any".parse().ok()
}

fn is_told_by_pull(watch: &Watch) -> bool {
    let is_asked = match &watch.attention {
        Attention::Question { .. } | Attention::Plan { .. } => true,
        Attention::Expecting { .. } | Attention::Answered { .. } => true,
        Attention::None => turns::answered_at(watch).is_some(),
    };
    watch.pull.is_some()
        && !is_asked
        && !is_halted(watch)
        && (completion::is_over(watch) || is_silent(watch))
}

fn watched(watch: &Watch, pull: Option<(&Pull, bool)>, woken: Option<&AgentName>) -> WaitsFor {
    if let Some(at) = turns::answered_at(watch) {
        return WaitsFor::new(WaitParty::Jules, WaitReason::Answered, at);
    }
    match &watch.attention {
        Attention::Question { since, .. } => asked(watch, WaitReason::Question, *since, woken),
        Attention::Plan { since, .. } => asked(watch, WaitReason::Plan, *since, woken),
        Attention::Expecting { since } => {
            WaitsFor::new(WaitParty::Jules, WaitReason::Words, *since)
        }
        Attention::Answered { since } => WaitsFor::new(WaitParty::Jules, WaitReason::Work, *since),
        Attention::None => unasked(watch, pull, woken),
    }
}

/// Whose turn it is to answer.
fn asked(watch: &Watch, what: WaitReason, since: Timestamp, woken: Option<&AgentName>) -> WaitsFor {
    let person = WaitsFor::new(WaitParty::Person, what, since);
    match turns::whose(watch) {
        Some(Answerer::Agent) => WaitsFor::woken(woken, what, since),
        Some(Answerer::Nudge) => WaitsFor::new(WaitParty::Jules, WaitReason::Nudged, since),
        // The announcement was suppressed by its limit; a person may still look.
        Some(Answerer::Human) | None => person,
    }
}

/// Nothing is asked: the session works, is silent, or rests.
fn unasked(watch: &Watch, pull: Option<(&Pull, bool)>, woken: Option<&AgentName>) -> WaitsFor {
    let rests_since = completion::rests_since(watch);
    let is_over = completion::is_over(watch);
    match (&watch.pull, pull) {
        _ if is_halted(watch) => silent(watch, woken),
        (Some(_), Some((pull, on_woven))) if is_over || is_silent(watch) => {
            pull::waits_for(pull, on_woven, woken)
        }
        (Some(_), None) if is_over => {
            WaitsFor::new(WaitParty::Gaffer, WaitReason::Reading, rests_since)
        }
        (None, _) if is_over => WaitsFor::new(WaitParty::Nobody, WaitReason::Result, rests_since),
        _ if is_silent(watch) => silent(watch, woken),
        _ => WaitsFor::new(WaitParty::Jules, WaitReason::Work, watch.state_since),
    }
}

/// The session does nothing, and the receiver of the announcement has to look.
fn silent(watch: &Watch, woken: Option<&AgentName>) -> WaitsFor {
    let what = match watch.state {
        SessionState::Paused => WaitReason::Paused,
        SessionState::Unspecified | SessionState::Other(_) => WaitReason::UnknownState,
        SessionState::Queued
        | SessionState::Planning
        | SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::InProgress
        | SessionState::Failed
        | SessionState::Completed => WaitReason::Silence,
    };
    let since = watch.announced.stuck_at;
    match silence_audience(watch) {
        Audience::Agent => WaitsFor::woken(woken, what, since),
        Audience::Human | Audience::Nobody => WaitsFor::new(WaitParty::Person, what, since),
    }
}
