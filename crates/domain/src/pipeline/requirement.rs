//! A requirement of the exchange: from its file to the change that implements it, and until its files are gone.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{FoundRequirement, RequirementOutcome, RequirementRef, RequirementState};
use crate::ids::{DeliveryId, JobId, RepoName};
use crate::redact::presentable;
use crate::refusal::NotNow;
use crate::when::plus;

/// How many deliveries a requirement may have, one after the other.
const REQUIREMENT_ATTEMPTS_MAX: u32 = 3;

/// How many planners a requirement gets by itself, one after the other: each costs a task.
pub(super) const PLANNERS_MAX: u32 = 3;

/// How often a requirement is read while its planner works.
const PLANNER_EVERY: SignedDuration = SignedDuration::from_mins(10);

/// How often one is read while its delivery or the removal of its files is under way.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_hours(1);

/// Longest reason of a failure, in characters.
const REASON_CHARS_MAX: usize = 300;

/// A requirement that Gaffer follows. It is stored under its id once, so that no later run takes it twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// The repository.
    pub repo: RepoName,
    /// Which, and its files.
    pub reference: RequirementRef,
    /// Its title.
    pub title: String,
    /// Its label.
    pub label: String,
    /// How far it is.
    pub state: RequirementState,
    /// How many deliveries it has had.
    pub attempt: u32,
    /// How many planners it has had.
    #[serde(default, skip_serializing_if = "is_none_yet")]
    pub planners: u32,
    /// Whether its files stay after the merge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_files: bool,
    /// Whether its file is gone: it is not started until a run finds the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub file_gone: bool,
    /// When it was first seen.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

impl Requirement {
    /// A requirement that was found in the exchange.
    pub fn found(
        repo: &RepoName,
        found: FoundRequirement,
        state: RequirementState,
        now: Timestamp,
    ) -> Self {
        Self {
            repo: repo.clone(),
            reference: found.reference,
            title: found.title,
            label: found.label,
            state,
            attempt: 0,
            planners: 0,
            keep_files: false,
            file_gone: false,
            created_at: now,
            updated_at: now,
        }
    }

    /// The same after its file was read again: what the planner or a decider wrote into it, and that it is ready.
    /// One that is under way keeps what it began with.
    #[must_use]
    pub fn seen(&self, found: FoundRequirement, now: Timestamp) -> Self {
        let known = Self {
            file_gone: false,
            ..self.clone()
        };
        let state = match (&self.state, found.needs_planning) {
            (
                RequirementState::Planning { .. }
                | RequirementState::Unplanned { .. }
                | RequirementState::Ready,
                false,
            ) => RequirementState::Ready,
            // Its file was put back.
            (RequirementState::Failed { .. }, _) if self.file_gone => RequirementState::Ready,
            // It was left to people because no planner expanded it, and now it is expanded.
            (RequirementState::Failed { .. }, false) if self.wants_planner() => {
                RequirementState::Ready
            }
            // Another attempt begins with the file as it is now.
            (RequirementState::Failed { .. }, _) => self.state.clone(),
            (
                RequirementState::Planning { .. }
                | RequirementState::Unplanned { .. }
                | RequirementState::Ready,
                true,
            )
            | (
                RequirementState::Implementing { .. }
                | RequirementState::Merged { .. }
                | RequirementState::Tidying { .. }
                | RequirementState::Tidied { .. }
                | RequirementState::Removing { .. },
                _,
            ) => return known.at(self, now),
        };
        let next = Self {
            reference: found.reference,
            title: found.title,
            label: found.label,
            state,
            ..known
        };
        next.at(self, now)
    }

    /// Whether a run may give it a planner by itself. One that no planner expands is left to people.
    pub fn may_be_planned(&self) -> bool {
        match &self.state {
            RequirementState::Planning { .. }
            | RequirementState::Unplanned { .. }
            | RequirementState::Ready => self.planners < PLANNERS_MAX,
            RequirementState::Implementing { .. }
            | RequirementState::Merged { .. }
            | RequirementState::Tidying { .. }
            | RequirementState::Tidied { .. }
            | RequirementState::Removing { .. }
            | RequirementState::Failed { .. } => false,
        }
    }

