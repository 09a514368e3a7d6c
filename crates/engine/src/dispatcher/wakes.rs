//! Delivers wakes: the attempt is saved before it is sent, and its outcome afterwards.

use domain::failure::Failure;
use domain::ids::{AgentName, EventId};
use domain::wake::{Channel, DeliveryOutcome, Notify, Wake, WakeState};
use url::Url;

use super::Dispatcher;
use crate::backend::{DECIDE_AGAIN_MAX, Error, ignore_conflict};
use crate::ports::{Delivered, Envelope};
use crate::settings::{Agent, Disabled};
use crate::store::Versioned;

/// Where a wake goes.
enum WakeTarget {
    /// To an agent's address, signed.
    Agent(Url),
    /// To a person.
    Person(Notify),
}

impl Dispatcher {
    /// Delivers one wake if it is time and no earlier wake of the same job is still under way. One in an inbox is due
    /// when its agent was away for too long.
    pub(super) async fn wake(&self, agent: &AgentName, event: &EventId) -> Result<(), Error> {
        let Some(found) = self.backend.store.wake(agent, event).await? else {
            return Ok(());
        };
        let Some(target) = self.backend.store.agent(agent).await? else {
            return self.end_unwanted(&found).await;
        };
        match found.value.channel {
            Channel::Inbox => self.lapse(&found).await,
            Channel::Http => match (target.value.notify, &target.value.url) {
                (Some(notify), _) => self.send(&found, &target, WakeTarget::Person(notify)).await,
                (None, Some(url)) => {
                    self.send(&found, &target, WakeTarget::Agent(url.clone()))
                        .await
                }
                (None, None) => self.leave_in_inbox(&found).await,
            },
        }
    }

    /// Sends a wake to its agent's address, or shows it to a person.
    async fn send(
        &self,
        found: &Versioned<Wake>,
        target: &Versioned<Agent>,
        to: WakeTarget,
    ) -> Result<(), Error> {
        let now = self.backend.now();
        if target.value.disabled.is_some() && found.value.then.is_empty() {
            return self.save_if(found, found.value.postponed(now)).await;
        }
        if self.backend.waits_its_turn(&found.value).await? {
            return Ok(());
        }
        let Some(begun) = found.value.begin(now) else {
            return Ok(());
        };
        let Some(sending) = self.begin_try(found, begun).await? else {
            return Ok(());
        };
        if target.value.disabled.is_some() {
            // It goes its next way.
            return self.record_try(&sending, &DeliveryOutcome::Gone).await;
        }
        let wake = &sending.value;
        let outcome = match to {
            WakeTarget::Person(notify) => outcome(self.show(wake, notify).await),
            WakeTarget::Agent(url) => {
                let body = serde_json::to_string(&wake.message(target.value.resume.as_ref()));
                let envelope = Envelope {
                    agent: wake.agent.clone(),
                    url,
                    id: wake.event.id.clone(),
                    body: body.unwrap_or_default(),
                    at: self.backend.now(),
                };
                outcome(self.writers.agents.deliver(&envelope).await)
            }
        };
        if outcome == DeliveryOutcome::Gone {
            self.disable(target).await?;
        }
        self.record_try(&sending, &outcome).await
    }

    /// Shows a notice to a person, who has nothing to acknowledge.
    async fn show(&self, wake: &Wake, notify: Notify) -> Result<Delivered, Failure> {
        let notice = wake.notice();
        let agents = &self.writers.agents;
        let delivered = agents
            .notify(&wake.agent, notify, &notice, self.backend.now())
            .await?;
        Ok(match delivered {
            Delivered::Accepted => Delivered::Acknowledged,
            Delivered::Acknowledged | Delivered::Gone | Delivered::Refused { .. } => delivered,
        })
    }

