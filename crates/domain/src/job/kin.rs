//! What a session that has a job's marker is to the job: a create whose answer was lost may have been repeated.

use std::cmp::Ordering;

use crate::effect::Action;
use crate::ids::{JobId, SessionId};
use crate::policy::Timing;
use crate::step::Step;

use super::{Job, Phase, looked_at};

/// What a session with a job's marker is to the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kin {
    /// The job has it, or had it in an earlier attempt.
    Own,
    /// It may be the session whose create the job waits for.
    Unsettled,
    /// A duplicate, or one of an attempt that was cancelled before its session was known: it is archived.
    Twin,
    /// The job ended without this session and did not wait to hear of it. It is archived too, but may be adopted
    /// before that.
    Stray,
    /// It belongs to an attempt that the job has not reached, as after a restore of an older store: left alone, since
    /// the job finds it when it gets there.
    Ahead,
}

/// What a session is to the job in whose marker of this attempt it was made.
pub fn kin(job: &Job, session: &SessionId, attempt: u32) -> Kin {
    if job.session() == Some(session) || job.earlier.contains(session) {
        return Kin::Own;
    }
    match attempt.cmp(&job.attempt) {
        Ordering::Less => Kin::Twin,
        Ordering::Equal => kin_of_this_attempt(&job.phase),
        Ordering::Greater => Kin::Ahead,
    }
}

/// What a session of the job's present attempt is to it, if it is not the one that it has.
fn kin_of_this_attempt(phase: &Phase) -> Kin {
    match phase {
        Phase::Queued { .. } | Phase::Creating { .. } => Kin::Unsettled,
        Phase::Watching(_) => Kin::Twin,
        Phase::Ended(ending) if ending.session.is_some() => Kin::Twin,
        Phase::Ended(_) => Kin::Stray,
    }
}

/// Handles a session that belongs to this attempt of the job. A session that the job does not need is archived,
/// unless another job adopted it.
pub fn turned_up(
    job: &Job,
    (session, attempt): (&SessionId, u32),
    owner: Option<&JobId>,
    timing: &Timing,
) -> Step<Job> {
    let mut step = Step::stay(job.clone());
    let adopted = owner.is_some_and(|owner| *owner != job.id);
    match kin(job, session, attempt) {
        Kin::Twin | Kin::Stray if !adopted => step.effects.push(Action::Archive {
            session: session.clone(),
        }),
        Kin::Twin | Kin::Stray | Kin::Own | Kin::Unsettled | Kin::Ahead => {}
    }
    step.due = looked_at(job, timing);
    step
}
