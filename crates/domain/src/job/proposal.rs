//! Jobs without a session: Gaffer itself writes the pull request, and everything after that is as for any other job.

use jiff::Timestamp;

use super::{EndReason, Ending, Job, JobPhase, NewJob, Origin, create, deadline};
use crate::effect::{Action, PullAction, RepoAction};
use crate::facts::PullState;
use crate::failure::Failure;
use crate::ids::{BranchName, CommitSha, JobId, PullRef};
use crate::pipeline::Recipe;
use crate::policy::Timing;
use crate::refusal::NotNow;
use crate::step::{FollowUp, Step};

/// What is needed for a pull request of Gaffer's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProposal {
    /// The job that it belongs to: its prompt is the text of the pull request.
    pub job: NewJob,
    /// What it changes.
    pub recipe: Recipe,
    /// What has to be done before it is opened.
    pub before: Vec<Action>,
}

/// A new job whose pull request Gaffer writes.
pub fn propose(new: NewProposal, now: Timestamp) -> Result<Step<Job>, NotNow> {
    let mut step = create(new.job, now)?;
    let job = &mut step.aggregate;
    job.origin = Origin::Proposed;
    job.phase = JobPhase::Proposed {
        since: now,
        pull: None,
        head: None,
    };
    step.effects.extend(new.before);
    step.effects.push(Action::Repo(RepoAction::Propose {
        job: job.id.clone(),
        repo: job.repo.clone(),
        base: job.branch.clone(),
        recipe: new.recipe,
    }));
    step.due = deadline(&step.aggregate, &Timing::default());
    step.follow_ups = vec![FollowUp::Job(step.aggregate.id.clone())];
    Ok(step)
}

impl Job {
    /// The branch of a pull request of Gaffer's own: named after its job, so that it is found before it is made again.
    pub fn proposal_branch(&self) -> Option<BranchName> {
        let sprint = self.sprint();
        match sprint {
            Some(part) => Some(part.sprint.branch()).filter(|_| self.origin == Origin::Proposed),
            None => BranchName::of_proposal(&self.id).filter(|_| self.origin == Origin::Proposed),
        }
    }
}

impl BranchName {
    /// The branch of a pull request of Gaffer's own for this job.
    pub fn of_proposal(job: &JobId) -> Option<Self> {
        format!("jules-gaffer-{job}").parse().ok()
    }
}

impl Job {
    /// The commit that Gaffer made for its pull request.
    pub fn committed(&self) -> Option<&CommitSha> {
        match &self.phase {
            JobPhase::Proposed { head, .. } => head.as_ref(),
            JobPhase::Queued { .. }
            | JobPhase::Creating { .. }
            | JobPhase::Watching(_)
            | JobPhase::Ended(_) => None,
        }
    }
}

/// Its commit is made, and no branch names it yet: a branch with any other commit is not ours. The first one counts.
///
/// # Errors
/// When the job does not wait for its pull request any more.
pub fn committed(job: &Job, made: &CommitSha) -> Result<Step<Job>, NotNow> {
    let mut step = Step::unchanged(job.clone());
    match &mut step.aggregate.phase {
        JobPhase::Proposed {
            pull: None, head, ..
        } => {
            head.get_or_insert_with(|| made.clone());
        }
        JobPhase::Queued { .. }
        | JobPhase::Creating { .. }
        | JobPhase::Proposed { .. }
        | JobPhase::Watching(_)
        | JobPhase::Ended(_) => {
            let sentence = format!("job {} does not wait for its pull request any more", job.id);
            return Err(NotNow::new("not_proposed", sentence));
        }
    }
    step.due = deadline(&step.aggregate, &Timing::default());
    Ok(step)
}

