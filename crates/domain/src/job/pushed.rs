//! A session whose news is pushed to us: noted, so that it need not be asked for as often.

use jiff::{SignedDuration, Timestamp};

use super::due::looked_at;
use super::watch::Watch;
use super::{Job, JobPhase};
use crate::ids::SessionId;
use crate::policy::Timing;
use crate::step::Step;

/// How long after a recorded push further pushes are relied on: a session at work sends one every few minutes.
pub const PUSHED_FOR: SignedDuration = SignedDuration::from_mins(30);

/// Pushes that come this soon after a noted one are not noted: a session that says much does not have its job written each time.
const NOTED_EVERY: SignedDuration = SignedDuration::from_mins(5);

impl Watch {
    /// Whether its news was pushed to us lately.
    pub fn is_pushed(&self, now: Timestamp) -> bool {
        let since = |at: Timestamp| now.duration_since(at);
        self.pushed_at.is_some_and(|at| since(at) < PUSHED_FOR)
    }
}

/// Handles a pushed session that claims to belong to the job. Gaffer believes only that pushes arrive. Returns `None`
/// for a session that is not watched any more.
pub fn pushed(
    job: &Job,
    session: &SessionId,
    now: Timestamp,
    timing: &Timing,
) -> Option<Step<Job>> {
    let mut step = Step::unchanged(job.clone());
    match &mut step.aggregate.phase {
        JobPhase::Watching(watch) if watch.session == *session => {
            let noted = |at: Timestamp| now.duration_since(at) < NOTED_EVERY;
            if !watch.pushed_at.is_some_and(noted) {
                watch.pushed_at = Some(now);
            }
        }
        JobPhase::Watching(_)
        | JobPhase::Queued { .. }
        | JobPhase::Creating { .. }
        | JobPhase::Proposed { .. }
        | JobPhase::Ended(_) => {
            return None;
        }
    }
    step.due = looked_at(&step.aggregate, timing);
    Some(step)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{watched, watched_job};
    use super::*;

    /// So many seconds after the job got its session.
    fn after(job: &Job, seconds: i64) -> Timestamp {
        job.created_at + SignedDuration::from_secs(seconds)
    }

    fn push(job: &Job, session: &str, second: i64) -> Option<Job> {
        let session = session.parse().unwrap();
        let timing = Timing::default();
        pushed(job, &session, after(job, second), &timing).map(|step| {
            assert!(step.events.is_empty() && step.effects.is_empty());
            assert_eq!(step.due, looked_at(&step.aggregate, &timing));
            step.aggregate
        })
    }

    #[test]
    fn pushes_are_noted_now_and_then_and_change_nothing_else() {
        let job = watched_job();
        let session = job.session().unwrap().to_string();
        let noted = push(&job, &session, 10).unwrap();
        let watch = watched(&noted);
        assert_eq!(watch.pushed_at, Some(after(&job, 10)));
        assert_eq!(push(&noted, &session, 309), Some(noted.clone()));
        assert_ne!(push(&noted, &session, 310), Some(noted.clone()));
        assert!(watch.is_pushed(after(&job, 10 + 1_799)));
        assert!(!watch.is_pushed(after(&job, 10 + 1_800)));
        let mut same = watch.clone();
        same.pushed_at = None;
        assert_eq!(JobPhase::Watching(Box::new(same)), job.phase);
    }

    #[test]
    fn another_session_and_a_job_that_is_over_take_no_push() {
        let job = watched_job();
        assert_eq!(push(&job, "77", 10), None);
        let session = job.session().unwrap().to_string();
        let ended = super::super::cancel(&job, "me", after(&job, 5)).unwrap();
        assert_eq!(push(&ended.aggregate, &session, 10), None);
    }
}
