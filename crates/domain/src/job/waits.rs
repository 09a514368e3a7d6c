//! Who is waited for: of each job one answer, which every surface shows.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::silence::{is_halted, is_silent, silence_audience};
use super::watch::{Attention, Watch};
use super::{Job, Phase, completion, turns};
use crate::event::Audience;
use crate::ids::AgentName;
use crate::merge::Reason;
use crate::policy::Answerer;
use crate::pull::{self, Pull};
use crate::session::SessionState;
use crate::sprint;

/// Who must act before a job goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitParty {
    /// A person.
    Person,
    /// The job's agent.
    Agent,
    /// Jules.
    Jules,
    /// GitHub: running checks, or its own computation.
    #[serde(rename = "github")]
    GitHub,
    /// Gaffer itself.
    Gaffer,
    /// No one: the job is over, or its session rests and asks nothing.
    Nobody,
}

/// What a job waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// A question is open.
    Question,
    /// A plan waits for approval.
    Plan,
    /// An answer was given and the session has not confirmed it.
    Answered,
    /// The session was asked to decide by itself.
    Nudged,
    /// The account has no free slot yet.
    Slot,
    /// The account has used its tasks of 24 hours.
    Quota,
    /// The session is being created.
    Session,
    /// The session works.
    Work,
    /// The session stopped, and the text that belongs to its state is missing.
    Words,
    /// The session is silent, and that was announced.
    Silence,
    /// The session is paused, and that was announced.
    Paused,
    /// The session is in a state that this version does not know, and that was announced.
    UnknownState,
    /// The session is done and made no pull request.
    Result,
    /// The pull request is to be read and judged.
    Reading,
    /// Checks run, or have to appear.
    Checks,
    /// The session was informed of failed checks or of a conflict.
    Repair,
    /// A review of the pull request on GitHub.
    Review,
    /// An approval of the merge.
    Approval,
    /// A merge is blocked until a person or an agent removes the cause.
    Blocked,
    /// The pull request is closed, and can be reopened.
    Reopening,
    /// The pull request is about to be merged.
    Merge,
    /// As many pull requests were merged in 24 hours as may be.
    MergeCap,
    /// Its delivery has not come to its merge yet.
    Delivery,
    /// A delivery collected its session, and its pull request is to be merged or closed on GitHub.
    Collected,
    /// Its sprint weaves it with others.
    Sprint,
    /// A delivery is to be started.
    Start,
    /// The phase of a delivery is done and has to be approved.
    Checkpoint,
    /// The phase of a delivery failed.
    Failure,
    /// The plan of a delivery has to be sent.
    PlanToSend,
    /// A change has to be reviewed.
    Verdict,
    /// Whatever deploys a change.
    Deployment,
    /// A deployed change is observed.
    Observation,
    /// The parts of a delivery.
    Parts,
    /// Everything is paused.
    Hold,
    /// Its source is paused.
    SourceHold,
    /// Nothing is written while the process only observes.
    ObserveOnly,
    /// The job is over.
    Ended,
}

/// What is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Everything.
    Everything {
        /// Since when.
        since: Timestamp,
    },
    /// The source.
    Source,
    /// The process only observes.
    Observing,
}

/// Who is waited for, with what and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitsFor {
    /// Who.
    pub who: WaitParty,
    /// Which agent, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// With what.
    #[serde(rename = "for")]
    pub what: WaitReason,
    /// Since when, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

impl WaitParty {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Person,
        Self::Agent,
        Self::Jules,
        Self::GitHub,
        Self::Gaffer,
        Self::Nobody,
    ];

    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Agent => "agent",
            Self::Jules => "jules",
            Self::GitHub => "github",
            Self::Gaffer => "gaffer",
            Self::Nobody => "nobody",
        }
    }
}

impl WaitsFor {
    pub(crate) fn new(
        who: WaitParty,
        what: WaitReason,
        since: impl Into<Option<Timestamp>>,
    ) -> Self {
        Self {
            who,
            agent: None,
            what,
            since: since.into(),
        }
    }

