//! Turns decisions into units of work: the aggregate, its events with their wakes, its effects and its messages, all in one commit.

mod effects;
mod events;

mod glimpses;
mod places;

use std::borrow::Cow;

use domain::effect::Action;
use domain::event::Event;
use domain::ids::{AgentName, DeliveryId, JobId, PullRef, RepoName};
use domain::job::{Job, JobPhase, effect_log_line, log_lines};
use domain::policy::{Policy, Source};
use domain::step::{FollowUp, Step};
use domain::wake::Resume;
use jiff::Timestamp;

use crate::backend::{Backend, Error, IndexEntry, OUTBOX_GRACE, UnitOfWork};
use crate::keys;
use crate::settings::{Agent, TrackedPull};
use crate::store::Versioned;
use crate::work::Work;

pub(crate) use effects::AskedBefore;
pub use places::job_list;
use places::{begins_to_be_watched, swept};

/// Whose events these are.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventRoute {
    /// The agent to wake; without one, a person sees the events.
    pub(crate) agent: Option<Agent>,
    /// The repository, for the message.
    pub(crate) repo: Option<RepoName>,
    /// What the job wants to be found by.
    pub(crate) resume: Option<Resume>,
}

impl EventRoute {
    /// To an agent, or to no one, about no repository.
    pub(crate) fn to(agent: Option<Agent>) -> Self {
        Self {
            agent,
            ..Self::default()
        }
    }
}

/// What of a step is not the aggregate itself.
struct StepOutput<'a> {
    pk: String,
    /// Whose it is.
    job: &'a JobId,
    /// The job itself, if it is the job's own step.
    of_job: Option<&'a Job>,
    events: &'a [Event],
    amended: &'a [Event],
    effects: &'a [Action],
    looks: &'a [FollowUp],
    /// The pull request that polls ask for by themselves, should the message be lost.
    swept: Option<&'a PullRef>,
}

impl Backend {
    /// The agent of a job: its own, else its source's, if it can be woken.
    pub(crate) async fn route(&self, job: &Job) -> Result<EventRoute, Error> {
        let source = self.store.source(&job.repo).await?;
        let named = job
            .agent
            .clone()
            .or_else(|| source.and_then(|source| source.value.agent));
        Ok(EventRoute {
            agent: self.awake(named).await?,
            repo: Some(job.repo.clone()),
            resume: job.resume.clone(),
        })
    }

    /// The agent if it exists and takes wakes.
    pub(crate) async fn awake(&self, named: Option<AgentName>) -> Result<Option<Agent>, Error> {
        let Some(name) = named else { return Ok(None) };
        let agent = self.store.agent(&name).await?.map(|found| found.value);
        Ok(agent.filter(Agent::takes_wakes))
    }

