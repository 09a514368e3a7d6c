//! A sprint: personas work at once, what they made is woven into one pull request, and a persona whose change conflicts mends it.
//!
//! A sprint owns neither jobs nor pull requests: it asks for jobs under ids that are saved with its start, reads how they
//! are, and decides when to weave.

mod apply;
mod figures;
mod gate;
mod labels;
mod mailing;
mod member;
mod one_by_one;
mod orders;
mod outbox;
mod outcome;
mod record_size;
mod report;
mod resolving;
mod rules;
mod seen;
mod sight;
#[cfg(test)]
pub(crate) mod tests;
mod verdicts;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::failure::Hindrance;
use crate::ids::{AccountName, BranchName, CommitSha, JobId, PersonaName, RepoName, SprintNumber};
use crate::refusal::NotNow;

pub use apply::{SprintInput, apply, due, woven_meanwhile};
pub use figures::Figures;
pub use gate::{gate, released};
pub use labels::{ConflictLabel, conflict_labels, still_conflicts};
pub use mailing::{MAILS_MAX, begins_weave, takers_of_mail};
pub use member::{MemberState, Offer, Outbox, SHOWN_MAX, SprintMember, WeaveConflict};
pub use orders::{
    abort, held, integrate, integrate_now, merged_meanwhile, must_be_woven, must_go_on, resumed,
};
pub use outbox::uncollected;
pub use report::{Against, CLASHES_BYTES_MAX, Clash, Report, Way, WeaveVerdict, Woven};
pub use rules::{Integration, NextSprint, OddSprints, Parallel, SprintMode, SprintRules};
pub use seen::{awaited_until, must_be_read, never_made, without_pull};
pub use sight::{
    Glimpse, Landing, Sights, SprintSight, Work, failed_checks, glimpse, landing, sight, soon,
};

/// How many members a sprint has at most.
pub const MEMBERS_MAX: usize = 60;

/// How often a member is woven at most, before it is left out.
pub const ATTEMPTS_MAX: u32 = 3;

/// How often the weaver's own change is asked for at most: by its prompt, and by one conflict.
pub const WEAVER_ATTEMPTS_MAX: u32 = 2;

/// How many conflicts the weaver's job is asked to resolve at most: its prompt has room for as many.
pub const LEFTOVERS_MAX: usize = 20;

/// How many ticks a sprint has at most.
pub const TICKS_MAX: u32 = 8;

/// How many weaves of a sprint are tried again because GitHub did not answer; each has attempts of its own before.
pub const WEAVE_RETRIES_MAX: u32 = 12;

/// How long a member is waited for, from the start of its session or from its conflict on, where the source sets nothing else.
pub const MEMBER_TIMEOUT: SignedDuration = SignedDuration::from_mins(30);

/// How long the weaver is waited for, from the start of its session on.
pub const WEAVER_TIMEOUT: SignedDuration = SignedDuration::from_mins(90);

/// How long a member is waited for while its job waits for a slot.
pub const QUEUED_TIMEOUT: SignedDuration = SignedDuration::from_mins(60);

/// Why a sprint ends at a commit on its branch that no weave made.
pub const FOREIGN_COMMIT: &str = "a commit of another hand is on its branch";

/// How often a sprint is read although nothing called it.
pub const SAFETY_TICK: SignedDuration = SignedDuration::from_mins(15);

