//! The end of a job by an order: it is cancelled, put away, or left as it is.

use jiff::Timestamp;

use super::observe::end;
use super::{EndReason, Ending, Job, JobPhase, completion, proposal};
use crate::effect::{Action, JulesAction};
use crate::fence::clip;
use crate::policy::Timing;
use crate::refusal::{NotNow, not_now};
use crate::session::SessionState;
use crate::step::{FollowUp, Step};

/// Cancels the job. Jules has no cancel call: Gaffer archives the session and stops watching it.
pub fn cancel(job: &Job, by: &str, now: Timestamp) -> Result<Step<Job>, NotNow> {
    let mut step = Step::unchanged(job.clone());
    let how = EndReason::Cancelled { by: clip(by, 80) };
    match &job.phase {
        JobPhase::Ended(_) => return not_now("ended", format!("job {} is over already", job.id)),
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => {
            step.aggregate.phase = JobPhase::Ended(Ending {
                at: now,
                session: None,
                pull: None,
                how,
                plan_unreviewed: false,
            });
            step.follow_ups.push(FollowUp::Slots(job.account.clone()));
        }
        JobPhase::Watching(watch) => {
            step.effects.push(Action::Jules(JulesAction::Archive {
                session: watch.session.clone(),
            }));
            end(&mut step, watch, how, now);
        }
        JobPhase::Proposed { pull, .. } => {
            // Gaffer opened it, so Gaffer closes it.
            step.effects.extend(proposal::taken_back(job));
            proposal::end(&mut step, pull.clone(), how, now);
        }
    }
    Ok(step)
}

/// Ends a job that its delivery does not need any more. A session that is finished and made nothing has come to its own end.
pub fn put_away(job: &Job, by: &str, now: Timestamp) -> Result<Step<Job>, NotNow> {
    let completed = job
        .watched()
        .filter(|watch| watch.state == SessionState::Completed);
    let Some(watch) = completed.filter(|watch| watch.pull.is_none()) else {
        return cancel(job, by, now);
    };
    let mut step = Step::unchanged(job.clone());
    step.effects.push(Action::Jules(JulesAction::Archive {
        session: watch.session.clone(),
    }));
    end(&mut step, watch, EndReason::Completed, now);
    Ok(step)
}

/// Stops following the job of a delivery or a sprint that came to its end before the merge: its session and its pull
/// request stay as they are.
pub fn leave(job: &Job, now: Timestamp) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    match &job.phase {
        JobPhase::Watching(watch) => end(&mut step, watch, EndReason::Left, now),
        JobPhase::Proposed { pull, .. } => {
            proposal::end(&mut step, pull.clone(), EndReason::Left, now);
        }
        JobPhase::Queued { .. } | JobPhase::Creating { .. } | JobPhase::Ended(_) => {}
    }
    step
}

/// Whether the session of a job works, asks, or has to answer a message: left by itself it would keep its slot.
pub fn is_under_way(job: &Job, timing: &Timing, now: Timestamp) -> bool {
    match &job.phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => true,
        JobPhase::Watching(watch) => {
            let returns = watch.unconfirmed_since.is_some() || watch.awaits_return(now, timing);
            returns || !completion::is_over(watch)
        }
        JobPhase::Proposed { .. } | JobPhase::Ended(_) => false,
    }
}