    /// The present policy for a job: an agent that takes no wakes has no turn.
    pub(crate) async fn policy_for<'a>(
        &self,
        job: &Job,
        source: &'a Source,
    ) -> Result<Cow<'a, Policy>, Error> {
        let named = job.agent.clone().or_else(|| source.agent.clone());
        Ok(source.policy_for(self.awake(named).await?.is_some(), job))
    }

    /// Adds a job's step to a unit. `found` is the version it was decided from; `None` for a new job. Returns whether
    /// anything changed.
    pub(crate) async fn save_job(
        &self,
        unit: &mut UnitOfWork,
        found: Option<&Versioned<Job>>,
        step: &Step<Job>,
    ) -> Result<bool, Error> {
        let job = &step.aggregate;
        let looks = self.looks(unit, step).await?;
        let seen = self
            .seen_by_delivery(found.map(|found| &found.value), job)
            .await?;
        let rest = StepOutput {
            pk: keys::job_pk(&job.id),
            job: &job.id,
            of_job: Some(job),
            events: &step.events,
            amended: &step.amended,
            effects: &step.effects,
            looks: &looks,
            swept: swept(job),
        };
        let changed = found.is_none_or(|found| found.value != *job)
            || !step.events.is_empty()
            || !step.effects.is_empty();
        if !changed && step.amended.is_empty() && step.follow_ups.is_empty() {
            return Ok(false);
        }
        let news = log_lines(found.map(|found| &found.value), job);
        unit.news
            .extend(news.into_iter().map(|what| (job.id.clone(), what)));
        if changed {
            // A job that is called at once need not be due at once as well.
            let told = step.follow_ups.contains(&FollowUp::Job(job.id.clone()));
            let soon = unit.now() + OUTBOX_GRACE;
            let place = IndexEntry {
                due: step.due.map(|due| if told { due.max(soon) } else { due }),
                list: job_list(job),
                forget: None,
            };
            unit.put(
                keys::job(&job.id),
                job,
                found.map(|found| found.version),
                place,
            );
            // A newly watched job gets a place that it keeps for long.
            if !begins_to_be_watched(found.map(|found| &found.value), job) {
                unit.keep_due_row(keys::job(&job.id), found.and_then(|found| found.due));
            }
        }
        if let Some(delivery) = seen {
            let id = delivery.clone();
            unit.enqueue(&rest.pk, Work::Delivery { id });
        }
        let before = found.map(|found| &found.value);
        for work in self.seen_by_part(before, job).await? {
            unit.enqueue(&rest.pk, work);
        }
        if found.is_none() {
            let list = keys::listed(keys::JOBS, keys::list_position(job.created_at, &job.id));
            let place = IndexEntry {
                list,
                ..IndexEntry::default()
            };
            // An adoption that is decided again has the same job.
            unit.put_ahead_again(keys::job_listed(&job.id), &job.id, place);
        }
        // Most steps have no events.
        let route = match step.events.is_empty() {
            true => EventRoute::default(),
            false => self.route(job).await?,
        };
        Box::pin(self.save_rest(unit, rest, &route)).await?;
        Ok(true)
    }

    /// Calls that follow a step. A job that joins a queue without a free slot gets none: the slots are due when one
    /// may be free.
    async fn looks<'a>(
        &self,
        unit: &mut UnitOfWork,
        step: &'a Step<Job>,
    ) -> Result<Cow<'a, [FollowUp]>, Error> {
        let job = &step.aggregate;
        let own = FollowUp::Job(job.id.clone());
        let is_queued = matches!(job.phase, JobPhase::Queued { .. });
        if !is_queued || !step.follow_ups.contains(&own) {
            return Ok(Cow::Borrowed(&step.follow_ups));
        }
        let slots = self.store.slots(&job.account).await?;
        if slots.due.is_none_or(|due| due <= unit.now()) {
            return Ok(Cow::Borrowed(&step.follow_ups));
        }
        unit.joins(&job.account, slots.version);
        let others = step.follow_ups.iter().filter(|look| **look != own).cloned();
        Ok(Cow::Owned(others.collect()))
    }

    /// Adds a pull request's step to a unit.
    pub(crate) async fn save_pull(
        &self,
        unit: &mut UnitOfWork,
        found: Option<u64>,
        (step, read_at): (&Step<domain::pull::Pull>, Option<Timestamp>),
        route: &EventRoute,
    ) -> Result<(), Error> {
        let tracked = TrackedPull {
            pull: step.aggregate.clone(),
            read_at,
            unread: None,
        };
        let reference = &tracked.pull.pull;
        let open = !tracked.pull.is_settled();
        let list = keys::listed(keys::OPEN_PULLS, keys::pull_pk(reference)).filter(|_| open);
        if let Some(id) = self.shows_delivery(&tracked.pull).await? {
            unit.enqueue(&keys::pull_pk(reference), Work::Delivery { id });
        }
        if let Some(work) = self.shows_sprint(&tracked.pull).await? {
            unit.enqueue(&keys::pull_pk(reference), work);
        }
        if let Some(work) = self.shows_run(&tracked.pull).await? {
            unit.enqueue(&keys::pull_pk(reference), work);
        }
        unit.put(
            keys::pull(reference),
            &tracked,
            found,
            IndexEntry {
                due: step.due,
                list,
                forget: None,
            },
        );
        let rest = StepOutput {
            pk: keys::pull_pk(reference),
            job: &tracked.pull.job,
            of_job: None,
            events: &step.events,
            amended: &step.amended,
            effects: &step.effects,
            looks: &step.follow_ups,
            swept: None,
        };
        Box::pin(self.save_rest(unit, rest, route)).await
    }

    /// Adds events of a whole account to a unit.
    pub(crate) async fn save_account_events(
        &self,
        unit: &mut UnitOfWork,
        events: &[Event],
        route: &EventRoute,
    ) -> Result<(), Error> {
        for event in events {
            self.save_event(
                unit,
                keys::account_event(&event.account, &event.id),
                event,
                route,
            )
            .await?;
        }
        Ok(())
    }

    /// Adds an event of a delivery to a unit: among those of its job, or under the delivery while there is none.
    pub(crate) async fn save_delivery_event(
        &self,
        unit: &mut UnitOfWork,
        delivery: &DeliveryId,
        event: &Event,
        route: &EventRoute,
    ) -> Result<(), Error> {
        let key = keys::delivery_event(delivery, &event.id);
        if event.job.is_some() {
            // It may have been recorded before there was a job.
            if self.store.read::<Event>(&key).await?.is_some() {
                return Ok(());
            }
            let events = std::slice::from_ref(event);
            return self.save_numbered(unit, events, route).await;
        }
        self.save_event(unit, key, event, route).await.map(drop)
    }

    async fn save_rest(
        &self,
        unit: &mut UnitOfWork,
        rest: StepOutput<'_>,
        route: &EventRoute,
    ) -> Result<(), Error> {
        let job = rest.of_job.map(|job| &job.id);
        self.save_numbered(unit, rest.events, route).await?;
        for event in rest.amended {
            self.amend_event(unit, event).await?;
        }
        let mut wished = false;
        for action in rest.effects {
            let is_new = self
                .save_effect(unit, &rest.pk, action, rest.of_job)
                .await?;
            if let Some(what) = effect_log_line(action).filter(|_| is_new) {
                unit.news.push((rest.job.clone(), what.to_owned()));
            }
            wished |= is_new;
        }
        if let (true, Some(job)) = (wished, job) {
            unit.enqueue(&rest.pk, Work::Job { id: job.clone() });
        }
        for look in rest.looks {
            match look {
                FollowUp::Job(id) => unit.enqueue(&rest.pk, Work::Job { id: id.clone() }),
                FollowUp::Pull(pull) => {
                    let is_swept = rest.swept == Some(pull);
                    let (pull, job) = (pull.clone(), job.cloned());
                    let received_at = None;
                    let look = Work::Pull {
                        pull,
                        job,
                        received_at,
                    };
                    // The sweep of polls repeats this call, so it needs no outbox row.
                    if is_swept {
                        unit.enqueue_hint(look);
                    } else {
                        unit.enqueue(&rest.pk, look);
                    }
                }
                FollowUp::Delivery(id) => unit.enqueue(&rest.pk, Work::Delivery { id: id.clone() }),
                FollowUp::Slots(account) => unit.frees_slot(account),
            }
        }
        Ok(())
    }
}

fn event_place(event: &Event) -> String {
    format!("{}:{}", keys::stamp(event.observed_at), event.id)
}