/// One sprint of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sprint {
    /// The repository.
    pub repo: RepoName,
    /// Its number.
    pub number: SprintNumber,
    /// The account of its jobs.
    pub account: AccountName,
    /// The branch that everything goes to.
    pub target: BranchName,
    /// The commit whose files say who the personas are.
    pub personas_at: CommitSha,
    /// Who started it.
    pub by: String,
    /// The job of the one pull request.
    pub integration: JobId,
    /// How what its members make is merged.
    #[serde(default, skip_serializing_if = "Integration::is_consolidated")]
    pub way: Integration,
    /// How many of its members work at once; all of them without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// Its members, in the order of their names.
    pub members: Vec<SprintMember>,
    /// How far it is.
    pub state: SprintState,
    /// How often it went on to work, weave or mend.
    pub ticks: u32,
    /// How many weaves were asked for.
    pub weaves: u32,
    /// How many of them were asked for because GitHub did not answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weave_retries: u32,
    /// How many sessions were created for its members.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tasks: u32,
    /// What the newest weave pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woven: Option<Woven>,
    /// Whether its one pull request was merged with what the newest weave pushed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
    /// Why files that it needs are not read now; what is odd about the mail of a member is kept with that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<Hindrance>,
    /// When it was last looked at in the present pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<Timestamp>,
    /// When it was started.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How far a sprint is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum SprintState {
    /// Its members work.
    Working,
    /// They are being woven.
    Integrating,
    /// Members mend their conflicts.
    Fixing,
    /// The one pull request is open and has to be merged.
    Verifying,
    /// All that its members made is merged.
    Done {
        /// When.
        at: Timestamp,
    },
    /// It is over, and something of it is not merged.
    PartiallyDone {
        /// When.
        at: Timestamp,
        /// What came in the way.
        reason: String,
    },
    /// It was called off.
    Aborted {
        /// When.
        at: Timestamp,
        /// Who.
        by: String,
    },
}

/// What is needed to start a sprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSprint {
    /// The repository.
    pub repo: RepoName,
    /// Its number.
    pub number: SprintNumber,
    /// The account of its jobs.
    pub account: AccountName,
    /// The branch that everything goes to.
    pub target: BranchName,
    /// The commit whose files say who the personas are.
    pub personas_at: CommitSha,
    /// Who takes part.
    pub personas: Vec<PersonaName>,
    /// How it goes.
    pub mode: SprintMode,
    /// Who starts it.
    pub by: String,
}

/// A new sprint, with the ids that its jobs will have.
///
/// # Errors
/// When no persona takes part, too many do, or the target is the branch that is woven into.
pub fn start(new: NewSprint, now: Timestamp) -> Result<Sprint, NotNow> {
    let count = new.personas.len();
    if count == 0 {
        let sentence = format!("no persona of {} takes part in a sprint", new.repo);
        return Err(NotNow::new("no_personas", sentence));
    }
    if count > MEMBERS_MAX {
        let sentence =
            format!("a sprint has at most {MEMBERS_MAX} members and {count} are wanted: name some");
        return Err(NotNow::new("too_many_members", sentence).about("personas"));
    }
    if new.target == new.number.branch() {
        let sentence = format!("`{}` is the branch that is woven into", new.target);
        return Err(NotNow::new("same_branch", sentence));
    }
    let mut personas = new.personas;
    personas.sort();
    personas.dedup();
    let member = |persona: PersonaName| {
        let job = new.number.job(&new.repo, Some(&persona), now);
        let state = match new.mode.at_once {
            Some(_) => MemberState::Pending,
            None => MemberState::Waiting,
        };
        SprintMember {
            state,
            timeout: new.mode.member_timeout,
            ..SprintMember::new(persona, job, now)
        }
    };
    let mut sprint = Sprint {
        integration: new.number.job(&new.repo, None, now),
        way: new.mode.integration,
        at_once: new.mode.at_once,
        members: personas.into_iter().map(member).collect(),
        repo: new.repo,
        number: new.number,
        account: new.account,
        target: new.target,
        personas_at: new.personas_at,
        by: new.by,
        state: SprintState::Working,
        ticks: 1,
        weaves: 0,
        weave_retries: 0,
        tasks: 0,
        woven: None,
        merged: false,
        hindrance: None,
        held_at: None,
        created_at: now,
        updated_at: now,
    };
    one_by_one::begin_next(&mut sprint, now);
    Ok(sprint)
}

impl Sprint {
    /// Whether what its members make is woven into one pull request.
    pub fn is_woven(&self) -> bool {
        match self.way {
            Integration::Consolidated => true,
            Integration::Individual => false,
        }
    }

