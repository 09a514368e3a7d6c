//! What a sprint can see of the jobs and the pull requests of its members, and of the one that it makes itself.

use jiff::{SignedDuration, Timestamp};

use super::report::REASON_BYTES_MAX;
use super::{Offer, Outbox, Woven};
use crate::facts::PullState;
use crate::failure::Hindrance;
use crate::ids::{CommitSha, JobId, MessageId, PersonaName};
use crate::job::{self, EndReason, Ending, Job, JobPhase, Watch};
use crate::merge::{self, Judgement, Reason, SessionStatus};
use crate::policy::Timing;
use crate::pull::{Pull, PullPhase};
use crate::redact::{clause, storable};
use crate::when::plus;

/// How long a session that is done is waited for a pull request or a push: Jules lists the first late, and GitHub may report the
/// second after it.
pub(super) const LATE_OUTPUTS: SignedDuration = SignedDuration::from_secs(120);

/// How soon a sprint is read again that had a pull request read, or could not read files.
const READ_AGAIN: SignedDuration = SignedDuration::from_secs(60);

/// What a sprint can see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sights {
    /// Of the jobs of its members that are there.
    pub members: Vec<(JobId, SprintSight)>,
    /// Of the one pull request that it makes.
    pub landing: Option<Landing>,
    /// The unread mail of members that are sent it before a weave.
    pub mail: Vec<(PersonaName, Vec<MessageId>)>,
    /// How many sessions were created for all jobs of its members.
    pub tasks: u32,
    /// The numbers of pull requests that have to be read again: see [`must_be_read`](super::must_be_read).
    pub unread: Vec<u64>,
    /// What kept files from being read.
    pub hindrance: Option<Hindrance>,
    /// The jobs about whose mail answers are odd, and since when.
    pub doubts: Vec<(JobId, Timestamp)>,
}

impl Sights {
    /// Sees a member whose mail cannot be read as one at work: it may take back what looks ready. An odd answer about its mail says
    /// nothing of other files.
    pub fn hold_back(&mut self, job: &JobId, mut hindrance: Hindrance) {
        let doubt = hindrance.odd_since.take();
        self.doubts.extend(doubt.map(|since| (job.clone(), since)));
        self.hindrance = self.hindrance.take().or(Some(hindrance));
        let mut members = self.members.iter_mut();
        if let Some((_, sight)) = members.find(|(it, _)| it == job)
            && matches!(sight.work, Work::Ready(_))
        {
            sight.work = Work::Working;
        }
    }
}

/// What a sprint can see of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SprintSight {
    /// How far its work is.
    pub work: Work,
    /// When its session last said that it is done.
    pub rested_at: Option<Timestamp>,
    /// Whether checks of its pull request fail.
    pub is_red: bool,
    /// Where the mail is that it wrote, while its session writes none.
    pub outbox: Option<Outbox>,
}

impl SprintSight {
    /// Whether its session ended without a pull request, so that all it made is in its patch.
    pub(super) fn is_in_patch(&self) -> bool {
        self.work == Work::Nothing && self.outbox == Some(Outbox::Patch)
    }

    /// Whether its session is done and its pull request changes no file.
    pub(super) fn is_empty(&self) -> bool {
        self.work == Work::Nothing && matches!(self.outbox, Some(Outbox::Head { .. }))
    }
}

/// How far the work of a member is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Its job waits for a slot.
    Queued,
    /// Its session works, or its pull request is not ready to be woven.
    Working,
    /// Its pull request was closed a moment ago, and may be opened again.
    Closed,
    /// Its pull request is ready to be woven.
    Ready(Offer),
    /// Its pull request was merged by itself.
    Merged,
    /// Its session ended without a pull request, or with one that changes no file.
    Nothing,
    /// Its session is gone, or never came to be.
    Gone {
        /// Why.
        reason: String,
    },
    /// Nothing comes of it: a person ended it.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What a sprint can see of the one pull request that it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landing {
    /// It is open.
    Open,
    /// It is behind its base or conflicts with it: it has to be woven again.
    Stale,
    /// Its checks fail.
    Red,
    /// A commit that no weave made is on its branch.
    Foreign,
    /// It is merged.
    Merged,
    /// It was merged at another head than that of the newest weave.
    MergedOlder,
    /// It was closed without a merge.
    Closed,
}

/// What a sprint can see of the one pull request that it makes. What was judged of an older head says nothing of what the
/// newest weave pushed.
pub fn landing(pull: &Pull, newest: &Woven) -> Landing {
    let is_newest = |sha: &CommitSha| newest.commit == *sha;
    match &pull.phase {
        PullPhase::Settled {
            state: PullState::Merged { .. },
            sha,
            ..
        } => match is_newest(sha) {
            true => Landing::Merged,
            false => Landing::MergedOlder,
        },
        PullPhase::Settled { .. } => Landing::Closed,
        PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Closed { .. } => {
            let judged = pull.verdict.as_ref().filter(|it| is_newest(&it.sha));
            match judged.map(|it| &it.judgement) {
                Some(judgement) if is_stale(judgement) => Landing::Stale,
                Some(judgement) if is_red(judgement) => Landing::Red,
                Some(_) | None => Landing::Open,
            }
        }
    }
}

