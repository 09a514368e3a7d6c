//! State of a watched session: its Jules state, its folded log, its open question, and what was announced.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::announcement_counters::AnnouncementCounters;
use crate::event::Audience;
use crate::ids::{ActivityId, EventId, PlanId, PullRef, SessionId};
use crate::policy::{Answerer, Timing};
use crate::session::{Plan, SessionState};

/// State of a watched session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The session.
    pub session: SessionId,
    /// Its web page.
    pub url: Option<String>,
    /// When we got it.
    pub since: Timestamp,
    /// When it began to answer 404; `None` while it answers.
    pub missing_since: Option<Timestamp>,
    /// The state we last saw.
    pub state: SessionState,
    /// When we saw it enter that state.
    pub state_since: Timestamp,
    /// The last status change or new activity of the agent.
    pub progress_at: Timestamp,
    /// Its folded log.
    pub log: SessionLog,
    /// Its open question or plan.
    pub attention: Attention,
    /// The occurrence last announced of each kind, so that flapping announces nothing twice.
    pub announced: Announced,
    /// Its pull request; once known, never forgotten because an answer lacks it.
    pub pull: Option<PullRef>,
    /// When we last sent it a message that its log has not shown yet.
    pub unconfirmed_since: Option<Timestamp>,
    /// Announcements so far: stored, so that flapping wakes no one for ever.
    #[serde(default, skip_serializing_if = "AnnouncementCounters::is_nothing")]
    pub announcements: AnnouncementCounters,
    /// When it was last noted that Jules pushes its news; `None` while no pushes come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed_at: Option<Timestamp>,
}

impl Watch {
    /// Clamps future times to now: after a clock that was ahead was set right, no wait lasts until the wrong hour
    /// comes.
    pub(super) fn not_ahead_of(&mut self, now: Timestamp) {
        self.missing_since = self.missing_since.map(|at| at.min(now));
        self.unconfirmed_since = self.unconfirmed_since.map(|at| at.min(now));
        self.state_since = self.state_since.min(now);
        self.progress_at = self.progress_at.min(now);
    }

    /// The announcement of the open question or plan.
    pub(super) fn open(&self) -> Option<&Announcement> {
        match &self.attention {
            Attention::Question { .. } => self.announced.question.as_ref(),
            Attention::Plan { .. } => self.announced.plan.as_ref(),
            Attention::None | Attention::Expecting { .. } | Attention::Answered { .. } => None,
        }
    }

    /// The same, to be changed.
    pub(super) fn open_mut(&mut self) -> Option<&mut Announcement> {
        match &self.attention {
            Attention::Question { .. } => self.announced.question.as_mut(),
            Attention::Plan { .. } => self.announced.plan.as_mut(),
            Attention::None | Attention::Expecting { .. } | Attention::Answered { .. } => None,
        }
    }

    /// Whether a finished session got a message since it said that it is done: it wakes up and says so again. After a
    /// while it will not.
    pub fn awaits_return(&self, now: Timestamp, timing: &Timing) -> bool {
        let done = self.log.completed.as_ref().map(|done| done.at);
        let spoken = self
            .log
            .user_at
            .filter(|at| done.is_some_and(|done| done < *at));
        let recently = |at: Timestamp| now.duration_since(at) < timing.quiet;
        self.state == SessionState::Completed && spoken.is_some_and(recently)
    }
}

/// A session's folded log. The log itself stays with Jules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLog {
    /// Time of the newest activity.
    pub through: Option<Timestamp>,
    /// Activities within the overlap before `through`, to recognise repetitions; oldest first.
    pub recent: Vec<ActivityMark>,
    /// The newest thing Jules said.
    pub agent: Option<AgentMessage>,
    /// Time of the last message from a person or from us.
    pub user_at: Option<Timestamp>,
    /// The newest plan that has not been approved.
    pub plan: Option<PendingPlan>,
    /// Of a delivery's job the newest plan that was approved, but by no order here: the delivery may not have seen it
    /// while it waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_plan: Option<PendingPlan>,
    /// When a plan was last approved, by a person, an agent or itself.
    pub plan_approved_at: Option<Timestamp>,
    /// The newest word of completion.
    pub completed: Option<ActivityMark>,
    /// The newest reason of failure.
    pub failed: Option<String>,
    /// When that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<Timestamp>,
    /// The newest thing that was said or done, for people, at most 300 characters.
    pub last_words: Option<String>,
    /// When the session last did anything but talk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worked_at: Option<Timestamp>,
}

/// A message of Jules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentMessage {
    /// Which activity.
    pub id: ActivityId,
    /// When.
    pub at: Timestamp,
    /// The text, at most 4,000 bytes as JSON.
    pub text: String,
}

/// A plan that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingPlan {
    /// When it was made.
    pub at: Timestamp,
    /// The plan, at most 5,000 bytes as JSON.
    pub plan: Plan,
    /// Whether that is less than all of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Whether the session has worked since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worked_on: bool,
}

/// One activity by id and time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityMark {
    /// Which activity.
    pub id: ActivityId,
    /// When.
    pub at: Timestamp,
}

