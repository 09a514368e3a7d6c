//! Wakes between their ends: whose turn it is, and what is over.

use domain::ids::{AgentName, EventId, JobId};
use domain::job::NotNow;
use domain::wake::{Channel, Wake, WakeState};
use jiff::SignedDuration;

use crate::desk::{DECIDE_AGAIN_MAX, Desk, Error};
use crate::keys;
use crate::store::Versioned;
use crate::work::Work;

impl Desk {
    /// An agent says that it is done with an event. Saying it twice, or after it was given up, changes nothing.
    pub async fn acknowledge(&self, agent: &AgentName, event: &EventId) -> Result<(), Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let found = self.must_wake(agent, event).await?;
            let next = found.value.acknowledged(self.now());
            if next == found.value {
                return Ok(());
            }
            let mut unit = self.unit();
            unit.put_wake(&found, &next);
            match self.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
                Ok(()) => return self.nudge_next_wake(&next).await,
            }
        }
        Ok(())
    }

    /// Puts a wake on its way once more from the start, the first of its agent's ways; none if it was acknowledged.
    pub async fn replay(&self, agent: &AgentName, event: &EventId) -> Result<Option<Wake>, Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let found = self.must_wake(agent, event).await?;
            if let WakeState::Acknowledged { .. } = found.value.state {
                return Ok(None);
            }
            let target = self.store.agent(agent).await?;
            let ways = target.map(|agent| agent.value.ways()).unwrap_or_default();
            let again = found.value.revived(self.now()).by(&ways);
            let mut unit = self.unit();
            unit.put_wake(&found, &again);
            if again.channel == Channel::Http {
                let (agent, event) = (agent.clone(), event.clone());
                let pk = keys::wake(&agent, &event).pk;
                unit.tell(&pk, Work::Wake { agent, event });
            }
            match self.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(Some(again)),
            }
        }
        Err(busy(event))
    }

    /// A wake that has to exist.
    pub(crate) async fn must_wake(
        &self,
        agent: &AgentName,
        event: &EventId,
    ) -> Result<Versioned<Wake>, Error> {
        let found = self.store.wake(agent, event).await?;
        found.ok_or_else(|| Error::NoSuch {
            what: "wake",
            name: event.to_string(),
        })
    }

    /// Whether an earlier wake of the same job is under way to the same agent on the same way.
    pub(crate) async fn waits_its_turn(&self, wake: &Wake) -> Result<bool, Error> {
        let Some(job) = &wake.event.job else {
            return Ok(false);
        };
        let order = |wake: &Wake| (wake.event.observed_at, wake.event.id.clone());
        let earlier = |other: &Wake| other.channel == wake.channel && order(other) < order(wake);
        Ok(self.open_wake(&wake.agent, job, earlier).await?.is_some())
    }

    /// Once a wake is over, or goes another way, the next one of its job need not wait for its due row.
    pub(crate) async fn nudge_next_wake(&self, left: &Wake) -> Result<(), Error> {
        let Some(job) = &left.event.job else {
            return Ok(());
        };
        if !left.is_settled() && !left.is_in_inbox() {
            return Ok(());
        }
        let waits = |other: &Wake| !other.is_in_inbox();
        if let Some(next) = self.open_wake(&left.agent, job, waits).await? {
            let work = Work::Wake {
                agent: next.agent,
                event: next.event.id,
            };
            self.queue
                .send(&work.to_body(), SignedDuration::ZERO)
                .await?;
        }
        Ok(())
    }

    /// The first wake of a job's events to an agent that is not over and is one of these. A job has few events, an agent has wakes of many jobs.
    async fn open_wake(
        &self,
        agent: &AgentName,
        job: &JobId,
        is_meant: impl Fn(&Wake) -> bool,
    ) -> Result<Option<Wake>, Error> {
        for event in self.store.events(job).await? {
            let found = self.store.wake(agent, &event.id).await?;
            let wake = found.map(|found| found.value);
            let open = wake.filter(|wake| !wake.is_settled() && is_meant(wake));
            if open.is_some() {
                return Ok(open);
            }
        }
        Ok(None)
    }
}

/// Somebody else changes it all the time.
pub(crate) fn busy(event: &EventId) -> Error {
    Error::NotNow(NotNow {
        code: "busy",
        sentence: format!("event {event} is being changed by others just now: try again"),
    })
}
