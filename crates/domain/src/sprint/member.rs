//! A member of a sprint: its job, what it offers, and how far it is.

use std::mem;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::report::{Against, Clash, Way};
use super::{ATTEMPTS_MAX, MEMBER_TIMEOUT, QUEUED_TIMEOUT, WEAVER_ATTEMPTS_MAX, WEAVER_TIMEOUT};
use crate::ids::{CommitSha, JobId, MessageId, PersonaName};
use crate::when::plus;

/// How many messages a prompt shows in full at most: their numbers are part of the record of the sprint.
pub const SHOWN_MAX: usize = 12;

/// One persona that takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SprintMember {
    /// Who.
    pub persona: PersonaName,
    /// Its job.
    pub job: JobId,
    /// Its jobs before that one, whose pull requests are replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<JobId>,
    /// The messages that its prompt or the last message to its session shows, until they are marked as read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<MessageId>,
    /// Its pull request, as it was last ready to be woven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Offer>,
    /// Its place among those that are in, while it is: one that took its change back keeps it until a weave without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// Whether it asked to be woven before those that are in, which the next weave tries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
    /// Whether its pull request was closed since it was last seen ready to be woven.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// Its last conflict, also when it is in by an answer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<WeaveConflict>,
    /// The outbox whose mail was collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collected: Option<Outbox>,
    /// Whether that one could never be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreadable: bool,
    /// Whether that one is a patch that changes files besides mail, as far as is known: they are in no pull request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unopened: bool,
    /// Since when answers about its mail that is to be collected are odd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odd_since: Option<Timestamp>,
    /// When its session, which had ended without a pull request, was asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// Whether its session did not take that question: it makes nothing more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// Since when its session reads mail that came after its change was ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Timestamp>,
    /// Whether it still reads mail and is waited for no more: what was ready before counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overdue: bool,
    /// How often it was sent such mail.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub mails: u32,
    /// How often it was asked for a change: once by its prompt, and once by each conflict that was sent to it.
    pub attempts: u32,
    /// How many of its weaves ended in a conflict.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub conflicts: u32,
    /// The tick whose weave it conflicted in first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_since: Option<u32>,
    /// The tick whose weave took it in, or was the first that holds what the weaver made of it, unless that changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_since: Option<u32>,
    /// Since when it is waited for: since its session works, or since its pull request is not ready any more.
    pub since: Timestamp,
    /// How long it is waited for once its session works.
    #[serde(
        default = "super::rules::usual_timeout",
        skip_serializing_if = "super::rules::is_usual_timeout",
        with = "crate::policy::duration"
    )]
    pub timeout: SignedDuration,
    /// How far it is.
    pub state: MemberState,
}

/// A pull request that can be woven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Its number.
    pub pull: u64,
    /// Its head.
    pub head: CommitSha,
}

/// Where the mail is that a member wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "place")]
pub enum Outbox {
    /// In this head of its pull request.
    Head {
        /// The head.
        head: CommitSha,
    },
    /// In the patch of its session, which ended without a pull request.
    Patch,
}

/// A conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeaveConflict {
    /// In which weave.
    pub weave: u32,
    /// The head that was refused.
    pub head: CommitSha,
    /// With what.
    pub against: Against,
    /// Where.
    pub clashes: Vec<Clash>,
    /// How many other places there are, which were left out because of their number.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub others: u32,
}

/// How far a member is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "member")]
pub enum MemberState {
    /// It begins when others are through.
    Pending,
    /// Its job waits for a slot.
    Waiting,
    /// Its session works, or its pull request is not ready yet.
    Working,
    /// Its pull request is ready to be woven.
    PullOpen,
    /// It is in.
    Applied {
        /// How it came in.
        way: Way,
    },
    /// It conflicts, and has to be sent what with.
    Conflicted,
    /// It mends its conflict.
    Rerunning,
    /// It still conflicts after its attempts.
    Unresolved,
    /// The weaver's job was given its conflict; what is woven may hold its change by that.
    Delegated,
    /// It is waited for no more; a late pull request joins the next weave.
    TimedOut,
    /// It changed nothing.
    NoChange,
    /// It is left out; a pull request that was closed and is open again joins the next weave.
    Skipped {
        /// Why.
        reason: String,
    },
    /// It took its change back.
    Withdrawn,
    /// Nothing comes of it.
    Failed {
        /// Why.
        reason: String,
    },
}

impl SprintMember {
    /// Whether its job is to be made, if it is not there.
    pub fn is_begun(&self) -> bool {
        self.is_awaited() && self.state != MemberState::Pending
    }

    /// A member whose job is not made yet.
    pub fn new(persona: PersonaName, job: JobId, now: Timestamp) -> Self {
        let timeout = match persona.is_weaver() {
            true => WEAVER_TIMEOUT,
            false => MEMBER_TIMEOUT,
        };
        Self {
            persona,
            job,
            earlier: Vec::new(),
            shown: Vec::new(),
            offer: None,
            place: None,
            first: false,
            closed: false,
            refusal: None,
            collected: None,
            unreadable: false,
            unopened: false,
            odd_since: None,
            asked_at: None,
            silent: false,
            reading: None,
            overdue: false,
            mails: 0,
            attempts: 1,
            conflicts: 0,
            out_since: None,
            in_since: None,
            since: now,
            timeout,
            state: MemberState::Waiting,
        }
    }

