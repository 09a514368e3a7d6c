//! Why a delivery is where it is, as far as its own record tells: a code for programs and a sentence for people.
//! What its job and its pull request wait for is told by them.

mod by_phase;

use super::failure::failed;
use super::lateness::{awaits_person, planner, refused_approval};
use super::verify::is_read_again;
use super::{
    Child, ChildState, Delivery, IssueTrouble, Phase, PlanBy, REFUSALS_MAX, ReviewBy, RunStatus,
    Want,
};
use crate::event::Audience;
use crate::ids::AgentName;
use crate::job::WaitParty;
use crate::pull::REOPEN_WAIT;

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryReason {
    /// For programs.
    pub code: &'static str,
    /// For people.
    pub sentence: String,
}

/// One reason in two wordings.
struct WordedReason {
    code: &'static str,
    /// For people who look at Gaffer: also in the words of others, and with what they can do.
    sentence: String,
    /// For everybody who reads the issue, people and agents: only our own words, which ask for nothing and stay the same while the
    /// code does, and the part or the pull request that they name.
    public: String,
}

/// A reason that is the same for all.
fn reason(code: &'static str, sentence: impl Into<String>) -> WordedReason {
    let sentence = sentence.into();
    WordedReason {
        code,
        public: sentence.clone(),
        sentence,
    }
}

/// A reason with details for people who look at Gaffer.
fn detailed(code: &'static str, what: &str, words: &str) -> WordedReason {
    WordedReason {
        code,
        sentence: format!("{what}: {words}"),
        public: format!("{what}."),
    }
}

/// A reason whose words for people who look at Gaffer change while its code stays the same.
fn worded(code: &'static str, sentence: impl Into<String>, public: &str) -> WordedReason {
    WordedReason {
        code,
        sentence: sentence.into(),
        public: public.to_owned(),
    }
}

/// Who is waited for. `woken` is the agent that would be woken: without one, a person is awaited in its place.
pub(super) fn waits_for(delivery: &Delivery, woken: Option<&AgentName>) -> WaitParty {
    match asked_party(delivery) {
        WaitParty::Agent if woken.is_none() => WaitParty::Person,
        who @ (WaitParty::Person
        | WaitParty::Agent
        | WaitParty::Jules
        | WaitParty::GitHub
        | WaitParty::Gaffer
        | WaitParty::Nobody) => who,
    }
}

/// Who was asked, whether or not the agent can be woken.
fn asked_party(delivery: &Delivery) -> WaitParty {
    if delivery.is_terminal() {
        return WaitParty::Nobody;
    }
    if is_left_to_agent(delivery) {
        return WaitParty::Agent;
    }
    if awaits_person(delivery) {
        return WaitParty::Person;
    }
    if delivery.run_status == RunStatus::Blocked {
        return WaitParty::Agent;
    }
    match delivery.phase {
        // A part that failed waits for a person, and so does what it is a part of.
        Phase::Plan if delivery.has_failed_part() => WaitParty::Person,
        Phase::Plan if !delivery.children.is_empty() => WaitParty::Gaffer,
        Phase::Plan => match planner(delivery) {
            PlanBy::Jules => WaitParty::Jules,
            PlanBy::Agent => WaitParty::Agent,
            PlanBy::Human => WaitParty::Person,
        },
        Phase::Implement => WaitParty::Jules,
        Phase::Review => match delivery.review.asked.as_ref().map(|asked| asked.by) {
            Some(ReviewBy::Agent) => WaitParty::Agent,
            Some(ReviewBy::Human) => WaitParty::Person,
            Some(ReviewBy::Jules) => WaitParty::Jules,
            Some(ReviewBy::Nobody) | None => WaitParty::GitHub,
        },
        Phase::Verify | Phase::Deploy => WaitParty::GitHub,
        Phase::Intake | Phase::Observe | Phase::Close => WaitParty::Gaffer,
    }
}

/// Whether the agent is told of its failure.
fn is_left_to_agent(delivery: &Delivery) -> bool {
    matches!(
        failed(delivery),
        Some(Want::TellFailed {
            audience: Audience::Agent,
            ..
        })
    )
}

/// Why it is where it is, the decisive reason first. `woken` is the agent that would be woken.
pub fn reasons(delivery: &Delivery, woken: Option<&AgentName>) -> Vec<DeliveryReason> {
    let reason = |WordedReason { code, sentence, .. }| DeliveryReason { code, sentence };
    worded_reasons(delivery, woken)
        .into_iter()
        .map(reason)
        .collect()
}

