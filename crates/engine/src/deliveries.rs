//! What people and agents may do with deliveries. Nothing here talks to anyone: the dispatcher carries out what a
//! delivery wants of others.

mod collecting;
mod creation;
mod listing;
mod reading;
mod shown;
mod transcripts;

use std::borrow::Cow;

use domain::delivery::{
    self, Act, Actor, ChildState, Command, Delivery, IssueRef, Phase, Rules, RunStatus,
    TransitionError,
};
use domain::ids::{CommitSha, DeliveryId, EventId, JobName};
use domain::job::Job;
use domain::merge::Gate;
use domain::redact::presentable;
use domain::step::Step;
use domain::wake::Wake;

use crate::backend::{Backend, Error, IndexEntry, UnitOfWork, decide_again};
use crate::keys;
use crate::store::{Aggregate, Versioned};
use crate::work::Work;

pub use creation::{CreateRefused, DeliveryOrder};
pub use listing::{DeliveriesCursor, DeliveryList, DeliveryQuery, InvalidDeliveriesCursor};
pub use shown::DeliveryShown;
pub use transcripts::{RunTranscript, TranscriptAnswer};

/// How many deliveries one issue may have, one after the other.
pub(crate) const DELIVERIES_OF_ISSUE_MAX: u32 = 100;

/// Longest name that an error repeats, in characters.
const NAME_CHARS_MAX: usize = 80;

impl Backend {
    /// Finds the delivery that a name means: its id or that of its job, its issue as `owner/name#number`, its pull
    /// request, or `latest`.
    pub async fn find_delivery(&self, name: &str) -> Result<DeliveryId, Error> {
        if matches!(name.parse(), Ok(JobName::Latest)) {
            // Its job may be older than the newest of all, or there may be none yet.
            let any = DeliveryQuery::default();
            let newest = self.list_deliveries(&any, None, 1).await?.deliveries.pop();
            return newest.map_or_else(|| Err(no_such(name)), |it| Ok(it.delivery.id));
        }
        if let Ok(id) = name.parse::<DeliveryId>()
            && self.store.get::<Delivery>(&id).await?.is_some()
        {
            return Ok(id);
        }
        if let Ok(issue) = name.parse::<IssueRef>() {
            let newest = self.delivery_of_issue(&issue).await?;
            if let Some(found) = newest {
                return Ok(found.value.id);
            }
        }
        let named = match self.find(name).await {
            Err(Error::NoSuch { .. }) => return Err(no_such(name)),
            found => found?,
        };
        let job = self.must_job(&named.job).await?.value;
        let own = job.delivery.unwrap_or_else(|| DeliveryId::of_job(&job.id));
        Ok(own)
    }

    /// The newest delivery of an issue. A closed one may have been followed by another.
    pub async fn delivery_of_issue(
        &self,
        issue: &IssueRef,
    ) -> Result<Option<Versioned<Delivery>>, Error> {
        Ok(self.next_of_issue(issue).await?.1)
    }

    /// Takes a command of a person or an agent. The same command id twice is one command.
    pub async fn command_delivery(
        &self,
        id: &DeliveryId,
        command: &Command,
    ) -> Result<Delivery, Error> {
        self.command_by_place(id, &command.id, &command.by, |_, _| Ok(command.act.clone()))
            .await
    }

    /// Takes the command that follows from where a delivery is at the very moment. One that was taken before changes nothing,
    /// wherever the delivery is by now.
    pub async fn command_by_place(
        &self,
        id: &DeliveryId,
        command_id: &str,
        by: &Actor,
        act: impl Fn(&Delivery, &Rules) -> Result<Act, TransitionError>,
    ) -> Result<Delivery, Error> {
        let act = &act;
        decide_again(format!("delivery {id}"), || async move {
            let found = self.must::<Delivery>(id).await?;
            if delivery::was_taken(&found.value, command_id) {
                return Ok(Some(found.value));
            }
            let rules = self.delivery_rules(&found.value).await?;
            let input = delivery::DeliveryInput::Command(Command {
                id: command_id.to_owned(),
                by: by.clone(),
                act: act(&found.value, &rules)?,
            });
            let step = delivery::apply(&found.value, &input, self.now(), &rules)?;
            let mut unit = self.unit();
            let answered = self.save_delivery(&mut unit, Some(&found), &step).await?;
            unit.enqueue(&keys::delivery_pk(id), Work::Delivery { id: id.clone() });
            self.read_red_anew(&mut unit, &step.aggregate);
            if !self.try_commit(unit).await? {
                return Ok(None);
            }
            self.nudge_after(&answered).await?;
            Ok(Some(step.aggregate))
        })
        .await
    }

    /// Checks that failed may have passed since: whether a phase that is tried again goes on shows a reading that is new.
    fn read_red_anew(&self, unit: &mut UnitOfWork, delivery: &Delivery) {
        let pull = delivery.task.pull.as_ref();
        if let Some(pull) = pull.filter(|_| delivery.task.forgiven.is_some()) {
            let read = Work::Pull {
                pull: pull.clone(),
                job: delivery.task.job.clone(),
                received_at: Some(self.now()),
            };
            unit.enqueue(&keys::pull_pk(pull), read);
        }
    }

