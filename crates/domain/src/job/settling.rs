//! How a job ends with its pull request.

use jiff::Timestamp;

use super::due::looked_at;
use super::event::event;
use super::observe::end;
use super::watch::Watch;
use super::{EndReason, Ending, Job, JobPhase, completion, proposal};
use crate::effect::{Action, JulesAction};
use crate::event::{Audience, ErrorCause, Occurrence};
use crate::facts::PullState;
use crate::ids::{CommitSha, PullRef};
use crate::policy::Timing;
use crate::step::Step;

/// The pull request ended, and with it the job: archives the session.
pub fn pull_settled(
    job: &Job,
    pull: &PullRef,
    state: &PullState,
    sha: &CommitSha,
    now: Timestamp,
) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    step.due = looked_at(job, &Timing::default());
    if let Some(ending) = merged_after_end(job, pull, state, sha) {
        step.aggregate.phase = JobPhase::Ended(ending);
        return step;
    }
    let JobPhase::Watching(watch) = &job.phase else {
        return proposal::settled(step, pull, state, sha, now);
    };
    if watch.pull.as_ref().is_some_and(|known| known != pull) {
        return step;
    }
    let watch = &Watch {
        pull: Some(pull.clone()),
        ..(**watch).clone()
    };
    let how = match state {
        PullState::Open => return step,
        PullState::Merged { .. } => EndReason::Merged { sha: sha.clone() },
        PullState::Closed => EndReason::PullClosed,
    };
    if how == EndReason::PullClosed {
        let reason = format!("pull request {pull} was closed without a merge");
        let what = Occurrence::Error {
            cause: ErrorCause::PullClosed,
            reason,
        };
        step.events.push(event(
            job,
            watch,
            (&format!("closed:{pull}"), what, Audience::Agent),
            now,
        ));
    }
    let is_untold = watch.announced.completed_at.is_none();
    if matches!(how, EndReason::Merged { .. }) && is_untold {
        // It was merged before a poll saw that the session is done, and no later poll reads the session.
        let what = Occurrence::Completed {
            pulls: vec![pull.clone()],
        };
        let name = format!("completed:{}:settled", watch.session);
        let audience = completion::audience(job);
        step.events
            .push(event(job, watch, (&name, what, audience), now));
    }
    step.effects.push(Action::Jules(JulesAction::Archive {
        session: watch.session.clone(),
    }));
    end(&mut step, watch, how, now);
    step.due = None;
    step
}

/// Whether a job is over and its pull request was left as it was: a merge of that, which may be under way, is its end.
/// A delivery decides itself what its job came to.
pub fn may_still_be_merged(job: &Job) -> bool {
    let is_left =
        |ending: &Ending| matches!(ending.how, EndReason::Cancelled { .. } | EndReason::Left);
    job.delivery.is_none() && matches!(&job.phase, JobPhase::Ended(ending) if is_left(ending))
}

/// The end of a job whose pull request is merged although the job was over before.
fn merged_after_end(
    job: &Job,
    pull: &PullRef,
    state: &PullState,
    sha: &CommitSha,
) -> Option<Ending> {
    let JobPhase::Ended(ending) = &job.phase else {
        return None;
    };
    let is_its_own = ending.pull.as_ref() == Some(pull) && may_still_be_merged(job);
    let is_merged = matches!(state, PullState::Merged { .. });
    (is_its_own && is_merged).then(|| Ending {
        how: EndReason::Merged { sha: sha.clone() },
        ..ending.clone()
    })
}
