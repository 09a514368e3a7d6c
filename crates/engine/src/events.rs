//! Events in the order in which they were seen: after a cursor, those that may still wait, or all.

use std::collections::{BTreeMap, BTreeSet};

use domain::delivery::{self, Delivery};
use domain::event::{Audience, Event, EventCursor, News, Occurrence};
use domain::ids::{DeliveryId, JobId, PersonaName};
use domain::job::{Job, is_answered};
use domain::refusal::NotNow;

use crate::backend::{Backend, Error};
use crate::counts::UNFINISHED_JOBS;
use crate::keys;
use crate::ports::PageToken;
use crate::store::decode;
use crate::wait::WaitState;

/// Maximum number of events in one answer.
pub const EVENTS_MAX: usize = 100;

/// Events read at once.
const PAGE: usize = 100;

/// Maximum number of events that one answer reads: a reader that was away for longer begins anew.
const LOOK_MAX: usize = 10_000;

/// Which events are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventQuery {
    /// The caller's cursor; without it the newest are returned.
    pub after: Option<EventCursor>,
    /// Only events of this job.
    pub job: Option<JobId>,
    /// Only events of this delivery and of its jobs.
    pub delivery: Option<DeliveryId>,
    /// Of mail to people only what this persona has to do with; all of it without one.
    pub persona: Option<PersonaName>,
    /// Only events that still wait: unacknowledged ones, without answered questions. Without `after` the oldest first, however
    /// many came after them.
    pub open: bool,
    /// The maximum number; 0 returns only the present cursor.
    pub limit: usize,
}

/// Events, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventList {
    /// The events, each with its repository.
    pub events: Vec<(Event, Option<String>)>,
    /// The cursor after these.
    pub cursor: EventCursor,
    /// Whether there are more of them now.
    pub more: bool,
}

/// A page of all events with their repositories, the oldest first, and where the next page begins.
pub type EventsPage = (Vec<(Event, Option<String>)>, Option<PageToken>);

impl Backend {
    /// Events after a cursor, or the newest ones.
    pub async fn events_after(&self, asked: &EventQuery) -> Result<EventList, Error> {
        let mut events = match (&asked.job, &asked.delivery) {
            (Some(job), _) => {
                self.must_job(job).await?;
                self.store.events(job).await?
            }
            (None, Some(delivery)) => self.events_of_delivery(delivery).await?,
            (None, None) if asked.open && asked.after.is_none() && asked.limit > 0 => {
                self.of_unfinished().await?
            }
            (None, None) => self.newest(asked).await?,
        };
        if let Some(persona) = &asked.persona {
            events.retain(|event| is_for(persona, event));
        }
        if let Some(cursor) = &asked.after {
            events.retain(|event| cursor.is_new(event));
        }
        let limit = asked.limit.min(EVENTS_MAX);
        let present = EventCursor::at(self.now()).after(&events, self.now());
        if asked.open {
            events = self.open_events(events, limit + 1).await?;
        }
        let more = events.len() > limit;
        let (events, cursor, more) = match &asked.after {
            Some(cursor) => {
                events.truncate(limit);
                let cursor = cursor.clone().after(&events, self.now());
                (events, cursor, more)
            }
            None if asked.open && more => {
                let first = events.first().map_or(self.now(), |event| event.observed_at);
                events.truncate(limit);
                let cursor = EventCursor::at(first).after(&events, self.now());
                (events, cursor, true)
            }
            None => {
                let newest = events.split_off(events.len().saturating_sub(limit));
                (newest, present, false)
            }
        };
        let events = self.with_repositories(events).await?;
        Ok(EventList {
            events,
            cursor,
            more,
        })
    }

    /// The same with long polling: an empty answer waits for an event until `waiting` ends.
    pub async fn events_while(
        &self,
        asked: &EventQuery,
        waiting: impl Future<Output = ()> + Send,
    ) -> Result<EventList, Error> {
        let first = self.events_after(asked).await?;
        if !first.events.is_empty() || asked.limit == 0 {
            return Ok(first);
        }
        // Everything so far was read, so from here on only new events are.
        let asked = EventQuery {
            after: Some(first.cursor),
            ..asked.clone()
        };
        self.look_while(waiting, || async {
            let told = self.events_after(&asked).await?;
            let is_enough = !told.events.is_empty();
            Ok(WaitState::if_enough(told, is_enough))
        })
        .await
    }