    /// The same while a planner works on it.
    #[must_use]
    pub fn planned_by(&self, job: &JobId, now: Timestamp) -> Self {
        let begins = match &self.state {
            RequirementState::Planning { job: known } => known != job || self.planners == 0,
            RequirementState::Unplanned { .. } | RequirementState::Ready => true,
            // A person has it planned once more.
            RequirementState::Failed { .. } => self.wants_planner(),
            RequirementState::Implementing { .. }
            | RequirementState::Merged { .. }
            | RequirementState::Tidying { .. }
            | RequirementState::Tidied { .. }
            | RequirementState::Removing { .. } => false,
        };
        if !begins {
            return self.clone();
        }
        let next = Self {
            planners: self.planners.saturating_add(1),
            ..self.clone()
        };
        next.with(RequirementState::Planning { job: job.clone() }, now)
    }

    /// The same after its planner ended, and its file was read again: none if there is no requirement in it.
    #[must_use]
    pub fn planner_ended(
        &self,
        why: &str,
        found: Option<FoundRequirement>,
        now: Timestamp,
    ) -> Self {
        let RequirementState::Planning { .. } = &self.state else {
            return self.clone();
        };
        let Some(found) = found else {
            let reason = format!("`{}` is no requirement any more", self.reference.path);
            return self.without_file(reason, now);
        };
        if !found.needs_planning {
            return self.seen(found, now);
        }
        let reason = presentable(why, REASON_CHARS_MAX);
        let state = match self.planners < PLANNERS_MAX {
            true => RequirementState::Unplanned { reason },
            false => RequirementState::Failed {
                reason: format!("none of its {} planners expanded it", self.planners),
            },
        };
        self.with(state, now)
    }

    /// The same once a delivery is to implement it. Its id is drawn from the number of the attempt.
    ///
    /// # Errors
    /// When it is not ready, under way, through, or without a file.
    pub fn start(&self, keep_files: bool, now: Timestamp) -> Result<Self, NotNow> {
        let id = &self.reference.id;
        let refused = |code, why: &str| Err(NotNow::new(code, format!("requirement {id} {why}")));
        self.must_be_free()?;
        match &self.state {
            RequirementState::Failed { .. } if self.file_gone => {
                return refused(
                    "gone",
                    "has no file any more: put the file back, and begin a run that finds it",
                );
            }
            RequirementState::Planning { .. } => {
                return refused("not_ready", "is being planned: start it once it is ready");
            }
            RequirementState::Unplanned { .. } => {
                return refused(
                    "not_ready",
                    "is not planned yet: run the planner for it, and start it once it is ready",
                );
            }
            RequirementState::Ready
            | RequirementState::Failed { .. }
            | RequirementState::Implementing { .. }
            | RequirementState::Removing { .. }
            | RequirementState::Merged { .. }
            | RequirementState::Tidying { .. }
            | RequirementState::Tidied { .. } => {}
        }
        if self.attempt >= REQUIREMENT_ATTEMPTS_MAX {
            let why = format!("has used its {REQUIREMENT_ATTEMPTS_MAX} attempts");
            return refused("attempts_used_up", &why);
        }
        let attempt = self.attempt.saturating_add(1);
        let delivery = DeliveryId::of_requirement(&self.repo, id, attempt);
        let next = Self {
            attempt,
            keep_files,
            ..self.clone()
        };
        Ok(next.with(RequirementState::Implementing { delivery }, now))
    }

    /// The same after its delivery was read.
    #[must_use]
    pub fn delivered(&self, outcome: &RequirementOutcome, now: Timestamp) -> Self {
        let RequirementState::Implementing { delivery } = &self.state else {
            return self.clone();
        };
        let delivery = delivery.clone();
        match outcome {
            RequirementOutcome::Open => self.clone(),
            RequirementOutcome::Merged if self.keep_files => {
                self.with(RequirementState::Merged { delivery }, now)
            }
            RequirementOutcome::Merged => {
                let job = self.tidying_job(now);
                self.with(RequirementState::Tidying { delivery, job }, now)
            }
            RequirementOutcome::NotMerged { reason } => {
                let reason = presentable(reason, REASON_CHARS_MAX);
                self.with(RequirementState::Failed { reason }, now)
            }
            // No delivery was made, so the next start makes the one of this attempt.
            RequirementOutcome::NoFile => {
                let reason = format!("`{}` is not there any more", self.reference.path);
                let attempt = self.attempt.saturating_sub(1);
                let next = self.without_file(reason, now);
                Self { attempt, ..next }
            }
        }
    }

