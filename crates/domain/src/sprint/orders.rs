//! What people order of a sprint, and what a pause does to it.

use jiff::{SignedDuration, Timestamp};

use super::apply::go_on;
use super::mailing::not_taken;
use super::member::MemberState;
use super::one_by_one::see_alone;
use super::sight::{Landing, Work};
use super::{Sights, Sprint, SprintState};
use crate::advice::Advice;
use crate::fence::clip;
use crate::ids::JobId;
use crate::refusal::NotNow;
use crate::when::plus;

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

/// A sprint that was aborted while merges were under way: what turned out to be merged counts, and the sprint stays aborted.
pub fn merged_meanwhile(sprint: &Sprint, sights: &Sights, now: Timestamp) -> Sprint {
    let mut next = sprint.clone();
    if !matches!(sprint.state, SprintState::Aborted { .. }) {
        return next;
    }
    if sprint.is_woven() {
        next.merged |= sights.landing == Some(Landing::Merged);
    } else {
        let is_merged = |job: &JobId| {
            let mut seen = sights.members.iter();
            seen.any(|(it, sight)| it == job && sight.work == Work::Merged)
        };
        for member in next.members.iter_mut().filter(|it| is_merged(&it.job)) {
            see_alone(member, &Work::Merged);
        }
    }
    if next != *sprint {
        next.updated_at = now;
    }
    next
}

/// Weaves what there is, where no member is waited for.
///
/// # Errors
/// When it is over or being woven, when it weaves nothing, when it would end with nothing woven, or when a member is waited for.
pub fn integrate(sprint: &Sprint, now: Timestamp) -> Result<Sprint, NotNow> {
    // The refusal of those who wait advises to wait for none, so that has to be possible.
    let woven = integrate_now(sprint, now)?;
    let awaited = sprint.members.iter().filter(|it| it.is_awaited());
    let awaited: Vec<&str> = awaited.map(|it| it.persona.as_str()).collect();
    if !awaited.is_empty() {
        let sentence = format!(
            "sprint {} waits for {}: give it time, or have it integrate now, without them",
            sprint.number,
            awaited.join(", ")
        );
        let without = Advice::IntegrateSprint.about(&sprint.repo);
        return Err(NotNow::new("members_awaited", sentence).advising(without));
    }
    Ok(woven)
}

/// Waits for no member any more, and weaves what there is.
///
/// # Errors
/// When it is over or being woven, when it weaves nothing, or when it would end with nothing woven.
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
        if member.state == MemberState::Pending {
            member.state = MemberState::Skipped {
                reason: "it was not begun".to_owned(),
            };
        } else if member.is_awaited() {
            member.state = MemberState::TimedOut;
        }
    }
    go_on(&mut next, None, now);
    if next.is_over() && next.offered().is_empty() {
        let sentence = format!(
            "no pull request of sprint {} is ready, so it would end with nothing woven: give its members time, or abort it",
            sprint.number
        );
        return Err(looked_at_or_aborted(
            NotNow::new("nothing_ready", sentence),
            sprint,
        ));
    }
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
    Err(looked_at_or_aborted(
        NotNow::new("individual", sentence),
        sprint,
    ))
}

/// A refusal to weave, with what can be done with the sprint in place of that.
fn looked_at_or_aborted(refused: NotNow, sprint: &Sprint) -> NotNow {
    refused
        .advising(Advice::WhySprint.about(&sprint.repo))
        .advising(Advice::AbortSprint.about(&sprint.repo))
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

/// A sprint in a pause: what passed of it since the look before is no time of waiting.
pub fn held(sprint: &Sprint, now: Timestamp) -> Sprint {
    if sprint.is_over() {
        return sprint.clone();
    }
    let mut held = resumed(sprint, now);
    held.held_at = Some(now);
    held.hinder(&Sights::default());
    held
}

/// A sprint after a pause: its members have the time that they had when that began.
pub fn resumed(sprint: &Sprint, now: Timestamp) -> Sprint {
    let mut resumed = sprint.clone();
    let Some(held_at) = resumed.held_at.take() else {
        return resumed;
    };
    let passed = now.duration_since(held_at).max(SignedDuration::ZERO);
    let awaited = resumed.members.iter_mut().filter(|it| it.is_awaited());
    for member in awaited {
        // What began within the pause waits from now on at the latest.
        let since = plus(member.since, passed).min(now);
        member.since = member.since.max(since);
    }
    resumed
}