/// What of a pull request its sprint is called for when it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glimpse {
    /// How far it is: as one that goes to the target, and as one that goes to what is woven.
    works: [Work; 2],
    /// The head that has to be woven again.
    stale: Option<CommitSha>,
    /// The head whose checks fail.
    red: Option<CommitSha>,
    /// The head of what was woven, which another hand may have pushed.
    woven: Option<CommitSha>,
}

/// What of a pull request its sprint is called for when it changes.
pub fn glimpse(pull: &Pull) -> Glimpse {
    let head_that = |is_so: fn(&Judgement) -> bool| {
        let verdict = pull.verdict.as_ref().filter(|it| is_so(&it.judgement));
        verdict.map(|it| it.sha.clone())
    };
    Glimpse {
        works: [false, true].map(|on_woven| work_of_pull(pull, on_woven)),
        stale: head_that(is_stale),
        red: head_that(is_red),
        woven: match pull.session {
            Some(_) => None,
            None => pull.head.as_ref().map(|head| head.sha.clone()),
        },
    }
}

fn is_red(judgement: &Judgement) -> bool {
    !failing(judgement).is_empty()
}

/// The checks that fail.
fn failing(judgement: &Judgement) -> &[String] {
    match judgement {
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => {
            reasons.iter().find_map(failing_names).unwrap_or_default()
        }
        Judgement::Merge { .. } | Judgement::Conflict { .. } => &[],
    }
}

fn failing_names(reason: &Reason) -> Option<&[String]> {
    if let Reason::ChecksFailed { names, .. } = reason {
        return Some(names);
    }
    None
}

/// The checks of a pull request that fail.
pub fn failed_checks(pull: &Pull) -> &[String] {
    let judged = pull.verdict.as_ref();
    judged.map_or(&[], |it| failing(&it.judgement))
}

fn is_stale(judgement: &Judgement) -> bool {
    let is_old = |reason: &Reason| matches!(reason, Reason::Behind { .. } | Reason::Conflict);
    match judgement {
        Judgement::Conflict { .. } => true,
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => {
            reasons.iter().any(is_old)
        }
        Judgement::Merge { .. } => false,
    }
}

/// Whether what a session made must be there by now.
pub(super) fn may_no_more_be_late(rested: Timestamp, now: Timestamp) -> bool {
    now.duration_since(rested) >= LATE_OUTPUTS
}

/// How soon a sprint is to be read again because of what it sees: of a session that is done, a pull request or a push may come
/// late, and files may not have been read.
pub fn soon(sights: &Sights, now: Timestamp) -> Option<Timestamp> {
    let rested = sights.members.iter().filter_map(|(_, sight)| {
        let rested = sight.rested_at.filter(|_| may_change(&sight.work))?;
        Some(plus(rested, LATE_OUTPUTS))
    });
    let is_unread = !sights.unread.is_empty() || sights.hindrance.is_some();
    let unread = is_unread.then(|| plus(now, READ_AGAIN));
    rested.filter(|at| *at > now).chain(unread).min()
}

fn may_change(work: &Work) -> bool {
    match work {
        Work::Working | Work::Closed | Work::Ready(_) => true,
        Work::Queued | Work::Merged | Work::Nothing | Work::Gone { .. } | Work::Failed { .. } => {
            false
        }
    }
}

/// What a sprint can see of the job of a member and of its pull request.
pub fn sight(job: &Job, pull: Option<&Pull>, timing: &Timing, now: Timestamp) -> SprintSight {
    let (work, rested_at, outbox) = match &job.phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => (Work::Queued, None, None),
        JobPhase::Proposed { .. } => (Work::Working, None, None),
        JobPhase::Watching(watch) => {
            let (work, outbox) = watched(job, watch, pull, timing, now);
            (work, watch.announced.completed_at, outbox)
        }
        JobPhase::Ended(ending) => (ended(&ending.how), None, left_behind(ending, pull)),
    };
    let is_red = |pull: &Pull| {
        let judged = pull.verdict.as_ref();
        judged.is_some_and(|it| is_red(&it.judgement))
    };
    SprintSight {
        work,
        rested_at,
        is_red: pull.is_some_and(is_red),
        outbox,
    }
}

