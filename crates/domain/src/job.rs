//! A job: one piece of work given to Jules, tracked until it ends, with the state of its current session.

mod announcement_counters;
mod announcing;
mod answered;
mod attention;
mod command;
mod completion;
mod context;
mod due;
mod event;
mod full_text;
mod log;
mod log_lines;
mod nudge;
mod observe;
mod open_plan;
mod order;
mod order_log;
mod orders;
mod outdated;
mod pause;
mod proposal;
mod pushed;
mod queue;
mod refused_approval;
mod relation;
mod retry;
mod session_status;
mod settling;
mod silence;
mod stopping;
#[cfg(test)]
pub(crate) mod tests;
mod turns;
mod unreviewed;
mod wait;
mod wait_words;
mod waits;
mod watch;
mod woven;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use announcement_counters::{AnnouncementCounters, AnnouncementTopic};
pub use answered::{answered_since, answers, cause_asks_for, is_answered, settles};
pub use command::{
    ATTEMPTS_MAX, NewJob, PROMPT_BYTES_MAX, REFUSALS_MAX, adopt, create, created, creation_failed,
    linked, start,
};
pub use context::{Observation, Snapshot};
pub use due::{POLLED_SLACK, PROPOSED_LOOK, deadline, looked_at};
pub use full_text::whole_plan_url;
pub use log_lines::{effect_log_line, event_log_line, log_lines};
pub use nudge::NUDGES_MAX;
pub(crate) use observe::newest_pull;
pub use observe::observe;
pub use open_plan::{is_plan_replaced, plan_open, plan_to_approve};
pub use order::Order;
pub use order_log::{ORDER_LOG_MAX, OrderRecord, record_order};
pub(crate) use orders::said_at;
pub use orders::{
    MESSAGE_BYTES_MAX, adds_to, approve, may_merge, note_sent, order_failed, said, say,
};
pub use outdated::is_outdated;
pub use proposal::{NewProposal, committed, proposal_failed, propose, proposed};
pub use pushed::{PUSHED_FOR, pushed};
pub use queue::{prioritised, start_place};
pub(crate) use refused_approval::refused_approval;
pub use refused_approval::{RefusedApproval, approved, is_approved_by_delivery};
pub use relation::{SessionRelation, relation, session_found};
pub use retry::{RETRY_REASON_CHARS_MAX, Retry, retry};
pub use session_status::session_status;
pub use settling::{may_still_be_merged, pull_settled};
pub use silence::STUCK_ANNOUNCEMENTS_MAX;
pub(crate) use silence::silence_deadline;
pub use silence::{is_halted, is_silent};
pub use stopping::{cancel, is_under_way, leave, put_away};
pub(crate) use turns::turn_deadline;
pub use turns::{PendingAnswer, answered_at, is_wanted, pending_answer};
pub use unreviewed::{has_unreviewed_plan, is_worked_on};
pub use wait::{Pause, WaitParty, WaitReason, WaitsFor};
pub use waits::{JobWait, hindrance, job_wait, waits_for};
pub use watch::{
    ActivityMark, AgentMessage, Announced, Announcement, Attention, Nudged, PendingPlan,
    RepeatedAnnouncement, Reply, SentAnswer, SessionLog, Turn, Watch,
};
pub use woven::{
    conflict_cause, integrate, mail_cause, missing_pull_cause, weave_again, weave_done, woven,
};

use crate::ids::{
    AccountName, AgentName, BranchName, CommitSha, DeliveryId, InstallationId, JobId, PullRef,
    RepoName, SessionId,
};
use crate::marker::Marker;
use crate::pipeline::{PipelinePart, SprintPart};
use crate::policy::{PlanApproval, Terms};
use crate::priority::Priority;
use crate::session::SessionState;
use crate::wake::Resume;

/// One piece of work, kept under one id over all its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Ours.
    pub id: JobId,
    /// Whose it is.
    pub installation: InstallationId,
    /// The Jules account that works on it.
    pub account: AccountName,
    /// The repository.
    pub repo: RepoName,
    /// The branch it starts from and its pull request goes to.
    pub branch: BranchName,
    /// A short name for people.
    pub title: String,
    /// The task.
    pub prompt: String,
    /// Who is woken; without one, the source's agent, then a person.
    pub agent: Option<AgentName>,
    /// The agent's resume value for wakes of this job, in place of its usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// Its priority within its account.
    pub priority: Priority,
    /// Terms of the request apart from its task.
    #[serde(default, skip_serializing_if = "Terms::are_none")]
    pub terms: Terms,
    /// The delivery that it works for, which then owns its approvals and its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryId>,
    /// Whether that collected it as a run: its session has ended, and people merge or close its pull request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collected: bool,
    /// What it does for a pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Box<PipelinePart>>,
    /// How it came to us.
    pub origin: Origin,
    /// When it came to us.
    pub created_at: Timestamp,
    /// The number of the current session, from 1.
    pub attempt: u32,
    /// Sessions of earlier attempts: they read fine and take no orders.
    pub earlier: Vec<SessionId>,
    /// Why there is another session after the earlier ones; part of the new session's prompt.
    pub again: Option<Retry>,
    /// The round of the newest message of its delivery that was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_sent: Option<u32>,
    /// The round of the message of its delivery that was given up last, since Jules refused all attempts at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_refused: Option<u32>,
    /// The approval of its delivery that Jules refused last, until Jules takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_refused: Option<RefusedApproval>,
    /// How often Gaffer itself asked its sessions to go on, over all attempts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nudges: u32,
    /// The newest orders for it, and who gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_log: Vec<OrderRecord>,
    /// Its phase.
    pub phase: JobPhase,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How a job came to us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// This installation created its session.
    Created,
    /// A person handed over a session that existed.
    Adopted,
    /// Gaffer itself writes its pull request, without a session.
    Proposed,
}