    /// Whether the pull request of a member was merged by itself.
    pub fn has_merged_member(&self) -> bool {
        let merged = MemberState::Applied { way: Way::Merged };
        self.members.iter().any(|it| it.state == merged)
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        match self.state {
            SprintState::Working
            | SprintState::Integrating
            | SprintState::Fixing
            | SprintState::Verifying => false,
            SprintState::Done { .. }
            | SprintState::PartiallyDone { .. }
            | SprintState::Aborted { .. } => true,
        }
    }

    /// Whether more has changed since than what keeps files from being read, which is waited for.
    pub fn has_moved_since(&self, before: &Self) -> bool {
        let mut same = Self {
            hindrance: self.hindrance.clone(),
            updated_at: self.updated_at,
            ..before.clone()
        };
        for (old, new) in same.members.iter_mut().zip(&self.members) {
            old.odd_since = new.odd_since;
        }
        *self != same
    }

    /// Keeps what keeps files from being read, and since when answers about the mail of each member are odd.
    fn hinder(&mut self, sights: &Sights) {
        self.hindrance.clone_from(&sights.hindrance);
        for member in &mut self.members {
            let mut doubts = sights.doubts.iter();
            let doubt = doubts.find(|(job, _)| *job == member.job);
            member.odd_since = doubt.map(|(_, since)| *since);
        }
    }

    /// A member by its persona.
    pub fn member(&self, persona: &PersonaName) -> Option<&SprintMember> {
        self.members.iter().find(|it| it.persona == *persona)
    }

    /// The weaver, once its job was asked for: a sprint has one.
    pub fn weaver(&self) -> Option<&SprintMember> {
        self.members.iter().find(|it| it.persona.is_weaver())
    }

    /// The members whose conflicts were given to the weaver.
    pub fn delegated(&self) -> impl Iterator<Item = &SprintMember> {
        let is_delegated = |it: &&SprintMember| it.state == MemberState::Delegated;
        self.members.iter().filter(is_delegated)
    }

    /// A member by the number of its pull request.
    pub fn member_of(&self, pull: u64) -> Option<&SprintMember> {
        let is_its_own = |it: &&SprintMember| it.number() == Some(pull);
        self.members.iter().find(is_its_own)
    }

    /// The members whose pull requests the present weave is about: those that were in come first, in their order.
    pub fn offered(&self) -> Vec<&SprintMember> {
        let mut offered: Vec<_> = self.members.iter().filter(|it| it.is_offered()).collect();
        offered.sort_by_key(|it| (it.place.is_none(), it.place, it.number()));
        offered
    }

    /// Whether a commit is the one that the newest weave pushed, and nothing is being woven or mended: only then may the one
    /// pull request be merged.
    pub fn is_to_be_merged(&self, head: &CommitSha) -> bool {
        let is_its_own = self.woven.as_ref().is_some_and(|it| it.commit == *head);
        is_its_own && self.is_newest_woven() && self.state == SprintState::Verifying
    }

    /// Whether the newest weave pushed something: what an older one pushed holds members that are out by now.
    fn is_newest_woven(&self) -> bool {
        let is_newest = |it: &Woven| it.weave == self.weaves;
        self.woven.as_ref().is_some_and(is_newest)
    }
}

impl SprintState {
    /// One word for lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Integrating => "integrating",
            Self::Fixing => "fixing",
            Self::Verifying => "verifying",
            Self::Done { .. } => "done",
            Self::PartiallyDone { .. } => "partially_done",
            Self::Aborted { .. } => "aborted",
        }
    }

    /// When it was over.
    pub fn ended_at(&self) -> Option<Timestamp> {
        match self {
            Self::Working | Self::Integrating | Self::Fixing | Self::Verifying => None,
            Self::Done { at } | Self::PartiallyDone { at, .. } | Self::Aborted { at, .. } => {
                Some(*at)
            }
        }
    }

    /// Why not all of it is merged.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Working
            | Self::Integrating
            | Self::Fixing
            | Self::Verifying
            | Self::Done { .. } => None,
            Self::PartiallyDone { reason, .. } => Some(reason.clone()),
            Self::Aborted { by, .. } => Some(format!("{by} aborted it")),
        }
    }
}
