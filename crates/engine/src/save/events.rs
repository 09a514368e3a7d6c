//! Events and the wakes that go with them.

use std::collections::BTreeMap;

use domain::event::{Audience, Event};
use domain::ids::JobId;
use domain::job::event_log_line;
use domain::wake::{Channel, Wake};
use jiff::Timestamp;

use super::{EventRoute, event_place};
use crate::backend::{Backend, Error, IndexEntry, OUTBOX_GRACE, UnitOfWork};
use crate::keys;
use crate::ports::{Expect, Key};
use crate::retention;
use crate::settings::Agent;
use crate::store::Versioned;
use crate::work::Work;

/// Where a wake's record is indexed: due while it is not over, and listed while it lies in an inbox.
fn wake_place(wake: &Wake, now: Timestamp) -> IndexEntry {
    let listed = || keys::listed(keys::inbox(&wake.agent), event_place(&wake.event));
    IndexEntry {
        due: wake.due(),
        list: wake.is_in_inbox().then(listed).flatten(),
        forget: retention::wake(wake, now),
    }
}

impl UnitOfWork {
    /// Puts the next state of a wake that was read before.
    pub fn put_wake(&mut self, found: &Versioned<Wake>, next: &Wake) {
        let place = wake_place(next, self.now());
        let key = keys::wake(&next.agent, &next.event.id);
        self.put(key, next, Some(found.version), place);
    }

    /// Adds a new wake for an agent. One that is to be sent gets a message to the dispatcher.
    pub(crate) fn put_new_wake(&mut self, pk: &str, agent: &Agent, wake: Wake) {
        let wake = wake.by(&agent.ways());
        let key = keys::wake(&wake.agent, &wake.event.id);
        let mut place = wake_place(&wake, self.now());
        match wake.channel {
            Channel::Http => {
                place.due = Some(self.now() + OUTBOX_GRACE);
                let event = wake.event.id.clone();
                let agent = wake.agent.clone();
                self.enqueue(pk, Work::Wake { agent, event });
            }
            Channel::Inbox => {}
        }
        self.put(key, &wake, None, place);
    }
}

impl Backend {
    /// Stores events of jobs, each with the job's next number.
    ///
    /// The count is a record of its own, since a pull request's events are its job's: of two concurrent writers one
    /// decides again.
    pub(super) async fn save_numbered(
        &self,
        unit: &mut UnitOfWork,
        events: &[Event],
        route: &EventRoute,
    ) -> Result<(), Error> {
        let mut counts: BTreeMap<JobId, (Option<u64>, u64)> = BTreeMap::new();
        for event in events {
            let Some(owner) = &event.job else { continue };
            let (version, count) = match counts.get(owner) {
                Some(known) => *known,
                None => self.event_count(owner).await?,
            };
            let count = count.saturating_add(1);
            let numbered = Event {
                seq: Some(count),
                ..event.clone()
            };
            let key = keys::event(owner, &event.id);
            // A repeated event keeps its number and does not raise the count.
            if self.save_event(unit, key, &numbered, route).await? {
                unit.news
                    .push((owner.clone(), event_log_line(event, route.agent.is_some())));
                counts.insert(owner.clone(), (version, count));
            }
        }
        for (owner, (version, count)) in counts {
            unit.put(
                keys::event_count(&owner),
                &count,
                version,
                IndexEntry::default(),
            );
        }
        Ok(())
    }

    /// The version of a job's count of events, and the count.
    async fn event_count(&self, job: &JobId) -> Result<(Option<u64>, u64), Error> {
        let found = self.store.read::<u64>(&keys::event_count(job)).await?;
        Ok(found.map_or((None, 0), |found| (Some(found.version), found.value)))
    }

    /// An occurrence is recorded once; its wake goes with it. Returns whether it is new.
    pub(super) async fn save_event(
        &self,
        unit: &mut UnitOfWork,
        key: Key,
        event: &Event,
        route: &EventRoute,
    ) -> Result<bool, Error> {
        if self.store.read::<Event>(&key).await?.is_some() {
            return Ok(false);
        }
        let pk = key.pk.clone();
        let event = &Event {
            audience: event.audience.given(route.agent.is_some()),
            ..event.clone()
        };
        unit.put(key, event, None, listed(event));
        let agents = match event.audience {
            Audience::Agent => route.agent.iter().cloned().collect(),
            Audience::Human => self.people().await?,
            Audience::Nobody => Vec::new(),
        };
        for agent in agents {
            let repo = route.repo.as_ref().map(ToString::to_string);
            let wake = Wake {
                resume: route.resume.clone(),
                ..Wake::new(event.clone(), agent.name.clone(), repo, unit.now())
            };
            unit.put_new_wake(&pk, &agent, wake);
        }
        Ok(true)
    }

    /// People who get notices of events that wait for a person.
    async fn people(&self) -> Result<Vec<Agent>, Error> {
        let agents = self.store.agents().await?.into_iter();
        let agents = agents.map(|found| found.value);
        Ok(agents.filter(|agent| agent.notify.is_some()).collect())
    }

    /// Adds a late text to the event and to its unfinished wakes, wherever they are.
    pub(super) async fn amend_event(
        &self,
        unit: &mut UnitOfWork,
        event: &Event,
    ) -> Result<(), Error> {
        let Some(job) = &event.job else { return Ok(()) };
        let key = keys::event(job, &event.id);
        let before = self.store.read::<Event>(&key).await?;
        // A late text is no other event, and is for those who got it.
        let audience = before.as_ref().map(|before| before.value.audience);
        let event = &Event {
            audience: audience.unwrap_or(event.audience),
            seq: before.and_then(|before| before.value.seq),
            ..event.clone()
        };
        unit.put_if(key, event, Expect::Any, listed(event));
        for found in self.wakes_of(&event.id).await? {
            if !found.value.is_settled() {
                let wake = Wake {
                    event: event.clone(),
                    ..found.value.clone()
                };
                unit.put_wake(&found, &wake);
            }
        }
        Ok(())
    }
}

/// The place of an event in the list of all events.
fn listed(event: &Event) -> IndexEntry {
    IndexEntry {
        list: keys::listed(keys::EVENTS, event_place(event)),
        ..IndexEntry::default()
    }
}
