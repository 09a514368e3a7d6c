//! Wakes between their ends: whose turn it is, and what is over.

use domain::event::Event;
use domain::ids::{AgentName, EventId, JobId};
use domain::job::{Job, Order, answers, settles};
use domain::step::Step;
use domain::wake::{Channel, Wake, WakeState};
use jiff::{SignedDuration, Timestamp};

use crate::backend::{Backend, Error, UnitOfWork, decide_again, ignore_conflict};
use crate::keys;
use crate::store::Versioned;
use crate::work::Work;

/// The outcome of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// It is on its way from the start.
    Sent,
    /// Its agent is done with it.
    Acknowledged,
    /// An agent holds it, or it is being sent.
    UnderWay,
}

impl Backend {
    /// An agent says that it is done with an event. Saying it twice changes nothing.
    pub async fn acknowledge(&self, agent: &AgentName, event: &EventId) -> Result<(), Error> {
        decide_again(format!("event {event}"), || async move {
            let found = self.must_wake(agent, event).await?;
            let next = found.value.acknowledged(self.now());
            if next == found.value {
                // An earlier call may have crashed before it called the next one.
                self.nudge_next_wake(&next).await?;
                return Ok(Some(()));
            }
            let mut unit = self.unit();
            unit.put_wake(&found, &next);
            if !self.try_commit(unit).await? {
                return Ok(None);
            }
            self.nudge_next_wake(&next).await?;
            Ok(Some(()))
        })
        .await
    }

    /// Marks wakes that their agents hold as done, since an order about their job is what they ask for. Questions and plans
    /// that no agent has received end, too: there is nothing left to decide.
    pub(crate) async fn answer(
        &self,
        unit: &mut UnitOfWork,
        job: &Job,
        order: Order,
    ) -> Result<Vec<Wake>, Error> {
        let events = self.answered_by(job, order).await?.into_iter();
        let (asked, told) = events.partition(|event| settles(order, &event.what));
        let mut over = self.withdraw(unit, &ids(asked)).await?;
        let held = self.end_wakes(unit, &ids(told), Wake::answered).await?;
        over.extend(held);
        Ok(over)
    }

    /// The events of a job that an order answers.
    async fn answered_by(&self, job: &Job, order: Order) -> Result<Vec<Event>, Error> {
        let mut events = self.store.events(&job.id).await?;
        events.retain(|event| answers(job, order, event));
        Ok(events)
    }

    /// Ends the wakes of a job that comes to its end without an order: no answer is taken any more.
    pub(crate) async fn withdraw_at_end(
        &self,
        unit: &mut UnitOfWork,
        job: &Job,
        step: &Step<Job>,
    ) -> Result<Vec<Wake>, Error> {
        if job.is_ended() || !step.aggregate.is_ended() {
            return Ok(Vec::new());
        }
        let events = self.answered_by(job, Order::Cancel).await?;
        self.withdraw(unit, &ids(events)).await
    }

    /// Ends the wakes of events whose matter is over, also those that no agent has received.
    pub(crate) async fn withdraw(
        &self,
        unit: &mut UnitOfWork,
        events: &[EventId],
    ) -> Result<Vec<Wake>, Error> {
        self.end_wakes(unit, events, Wake::withdrawn).await
    }

    async fn end_wakes(
        &self,
        unit: &mut UnitOfWork,
        events: &[EventId],
        end: impl Fn(&Wake, Timestamp) -> Option<Wake>,
    ) -> Result<Vec<Wake>, Error> {
        let mut answered = Vec::new();
        for event in events {
            for found in self.wakes_of(event).await? {
                if let Some(next) = end(&found.value, unit.now()) {
                    unit.put_wake(&found, &next);
                    answered.push(next);
                }
            }
        }
        Ok(answered)
    }

    /// Those that wait behind wakes that are over need not wait for their due rows.
    pub(crate) async fn nudge_after(&self, over: &[Wake]) -> Result<(), Error> {
        for wake in over
            .iter()
            .filter(|wake| wake.is_settled() || wake.answered)
        {
            self.nudge_next_wake(wake).await?;
        }
        Ok(())
    }

    /// The wakes of an event for any agent: a source may have had another agent then.
    pub(crate) async fn wakes_of(&self, event: &EventId) -> Result<Vec<Versioned<Wake>>, Error> {
        let mut wakes = Vec::new();
        for agent in self.store.agents().await? {
            wakes.extend(self.store.wake(&agent.value.name, event).await?);
        }
        Ok(wakes)
    }

    /// Restarts a wake, on the first of its agent's channels.
    pub async fn replay(&self, agent: &AgentName, event: &EventId) -> Result<Replayed, Error> {
        decide_again(format!("event {event}"), || async move {
            let found = self.must_wake(agent, event).await?;
            match found.value.state {
                WakeState::Acknowledged { .. } => return Ok(Some(Replayed::Acknowledged)),
                WakeState::Sending { .. } | WakeState::Leased { .. } => {
                    return Ok(Some(Replayed::UnderWay));
                }
                WakeState::Pending { .. } | WakeState::Dead { .. } => {}
            }
            let target = self.store.agent(agent).await?;
            let ways = target.map(|agent| agent.value.ways()).unwrap_or_default();
            let again = found.value.revived(self.now()).by(&ways);
            let mut unit = self.unit();
            unit.put_wake(&found, &again);
            if again.channel == Channel::Http {
                let (agent, event) = (agent.clone(), event.clone());
                let pk = keys::wake(&agent, &event).pk;
                unit.enqueue(&pk, Work::Wake { agent, event });
            }
            Ok(self.try_commit(unit).await?.then_some(Replayed::Sent))
        })
        .await
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

    /// Whether an earlier wake of the same job is under way to the same agent. A wake that is sent does not wait for
    /// an inbox.
    pub(crate) async fn waits_its_turn(&self, wake: &Wake) -> Result<bool, Error> {
        let Some(job) = &wake.event.job else {
            return Ok(false);
        };
        // What was answered after it was taken holds up nothing, although its taker still has it. What is being sent may
        // have to be sent again, and comes first.
        let is_answered = |other: &Wake| other.answered && other.is_in_inbox();
        let holds_up =
            |other: &Wake| !is_answered(other) && (!other.is_in_inbox() || wake.is_in_inbox());
        let earlier = |other: &Wake| holds_up(other) && place_of(other) < place_of(wake);
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
        let later = |other: &Wake| place_of(other) > place_of(left);
        let Some(next) = self.open_wake(&left.agent, job, later).await? else {
            return Ok(());
        };
        if next.is_in_inbox() {
            return self.turn_to(next).await;
        }
        let work = Work::Wake {
            agent: next.agent,
            event: next.event.id,
        };
        Ok(self
            .queue
            .send(&work.to_body(), SignedDuration::ZERO)
            .await?)
    }

    /// A wake that could not be had before is held from now on.
    async fn turn_to(&self, next: Wake) -> Result<(), Error> {
        let found = self.must_wake(&next.agent, &next.event.id).await?;
        let Some(turned) = found.value.moved_to_front(self.now()) else {
            return Ok(());
        };
        let mut unit = self.unit();
        unit.put_wake(&found, &turned);
        ignore_conflict(self.commit(unit).await)
    }

    /// The first unfinished wake among a job's events to an agent that is one of these. A job has few events, an
    /// agent has wakes of many jobs.
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

fn ids(events: Vec<Event>) -> Vec<EventId> {
    events.into_iter().map(|event| event.id).collect()
}

/// The order of a job's wakes.
fn place_of(wake: &Wake) -> (Timestamp, &EventId) {
    (wake.event.observed_at, &wake.event.id)
}