    /// Why the delivery of a job does not let a head be merged now. One whose record is missing lets nothing be merged.
    pub(crate) async fn delivery_gate(
        &self,
        job: &Job,
        head: &CommitSha,
    ) -> Result<Option<Gate>, Error> {
        let Some(id) = &job.delivery else {
            return Ok(None);
        };
        if job.collected {
            let delivery = id.clone();
            return Ok(Some(Gate::Collected { delivery }));
        }
        let found = self.store.get::<Delivery>(id).await?;
        Ok(match found {
            Some(found) => delivery::gate(&found.value, head),
            None => Some(Gate::NotInVerify {
                phase: Phase::Intake,
            }),
        })
    }

    /// The rules of a delivery, for an agent that can or cannot be woken now.
    pub async fn delivery_rules<'a>(
        &self,
        delivery: &'a Delivery,
    ) -> Result<Cow<'a, Rules>, Error> {
        let source = self.store.source(&delivery.repo).await?;
        let agent = source.and_then(|source| source.value.agent);
        let can_be_woken = self.awake(agent).await?.is_some();
        Ok(delivery.rules.with_agent(can_be_woken))
    }

    /// Adds the next state of a delivery to a unit, with its events and effects. `found` is the version it was decided
    /// from; `None` for a new one. Returns the wakes about what the delivery no longer asks for, which end in that unit.
    pub(crate) async fn save_delivery(
        &self,
        unit: &mut UnitOfWork,
        found: Option<&Versioned<Delivery>>,
        step: &Step<Delivery>,
    ) -> Result<Vec<Wake>, Error> {
        let next = &step.aggregate;
        let place = IndexEntry {
            due: step.due,
            ..next.index_entry()
        };
        let key = keys::delivery(&next.id);
        unit.put(key, next, found.map(|found| found.version), place);
        if found.is_none() {
            let position = keys::delivery_position(next.created_at, &next.id);
            let place = IndexEntry {
                list: keys::listed(keys::DELIVERIES, position),
                ..IndexEntry::default()
            };
            // One that is decided again has the same id.
            unit.put_ahead_again(keys::delivery_listed(&next.id), &next.id, place);
        }
        if let Some(parent) = parent_to_look(found.map(|found| &found.value), next) {
            unit.enqueue(&keys::delivery_pk(&next.id), parent);
        }
        if let Some(pull) = pull_to_judge(found.map(|found| &found.value), next) {
            let pk = keys::delivery_pk(&next.id);
            unit.enqueue(&pk, pull);
        }
        if let Some(work) = requirement_to_look(found.map(|found| &found.value), next) {
            unit.enqueue(&keys::delivery_pk(&next.id), work);
        }
        self.save_effects(unit, &keys::delivery_pk(&next.id), &step.effects)
            .await?;
        let left = delivery::open_events(next);
        let mut over = found.map_or_else(Vec::new, |found| delivery::open_events(&found.value));
        over.retain(|event| !left.contains(event));
        over.extend(
            self.past_errors(found.map(|found| &found.value), next)
                .await?,
        );
        self.withdraw(unit, &over).await
    }

    /// The errors of its job that a delivery has gone on from, once it no longer waits with a failure.
    async fn past_errors(
        &self,
        before: Option<&Delivery>,
        next: &Delivery,
    ) -> Result<Vec<EventId>, Error> {
        let is_failed = |delivery: &Delivery| delivery.run_status == RunStatus::Failed;
        let goes_on = before.is_some_and(is_failed) && !is_failed(next);
        let Some(job) = next.task.job.as_ref().filter(|_| goes_on) else {
            return Ok(Vec::new());
        };
        self.told_before(job, next).await
    }
}

/// The requirement that a delivery implements, when the delivery goes on to another phase or comes to its end.
fn requirement_to_look(before: Option<&Delivery>, next: &Delivery) -> Option<Work> {
    let requirement = next.requirement.as_ref()?;
    let place = |delivery: &Delivery| (delivery.phase, delivery.run_status);
    (before.map(place) != Some(place(next))).then(|| Work::Requirement {
        repo: next.repo.clone(),
        id: requirement.id.clone(),
    })
}

/// The delivery that one is a part of, when its state as a part changes.
fn parent_to_look(before: Option<&Delivery>, next: &Delivery) -> Option<Work> {
    let changes = before.map(ChildState::of) != Some(ChildState::of(next));
    let parent = next.parent.clone().filter(|_| changes)?;
    Some(Work::Delivery { id: parent })
}

/// The pull request of a delivery that just let it be merged: until then its judgements said to wait. An approval that is
/// repeated has it read again, since what was in the way may be gone.
fn pull_to_judge(before: Option<&Delivery>, next: &Delivery) -> Option<Work> {
    let is_at_verify = |delivery: &Delivery| delivery.phase == Phase::Verify;
    let goes_on = is_at_verify(next) && !before.is_some_and(is_at_verify);
    let approved = |delivery: &Delivery| delivery.review.approved.clone();
    let is_approved = approved(next).is_some() && before.and_then(approved) != approved(next);
    if !goes_on && !is_approved {
        return None;
    }
    Some(Work::of_pull(next.task.pull.clone()?))
}

fn no_such(name: &str) -> Error {
    Error::NoSuch {
        what: "delivery",
        // A secret that was typed in the wrong place must reach no log.
        name: presentable(name, NAME_CHARS_MAX),
    }
}
