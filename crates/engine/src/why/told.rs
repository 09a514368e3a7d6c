//! Wakes of a job and their acknowledgements.

use domain::advice::Advice;
use domain::event::{Audience, Event};
use domain::ids::AgentName;
use domain::job::Job;
use domain::wake::{Channel, Wake, WakeState};

use super::WhySubject;
use crate::backend::{Backend, Error};

/// How many of the newest events of a job are read.
const EVENTS_MAX: usize = 20;

/// The code of a job that has no agent.
pub(super) const NO_AGENT: &str = "no_agent";

impl Backend {
    /// Explains wakes of a job's events without an acknowledgement.
    pub(super) async fn why_told(&self, found: &mut WhySubject, job: &Job) -> Result<(), Error> {
        let source = self.store.source(&job.repo).await?;
        let named = job
            .agent
            .clone()
            .or_else(|| source.and_then(|source| source.value.agent));
        self.why_agent(found, job, named.as_ref()).await?;
        let agents = self.store.agents().await?;
        for event in self
            .store
            .events(&job.id)
            .await?
            .iter()
            .rev()
            .take(EVENTS_MAX)
        {
            for agent in &agents {
                if let Some(wake) = self.store.wake(&agent.value.name, &event.id).await? {
                    on_its_way(found, &wake.value);
                }
            }
        }
        Ok(())
    }

    /// Explains an agent that cannot be woken, while there is an event for it.
    async fn why_agent(
        &self,
        found: &mut WhySubject,
        job: &Job,
        named: Option<&AgentName>,
    ) -> Result<(), Error> {
        if job.is_ended() {
            return Ok(());
        }
        let Some(name) = named else {
            let sentence = "It names no agent and neither does its source: what has to be known waits for a person among its events.";
            found.next.push(Advice::Events.about(&job.id));
            found.because(NO_AGENT, sentence);
            return Ok(());
        };
        match self.store.agent(name).await? {
            None => {
                found.because("agent_missing", format!("Its agent `{name}` is not there."));
                found.next.push(Advice::AddAgent.about(name));
            }
            Some(agent) => {
                if let Some(disabled) = agent.value.disabled {
                    let sentence = format!(
                        "Its agent `{name}` takes no wakes since {} ({}).",
                        disabled.at, disabled.why
                    );
                    found.because("agent_disabled", sentence);
                    found.next.push(Advice::EnableAgent.about(name));
                }
            }
        }
        Ok(())
    }
}

fn on_its_way(found: &mut WhySubject, wake: &Wake) {
    let (what, agent) = (what(&wake.event), &wake.agent);
    match &wake.state {
        WakeState::Acknowledged { .. } => {}
        // The order that it asks for was given, so nothing more is awaited of its taker.
        WakeState::Leased { .. } if wake.answered => {}
        WakeState::Pending {
            attempt,
            not_before,
        } => {
            if wake.channel == Channel::Inbox {
                return in_inbox(found, wake);
            }
            let sentence = format!("Agent `{agent}` has not received {what} yet.");
            found.because("wake_waits", sentence);
            let sentence = format!("Agent `{agent}` is sent {what} (try {attempt}).");
            found.then(*not_before, sentence);
        }
        WakeState::Sending { until, .. } => {
            found.because(
                "wake_sent",
                format!("Agent `{agent}` is being sent {what}."),
            );
            let sentence = format!("If nothing was answered by then, {what} is sent again.");
            found.then(*until, sentence);
        }
        WakeState::Leased { until, .. } => {
            let sentence = format!(
                "Agent `{agent}` has received {what} and has not said that it is done with it."
            );
            found.because("wake_leased", sentence);
            let again = match wake.channel {
                Channel::Http => "is sent again",
                Channel::Inbox => "can be taken again",
            };
            let sentence = format!("If it was not acknowledged by then, {what} {again}.");
            found.then(*until, sentence);
        }
        WakeState::Dead { at, why } => {
            let sentence =
                format!("Agent `{agent}` never took {what}, which was given up at {at} ({why}).");
            found.because("wake_dead", sentence);
        }
    }
}

/// A wake that its agent has to fetch.
fn in_inbox(found: &mut WhySubject, wake: &Wake) {
    let (what, agent) = (what(&wake.event), &wake.agent);
    let sentence = format!("Agent `{agent}` has not taken {what} out of its inbox.");
    found.because("wake_in_inbox", sentence);
    found.next.push(Advice::TakeWakes.about(agent));
    if let Some(due) = wake.due() {
        let sentence = format!("If it was not taken by then, {what} is given up.");
        found.then(due, sentence);
    }
}

fn what(event: &Event) -> String {
    let whom = match event.audience {
        Audience::Agent => "",
        Audience::Human => " for a person",
        Audience::Nobody => " for nobody",
    };
    format!(
        "the event `{}`{whom} of {}",
        event.what.kind(),
        event.observed_at
    )
}
