//! Where jobs are stored, with what was read of their sessions.

use domain::ids::{EventId, JobId};
use jiff::Timestamp;

use super::{EVENT, EVENT_COUNT, META, key, stamp};
use crate::ports::Key;

/// The list of all jobs, newest last.
pub const JOBS: &str = "jobs";

/// Begins the partition of a job.
pub(super) const JOB: &str = "JOB#";
/// The sort key of an adoption.
pub const ADOPTION: &str = "ADOPTION";
/// Begins the sort key of a further piece of a patch.
pub const ARTIFACTS_PAGE: &str = "ARTIFACTS#";
/// The sort key of the last read of a job on request.
pub const SESSION_CHECK: &str = "SESSION_CHECK";
/// Begins the sort key of a page of a job's conversation.
pub const MESSAGES: &str = "MESSAGES#";
/// The sort key of a job's notes.
pub const NOTES: &str = "NOTES";
/// The sort key of the number of reads of a job on request.
pub const READINGS: &str = "READINGS";

/// Partition of a job.
pub fn job_pk(job: &JobId) -> String {
    format!("{JOB}{job}")
}

/// A job.
pub fn job(id: &JobId) -> Key {
    key(job_pk(id), META)
}

/// The job that a record is, or belongs to.
pub(crate) fn job_of(key: &Key) -> Option<JobId> {
    job_in(&key.pk)
}

/// The job of a partition; none for another one.
pub(crate) fn job_in(pk: &str) -> Option<JobId> {
    pk.strip_prefix(JOB)?.parse().ok()
}

/// How many events of a job were recorded.
pub fn event_count(id: &JobId) -> Key {
    key(job_pk(id), EVENT_COUNT)
}

/// The last read artifacts of a job.
pub fn artifacts(id: &JobId) -> Key {
    key(job_pk(id), "ARTIFACTS")
}

/// A further piece of the patch among it, from 1.
pub fn artifacts_page(id: &JobId, page: u32) -> Key {
    key(job_pk(id), format!("{ARTIFACTS_PAGE}{page:03}"))
}

/// The last read page of a job's conversation after a cursor; `cursor` is a digest of it.
pub fn messages(id: &JobId, cursor: &str) -> Key {
    key(job_pk(id), format!("{MESSAGES}{cursor}"))
}

/// When a job was last read on request.
pub fn session_check(id: &JobId) -> Key {
    key(job_pk(id), SESSION_CHECK)
}

/// How often a job was read on request.
pub fn readings(id: &JobId) -> Key {
    key(job_pk(id), READINGS)
}

/// What people and agents note down about a job.
pub fn notes(id: &JobId) -> Key {
    key(job_pk(id), NOTES)
}

/// A session to adopt under this job id.
pub fn adoption(id: &JobId) -> Key {
    key(job_pk(id), ADOPTION)
}

/// The row that keeps a job in the list of all jobs.
pub fn job_listed(id: &JobId) -> Key {
    key(job_pk(id), "LISTED")
}

/// The place of a job in lists: by its age, then by its id.
pub fn list_position(created_at: Timestamp, id: &JobId) -> String {
    format!("{}:{id}", stamp(created_at))
}

/// An event of a job.
pub fn event(job: &JobId, id: &EventId) -> Key {
    key(job_pk(job), format!("{EVENT}{id}"))
}