/// Its pull request is open; none if there was nothing to change. One that was opened for a job that is over is closed.
pub fn proposed(job: &Job, opened: Option<(&PullRef, &CommitSha)>, now: Timestamp) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    match (&job.phase, opened) {
        (JobPhase::Proposed { pull: None, .. }, None) => {
            end(&mut step, None, EndReason::Completed, now);
        }
        (
            JobPhase::Proposed {
                since, pull: None, ..
            },
            Some((opened, head)),
        ) => {
            step.aggregate.phase = JobPhase::Proposed {
                since: *since,
                pull: Some(opened.clone()),
                head: Some(head.clone()),
            };
            step.follow_ups.push(FollowUp::Pull(opened.clone()));
        }
        (JobPhase::Ended(Ending { pull: None, .. }), Some((opened, head))) => {
            step.effects.extend(withdrawn(job, opened, head));
        }
        (
            JobPhase::Queued { .. }
            | JobPhase::Creating { .. }
            | JobPhase::Proposed { .. }
            | JobPhase::Watching(_)
            | JobPhase::Ended(_),
            _,
        ) => {}
    }
    step.due = deadline(&step.aggregate, &Timing::default());
    step
}

/// A pull request of ours is closed, and its branch goes.
fn withdrawn(job: &Job, pull: &PullRef, sha: &CommitSha) -> Vec<Action> {
    let pull = pull.clone();
    let close = Action::Pull(PullAction::ClosePull { pull });
    std::iter::once(close).chain(unbranched(job, sha)).collect()
}

/// The branch of a pull request of ours goes, with our commit.
fn unbranched(job: &Job, sha: &CommitSha) -> Option<Action> {
    job.proposal_branch().map(|branch| {
        Action::Pull(PullAction::DeleteBranch {
            repo: job.repo.clone(),
            branch,
            sha: sha.clone(),
        })
    })
}

/// What Gaffer opened for a job that is cancelled is closed. A branch goes even if nothing was opened from it yet.
pub(super) fn taken_back(job: &Job) -> Vec<Action> {
    match &job.phase {
        JobPhase::Proposed {
            pull: Some(pull),
            head: Some(head),
            ..
        } => withdrawn(job, pull, head),
        JobPhase::Proposed {
            head: Some(head), ..
        } => unbranched(job, head).into_iter().collect(),
        JobPhase::Queued { .. }
        | JobPhase::Creating { .. }
        | JobPhase::Watching(_)
        | JobPhase::Proposed { .. }
        | JobPhase::Ended(_) => Vec::new(),
    }
}

/// Its pull request was certainly not opened, and no retry follows.
pub fn proposal_failed(job: &Job, failure: &Failure, now: Timestamp) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    if let JobPhase::Proposed { pull: None, .. } = job.phase {
        step.effects = taken_back(job);
        let reason = failure.to_string();
        end(&mut step, None, EndReason::Failed { reason }, now);
    }
    step.due = deadline(&step.aggregate, &Timing::default());
    step
}

/// Its pull request was merged or closed, and with it the job is over.
pub(super) fn settled(
    mut step: Step<Job>,
    pull: &PullRef,
    state: &PullState,
    sha: &CommitSha,
    now: Timestamp,
) -> Step<Job> {
    let is_its_own = match &step.aggregate.phase {
        JobPhase::Proposed { pull: known, .. } => known.as_ref().is_none_or(|known| known == pull),
        JobPhase::Queued { .. }
        | JobPhase::Creating { .. }
        | JobPhase::Watching(_)
        | JobPhase::Ended(_) => false,
    };
    let how = match state {
        PullState::Merged { .. } if is_its_own => EndReason::Merged { sha: sha.clone() },
        PullState::Closed if is_its_own => EndReason::PullClosed,
        PullState::Open | PullState::Merged { .. } | PullState::Closed => return step,
    };
    end(&mut step, Some(pull.clone()), how, now);
    step.due = None;
    step
}

pub(super) fn end(step: &mut Step<Job>, pull: Option<PullRef>, how: EndReason, now: Timestamp) {
    step.follow_ups.extend(pull.clone().map(FollowUp::Pull));
    step.aggregate.phase = JobPhase::Ended(Ending {
        at: now,
        session: None,
        pull,
        how,
        plan_unreviewed: false,
    });
}