    /// The events of a delivery and of its jobs, the oldest first. A job that belongs to none has its own.
    async fn events_of_delivery(&self, id: &DeliveryId) -> Result<Vec<Event>, Error> {
        let Some(found) = self.store.get::<Delivery>(id).await? else {
            let job = self.delivery_shown(id).await?.job;
            return match job {
                Some(job) => Ok(self.store.events(&job.id).await?),
                None => Ok(Vec::new()),
            };
        };
        let jobs: BTreeSet<&JobId> = jobs_of(&found.value).collect();
        let mut events = self.store.events_below(&keys::delivery_pk(id)).await?;
        for job in jobs {
            events.extend(self.store.events(job).await?);
        }
        Ok(in_order(events))
    }

    /// The first of these events that still wait, at most as many as asked for.
    async fn open_events(&self, events: Vec<Event>, limit: usize) -> Result<Vec<Event>, Error> {
        let mut open = Vec::new();
        for event in events {
            if open.len() == limit {
                break;
            }
            if self.is_open(&event).await? {
                open.push(event);
            }
        }
        Ok(open)
    }

    /// Whether an event still waits: one that no agent and no person is told of never did. An event without a wake cannot be
    /// acknowledged, and is over with its job, unless it announces what the delivery of that job waits for.
    async fn is_open(&self, event: &Event) -> Result<bool, Error> {
        if event.audience == Audience::Nobody {
            return Ok(false);
        }
        if let Occurrence::News(News::Mail { repo, message, .. }) = &event.what
            && self.is_seen_by_people(repo, *message).await?
        {
            return Ok(false);
        }
        let job = match &event.job {
            Some(job) => self.store.job(job).await?.map(|found| found.value),
            None => None,
        };
        if job.as_ref().is_some_and(|job| is_answered(job, event)) {
            return Ok(false);
        }
        let asking = delivery::asking(event);
        let of_job = job.as_ref().and_then(|job| job.delivery.as_ref());
        let delivery = match asking.or(of_job) {
            Some(id) => self.store.get::<Delivery>(id).await?,
            None => None,
        };
        let delivery = delivery.map(|found| found.value);
        if is_over(event, job.as_ref(), delivery.as_ref()) {
            return Ok(false);
        }
        let wakes = self.wakes_of(&event.id).await?;
        if !wakes.is_empty() {
            return Ok(!wakes.iter().any(|wake| wake.value.is_done_with()));
        }
        let ended = job.filter(|job| asking.is_none() && job.is_ended());
        let has_failed = |it: &Delivery| delivery::is_failed_by(it, event);
        Ok(ended.is_none() || delivery.as_ref().is_some_and(has_failed))
    }

    /// The newest events in order: back to the cursor, or one page.
    async fn newest(&self, asked: &EventQuery) -> Result<Vec<Event>, Error> {
        let from = asked.after.as_ref().map(EventCursor::from);
        let (mut events, mut after) = (Vec::new(), None);
        loop {
            let records = self.store.records();
            let page = records.list(keys::EVENTS, true, after, PAGE).await?;
            for record in &page.records {
                events.push(decode::<Event>(record)?.value);
            }
            after = page.next;
            let oldest = events.last().map(|event| event.observed_at);
            let is_back = from.is_none_or(|from| oldest.is_some_and(|at| at < from));
            if after.is_none() || is_back {
                events.reverse();
                return Ok(events);
            }
            if asked.open {
                return self.of_unfinished().await;
            }
            if events.len() >= LOOK_MAX {
                let sentence = format!(
                    "more than {LOOK_MAX} events came since then: begin anew without a cursor"
                );
                let refused = NotNow::new("cursor_too_old", sentence);
                return Err(refused.about_gone("after").into());
            }
        }
    }