/// The same for everybody who reads its issue, behind what lasts of that which keeps its pull request from being merged, where that
/// decides. The sentences repeat no words of others, ask for nothing, and stay the same while the code does, and what they name.
pub(crate) fn public_reasons(delivery: &Delivery) -> Vec<DeliveryReason> {
    let seen = delivery.pull_seen();
    let seen = seen.filter(|_| is_told_by_pull(delivery)).into_iter();
    let of_pull = seen
        .flat_map(|seen| &seen.held_by)
        .map(|held| DeliveryReason {
            code: held.code(),
            sentence: held.sentence().to_owned(),
        });
    // Which agent can be woken is told to people who look at Gaffer.
    let own = worded_reasons(delivery, None).into_iter();
    let own = own.map(|WordedReason { code, public, .. }| DeliveryReason {
        code,
        sentence: public,
    });
    of_pull.chain(own).collect()
}

fn worded_reasons(delivery: &Delivery, woken: Option<&AgentName>) -> Vec<WordedReason> {
    let mut found = vec![by_phase::first(delivery, waits_for(delivery, woken))];
    match &delivery.trouble {
        Some(IssueTrouble::Closed { .. }) if !delivery.is_terminal() => found.push(reason(
            "issue_closed",
            "Its issue is closed; its session and its pull request are read before that means anything.",
        )),
        Some(IssueTrouble::Unreadable(why)) => {
            let what = "Its issue cannot be read, so nothing is decided by it";
            found.push(detailed("issue_unreadable", what, why));
        }
        Some(IssueTrouble::LeftOpen(why)) => {
            let what = "Its issue could not be closed";
            found.push(detailed("issue_left_open", what, why));
        }
        Some(IssueTrouble::Closed { .. }) | None => {}
    }
    if let Some(refusal) = &delivery.refused {
        let (why, times) = (&refusal.why, refusal.times);
        let what = "What it needs next was refused";
        let sentence =
            format!("{what}, {times} of {REFUSALS_MAX} times, after which the phase fails: {why}");
        found.insert(0, worded("refused", sentence, &format!("{what}.")));
    }
    if let Some((refused, at)) = refused_approval(delivery) {
        let (what, why) = ("Jules refused the approval of its plan", &refused.why);
        let sentence = format!("{what}; it is tried again at {at}: {why}");
        let public = "The approval of its plan is tried again.";
        found.insert(0, worded("approval_refused", sentence, public));
    }
    if let Some(closed) = closed_pull(delivery) {
        found.insert(0, closed);
    }
    found.extend(earlier_pull(delivery));
    found.extend(delivery.children.iter().filter_map(part));
    found
}

/// Whether its pull request says why it is where it is: what its own record tells of a merge is only that it is awaited.
pub fn is_told_by_pull(delivery: &Delivery) -> bool {
    let is_awaited = match delivery.run_status {
        RunStatus::Pending | RunStatus::Running => delivery.phase == Phase::Verify,
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::Blocked => false,
    };
    let is_silent = delivery.refused.is_some() || is_read_again(delivery);
    is_awaited && !is_silent && closed_pull(delivery).is_none()
}

/// The pull request was closed a moment ago: until it counts as given up, nothing else is decisive.
fn closed_pull(delivery: &Delivery) -> Option<WordedReason> {
    let is_over = delivery.is_terminal() || delivery.run_status == RunStatus::Failed;
    let seen = delivery
        .pull_seen()
        .filter(|seen| seen.closed_at.is_some() && !is_over)?;
    let minutes = REOPEN_WAIT.as_mins();
    let what = format!("Its pull request {} was closed without a merge", seen.pull);
    let until = format!(
        "unless it is reopened within {minutes} minutes, the phase {} fails.",
        delivery.phase
    );
    Some(detailed("pull_request_closed", &what, &until))
}

/// The pull request of the attempt before, until there is another one.
fn earlier_pull(delivery: &Delivery) -> Option<WordedReason> {
    let earlier = delivery.task.earlier_pull.as_ref();
    let is_awaited = delivery.task.pull.is_none() && !delivery.is_terminal();
    let earlier = earlier.filter(|_| is_awaited)?;
    let seen = delivery.seen.pull.as_ref();
    if seen.is_some_and(|seen| seen.pull == *earlier && seen.end.is_some()) {
        return None;
    }
    let sentence = format!(
        "Pull request {earlier} is of the attempt before; it is closed once the next one is there, if it is still open then."
    );
    Some(reason("earlier_pull_request", sentence))
}

/// What is said of a part that did not just go on.
fn part(child: &Child) -> Option<WordedReason> {
    let (code, what) = match child.state {
        ChildState::Open | ChildState::Closed => return None,
        ChildState::Failed => ("part_failed", "failed"),
        ChildState::Cancelled => ("part_cancelled", "was cancelled with it"),
        ChildState::Abandoned => ("part_abandoned", "was given up"),
    };
    let what = format!("Its part {} {what}", child.id);
    Some(detailed(code, &what, &child.summary))
}
