//! Progress: what most observations of a working session show. It changes only the moment from which silence is
//! counted.

use super::Job;
use super::watch::{Attention, SessionLog, Watch};
use super::{JobPhase, silence};
use crate::session::SessionState;
use crate::step::Step;

/// Whether a step records nothing but that a session at work went on: until something else happens no decision
/// depends on it.
///
/// Not so while the session counts as silent, nor once it said that it is done: then its next activity matters.
pub fn is_progress(before: &Job, step: &Step<Job>) -> bool {
    let told = step.events.is_empty() && step.amended.is_empty();
    let asked = step.effects.is_empty() && step.follow_ups.is_empty();
    let (JobPhase::Watching(was), JobPhase::Watching(is)) = (&before.phase, &step.aggregate.phase)
    else {
        return false;
    };
    told && asked
        && was != is
        && is_at_work(was)
        && Job {
            phase: JobPhase::Watching(Box::new(without(was, is))),
            ..step.aggregate.clone()
        } == *before
}

/// Whether nothing is open about a session that works.
fn is_at_work(watch: &Watch) -> bool {
    watch.state == SessionState::InProgress
        && watch.attention == Attention::None
        && watch.log.completed.is_none()
        && watch.unconfirmed_since.is_none()
        && !silence::is_silent(watch)
}

/// The session's new state with its progress taken out.
fn without(was: &Watch, is: &Watch) -> Watch {
    Watch {
        progress_at: was.progress_at,
        log: SessionLog {
            through: was.log.through,
            recent: was.log.recent.clone(),
            last_words: was.log.last_words.clone(),
            worked_at: was.log.worked_at,
            ..is.log.clone()
        },
        ..is.clone()
    }
}