fn watched(
    job: &Job,
    watch: &Watch,
    pull: Option<&Pull>,
    timing: &Timing,
    now: Timestamp,
) -> (Work, Option<Outbox>) {
    let rests = job::session_status(job, Some(&watch.session), timing, now);
    if rests != SessionStatus::Resting {
        return (Work::Working, None);
    }
    let done = watch.announced.completed_at;
    let is_whole = done.is_some_and(|at| may_no_more_be_late(at, now));
    match (&watch.pull, pull) {
        (Some(_), Some(pull)) => {
            let work = work_of_pull(pull, job.is_on_woven());
            let is_empty = work == Work::Working && is_whole && is_without_files(pull);
            let work = if is_empty { Work::Nothing } else { work };
            (work, in_head(pull))
        }
        (None, _) if is_whole => (Work::Nothing, Some(Outbox::Patch)),
        (Some(_), None) | (None, _) => (Work::Working, None),
    }
}

/// Whether GitHub lists no changed file of its present head.
fn is_without_files(pull: &Pull) -> bool {
    let (Some(head), Some(verdict)) = (&pull.head, &pull.verdict) else {
        return false;
    };
    let lists_none = match &verdict.judgement {
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => {
            reasons.iter().any(Reason::is_without_files)
        }
        Judgement::Merge { .. } | Judgement::Conflict { .. } => false,
    };
    lists_none && verdict.sha == head.sha
}

/// The mail of a job that is over. Without a pull request, what a session wrote that was cancelled may be half done; the job of one
/// that was done by itself may have been left before its patch was read.
fn left_behind(ending: &Ending, pull: Option<&Pull>) -> Option<Outbox> {
    if ending.pull.is_some() {
        return pull.and_then(in_head);
    }
    match ending.how {
        EndReason::Completed | EndReason::Failed { .. } | EndReason::Left => Some(Outbox::Patch),
        EndReason::Merged { .. }
        | EndReason::Woven { .. }
        | EndReason::PullClosed
        | EndReason::Lost
        | EndReason::Refused { .. }
        | EndReason::Cancelled { .. } => None,
    }
}

/// The mail in a pull request, whether or not that is ready.
fn in_head(pull: &Pull) -> Option<Outbox> {
    let head = pull.head.as_ref()?.sha.clone();
    Some(Outbox::Head { head })
}

/// How far a pull request is whose session rests.
fn work_of_pull(pull: &Pull, on_woven: bool) -> Work {
    match &pull.phase {
        PullPhase::Open | PullPhase::Merging { .. } => {}
        PullPhase::Closed { .. } => return Work::Closed,
        PullPhase::Settled { state, .. } => {
            return match state {
                PullState::Merged { .. } => Work::Merged,
                PullState::Open | PullState::Closed => failed("its pull request was closed"),
            };
        }
    }
    let (Some(head), Some(verdict)) = (&pull.head, &pull.verdict) else {
        return Work::Working;
    };
    match verdict.sha == head.sha && merge::is_weavable(&verdict.judgement, on_woven) {
        true => Work::Ready(Offer {
            pull: pull.pull.number,
            head: head.sha.clone(),
        }),
        false => Work::Working,
    }
}

fn ended(how: &EndReason) -> Work {
    match how {
        EndReason::Completed => Work::Nothing,
        EndReason::Merged { .. } => Work::Merged,
        EndReason::Woven { .. } => failed("it is in another pull request already"),
        EndReason::PullClosed => failed("its pull request was closed"),
        EndReason::Lost => gone("its session disappeared"),
        EndReason::Left => failed("it was left to people"),
        EndReason::Failed { reason } => gone(&format!("it failed: {reason}")),
        EndReason::Refused { reason } => gone(&format!("Jules refused it: {reason}")),
        EndReason::Cancelled { by } => failed(&format!("{by} cancelled it")),
    }
}

fn gone(reason: &str) -> Work {
    Work::Gone {
        reason: storable(clause(reason), REASON_BYTES_MAX),
    }
}

fn failed(reason: &str) -> Work {
    Work::Failed {
        reason: storable(clause(reason), REASON_BYTES_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::{at, sha};
    use crate::pull::{SeenHead, track};

    #[test]
    fn a_sprint_is_called_for_a_push_to_what_it_wove_before_that_is_judged() {
        let job = JobId::from_ulid(ulid::Ulid(7));
        let mut woven = track("acme/shop#7".parse().unwrap(), job, None, at(0));
        let head = |letter| {
            let (sha, since) = (sha(letter), at(0));
            Some(SeenHead { sha, since })
        };
        woven.head = head('a');
        let mut pushed = woven.clone();
        pushed.head = head('c');
        assert_ne!(glimpse(&woven), glimpse(&pushed));
        let of_session = |pull: &Pull| Pull {
            session: "14550388554331055113".parse().ok(),
            ..pull.clone()
        };
        assert_eq!(glimpse(&of_session(&woven)), glimpse(&of_session(&pushed)));
    }
}
