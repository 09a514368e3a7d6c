//! Figures of a sprint, for people and for metrics.

use serde::{Deserialize, Serialize};

use super::{MemberState, Sprint};

/// What is counted of a sprint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// How many members it has.
    pub members: u32,
    /// How many of them are in.
    pub integrated: u32,
    /// How many changed nothing, or took their change back.
    pub nothing: u32,
    /// How many are left out, failed or timed out.
    pub skipped: u32,
    /// How many conflicted at least once.
    pub conflicts: u32,
    /// How many of those are in.
    pub resolved: u32,
    /// How often it went on to work, weave or mend.
    pub ticks: u32,
    /// How many weaves were asked for.
    pub weaves: u32,
}

impl Figures {
    /// The figures of a sprint as it is now.
    pub fn of(sprint: &Sprint) -> Self {
        let mut figures = Self {
            members: count(sprint.members.len()),
            ticks: sprint.ticks,
            weaves: sprint.weaves,
            ..Self::default()
        };
        let weaver = sprint.weaver().map(|it| &it.state);
        let is_resolved = matches!(weaver, Some(MemberState::Applied { .. }));
        for member in &sprint.members {
            let conflicted = u32::from(member.conflicts > 0);
            figures.conflicts += conflicted;
            match member.state {
                MemberState::Delegated if is_resolved => {
                    figures.integrated += 1;
                    figures.resolved += conflicted;
                }
                MemberState::Applied { .. } => {
                    figures.integrated += 1;
                    figures.resolved += conflicted;
                }
                MemberState::NoChange | MemberState::Withdrawn => figures.nothing += 1,
                MemberState::Skipped { .. }
                | MemberState::Failed { .. }
                | MemberState::TimedOut => figures.skipped += 1,
                MemberState::Pending
                | MemberState::Waiting
                | MemberState::Working
                | MemberState::PullOpen
                | MemberState::Conflicted
                | MemberState::Unresolved
                | MemberState::Delegated
                | MemberState::Rerunning => {}
            }
        }
        figures
    }

    /// How many of a hundred members conflicted.
    pub fn conflict_rate(&self) -> u32 {
        (self.conflicts * 100)
            .checked_div(self.members)
            .unwrap_or(0)
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
