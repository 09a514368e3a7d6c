//! A session: its prompt, its state, and the agenda of what it will do.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::activity::{Activity, Artifact, Kind, Originator};
use super::patch::hex_id;
use super::switches::Switches;
use crate::clock::plus;
use crate::faults::Lags;
use crate::github::ChangedFile;
use crate::story::Step;

/// A session of one account.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// Unsigned 64-bit decimal.
    pub(crate) id: String,
    /// Name of the account that owns it.
    pub(crate) account: String,
    pub(crate) ask: OpenAsk,
    /// When it was created.
    pub(crate) created_at: Timestamp,
    /// The raw name of its state, known or not.
    pub(crate) state: String,
    /// When it entered that state; `updateTime` reports nothing else.
    pub(crate) state_since: Timestamp,
    /// An older picture that reads still show.
    pub(crate) shadow: Option<Shadow>,
    pub(crate) archived: bool,
    /// A deleted session stays here, for it may go on working and counts as a task.
    pub(crate) deleted: bool,
    /// Oldest first.
    pub(crate) activities: Vec<Activity>,
    pub(crate) work: Work,
    /// How it takes messages.
    pub(crate) posture: Posture,
    /// Steps still to play.
    pub(crate) script: VecDeque<Step>,
    /// Steps to play after a message that no step waited for.
    pub(crate) on_message: Vec<Step>,
    /// Delay before Jules approves its plan itself, pace included.
    pub(crate) approved_after: jiff::SignedDuration,
    /// What happens when.
    pub(crate) agenda: Vec<(Timestamp, Beat)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenAsk {
    pub(crate) prompt: String,
    pub(crate) title: String,
    pub(crate) source: Option<SourceContext>,
    pub(crate) require_plan_approval: bool,
    pub(crate) auto_create_pr: bool,
}

/// Where a session works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceContext {
    /// `owner/name`.
    pub(crate) repo: String,
    pub(crate) branch: String,
    pub(crate) env_variables: bool,
    pub(crate) working_branch: String,
}

/// The state that reads still show after it was left.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    pub(crate) state: String,
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
}

/// What a session has changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    pub(crate) files: Vec<ChangedFile>,
    pub(crate) pull: Option<OwnPull>,
    /// The branch that has its commits, where it wrote files.
    pub(crate) branch: Option<String>,
    /// Whether reads show the outputs.
    pub(crate) shown: bool,
    /// Comments of others on the pull request that were seen already.
    pub(crate) comments_seen: usize,
    /// Fixes pushed by the CI fixer.
    pub(crate) fixes: u32,
}

/// The pull request among a session's outputs.
#[derive(Clone, Debug)]
pub(crate) struct OwnPull {
    /// `owner/name` and number; `None` for one that only an address refers to.
    pub(crate) at: Option<(String, u64)>,
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) base: String,
    pub(crate) head: String,
}

/// How a session takes messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Posture {
    /// It reads them and continues.
    Playing,
    /// It continues after one.
    Listening,
    /// Waits for this plan to be approved.
    PlanPending {
        plan: String,
    },
    /// Wakes up after one.
    Finished,
    /// Is about to go back to work.
    Waking,
    Paused,
    Failed,
    /// Never stirs again.
    Hung,
}

/// One thing on a session's agenda.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Beat {
    EnterPlanning,
    NextStep,
    ApprovePlan { plan: String },
    Replan,
    Wake,
    ShowOutputs,
    FixChecks,
}

impl Session {
    /// Whether `now` is still within the time in which a new session answers 404.
    pub(crate) fn is_unborn(&self, now: Timestamp, lags: Lags) -> bool {
        now < plus(self.created_at, lags.create)
    }

    /// Whether it takes one of the account's concurrent places.
    pub(crate) fn holds_slot(&self, switches: &Switches) -> bool {
        if self.deleted && switches.delete_frees_slot {
            return false;
        }
        match self.state.as_str() {
            "COMPLETED" | "FAILED" => false,
            "AWAITING_PLAN_APPROVAL" | "AWAITING_USER_FEEDBACK" | "PAUSED" => {
                switches.awaiting_holds_slot
            }
            // Working, queued, or in an unknown state.
            _ => true,
        }
    }

    /// The earliest time on the agenda.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.agenda.iter().map(|(at, _)| *at).min()
    }

    /// Takes the earliest beat that is due; of two at one time the one put first.
    pub(crate) fn take_due(&mut self, now: Timestamp) -> Option<(Timestamp, Beat)> {
        let due = self.next_due().filter(|at| *at <= now)?;
        let index = self.agenda.iter().position(|(at, _)| *at == due)?;
        Some(self.agenda.remove(index))
    }

    pub(crate) fn put(&mut self, at: Timestamp, beat: Beat) {
        self.agenda.push((at, beat));
    }

    pub(crate) fn enter(&mut self, state: &str, at: Timestamp) {
        if self.state != state {
            state.clone_into(&mut self.state);
            self.state_since = at;
        }
    }

    /// The state and its entry time as reads show them.
    pub(crate) fn shown_state(&self, now: Timestamp) -> (&str, Timestamp) {
        match &self.shadow {
            Some(shadow) if now < shadow.until => (&shadow.state, shadow.since),
            Some(_) | None => (&self.state, self.state_since),
        }
    }

    pub(crate) fn write(&mut self, at: Timestamp, originator: Originator, kind: Kind) {
        self.write_with(at, originator, kind, Vec::new());
    }

    pub(crate) fn write_with(
        &mut self,
        at: Timestamp,
        originator: Originator,
        kind: Kind,
        artifacts: Vec<Artifact>,
    ) {
        let id = hex_id(
            &["activity", &self.id, &self.activities.len().to_string()],
            32,
        );
        self.activities.push(Activity {
            id,
            at,
            originator,
            kind,
            artifacts,
        });
    }

    /// `owner/name` of its source.
    pub(crate) fn repo(&self) -> Option<&str> {
        self.ask.source.as_ref().map(|it| it.repo.as_str())
    }

    /// The plan that waits for approval.
    pub(crate) fn pending_plan(&self) -> Option<&str> {
        match &self.posture {
            Posture::PlanPending { plan } => Some(plan),
            Posture::Playing
            | Posture::Listening
            | Posture::Finished
            | Posture::Waking
            | Posture::Paused
            | Posture::Failed
            | Posture::Hung => None,
        }
    }
}
