//! Figures of a sprint, for people and for metrics.

use serde::{Deserialize, Serialize};

use super::{MemberState, Sprint, SprintMember};

/// What is counted of a sprint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "SprintFigures")
)]
pub struct Figures {
    /// How many members it has; the weaver is none.
    pub members: u32,
    /// How many of them are in what is woven, or were merged by themselves.
    pub integrated: u32,
    /// How many of those are merged.
    pub merged: u32,
    /// How many changed nothing, or took their change back.
    pub nothing: u32,
    /// How many are left out, failed or timed out; once it is over, all that are not in and did not come to nothing.
    pub skipped: u32,
    /// How many conflicted in a weave at least once.
    pub conflicts: u32,
    /// How many of those are in.
    pub resolved: u32,
    /// How many of a hundred members conflicted.
    pub conflict_rate: u32,
    /// The most ticks that one of those that are resolved took, from its first conflict until it was in.
    pub ticks_to_resolution: u32,
    /// How many sessions were created for its members and the weaver: each is a task of Jules.
    pub tasks: u32,
}

impl Figures {
    /// The figures of a sprint as it is now.
    pub fn of_sprint(sprint: &Sprint) -> Self {
        let mut figures = Self {
            tasks: sprint.tasks,
            ..Self::default()
        };
        let members = sprint.members.iter();
        for member in members.filter(|it| !it.persona.is_weaver()) {
            figures.members += 1;
            figures.conflicts += u32::from(member.conflicts > 0);
            match &member.state {
                MemberState::Applied { .. } => figures.came_in(member),
                MemberState::Delegated if member.is_in() => figures.came_in(member),
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
                | MemberState::Rerunning => {
                    figures.skipped += u32::from(sprint.leaves_out(member));
                }
            }
        }
        figures.merged = match sprint.is_woven() && !sprint.merged {
            true => 0,
            false => figures.integrated,
        };
        let conflicts = figures.conflicts * 100;
        figures.conflict_rate = conflicts.checked_div(figures.members).unwrap_or(0);
        figures
    }

    /// Counts a member that is in, by its own change or by the weaver's.
    fn came_in(&mut self, member: &SprintMember) {
        self.integrated += 1;
        self.resolved += u32::from(member.conflicts > 0);
        if let (Some(out), Some(since)) = (member.out_since, member.in_since) {
            let ticks = since.saturating_sub(out);
            self.ticks_to_resolution = self.ticks_to_resolution.max(ticks);
        }
    }
}

/// Notes after a weave since which tick members are in, also by the weaver's change, and in which one they conflicted first.
pub(super) fn note_ticks(sprint: &mut Sprint, held: &[u64]) {
    let tick = Some(sprint.ticks);
    for member in &mut sprint.members {
        match member.state {
            MemberState::Applied { .. } => member.in_since = member.in_since.or(tick),
            MemberState::Conflicted => {
                member.in_since = None;
                member.out_since = member.out_since.or(tick);
            }
            MemberState::Delegated => {
                let is_held = member.number().is_some_and(|it| held.contains(&it));
                member.in_since = member.in_since.or(tick).filter(|_| is_held);
            }
            MemberState::Pending
            | MemberState::Waiting
            | MemberState::Working
            | MemberState::PullOpen
            | MemberState::Rerunning
            | MemberState::Unresolved
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => {}
        }
    }
}