    /// Saves that an attempt begins; `None` if it does not, because of a conflict or because the last attempt was
    /// used.
    async fn begin_try(
        &self,
        found: &Versioned<Wake>,
        begun: Wake,
    ) -> Result<Option<Versioned<Wake>>, Error> {
        match self.save_wake(found, &begun).await {
            Err(error) if error.is_conflict() => return Ok(None),
            Err(error) => return Err(error),
            Ok(()) => {}
        }
        self.backend.nudge_next_wake(&begun).await?;
        let is_sending = matches!(begun.state, WakeState::Sending { .. });
        let sending = Versioned {
            value: begun,
            version: found.version + 1,
            due: None,
        };
        Ok(is_sending.then_some(sending))
    }

    /// Lapses a wake in an inbox that was not taken, or whose taker never reported. One that cannot be taken yet
    /// keeps waiting.
    async fn lapse(&self, found: &Versioned<Wake>) -> Result<(), Error> {
        let now = self.backend.now();
        let Some(next) = found.value.expired(now) else {
            return Ok(());
        };
        if self.backend.waits_its_turn(&found.value).await? {
            return self.save_if(found, found.value.moved_to_front(now)).await;
        }
        ignore_conflict(self.save_wake(found, &next).await)?;
        self.backend.nudge_next_wake(&next).await
    }

    /// The agent has no address any more: its wake stays in the inbox.
    async fn leave_in_inbox(&self, found: &Versioned<Wake>) -> Result<(), Error> {
        let left = found.value.left_in_inbox(self.backend.now());
        self.save_if(found, left).await
    }

    /// Its agent was removed meanwhile.
    async fn end_unwanted(&self, found: &Versioned<Wake>) -> Result<(), Error> {
        let now = self.backend.now();
        let over = || found.value.given_up("its agent was removed", now);
        self.save_if(found, (!found.value.is_settled()).then(over))
            .await
    }

    /// Saves the new state of a wake, if there is one. Another writer may have been quicker.
    async fn save_if(&self, found: &Versioned<Wake>, next: Option<Wake>) -> Result<(), Error> {
        match next {
            Some(next) => ignore_conflict(self.save_wake(found, &next).await),
            None => Ok(()),
        }
    }

    async fn save_wake(&self, found: &Versioned<Wake>, next: &Wake) -> Result<(), Error> {
        let mut unit = self.backend.unit();
        unit.put_wake(found, next);
        self.backend.commit(unit).await
    }

    /// The outcome must not be lost: an acknowledgement that came meanwhile wins.
    async fn record_try(
        &self,
        sending: &Versioned<Wake>,
        outcome: &DeliveryOutcome,
    ) -> Result<(), Error> {
        let mut found = sending.clone();
        for _ in 0..DECIDE_AGAIN_MAX {
            let next = found.value.tried(outcome, self.backend.now());
            match self.save_wake(&found, &next).await {
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
                Ok(()) => return self.backend.nudge_next_wake(&next).await,
            }
            match self
                .backend
                .store
                .wake(&sending.value.agent, &sending.value.event.id)
                .await?
            {
                Some(again) if !again.value.is_settled() => found = again,
                Some(_) | None => return Ok(()),
            }
        }
        Ok(())
    }

    /// 410: the receiver wants no more, until a person says otherwise.
    async fn disable(&self, target: &Versioned<Agent>) -> Result<(), Error> {
        let disabled = Some(Disabled {
            at: self.backend.now(),
            why: "its receiver answered 410 Gone".to_owned(),
        });
        let agent = Agent {
            disabled,
            ..target.value.clone()
        };
        let mut unit = self.backend.unit();
        unit.save(&agent.name, &agent, Some(target.version));
        ignore_conflict(self.backend.commit(unit).await)
    }
}

fn outcome(delivered: Result<Delivered, Failure>) -> DeliveryOutcome {
    match delivered {
        Ok(Delivered::Acknowledged) => DeliveryOutcome::Acknowledged,
        Ok(Delivered::Accepted) => DeliveryOutcome::Accepted,
        Ok(Delivered::Gone) => DeliveryOutcome::Gone,
        Ok(Delivered::Refused {
            status,
            answer,
            retry_after,
        }) => DeliveryOutcome::Failed {
            why: format!("HTTP {status}: {answer}"),
            retry_after,
        },
        Err(failure) => DeliveryOutcome::Failed {
            why: failure.message,
            retry_after: failure.retry_after,
        },
    }
}
