//! Delivers wakes: the try is saved before it is sent, and what it led to afterwards.

use domain::failure::Failure;
use domain::ids::{AgentName, EventId};
use domain::wake::{TryOutcome, Wake, WakeState, message};

use super::Dispatcher;
use crate::desk::{DECIDE_AGAIN_MAX, Error, Place, ignore_conflict};
use crate::forget;
use crate::keys;
use crate::ports::{Delivered, Envelope};
use crate::settings::{Agent, Disabled};
use crate::store::Versioned;

impl Dispatcher {
    /// Delivers one wake if it is time and no earlier wake of the same job is still under way.
    pub(super) async fn wake(&self, agent: &AgentName, event: &EventId) -> Result<(), Error> {
        let Some(found) = self.desk.store.wake(agent, event).await? else {
            return Ok(());
        };
        let Some(target) = self.desk.store.agent(agent).await? else {
            return Ok(());
        };
        let Some(url) = target
            .value
            .url
            .clone()
            .filter(|_| target.value.disabled.is_none())
        else {
            return Ok(());
        };
        if self.waits_its_turn(&found.value).await? {
            return Ok(());
        }
        let Some(begun) = found.value.begin(self.desk.now()) else {
            return Ok(());
        };
        let sending = match self.save_wake(&found, &begun).await {
            Err(error) if error.is_conflict() => return Ok(()),
            Err(error) => return Err(error),
            Ok(()) => Versioned {
                value: begun,
                version: found.version + 1,
            },
        };
        if !matches!(sending.value.state, WakeState::Sending { .. }) {
            return Ok(());
        }
        let body = serde_json::to_string(&message(
            &sending.value.event,
            sending.value.repo.as_deref(),
        ))
        .unwrap_or_default();
        let envelope = Envelope {
            agent: agent.clone(),
            url,
            id: event.clone(),
            body,
            at: self.desk.now(),
        };
        let outcome = outcome(self.hands.agents.deliver(&envelope).await);
        if outcome == TryOutcome::Gone {
            self.disable(&target).await?;
        }
        self.record_try(&sending, &outcome).await
    }

    /// Wakes of one job keep their order.
    async fn waits_its_turn(&self, wake: &Wake) -> Result<bool, Error> {
        let Some(job) = &wake.event.job else {
            return Ok(false);
        };
        let earlier = |other: &Versioned<Wake>| {
            let order = |wake: &Wake| (wake.event.observed_at, wake.event.id.clone());
            other.value.event.job.as_ref() == Some(job)
                && !other.value.is_settled()
                && order(&other.value) < order(wake)
        };
        Ok(self
            .desk
            .store
            .wakes(&wake.agent)
            .await?
            .iter()
            .any(earlier))
    }

    async fn save_wake(&self, found: &Versioned<Wake>, next: &Wake) -> Result<(), Error> {
        let mut unit = self.desk.unit();
        let key = keys::wake(&next.agent, &next.event.id);
        unit.put(
            key,
            next,
            Some(found.version),
            Place {
                due: next.due(),
                list: None,
                forget: forget::wake(next, self.desk.now()),
            },
        );
        self.desk.commit(unit).await
    }

    /// The outcome must not be lost: an acknowledgement that came in meanwhile stands.
    async fn record_try(
        &self,
        sending: &Versioned<Wake>,
        outcome: &TryOutcome,
    ) -> Result<(), Error> {
        let mut found = sending.clone();
        for _ in 0..DECIDE_AGAIN_MAX {
            let next = found.value.tried(outcome, self.desk.now());
            match self.save_wake(&found, &next).await {
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
                Ok(()) => return self.desk.nudge_next_wake(&next).await,
            }
            match self
                .desk
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
            at: self.desk.now(),
            why: "its receiver answered 410 Gone".to_owned(),
        });
        let agent = Agent {
            disabled,
            ..target.value.clone()
        };
        let mut unit = self.desk.unit();
        let place = Place {
            due: None,
            list: keys::listed(keys::AGENTS, agent.name.as_str()),
            forget: None,
        };
        unit.put(
            keys::agent(&agent.name),
            &agent,
            Some(target.version),
            place,
        );
        ignore_conflict(self.desk.commit(unit).await)
    }
}

fn outcome(delivered: Result<Delivered, Failure>) -> TryOutcome {
    match delivered {
        Ok(Delivered::Acknowledged) => TryOutcome::Acknowledged,
        Ok(Delivered::Accepted) => TryOutcome::Accepted,
        Ok(Delivered::Gone) => TryOutcome::Gone,
        Ok(Delivered::Refused {
            status,
            answer,
            retry_after,
        }) => TryOutcome::Failed {
            why: format!("HTTP {status}: {answer}"),
            retry_after,
        },
        Err(failure) => TryOutcome::Failed {
            why: failure.message,
            retry_after: failure.retry_after,
        },
    }
}
