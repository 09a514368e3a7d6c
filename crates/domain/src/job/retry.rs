//! Another session for a job that ended.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ATTEMPTS_MAX, EndReason, Job, JobPhase, Origin};
use crate::advice::Advice;
use crate::redact::presentable;
use crate::refusal::NotNow;
use crate::step::{FollowUp, Step};

/// Why there is another session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// How the one before ended; parts of it are text from outside.
    pub ended: String,
    /// The reason given with the request.
    pub reason: Option<String>,
}

/// Longest reason for another session, in characters.
pub const RETRY_REASON_CHARS_MAX: usize = 1_000;

/// Starts another session for a failed job; its prompt says how the previous one ended, and the given reason.
pub fn retry(job: &Job, reason: Option<&str>, now: Timestamp) -> Result<Step<Job>, NotNow> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    if reason.is_some_and(|reason| reason.chars().count() > RETRY_REASON_CHARS_MAX) {
        let sentence = format!(
            "the reason has more than {RETRY_REASON_CHARS_MAX} characters: make it shorter"
        );
        return Err(NotNow::new("reason_too_long", sentence).about("reason"));
    }
    let JobPhase::Ended(ending) = &job.phase else {
        let refused = NotNow::new("not_ended", format!("job {} is still under way", job.id));
        return Err(refused.advising(Advice::Cancel.about(&job.id)));
    };
    if let EndReason::Merged { .. } = ending.how {
        return no_more("merged", format!("job {} is merged", job.id), job);
    }
    if job.origin == Origin::Adopted {
        let sentence = format!("job {} was adopted, so its task is not known", job.id);
        return no_more("adopted", sentence, job);
    }
    if job.origin == Origin::Proposed {
        let sentence = format!("job {} is a pull request of Gaffer's own", job.id);
        return no_more("proposed", sentence, job);
    }
    // A delivery counts the attempts of its job itself, and lets people ask for more.
    if job.attempt >= ATTEMPTS_MAX && job.delivery.is_none() {
        let sentence = format!("job {} has used its {ATTEMPTS_MAX} attempts", job.id);
        return no_more("attempts_used_up", sentence, job);
    }
    let mut step = Step::unchanged(job.clone());
    step.aggregate.earlier.extend(ending.session.clone());
    step.aggregate.attempt = job.attempt.saturating_add(1);
    step.aggregate.again = Some(Retry {
        ended: presentable(&ended(&ending.how), RETRY_REASON_CHARS_MAX),
        reason: reason.map(|reason| presentable(reason, RETRY_REASON_CHARS_MAX)),
    });
    step.aggregate.phase = JobPhase::Queued {
        since: now,
        not_before: now,
        refusals: 0,
    };
    step.follow_ups.push(FollowUp::Job(job.id.clone()));
    step.due = Some(now);
    Ok(step)
}

/// The refusal of another session for a job that never gets one again.
fn no_more<T>(code: &'static str, sentence: String, job: &Job) -> Result<T, NotNow> {
    Err(NotNow::new(code, sentence).advising(Advice::CreateJob.about(&job.repo)))
}

/// How the session before ended.
fn ended(how: &EndReason) -> String {
    match how {
        EndReason::Failed { reason } => format!("It failed: {reason}"),
        EndReason::Refused { reason } => format!("It was refused: {reason}"),
        EndReason::Cancelled { by } => format!("It was cancelled by {by}."),
        EndReason::Left => "Its delivery or its sprint came to its end.".to_owned(),
        EndReason::Woven { into } => format!("It was merged as part of {into}."),
        EndReason::PullClosed => "Its pull request was closed without being merged.".to_owned(),
        EndReason::Lost => "Its session disappeared.".to_owned(),
        EndReason::Completed => "It ended without a pull request that was merged.".to_owned(),
        EndReason::Merged { .. } => "It was merged.".to_owned(),
    }
}
