//! What a session that has a job's marker is to the job: a create whose answer was lost may have been repeated.

use std::cmp::Ordering;

use crate::effect::{Action, JulesAction};
use crate::ids::{JobId, SessionId};
use crate::policy::Timing;
use crate::step::Step;

use super::{Job, JobPhase, looked_at};

/// What a session with a job's marker is to the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionRelation {
    /// The job has it, or had it in an earlier attempt.
    Own,
    /// It may be the session whose create the job waits for.
    Unsettled,
    /// A duplicate, or one of an attempt that was cancelled before its session was known: it is archived.
    Duplicate,
    /// The job ended without this session and did not wait to hear of it. It is archived too, but may be adopted
    /// before that.
    Stray,
    /// It belongs to an attempt that the job has not reached, as after a restore of an older store: left alone, since
    /// the job finds it when it gets there.
    Ahead,
}

/// What a session is to the job in whose marker of this attempt it was made.
pub fn relation(job: &Job, session: &SessionId, attempt: u32) -> SessionRelation {
    if job.session() == Some(session) || job.earlier.contains(session) {
        return SessionRelation::Own;
    }
    match attempt.cmp(&job.attempt) {
        Ordering::Less => SessionRelation::Duplicate,
        Ordering::Equal => relation_in_this_attempt(&job.phase),
        Ordering::Greater => SessionRelation::Ahead,
    }
}

/// What a session of the job's present attempt is to it, if it is not the one that it has.
fn relation_in_this_attempt(phase: &JobPhase) -> SessionRelation {
    match phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => SessionRelation::Unsettled,
        JobPhase::Watching(_) => SessionRelation::Duplicate,
        JobPhase::Ended(ending) if ending.session.is_some() => SessionRelation::Duplicate,
        JobPhase::Proposed { .. } | JobPhase::Ended(_) => SessionRelation::Stray,
    }
}

/// Handles a session that belongs to this attempt of the job. A session that the job does not need is archived,
/// unless another job adopted it.
pub fn session_found(
    job: &Job,
    session: &SessionId,
    attempt: u32,
    owner: Option<&JobId>,
    timing: &Timing,
) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    let adopted = owner.is_some_and(|owner| *owner != job.id);
    match relation(job, session, attempt) {
        SessionRelation::Duplicate | SessionRelation::Stray if !adopted => {
            step.effects.push(Action::Jules(JulesAction::Archive {
                session: session.clone(),
            }))
        }
        SessionRelation::Duplicate
        | SessionRelation::Stray
        | SessionRelation::Own
        | SessionRelation::Unsettled
        | SessionRelation::Ahead => {}
    }
    step.due = looked_at(job, timing);
    step
}
