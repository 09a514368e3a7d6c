//! What a session that has a job's marker is to the job: a create whose answer was lost may have been repeated.

use crate::effect::Action;
use crate::ids::SessionId;
use crate::policy::Timing;
use crate::step::Step;

use super::{Job, Phase, deadline};

/// What a session with a job's marker is to the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kin {
    /// The job has it, or had it in an earlier attempt.
    Own,
    /// It may be the one whose making the job waits to hear of.
    Unsettled,
    /// A second one, or one of an attempt that was called off before it was known: it is put away.
    Twin,
    /// Nobody's, and left alone: the job ended without one.
    Nobodys,
    /// Of an attempt that the job has not come to, as in a store that was put back to how it was earlier: left alone, since the job finds it when it comes there.
    Ahead,
}

/// What a session is to the job in whose marker of this attempt it was made.
pub fn kin(job: &Job, session: &SessionId, attempt: u32) -> Kin {
    if job.session() == Some(session) || job.earlier.contains(session) {
        return Kin::Own;
    }
    match attempt.cmp(&job.attempt) {
        std::cmp::Ordering::Less => return Kin::Twin,
        std::cmp::Ordering::Greater => return Kin::Ahead,
        std::cmp::Ordering::Equal => {}
    }
    match &job.phase {
        Phase::Queued { .. } | Phase::Creating { .. } => Kin::Unsettled,
        Phase::Watching(_) => Kin::Twin,
        Phase::Ended(ending) if ending.session.is_some() => Kin::Twin,
        Phase::Ended(_) => Kin::Nobodys,
    }
}

/// A session of this job's making turned up, of this attempt: it is put away if it is a twin.
pub fn turned_up(job: &Job, (session, attempt): (&SessionId, u32), timing: &Timing) -> Step<Job> {
    let mut step = Step::stay(job.clone());
    match kin(job, session, attempt) {
        Kin::Twin => step.effects.push(Action::Archive {
            session: session.clone(),
        }),
        Kin::Own | Kin::Unsettled | Kin::Nobodys | Kin::Ahead => {}
    }
    step.due = deadline(job, timing);
    step
}
