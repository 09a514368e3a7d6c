//! What people order of a sprint, and what a pause does to it.

use jiff::Timestamp;

use super::apply::go_on;
use super::mailing::not_taken;
use super::member::MemberState;
use super::{Sprint, SprintState};
use crate::fence::clip;
use crate::job::NotNow;

/// Longest name of who aborts, in characters.
const BY_CHARS_MAX: usize = 80;

/// Calls a sprint off: nothing more is woven, and its pull requests are left to people.
///
/// # Errors
/// When it is over.
pub fn abort(sprint: &Sprint, by: &str, now: Timestamp) -> Result<Sprint, NotNow> {
    must_go_on(sprint)?;
    let mut next = sprint.clone();
    next.state = SprintState::Aborted {
        at: now,
        by: clip(by, BY_CHARS_MAX),
    };
    next.members.iter_mut().for_each(not_taken);
    next.updated_at = now;
    Ok(next)
}

/// Weaves what there is, where no member is waited for.
///
/// # Errors
/// When it is over or being woven, when it weaves nothing, or when a member is waited for.
pub fn integrate(sprint: &Sprint, now: Timestamp) -> Result<Sprint, NotNow> {
    must_go_on(sprint)?;
    must_be_woven(sprint)?;
    let awaited = sprint.members.iter().filter(|it| it.is_awaited());
    let awaited: Vec<&str> = awaited.map(|it| it.persona.as_str()).collect();
    if !awaited.is_empty() {
        let sentence = format!(
            "sprint {} waits for {}: give it time, or have it integrate now, without them",
            sprint.number,
            awaited.join(", ")
        );
        return Err(NotNow::new("members_awaited", sentence));
    }
    integrate_now(sprint, now)
}

/// Waits for no member any more, and weaves what there is.
///
/// # Errors
/// When it is over or being woven, or when it weaves nothing.
pub fn integrate_now(sprint: &Sprint, now: Timestamp) -> Result<Sprint, NotNow> {
    must_go_on(sprint)?;
    must_be_woven(sprint)?;
    if sprint.state == SprintState::Integrating {
        let sentence = format!("sprint {} is being woven already", sprint.number);
        return Err(NotNow::new("integrating", sentence));
    }
    let mut next = sprint.clone();
    for member in &mut next.members {
        not_taken(member);
        match member.state {
            MemberState::Pending => {
                member.state = MemberState::Skipped {
                    reason: "it was not begun".to_owned(),
                };
            }
            MemberState::Waiting
            | MemberState::Working
            | MemberState::Conflicted
            | MemberState::Rerunning => member.state = MemberState::TimedOut,
            MemberState::PullOpen
            | MemberState::Applied { .. }
            | MemberState::Unresolved
            | MemberState::Delegated
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => {}
        }
    }
    go_on(&mut next, None, now);
    next.updated_at = now;
    Ok(next)
}

/// Whether what its members make is woven.
///
/// # Errors
/// When each pull request is merged by itself.
pub fn must_be_woven(sprint: &Sprint) -> Result<(), NotNow> {
    if sprint.is_woven() {
        return Ok(());
    }
    let sentence = format!(
        "sprint {} weaves nothing, since each pull request of its members is merged by itself: merge those that are ready, cancel jobs that are not to be waited for, or abort the sprint",
        sprint.number
    );
    Err(NotNow::new("individual", sentence))
}

/// Whether there is anything left to order.
///
/// # Errors
/// When it is over.
pub fn must_go_on(sprint: &Sprint) -> Result<(), NotNow> {
    if sprint.is_over() {
        let sentence = format!(
            "sprint {} of {} is over already",
            sprint.number, sprint.repo
        );
        return Err(NotNow::new("ended", sentence));
    }
    Ok(())
}

/// A sprint whose source is paused: the time of the pause is no time of waiting.
pub fn held(sprint: &Sprint, now: Timestamp) -> Sprint {
    let mut held = sprint.clone();
    if sprint.is_over() {
        return held;
    }
    for member in held.members.iter_mut().filter(|it| it.is_awaited()) {
        member.since = now;
    }
    held.odd_since = None;
    held
}