/// Phase of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "phase")]
pub enum JobPhase {
    /// Waits for a slot.
    Queued {
        /// Since when.
        since: Timestamp,
        /// Not to be tried earlier.
        not_before: Timestamp,
        /// How often Jules has said "later".
        refusals: u32,
    },
    /// Its session is being created.
    Creating {
        /// Since when.
        since: Timestamp,
        /// How often Jules has said "later".
        refusals: u32,
    },
    /// Its session exists and is watched.
    Watching(Box<Watch>),
    /// Gaffer's own pull request is being opened, or open.
    Proposed {
        /// Since when.
        since: Timestamp,
        /// The pull request, once it is open.
        pull: Option<PullRef>,
        /// The commit that Gaffer made for it: no other head is merged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<CommitSha>,
    },
    /// It is over.
    Ended(Ending),
}

/// How and when a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// When.
    pub at: Timestamp,
    /// Its last session, if it ever had one.
    pub session: Option<SessionId>,
    /// Its pull request, if there was one.
    pub pull: Option<PullRef>,
    /// How.
    pub how: EndReason,
    /// Whether its session worked on a plan without an approval: a pull request may still be linked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plan_unreviewed: bool,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ended")]
pub enum EndReason {
    /// Its pull request was merged.
    Merged {
        /// The head that was merged.
        sha: CommitSha,
    },
    /// Its change was woven into another pull request, which was merged.
    Woven {
        /// Which.
        into: PullRef,
    },
    /// Its pull request was closed without a merge.
    PullClosed,
    /// Its session finished without a pull request, and no further message came.
    Completed,
    /// Its session failed.
    Failed {
        /// Why, in Jules's words.
        reason: String,
    },
    /// Its session does not exist any more.
    Lost,
    /// Jules would not create its session.
    Refused {
        /// What Jules said.
        reason: String,
    },
    /// Its delivery came to an end before the merge, and left its session and its pull request to people.
    Left,
    /// A person or an agent cancelled it.
    Cancelled {
        /// Who.
        by: String,
    },
}

impl Job {
    /// Its part in a sprint, if it has one.
    pub fn sprint(&self) -> Option<&SprintPart> {
        self.part.as_ref()?.sprint()
    }

    /// Whether its pull request goes to the branch that those of a sprint are woven into.
    pub(crate) fn is_on_woven(&self) -> bool {
        let part = self.sprint();
        part.is_some_and(|part| part.sprint.branch() == self.branch)
    }

    /// Its session while that is watched.
    pub fn watched(&self) -> Option<&Watch> {
        match &self.phase {
            JobPhase::Watching(watch) => Some(watch),
            JobPhase::Queued { .. }
            | JobPhase::Creating { .. }
            | JobPhase::Proposed { .. }
            | JobPhase::Ended(_) => None,
        }
    }

    /// The current session, watched or last.
    pub fn session(&self) -> Option<&SessionId> {
        match &self.phase {
            JobPhase::Queued { .. } | JobPhase::Creating { .. } | JobPhase::Proposed { .. } => None,
            JobPhase::Watching(watch) => Some(&watch.session),
            JobPhase::Ended(ending) => ending.session.as_ref(),
        }
    }

    /// How many sessions were created for it, over all attempts.
    pub fn sessions(&self) -> u32 {
        let earlier = u32::try_from(self.earlier.len()).unwrap_or(u32::MAX);
        earlier.saturating_add(u32::from(self.session().is_some()))
    }

    /// The newest activity of the last announced question of its watched session.
    pub fn announced_question(&self) -> Option<&str> {
        let told = self.watched()?.announced.question.as_ref();
        told.map(|told| &*told.key)
    }

    /// Its pull request, if one is known.
    pub fn pull(&self) -> Option<&PullRef> {
        match &self.phase {
            JobPhase::Queued { .. } | JobPhase::Creating { .. } => None,
            JobPhase::Watching(watch) => watch.pull.as_ref(),
            JobPhase::Proposed { pull, .. } => pull.as_ref(),
            JobPhase::Ended(ending) => ending.pull.as_ref(),
        }
    }

    /// Whether it is over.
    pub fn is_ended(&self) -> bool {
        match &self.phase {
            JobPhase::Ended(_) => true,
            JobPhase::Queued { .. }
            | JobPhase::Creating { .. }
            | JobPhase::Watching(_)
            | JobPhase::Proposed { .. } => false,
        }
    }

    /// Whether it holds one of the account's slots. A resting session does not, as far as is known, nor does one that
    /// is paused or in an unknown state once that was announced.
    pub fn holds_slot(&self) -> bool {
        match &self.phase {
            JobPhase::Creating { .. } => true,
            JobPhase::Watching(watch) => {
                watch.state != SessionState::Completed && !silence::is_halted(watch)
            }
            JobPhase::Queued { .. } | JobPhase::Proposed { .. } | JobPhase::Ended(_) => false,
        }
    }

    /// Who approves its plans: its delivery if it has one.
    pub fn plan_approver(&self, usual: PlanApproval) -> PlanApproval {
        match self.delivery {
            Some(_) => PlanApproval::Delivery,
            None => self.terms.approver(usual),
        }
    }

    /// The marker of its current attempt.
    pub fn marker(&self) -> Marker {
        Marker {
            installation: self.installation.clone(),
            job: self.id.clone(),
            attempt: self.attempt,
        }
    }
}