    /// The events of all jobs and deliveries that are not over, and the newest of everything else, the oldest first.
    async fn of_unfinished(&self) -> Result<Vec<Event>, Error> {
        let mut events = self.store.recent_events(PAGE).await?;
        let mut jobs: BTreeSet<JobId> = BTreeSet::new();
        for found in self.store.open_deliveries().await? {
            let pk = keys::delivery_pk(&found.value.id);
            events.extend(self.store.events_below(&pk).await?);
            jobs.extend(jobs_of(&found.value).cloned());
        }
        for account in self.store.accounts().await? {
            for which in UNFINISHED_JOBS {
                let list = keys::jobs_of(which, &account.value.name);
                let found = self.store.all::<Job>(&list).await?;
                jobs.extend(found.into_iter().map(|found| found.value.id));
            }
        }
        for job in &jobs {
            events.extend(self.store.events(job).await?);
        }
        Ok(in_order(events))
    }

    /// A page of all events, the oldest first.
    pub async fn all_events(&self, after: Option<PageToken>) -> Result<EventsPage, Error> {
        let records = self.store.records();
        let page = records.list(keys::EVENTS, false, after, PAGE).await?;
        let mut events = Vec::with_capacity(page.records.len());
        for record in &page.records {
            events.push(decode::<Event>(record)?.value);
        }
        Ok((self.with_repositories(events).await?, page.next))
    }

    async fn with_repositories(
        &self,
        events: Vec<Event>,
    ) -> Result<Vec<(Event, Option<String>)>, Error> {
        let mut known: BTreeMap<(Option<JobId>, Option<DeliveryId>), Option<String>> =
            BTreeMap::new();
        let mut all = Vec::with_capacity(events.len());
        for event in events {
            let of_whom = (event.job.clone(), event.aid.delivery.clone());
            let repo = match known.get(&of_whom) {
                Some(repo) => repo.clone(),
                None => {
                    let repo = self.repository_of(&event).await?;
                    known.insert(of_whom, repo.clone());
                    repo
                }
            };
            let repo = repo.or_else(|| named_repository(&event.what));
            all.push((event, repo));
        }
        Ok(all)
    }

    /// The repository of the job or of the delivery of an event: a delivery has the id of its job before the job is there.
    async fn repository_of(&self, event: &Event) -> Result<Option<String>, Error> {
        if let Some(job) = &event.job
            && let Some(found) = self.store.job(job).await?
        {
            return Ok(Some(found.value.repo.to_string()));
        }
        let Some(delivery) = &event.aid.delivery else {
            return Ok(None);
        };
        let found = self.store.get::<Delivery>(delivery).await?;
        Ok(found.map(|found| found.value.repo.to_string()))
    }
}

/// The jobs of a delivery; one may be named more than once.
fn jobs_of(delivery: &Delivery) -> impl Iterator<Item = &JobId> {
    let runs = delivery.runs.iter().filter_map(|run| run.job.as_ref());
    runs.chain(&delivery.task.job)
}

/// Events that were read in several places, the oldest first, each once.
fn in_order(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by(|a, b| (a.observed_at, &a.id).cmp(&(b.observed_at, &b.id)));
    events.dedup_by(|a, b| a.id == b.id);
    events
}

/// Whether an event is over whatever became of its wakes: its delivery waits for something else by now, or its session is none
/// of the present attempt.
fn is_over(event: &Event, job: Option<&Job>, delivery: Option<&Delivery>) -> bool {
    match (delivery::asking(event), delivery) {
        (Some(_), Some(delivery)) => !delivery::open_events(delivery).contains(&event.id),
        (Some(_), None) => false,
        (None, delivery) => {
            let is_earlier = job.is_some_and(|job| event.attempt < job.attempt);
            let is_past = |it: &Delivery| it.is_terminal() || delivery::is_past(it, event);
            is_earlier || delivery.is_some_and(is_past)
        }
    }
}

/// Whether a persona may see an event: mail to people is its own if it wrote that, or stands for people.
fn is_for(persona: &PersonaName, event: &Event) -> bool {
    let Occurrence::News(News::Mail { from, .. }) = &event.what else {
        return true;
    };
    from == persona || persona.is_human()
}

/// The repository that an occurrence itself names.
fn named_repository(what: &Occurrence) -> Option<String> {
    let Occurrence::News(news) = what else {
        return None;
    };
    news.repo().map(ToString::to_string)
}