/// What of a session waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "attention")]
pub enum Attention {
    /// Nothing.
    None,
    /// Something waits, but its text is still missing.
    Expecting {
        /// Since when.
        since: Timestamp,
    },
    /// A question is open.
    Question {
        /// The announced occurrence.
        event: EventId,
        /// Since when.
        since: Timestamp,
        /// The text, once it is known.
        text: Option<String>,
    },
    /// A plan waits for approval.
    Plan {
        /// The announced occurrence; for plans approved by policy, the one that would have been.
        event: EventId,
        /// Since when.
        since: Timestamp,
        /// The plan, once it is known.
        plan: Option<Plan>,
    },
    /// A question was answered, or a plan approved, and the state does not show it yet.
    Answered {
        /// Since when.
        since: Timestamp,
    },
}

/// The occurrences last announced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// The last question.
    pub question: Option<Announcement>,
    /// The last plan.
    pub plan: Option<Announcement>,
    /// The last plan that was found to be worked on without an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreviewed_plan: Option<PlanId>,
    /// The last plan whose approval was ordered here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_plan: Option<PlanId>,
    /// The event of the last completion.
    pub completed_event: Option<EventId>,
    /// The last completion: when we saw it.
    pub completed_at: Option<Timestamp>,
    /// The newest completion message known then.
    pub completed: Option<ActivityMark>,
    /// Whether it was announced before its own word came.
    pub completed_without_text: bool,
    /// The pull request it was announced with.
    pub completed_pull: Option<PullRef>,
    /// The newest message to Jules, or the time of the state, at the announcement: a later message begins something new.
    pub completed_after: Option<Timestamp>,
    /// When `stuck` was last announced, or would have been had it not been announced often enough.
    pub stuck_at: Option<Timestamp>,
    /// How often in the same silence.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub stuck_announcements: u32,
    /// Messages to the session since then that it has not confirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stuck_sent: Vec<SentAnswer>,
    /// When a paused session last got the message to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_at: Option<Timestamp>,
    /// The last time that Gaffer itself asked the session to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nudged: Option<Nudged>,
    /// When it was last read only because of a reminder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminded: Option<Timestamp>,
}

/// Gaffer asked the session to decide by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nudged {
    /// The question that was answered so.
    pub event: EventId,
    /// Time of the newest activity then.
    pub through: Option<Timestamp>,
}

/// A question or a plan that was announced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// Its subject: the newest activity or plan that belongs to it, else the state and its time.
    pub key: String,
    /// The event.
    pub event: EventId,
    /// When we announced it.
    pub at: Timestamp,
    /// Whether its text is still missing.
    pub without_text: bool,
    /// Whether it was announced; plans approved by policy are not shown.
    pub shown: bool,
    /// The newest answer, or the time of the state, that it came after: a later answer is the answer to it.
    pub after: Option<Timestamp>,
    /// Time of the newest activity when it was announced; as long as nothing newer comes, nothing new was asked.
    pub through: Option<Timestamp>,
    /// Its first receiver; `None` while it has none.
    pub to: Option<Audience>,
    /// Later receivers, each with an event of its own, at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<RepeatedAnnouncement>,
    /// Whose turn it is to answer; `None` for plans that are approved by policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// Whether the announcement was suppressed because the attempt's limit was reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suppressed: bool,
    /// The newest answers that were accepted and that the session has not been seen to take up, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<SentAnswer>,
}

impl Announcement {
    /// The events that showed it.
    pub(super) fn events(&self) -> impl Iterator<Item = &EventId> {
        let first = self.shown.then_some(&self.event);
        let later = self.later.iter().map(|telling| &telling.event);
        first.into_iter().chain(later)
    }

    /// An answer came after the announcement.
    pub(super) fn answered(&self, answer: Option<Timestamp>) -> bool {
        answer > self.after
    }

    /// The state has not changed since the announcement, as far as is known: later messages belong to it.
    pub(super) fn same_stay(&self, watch: &Watch) -> bool {
        watch.state_since <= self.at
    }

    /// An occurrence that was announced without text appears again, and nothing has happened in between.
    pub(super) fn untouched(&self, watch: &Watch, answer: Option<Timestamp>) -> bool {
        self.without_text && watch.log.through <= self.through && !self.answered(answer)
    }

    /// A text written before the announcement, with no answer in between, is the one that it lacked.
    pub(super) fn lacked(&self, written: Timestamp, answer: Option<Timestamp>) -> bool {
        self.without_text && written <= self.at && !self.answered(answer)
    }
}

/// An answer on its way to the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentAnswer {
    /// When it was accepted.
    pub at: Timestamp,
    /// The sent message.
    #[serde(flatten)]
    pub reply: Reply,
}

/// A message that was sent as an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reply")]
pub enum Reply {
    /// A message.
    Words {
        /// The cause of the message: a repetition with it is no second answer.
        cause: String,
        /// Digest of the whole text, to recognise the same message.
        digest: String,
        /// Its beginning, for people.
        start: String,
    },
    /// A plan was approved.
    Approval {
        /// Which plan: the approval of an earlier one is no answer to the present one.
        plan: PlanId,
    },
}

/// An event that shows an announced question or plan to a further receiver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedAnnouncement {
    /// The event.
    pub event: EventId,
    /// The receiver.
    pub to: Audience,
    /// When.
    pub at: Timestamp,
}

/// Whose turn it is to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Whose.
    pub who: Answerer,
    /// Its place in the chain, from 0.
    pub place: u32,
    /// When the next answerer has its turn; `None` at the end of the chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}
