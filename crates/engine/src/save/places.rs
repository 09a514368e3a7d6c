//! Places of jobs in the lists of their account.

use domain::ids::PullRef;
use domain::job::{Job, JobPhase};

use crate::counts::CountLabel;
use crate::job_state::state_of;
use crate::keys;
use crate::ports::ListKey;

/// Whether a step has a job watched that was not.
pub(super) fn begins_to_be_watched(before: Option<&Job>, job: &Job) -> bool {
    let is_watched = |job: &Job| matches!(job.phase, JobPhase::Watching(_));
    is_watched(job) && !before.is_some_and(is_watched)
}

/// The pull request that polls check now and then for a missing record: that of a watched job.
pub(super) fn swept(job: &Job) -> Option<&PullRef> {
    let is_watched = matches!(job.phase, JobPhase::Watching(_));
    job.pull().filter(|_| is_watched)
}

/// The list of a job: watched and queued jobs are in lists of their account, ended ones in that of their state, where
/// they are counted.
///
/// A message to the session and a further attempt change the job's place: a cache that reads the list alone then
/// reads the job again.
pub fn job_list(job: &Job) -> Option<ListKey> {
    let sort = keys::list_position(job.created_at, &job.id);
    let (name, sort) = match &job.phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => {
            (keys::jobs_of("queued", &job.account), sort)
        }
        JobPhase::Watching(watch) => {
            let sort = match job.attempt {
                1 => sort,
                attempt => format!("{sort}:{attempt}"),
            };
            let sort = match watch.unconfirmed_since {
                Some(at) => format!("{sort}:{}", keys::stamp(at)),
                None => sort,
            };
            (keys::jobs_of("watched", &job.account), sort)
        }
        JobPhase::Proposed { .. } => (keys::jobs_of("proposed", &job.account), sort),
        // Their list alone says what they count as.
        JobPhase::Ended(_) => return keys::listed(keys::ended(state_of(job)), sort),
    };
    let word = Some(CountLabel::for_job(job).word());
    Some(ListKey { name, sort, word })
}

#[cfg(test)]
mod tests {
    use domain::job::{self, NewJob, Watch};
    use domain::session::{SessionState, SessionView};
    use jiff::Timestamp;

    use super::*;

    fn watched() -> Job {
        let new = NewJob {
            id: "01k5nx0000000000000000000a".parse().unwrap(),
            installation: "tests".parse().unwrap(),
            account: "default".parse().unwrap(),
            repo: "acme/shop".parse().unwrap(),
            branch: "main".parse().unwrap(),
            title: None,
            prompt: "Tidy".to_owned(),
            agent: None,
            resume: None,
            priority: domain::priority::Priority::default(),
            terms: domain::policy::Terms::default(),
            part: None,
            delivery: None,
        };
        let view = SessionView {
            id: "77".parse().unwrap(),
            title: String::new(),
            state: SessionState::InProgress,
            url: None,
            created_at: None,
            updated_at: None,
            repo: Some("acme/shop".parse().unwrap()),
            branch: None,
            pulls: Vec::new(),
            archived: false,
        };
        job::adopt(new, &view, Timestamp::UNIX_EPOCH)
            .unwrap()
            .aggregate
    }

    #[test]
    fn whoever_remembers_a_job_sees_by_its_place_what_its_session_was_told_or_is_another() {
        let first = watched();
        let again = Job {
            attempt: 2,
            ..first.clone()
        };
        let mut told = first.clone();
        let JobPhase::Watching(watch) = &mut told.phase else {
            panic!("it is watched");
        };
        **watch = Watch {
            unconfirmed_since: Some(Timestamp::UNIX_EPOCH),
            ..(**watch).clone()
        };
        let places = [first, again, told].map(|job| job_list(&job).unwrap().sort);
        let apart: std::collections::BTreeSet<&String> = places.iter().collect();
        assert_eq!(apart.len(), 3, "{places:?}");
    }
}