    /// The same after the pull request that removes its files came to its end, merged or not.
    #[must_use]
    pub fn tidied(&self, is_merged: bool, now: Timestamp) -> Self {
        let state = match (&self.state, is_merged) {
            (RequirementState::Tidying { delivery, .. }, is_merged) => {
                let delivery = delivery.clone();
                match is_merged {
                    true => RequirementState::Tidied { delivery },
                    false => RequirementState::Merged { delivery },
                }
            }
            (RequirementState::Removing { by, .. }, true) => {
                return self.without_file(format!("{by} had its files removed"), now);
            }
            (RequirementState::Removing { before, .. }, false) => (**before).clone(),
            (
                RequirementState::Planning { .. }
                | RequirementState::Unplanned { .. }
                | RequirementState::Ready
                | RequirementState::Implementing { .. }
                | RequirementState::Merged { .. }
                | RequirementState::Tidied { .. }
                | RequirementState::Failed { .. },
                _,
            ) => return self.clone(),
        };
        self.with(state, now)
    }

    /// The same once it was asked to have its files removed, by a pull request of this job.
    ///
    /// # Errors
    /// While it is being implemented, or another job removes them.
    pub fn removed(&self, job: &JobId, by: &str, now: Timestamp) -> Result<Self, NotNow> {
        let id = &self.reference.id;
        let refused = |code, why: &str| Err(NotNow::new(code, format!("requirement {id} {why}")));
        match &self.state {
            RequirementState::Planning { .. }
            | RequirementState::Unplanned { .. }
            | RequirementState::Ready
            | RequirementState::Failed { .. } => {
                let (job, by) = (job.clone(), by.to_owned());
                let before = Box::new(self.state.clone());
                Ok(self.with(RequirementState::Removing { job, by, before }, now))
            }
            RequirementState::Implementing { delivery } => {
                let why = format!(
                    "is being implemented: cancel delivery {delivery} first, twice where it runs, since the first cancel stops it and the second one gives it up"
                );
                refused("taken", &why)
            }
            RequirementState::Merged { delivery } => {
                let (delivery, job) = (delivery.clone(), job.clone());
                Ok(self.with(RequirementState::Tidying { delivery, job }, now))
            }
            RequirementState::Tidying { job: other, .. }
            | RequirementState::Removing { job: other, .. }
                if other != job =>
            {
                let why = format!("has its files removed by job {other} already");
                refused("tidying", &why)
            }
            RequirementState::Tidying { .. }
            | RequirementState::Removing { .. }
            | RequirementState::Tidied { .. } => Ok(self.clone()),
        }
    }

    /// When it is to be read next: changes of its delivery call it at once, and so does the end of its planner in a run.
    pub fn due(&self, now: Timestamp) -> Option<Timestamp> {
        match self.state {
            RequirementState::Planning { .. } => Some(plus(now, PLANNER_EVERY)),
            RequirementState::Implementing { .. }
            | RequirementState::Tidying { .. }
            | RequirementState::Removing { .. } => Some(plus(now, LOOK_AGAIN)),
            RequirementState::Unplanned { .. }
            | RequirementState::Ready
            | RequirementState::Merged { .. }
            | RequirementState::Tidied { .. }
            | RequirementState::Failed { .. } => None,
        }
    }

    /// Whether nothing more happens to it by itself.
    pub fn is_over(&self) -> bool {
        self.state.is_over()
    }

    fn tidying_job(&self, now: Timestamp) -> JobId {
        let name = format!("{}:requirement:{}", self.repo.key(), self.reference.id);
        JobId::asked_by(&name, &format!("tidy:{}", self.attempt), now)
    }

    fn without_file(&self, reason: String, now: Timestamp) -> Self {
        let next = Self {
            file_gone: true,
            ..self.clone()
        };
        next.with(RequirementState::Failed { reason }, now)
    }

    fn with(&self, state: RequirementState, now: Timestamp) -> Self {
        let next = Self {
            state,
            ..self.clone()
        };
        next.at(self, now)
    }

    fn at(mut self, before: &Self, now: Timestamp) -> Self {
        if self != *before {
            self.updated_at = now;
        }
        self
    }
}

fn is_none_yet(count: &u32) -> bool {
    *count == 0
}
