//! What can be seen of a job that reviews: its answer, once its session rests, or its question.

use jiff::Timestamp;

use super::glimpse::{JobEnd, JobGlimpse, Work};
use super::input::{ReviewSight, ReviewState};
use crate::job::{Job, Phase};
use crate::policy::Timing;

/// Why a review without a session ended.
const LOST: &str = "its session is gone";

impl ReviewSight {
    /// What was seen of the job that reviews.
    pub fn of(job: &Job, timing: &Timing, now: Timestamp) -> Self {
        let glimpse = JobGlimpse::of_job(job, timing, now);
        let state = match glimpse.work {
            Work::Resting(_) | Work::Ended(JobEnd::Completed) => ReviewState::Said(said(job)),
            Work::Ended(end) => ReviewState::Failed(why(&end)),
            Work::Asking => ReviewState::Asking,
            Work::Waiting | Work::Working | Work::Planned(_) => ReviewState::Working,
        };
        Self {
            job: job.id.clone(),
            session: job.session().cloned(),
            state,
        }
    }
}

/// The last message of its session; empty without one.
fn said(job: &Job) -> String {
    match &job.phase {
        Phase::Watching(watch) => watch.log.agent.as_ref(),
        Phase::Queued { .. }
        | Phase::Creating { .. }
        | Phase::Proposed { .. }
        | Phase::Ended(_) => None,
    }
    .map_or_else(String::new, |said| said.text.clone())
}

fn why(end: &JobEnd) -> String {
    match end {
        JobEnd::Failed(why) | JobEnd::Refused(why) => why.clone(),
        JobEnd::Canceled(by) => format!("it was cancelled by {by}"),
        JobEnd::Lost => LOST.to_owned(),
        JobEnd::Merged | JobEnd::PullClosed | JobEnd::Completed => {
            "it ended with a pull request of its own".to_owned()
        }
    }
}
