//! What can be seen of a job that reviews: its answer, once its session rests, or its question.

use jiff::Timestamp;

use super::glimpse::{JobEnd, JobGlimpse, SessionWork};
use super::input::{ReviewSight, ReviewState};
use crate::job::Job;
use crate::policy::Timing;

/// Why a review without a session ended.
const LOST: &str = "its session is gone";

/// Why a review failed whose plan Jules lets no one approve.
const UNAPPROVED: &str = "Jules refused the approval of its plan";

impl ReviewSight {
    /// What was seen of the job that reviews.
    pub fn of(job: &Job, timing: &Timing, now: Timestamp) -> Self {
        let glimpse = JobGlimpse::of_job(job, timing, now);
        let refused = glimpse.approval_refused;
        let given_up = refused.filter(|refused| refused.again_at.is_none());
        let given_up = given_up.map(|refused| format!("{UNAPPROVED}: {}", refused.why));
        let state = match glimpse.work {
            SessionWork::Resting(_) | SessionWork::Ended(JobEnd::Completed) => {
                ReviewState::Said(said(job))
            }
            SessionWork::Ended(end) => ReviewState::Failed(why(&end)),
            SessionWork::Asking => ReviewState::Asking,
            SessionWork::Waiting | SessionWork::Working | SessionWork::Planned(_) => {
                given_up.map_or(ReviewState::Working, ReviewState::Failed)
            }
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
    let said = job.watched().and_then(|watch| watch.log.agent.as_ref());
    said.map_or_else(String::new, |said| said.text.clone())
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
