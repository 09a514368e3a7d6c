//! Deliveries to agents beside all other work: an agent whose address hangs delays its own wakes and nothing else.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::{AgentName, EventId};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::Notify;

use super::{BATCH, Dispatcher, VISIBILITY};
use crate::backend::Error;
use crate::ports::Delivery;
use crate::work::Work;

/// Wakes that are delivered to one agent at the same time.
pub const AT_ONCE_PER_AGENT: usize = 4;

/// Wakes of one agent that wait in memory. What is beyond that is found again when its row is due.
const WAITING_MAX: usize = 1_000;

/// Wakes on their way to agents, in a lane for each agent.
#[derive(Default)]
pub struct Deliveries {
    lanes: Mutex<BTreeMap<AgentName, AgentQueue>>,
    bell: Notify,
}

/// The wakes of one agent.
#[derive(Default)]
struct AgentQueue {
    waiting: VecDeque<(EventId, Delivery)>,
    /// All that wait.
    known: BTreeSet<EventId>,
    /// Deliveries in progress, with a later message about each: what they have read may have changed.
    under_way: BTreeMap<EventId, Option<Delivery>>,
}

/// A wake whose turn has come.
struct NextWake {
    agent: AgentName,
    event: EventId,
    message: Delivery,
}

impl Deliveries {
    /// Delivers wakes as they come until stopped, and finishes those that have begun.
    pub async fn run(&self, dispatcher: &Dispatcher, stopped: impl Future<Output = ()>) {
        let mut stopped = std::pin::pin!(stopped);
        let mut under_way = FuturesUnordered::new();
        loop {
            while let Some(next) = self.next() {
                under_way.push(self.deliver(dispatcher, next));
            }
            tokio::select! {
                () = &mut stopped => break,
                () = self.bell.notified() => {}
                Some(()) = under_way.next() => {}
            }
        }
        while under_way.next().await.is_some() {}
    }

    /// Takes a message about a wake, which is acknowledged once it is handled; a wake that is under way is then
    /// handled again. Returns false for one that waits already or for which there is no room: its row asks for it
    /// when it is due.
    fn take(&self, agent: AgentName, event: EventId, message: &Delivery) -> bool {
        let mut lanes = self.lanes();
        let lane = lanes.entry(agent).or_default();
        if let Some(again) = lane.under_way.get_mut(&event) {
            let is_first = again.is_none();
            again.get_or_insert_with(|| message.clone());
            return is_first;
        }
        if lane.waiting.len() >= WAITING_MAX || !lane.known.insert(event.clone()) {
            return false;
        }
        lane.waiting.push_back((event, message.clone()));
        self.bell.notify_one();
        true
    }

    /// The next wake of an agent that has fewer than [`AT_ONCE_PER_AGENT`] under way.
    fn next(&self) -> Option<NextWake> {
        let mut lanes = self.lanes();
        let (agent, lane) = lanes.iter_mut().find(|(_, lane)| {
            lane.under_way.len() < AT_ONCE_PER_AGENT && !lane.waiting.is_empty()
        })?;
        let (event, message) = lane.waiting.pop_front()?;
        lane.known.remove(&event);
        lane.under_way.insert(event.clone(), None);
        Some(NextWake {
            agent: agent.clone(),
            event,
            message,
        })
    }

    async fn deliver(&self, dispatcher: &Dispatcher, next: NextWake) {
        if let Err(error) = dispatcher.receive(&next.message).await {
            tracing::error!(%error, agent = %next.agent, "a wake is looked at again when its message comes again");
        }
        self.end(next);
    }

    /// A delivery attempt ended.
    fn end(&self, NextWake { agent, event, .. }: NextWake) {
        let mut lanes = self.lanes();
        let Some(lane) = lanes.get_mut(&agent) else {
            return;
        };
        if let Some(message) = lane.under_way.remove(&event).flatten() {
            lane.known.insert(event.clone());
            lane.waiting.push_back((event, message));
        }
        if lane.waiting.is_empty() && lane.under_way.is_empty() {
            lanes.remove(&agent);
        }
    }

    fn lanes(&self) -> MutexGuard<'_, BTreeMap<AgentName, AgentQueue>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dispatcher {
    /// Receives one batch and handles it, except wakes, which go to these deliveries; returns how many messages there
    /// were.
    pub async fn drain_beside(&self, deliveries: &Deliveries) -> Result<usize, Error> {
        let batch = self.backend.queue.receive(BATCH, VISIBILITY).await?;
        for message in &batch {
            match Work::from_body(&message.body) {
                Some(Work::Wake { agent, event }) => {
                    if !deliveries.take(agent, event, message) {
                        self.backend.queue.acknowledge(&message.receipt).await?;
                    }
                }
                Some(_) | None => self.receive(message).await?,
            }
        }
        Ok(batch.len())
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ports::Receipt;

    fn message(number: u32) -> Delivery {
        Delivery {
            body: String::new(),
            sent_at: Timestamp::UNIX_EPOCH,
            receives: number,
            receipt: Receipt(number.to_string()),
        }
    }

    #[test]
    fn a_wake_that_is_named_while_it_is_under_way_is_looked_at_once_more() {
        let deliveries = Deliveries::default();
        let take = |number| {
            let event = EventId::from_name("an event");
            deliveries.take("helper".parse().unwrap(), event, &message(number))
        };
        assert!(take(1));
        assert!(!take(2), "it waits");
        let first = deliveries.next().unwrap();
        assert!(take(3));
        assert!(!take(4), "it comes again");
        assert!(deliveries.next().is_none(), "not beside itself");
        deliveries.end(first);
        let again = deliveries.next().unwrap();
        assert_eq!(again.message, message(3));
        deliveries.end(again);
        assert!(deliveries.next().is_none());
        assert!(deliveries.lanes().is_empty());
    }
}