    /// Its jobs, the present one last.
    pub fn jobs(&self) -> impl Iterator<Item = &JobId> {
        self.earlier.iter().chain([&self.job])
    }

    /// The number of its pull request, once it was ready to be woven.
    pub fn number(&self) -> Option<u64> {
        self.offer.as_ref().map(|offer| offer.pull)
    }

    /// Whether the next weave is about its pull request.
    pub fn is_offered(&self) -> bool {
        match self.state {
            MemberState::PullOpen | MemberState::Applied { .. } => self.offer.is_some(),
            MemberState::Pending
            | MemberState::Waiting
            | MemberState::Working
            | MemberState::Conflicted
            | MemberState::Rerunning
            | MemberState::Unresolved
            | MemberState::Delegated
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => false,
        }
    }

    /// Whether a report may say something of it.
    pub(super) fn may_be_judged(&self) -> bool {
        self.is_offered() || self.state == MemberState::Withdrawn
    }

    /// Whether the newest weave holds its change although it is out by now.
    pub(super) fn is_to_be_taken_out(&self) -> bool {
        self.place.is_some() && !self.is_offered()
    }

    /// Whether its job begins on the branch that the others are woven into.
    pub fn begins_on_woven(&self) -> bool {
        !self.earlier.is_empty() || self.persona.is_weaver()
    }

    /// When a member is waited for no more; one that has to be sent something is due at once.
    pub(super) fn late_at(&self) -> Option<Timestamp> {
        if self.reading.is_some() {
            return Some(plus(self.since, self.timeout));
        }
        match self.state {
            MemberState::Waiting => Some(plus(self.since, QUEUED_TIMEOUT)),
            MemberState::Working | MemberState::Rerunning => Some(plus(self.since, self.timeout)),
            MemberState::Conflicted => Some(self.since),
            MemberState::Pending
            | MemberState::PullOpen
            | MemberState::Applied { .. }
            | MemberState::Unresolved
            | MemberState::Delegated
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => None,
        }
    }

    /// Whether it is waited for no more. What began now is not late, also at the end of all time.
    pub(super) fn is_late(&self, now: Timestamp) -> bool {
        self.since < now && self.late_at().is_some_and(|late| late <= now)
    }

    /// A conflict goes back to the session; the last attempt is a new job, and then the weaver's job resolves it.
    pub(super) fn send_back(&mut self, now: Timestamp) {
        self.since = now;
        self.place = None;
        if self.persona.is_weaver() {
            self.state = match self.attempts >= WEAVER_ATTEMPTS_MAX {
                true => MemberState::Skipped {
                    reason: "what the weaver made conflicts as well".to_owned(),
                },
                false => MemberState::Conflicted,
            };
        } else if self.attempts.saturating_add(1) < ATTEMPTS_MAX {
            self.state = MemberState::Conflicted;
        } else {
            self.begin_anew(now);
        }
    }

    /// A new job takes the place of one whose session is gone, or whose attempts came to nothing, while there are attempts left.
    pub(super) fn begin_anew(&mut self, now: Timestamp) {
        self.since = now;
        self.place = None;
        if self.attempts >= ATTEMPTS_MAX {
            self.state = MemberState::Unresolved;
            return;
        }
        let next = JobId::asked_by(&self.job.to_string(), "anew", now);
        self.earlier.push(mem::replace(&mut self.job, next));
        self.attempts = self.attempts.saturating_add(1);
        self.asked_at = None;
        self.silent = false;
        self.odd_since = None;
        self.closed = false;
        self.overdue = false;
        self.state = MemberState::Waiting;
    }

    /// Whether the sprint goes on only after it.
    pub fn is_awaited(&self) -> bool {
        if self.reading.is_some() {
            return true;
        }
        match self.state {
            MemberState::Pending
            | MemberState::Waiting
            | MemberState::Working
            | MemberState::Conflicted
            | MemberState::Rerunning => true,
            MemberState::PullOpen
            | MemberState::Applied { .. }
            | MemberState::Unresolved
            | MemberState::Delegated
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => false,
        }
    }
}

impl MemberState {
    /// One word for lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Waiting => "waiting",
            Self::Working => "working",
            Self::PullOpen => "pr_open",
            Self::Applied { .. } => "applied",
            Self::Conflicted => "conflicted",
            Self::Rerunning => "rerunning",
            Self::Unresolved => "unresolved",
            Self::Delegated => "delegated",
            Self::TimedOut => "timed_out",
            Self::NoChange => "no_change",
            Self::Skipped { .. } => "skipped",
            Self::Withdrawn => "withdrawn",
            Self::Failed { .. } => "failed",
        }
    }
}
