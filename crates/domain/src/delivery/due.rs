//! When a delivery is read again without a message, so that a lost message is found.

use jiff::{SignedDuration, Timestamp};

use super::asks;
use super::history;
use super::lateness::{AGENT_ACTS_FOR, LOOK_WAITING, awaits_person, plan_due, result_due};
use super::transcript::transcript_due;
use super::{Delivery, Observe, Phase, ReviewBy, RunStatus};
use crate::when::plus;

/// How often it looks while something is under way.
pub const LOOK_RUNNING: SignedDuration = SignedDuration::from_mins(10);

/// How often it asks how a deployment goes, what was deployed, or whether checks still fail.
const LOOK_DEPLOYING: SignedDuration = SignedDuration::from_mins(1);

/// How often an issue is told something at most.
pub const TELL_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// How long it still looks after it was closed, so that what is wanted then is done although a process died.
const LOOKS_CLOSED_FOR: SignedDuration = SignedDuration::from_hours(1);

/// When it looks again at the latest; none once it is over.
pub fn due(delivery: &Delivery, now: Timestamp) -> Option<Timestamp> {
    let since = history::since(delivery);
    if delivery.is_terminal() {
        let is_recent = now < plus(since, LOOKS_CLOSED_FOR);
        let tells_at = tells_at(delivery).filter(|at| *at > now);
        let reads_at = transcript_due(delivery, now);
        let looks_at = is_recent.then(|| plus(now, LOOK_RUNNING));
        return looks_at.into_iter().chain(tells_at).chain(reads_at).min();
    }
    let wait = match delivery.phase {
        _ if awaits_person(delivery) => LOOK_WAITING,
        Phase::Deploy | Phase::Observe => LOOK_DEPLOYING,
        // Its pull request is read anew, which calls it: should that fail, it looks itself.
        Phase::Verify if delivery.task.forgiven.is_some() => LOOK_DEPLOYING,
        Phase::Intake
        | Phase::Plan
        | Phase::Implement
        | Phase::Review
        | Phase::Verify
        | Phase::Close => LOOK_RUNNING,
    };
    // A deadline that has passed was decided about.
    let reads_at = transcript_due(delivery, now);
    let deadlines = [deadline(delivery, since), tells_at(delivery), reads_at];
    let deadlines = deadlines.into_iter().flatten().filter(|at| *at > now);
    Some(deadlines.fold(plus(now, wait), Timestamp::min))
}

/// When its issue may be told what it was not told yet.
fn tells_at(delivery: &Delivery) -> Option<Timestamp> {
    let told = delivery.told.as_ref()?;
    asks::tell(delivery).map(|_| plus(told.at, TELL_EVERY))
}

/// When something is decided only because time has passed.
fn deadline(delivery: &Delivery, since: Timestamp) -> Option<Timestamp> {
    if delivery.run_status != RunStatus::Running {
        return None;
    }
    match delivery.phase {
        Phase::Implement => result_due(delivery),
        Phase::Review => {
            let asked = delivery.review.asked.as_ref();
            let asked = asked.filter(|asked| asked.by == ReviewBy::Agent)?;
            Some(plus(asked.at, AGENT_ACTS_FOR))
        }
        Phase::Observe => match delivery.rules.observe {
            Observe::Soak(time) => Some(plus(since, time)),
            Observe::None => None,
        },
        Phase::Plan => plan_due(delivery),
        Phase::Intake | Phase::Verify | Phase::Deploy | Phase::Close => None,
    }
}
