//! Who is told that a phase failed.

use super::want::{Want, cause};
use super::{Actor, Delivery, Fault, RunStatus, legal};
use crate::event::Audience;

/// A failure is announced, unless a person caused it. A person whom it comes to after the agent is told by another event.
pub(super) fn failed(delivery: &Delivery) -> Option<Want> {
    let has_failed = delivery.run_status == RunStatus::Failed;
    let error = delivery.error.as_ref().filter(|_| has_failed)?;
    let audience = told_of(delivery, error.code)?;
    let suffix = match audience {
        Audience::Human => ":human",
        Audience::Agent | Audience::Nobody => "",
    };
    Some(Want::TellFailed {
        phase: delivery.phase,
        audience,
        cause: format!("{}{suffix}", cause(delivery)),
    })
}

/// Who is told of a failure: the agent while it may try again. Of what an agent cancelled a person is: that it goes on may be
/// for them only.
fn told_of(delivery: &Delivery, fault: Fault) -> Option<Audience> {
    if fault != Fault::Canceled {
        return Some(match is_left_to_agent(delivery) {
            true => Audience::Agent,
            false => Audience::Human,
        });
    }
    match delivery.phase_runs.last().map(|span| &span.actor) {
        Some(Actor::Agent(_)) => Some(Audience::Human),
        Some(Actor::Person(_) | Actor::System) | None => None,
    }
}

/// Whether the agent may try again what failed. Beyond the rounds of its review only a person takes it further, what was called off is
/// taken up by people, and a message or an approval that Jules refuses was tried often enough.
fn is_left_to_agent(delivery: &Delivery) -> bool {
    let code = delivery.error.as_ref().map(|error| error.code);
    let is_refused = matches!(code, Some(Fault::MessageRefused | Fault::ApprovalRefused));
    let is_for_people = is_refused || delivery.has_used_rounds() || legal::is_called_off(delivery);
    !is_for_people && legal::agent_may_retry(delivery)
}
