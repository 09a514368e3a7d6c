//! Jobs of a sprint: the one whose pull request the others are woven into, and the end of those that are in it.

use jiff::Timestamp;

use super::observe::end;
use super::{
    EndReason, Ending, Job, JobPhase, NewJob, Origin, Watch, create, deadline, may_still_be_merged,
};
use crate::effect::{Action, JulesAction, PullAction, RepoAction};
use crate::ids::{CommitSha, PullRef, SprintNumber};
use crate::policy::Timing;
use crate::refusal::NotNow;
use crate::step::{FollowUp, Step};

/// The job of a sprint's one pull request, with its first weave.
pub fn integrate(
    new: NewJob,
    sprint: SprintNumber,
    weave: u32,
    now: Timestamp,
) -> Result<Step<Job>, NotNow> {
    let mut step = create(new, now)?;
    let job = &mut step.aggregate;
    job.origin = Origin::Proposed;
    job.phase = JobPhase::Proposed {
        since: now,
        pull: None,
        head: None,
    };
    step.effects.push(asked(job, sprint, weave));
    step.due = deadline(&step.aggregate, &Timing::default());
    step.follow_ups = vec![FollowUp::Job(step.aggregate.id.clone())];
    Ok(step)
}

/// The same job with another weave. One that is over weaves no more.
pub fn weave_again(job: &Job, sprint: SprintNumber, weave: u32) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    if let JobPhase::Proposed { .. } = job.phase {
        step.effects.push(asked(job, sprint, weave));
        step.follow_ups.push(FollowUp::Job(job.id.clone()));
    }
    step.due = deadline(&step.aggregate, &Timing::default());
    step
}

fn asked(job: &Job, sprint: SprintNumber, weave: u32) -> Action {
    Action::Repo(RepoAction::Weave {
        job: job.id.clone(),
        repo: job.repo.clone(),
        sprint,
        weave,
    })
}

/// A weave is done. The commit that it pushed, if it did, is the only head that is merged. A job that was left meanwhile only keeps which
/// pull request it is, since that may still be merged by hand.
pub fn weave_done(job: &Job, pushed: Option<(&PullRef, &CommitSha)>) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    match (&job.phase, pushed) {
        (JobPhase::Proposed { since, .. }, Some((pull, commit))) => {
            step.aggregate.phase = JobPhase::Proposed {
                since: *since,
                pull: Some(pull.clone()),
                head: Some(commit.clone()),
            };
            step.follow_ups.push(FollowUp::Pull(pull.clone()));
        }
        (JobPhase::Ended(ending), Some((pull, _)))
            if ending.pull.is_none() && may_still_be_merged(job) =>
        {
            step.aggregate.phase = JobPhase::Ended(Ending {
                pull: Some(pull.clone()),
                ..ending.clone()
            });
            step.follow_ups.push(FollowUp::Pull(pull.clone()));
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

/// The pull request that it was woven into is merged: its own is closed with a link to that, and its session archived.
pub fn woven(job: &Job, into: &PullRef, now: Timestamp) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    let JobPhase::Watching(watch) = &job.phase else {
        step.due = deadline(job, &Timing::default());
        return step;
    };
    step.effects.extend(closed(watch, into));
    step.effects.push(Action::Jules(JulesAction::Archive {
        session: watch.session.clone(),
    }));
    let how = EndReason::Woven { into: into.clone() };
    end(&mut step, watch, how, now);
    step.due = None;
    step
}

fn closed(watch: &Watch, into: &PullRef) -> Vec<Action> {
    let Some(pull) = &watch.pull else {
        return Vec::new();
    };
    let comment = Action::Pull(PullAction::Comment {
        pull: pull.clone(),
        text: format!("This change was merged as part of #{}.", into.number),
        cause: format!("woven:{}", into.number),
    });
    vec![
        comment,
        Action::Pull(PullAction::ClosePull { pull: pull.clone() }),
    ]
}

/// The cause of a message about a conflict, which names it once.
pub fn conflict_cause(sprint: SprintNumber, weave: u32) -> String {
    format!("{CONFLICT}{sprint}:{weave}")
}

/// The cause of the message that asks a session of a sprint for its pull request.
pub fn missing_pull_cause(sprint: SprintNumber) -> String {
    format!("pull-of-sprint:{sprint}")
}

/// The cause of the message that shows a session of a sprint the mail that came after its change was ready.
pub fn mail_cause(sprint: SprintNumber, time: u32) -> String {
    format!("mail-of-sprint:{sprint}:{time}")
}

/// Begins the cause of a message about a conflict in a sprint.
pub(super) const CONFLICT: &str = "sprint:";
