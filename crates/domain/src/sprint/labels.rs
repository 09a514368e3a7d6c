//! The label on pull requests that conflict with what is woven: a weave puts it on, and a later one takes it off.

use super::member::{MemberState, SprintMember};
use super::{Sprint, SprintState};
use crate::ids::JobId;

/// What a weave does with the label of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictLabel<'s> {
    /// It goes on a pull request that the weave refused.
    On {
        /// The pull request.
        pull: u64,
    },
    /// It goes off the pull request of a job, whose change is in by now.
    Off {
        /// The job.
        job: &'s JobId,
        /// The weave that refused it last.
        refused: u32,
    },
}

/// What a weave does with the labels of conflicts, by the sprint after it: those that it puts on come first.
pub fn conflict_labels(sprint: &Sprint, weave: u32) -> Vec<ConflictLabel<'_>> {
    let (mut labels, mut off) = (Vec::new(), Vec::new());
    let is_aborted = matches!(sprint.state, SprintState::Aborted { .. });
    for member in &sprint.members {
        let Some(refusal) = &member.refusal else {
            continue;
        };
        let refused = refusal.weave;
        if refused == weave {
            // An abort takes the label off.
            if is_aborted {
                continue;
            }
            labels.extend(member.number().map(|pull| ConflictLabel::On { pull }));
        } else if member.is_in() {
            off.extend(refused_jobs(member).map(|job| ConflictLabel::Off { job, refused }));
        }
    }
    labels.extend(off);
    labels
}

/// Whether the pull request of a job still gets the label that a weave put on it: not once what takes it off was asked for.
pub fn still_conflicts(sprint: &Sprint, job: &JobId) -> bool {
    let is_aborted = matches!(sprint.state, SprintState::Aborted { .. });
    let of_job = |it: &&SprintMember| it.jobs().any(|its| its == job);
    let member = sprint.members.iter().find(of_job);
    !is_aborted && member.is_some_and(|it| !it.is_in())
}

/// The jobs of a member that is in whose pull requests were refused. One that replaces others came in at once: after a conflict of
/// it another takes its place, or the weaver's job resolves that.
fn refused_jobs(member: &SprintMember) -> impl Iterator<Item = &JobId> {
    let is_first = member.earlier.is_empty();
    let is_refused = is_first || member.state == MemberState::Delegated;
    let present = is_refused.then_some(&member.job);
    member.earlier.iter().chain(present)
}