    /// Waits for the agent, or where none can be woken for a person.
    pub(crate) fn woken(
        agent: Option<&AgentName>,
        what: WaitReason,
        since: impl Into<Option<Timestamp>>,
    ) -> Self {
        let who = if agent.is_some() {
            WaitParty::Agent
        } else {
            WaitParty::Person
        };
        Self {
            agent: agent.cloned(),
            ..Self::new(who, what, since)
        }
    }

    /// For people: who, and what is the case.
    pub fn sentence(&self) -> String {
        format!("{self}: {}", self.what.words())
    }

    /// Whether its delivery decides what happens next, so that the delivery tells who is waited for.
    pub fn is_told_by_delivery(&self, job: &Job) -> bool {
        let is_of_delivery = matches!(
            self.what,
            WaitReason::Plan | WaitReason::Delivery | WaitReason::Result | WaitReason::Approval
        );
        job.delivery.is_some() && !job.collected && is_of_delivery
    }

    /// Whether an outside decision is pending: a person's or the agent's.
    pub fn is_decision(&self) -> bool {
        matches!(self.who, WaitParty::Person | WaitParty::Agent)
    }
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.who, &self.agent) {
            (WaitParty::Person, _) => f.write_str("a person"),
            (WaitParty::Agent, Some(agent)) => write!(f, "agent {agent}"),
            (WaitParty::Agent, None) => f.write_str("its agent"),
            (WaitParty::Jules, _) => f.write_str("Jules"),
            (WaitParty::GitHub, _) => f.write_str("GitHub"),
            (WaitParty::Gaffer, _) => f.write_str("Gaffer"),
            (WaitParty::Nobody, _) => f.write_str("nobody"),
        }
    }
}

/// Who is waited for. `woken` is the agent that would be woken: the job's or its source's, if it exists and takes wakes.
pub fn waits_for(job: &Job, pull: Option<&Pull>, woken: Option<&AgentName>) -> WaitsFor {
    let pull = pull.map(|pull| (pull, sprint::is_on_woven(job)));
    match &job.phase {
        Phase::Queued { since, .. } => WaitsFor::new(WaitParty::Gaffer, WaitReason::Slot, *since),
        Phase::Creating { since, .. } => {
            WaitsFor::new(WaitParty::Jules, WaitReason::Session, *since)
        }
        Phase::Ended(ending) => WaitsFor::new(WaitParty::Nobody, WaitReason::Ended, ending.at),
        Phase::Proposed { since, .. } => match pull {
            Some(pull) => pull::waits_for(pull, woken),
            None => WaitsFor::new(WaitParty::Gaffer, WaitReason::Reading, *since),
        },
        Phase::Watching(watch) => match &watch.attention {
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
        Phase::Watching(watch) => is_told_by_pull(watch),
        Phase::Proposed { pull, .. } => pull.is_some(),
        Phase::Queued { .. } | Phase::Creating { .. } | Phase::Ended(_) => false,
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
        JobWait::Pull => pull::hindrance(pull, sprint::is_on_woven(job)),
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
        Attention::Question { since, .. } => asked(watch, (WaitReason::Question, *since), woken),
        Attention::Plan { since, .. } => asked(watch, (WaitReason::Plan, *since), woken),
        Attention::Expecting { since } => {
            WaitsFor::new(WaitParty::Jules, WaitReason::Words, *since)
        }
        Attention::Answered { since } => WaitsFor::new(WaitParty::Jules, WaitReason::Work, *since),
        Attention::None => unasked(watch, pull, woken),
    }
}

/// Whose turn it is to answer.
fn asked(
    watch: &Watch,
    (what, since): (WaitReason, Timestamp),
    woken: Option<&AgentName>,
) -> WaitsFor {
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
        (Some(_), Some(pull)) if is_over || is_silent(watch) => pull::waits_for(pull, woken),
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
