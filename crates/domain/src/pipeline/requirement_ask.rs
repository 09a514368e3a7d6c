//! What people can ask of a requirement.

use super::requirement::PLANNERS_MAX;
use super::{Requirement, RequirementState};
use crate::refusal::NotNow;

/// What people can ask of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequirementAsk {
    /// That it is implemented.
    Start,
    /// Another planner.
    Plan,
    /// That its files are removed.
    Remove,
}

impl RequirementAsk {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Start, Self::Plan, Self::Remove];

    /// One word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Plan => "plan",
            Self::Remove => "remove",
        }
    }
}

impl Requirement {
    /// Whether this can be asked of it now.
    pub fn takes(&self, ask: RequirementAsk) -> bool {
        match ask {
            RequirementAsk::Start => self.start(self.keep_files, self.updated_at).is_ok(),
            RequirementAsk::Plan => self.wants_planner(),
            RequirementAsk::Remove => self.is_removable(),
        }
    }

    /// Refuses a planner or a delivery for one that a delivery has taken already, or whose files go.
    ///
    /// # Errors
    /// While it is being implemented or its files are being removed, and once it is implemented.
    pub fn must_be_free(&self) -> Result<(), NotNow> {
        let (code, why) = match &self.state {
            RequirementState::Planning { .. }
            | RequirementState::Unplanned { .. }
            | RequirementState::Ready
            | RequirementState::Failed { .. } => return Ok(()),
            RequirementState::Implementing { .. } => {
                ("taken", "is being implemented already".to_owned())
            }
            RequirementState::Removing { job, by, .. } => {
                let why = format!(
                    "has its files removed, as {by} asked: cancel job {job}, or close its pull request, to keep them"
                );
                ("taken", why)
            }
            RequirementState::Merged { .. }
            | RequirementState::Tidying { .. }
            | RequirementState::Tidied { .. } => {
                ("merged", "is implemented and merged already".to_owned())
            }
        };
        let id = &self.reference.id;
        Err(NotNow::new(code, format!("requirement {id} {why}")))
    }

    /// Whether a planner may still expand it, which no run gives it any more, or not before the next one.
    pub(super) fn wants_planner(&self) -> bool {
        match &self.state {
            RequirementState::Unplanned { .. } => true,
            RequirementState::Failed { .. } => {
                !self.file_gone && self.attempt == 0 && self.planners >= PLANNERS_MAX
            }
            RequirementState::Planning { .. }
            | RequirementState::Ready
            | RequirementState::Implementing { .. }
            | RequirementState::Merged { .. }
            | RequirementState::Tidying { .. }
            | RequirementState::Tidied { .. }
            | RequirementState::Removing { .. } => false,
        }
    }

    fn is_removable(&self) -> bool {
        match &self.state {
            RequirementState::Planning { .. }
            | RequirementState::Unplanned { .. }
            | RequirementState::Ready
            | RequirementState::Merged { .. } => true,
            RequirementState::Failed { .. } => !self.file_gone,
            RequirementState::Implementing { .. }
            | RequirementState::Tidying { .. }
            | RequirementState::Tidied { .. }
            | RequirementState::Removing { .. } => false,
        }
    }
}
