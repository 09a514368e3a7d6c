//! What a delivery announces: decisions that it asks for, failures, and how far it is, on its issue.

use domain::delivery::{Delivery, Fault, IssueRef, TELL_EVERY, Told, Want};
use domain::effect::{Action, TrackerAction};
use domain::event::{Audience, DeliveryAsk, ErrorCause, Event, EventContext, Occurrence};
use domain::ids::{DeliveryId, EventId};
use domain::outgoing_text;
use domain::policy::Source;
use domain::step::Step;

use crate::backend::{Error, decide_again, ignore_conflict};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::save::EventRoute;

/// A decision that a delivery asks for.
pub(super) struct DeliveryQuestion<'a> {
    pub(super) ask: &'a DeliveryAsk,
    pub(super) audience: Audience,
    pub(super) cause: &'a str,
}

/// What is announced, once for each cause.
struct Announcement<'a> {
    what: Occurrence,
    audience: Audience,
    cause: &'a str,
    /// The address of its full text.
    whole: Option<String>,
}

impl Dispatcher {
    /// Asks for a decision, once for each cause.
    pub(super) async fn ask(
        &self,
        delivery: &Delivery,
        question: DeliveryQuestion<'_>,
        source: &Source,
    ) -> Result<(), Error> {
        let DeliveryQuestion {
            ask,
            audience,
            cause,
        } = question;
        let whole = self.whole_plan_of(delivery, ask).await?;
        let what = Occurrence::Delivery {
            ask: ask.clone(),
            summary: delivery.summary.clone(),
        };
        let announcement = Announcement {
            what,
            audience,
            cause,
            whole,
        };
        self.announce_of(delivery, announcement, source).await
    }

    /// Where the whole of a plan can be read of which a question shows a part.
    async fn whole_plan_of(
        &self,
        delivery: &Delivery,
        ask: &DeliveryAsk,
    ) -> Result<Option<String>, Error> {
        let shows_plan = matches!(ask, DeliveryAsk::Checkpoint { plan: Some(_), .. });
        let job = match delivery.task.job.as_ref().filter(|_| shows_plan) {
            Some(job) => self.backend.store.job(job).await?,
            None => None,
        };
        let job = job.as_ref().map(|found| &found.value);
        Ok(domain::delivery::whole_plan_url(delivery, ask, job))
    }

    /// Records an event of a delivery, once for each cause, with its wakes.
    async fn announce_of(
        &self,
        delivery: &Delivery,
        announcement: Announcement<'_>,
        source: &Source,
    ) -> Result<(), Error> {
        let Announcement {
            what,
            audience,
            cause,
            whole,
        } = announcement;
        let event = Event {
            job: delivery.task.job.clone(),
            attempt: delivery.attempt,
            audience,
            aid: EventContext {
                pull: delivery.task.pull.clone(),
                delivery: Some(delivery.id.clone()),
                whole,
                ..EventContext::default()
            },
            ..Event::new(
                EventId::from_name(cause),
                source.account.clone(),
                self.backend.now(),
                what,
            )
        };
        let route = EventRoute {
            agent: self.backend.awake(source.agent.clone()).await?,
            repo: Some(delivery.repo.clone()),
            resume: None,
        };
        // Another event of the same job takes the same number: this one is then given the next.
        let (id, event, route) = (&delivery.id, &event, &route);
        decide_again(format!("event of delivery {id}"), || async move {
            let present = self.backend.must::<Delivery>(id).await?;
            if !domain::delivery::open_events(&present.value).contains(&event.id) {
                // It was answered meanwhile, and nothing would end its wake.
                return Ok(Some(()));
            }
            let mut unit = self.backend.unit();
            unit.check(keys::delivery(id), present.version);
            self.backend
                .save_delivery_event(&mut unit, id, event, route)
                .await?;
            Ok(self.backend.try_commit(unit).await?.then_some(()))
        })
        .await
    }

    /// Announces that a phase failed, unless its job or its pull request does.
    pub(super) async fn announce_failure(
        &self,
        delivery: &Delivery,
        audience: Audience,
        cause: &str,
        source: &Source,
    ) -> Result<(), Error> {
        let of_job = match &delivery.task.job {
            Some(job) => self.backend.store.events(job).await?,
            None => Vec::new(),
        };
        let is_own = domain::delivery::announces_failure(delivery, &of_job);
        let Some(error) = delivery.error.as_ref().filter(|_| is_own) else {
            return Ok(());
        };
        let phase = delivery.phase;
        let cancelled_by = delivery.phase_runs.last().map(|span| &span.actor);
        let reason = match cancelled_by.filter(|_| error.code == Fault::Canceled) {
            Some(actor) => format!("The phase {phase} was cancelled by {actor}."),
            None => format!("The phase {phase} failed: {}", error.text),
        };
        let what = Occurrence::Error {
            cause: ErrorCause::PhaseFailed,
            reason,
        };
        let announcement = Announcement {
            what,
            audience,
            cause,
            whole: None,
        };
        self.announce_of(delivery, announcement, source).await
    }

    /// Says on its issue how far a delivery is, at most once a minute.
    ///
    /// What it is told is decided by the record as it is now: another want of the same look may have changed it.
    pub(super) async fn tell_issue(&self, id: &DeliveryId) -> Result<(), Error> {
        let found = self.backend.must::<Delivery>(id).await?;
        let Some(Want::Tell { issue, cause }) = domain::delivery::tell(&found.value) else {
            return Ok(());
        };
        let now = self.backend.now();
        let is_early = |told: &Told| now < told.at + TELL_EVERY;
        if found.value.told.as_ref().is_some_and(is_early) {
            return Ok(());
        }
        let mut next = found.value.clone();
        let text = outgoing_text::issue_comment(&next);
        let told = Told::next(next.told.as_ref(), &cause, now);
        let tell = TrackerAction::Tell {
            issue,
            text,
            cause: told.id(),
        };
        next.told = Some(told);
        let step = Step {
            effects: vec![Action::Tracker(tell)],
            due: domain::delivery::due(&next, now),
            ..Step::unchanged(next)
        };
        let mut unit = self.backend.unit();
        self.backend
            .save_delivery(&mut unit, Some(&found), &step)
            .await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Why a text is not written on an issue any more: a newer one was decided while it was held or tried again.
    pub(in crate::dispatcher) async fn not_told(
        &self,
        pk: &str,
        cause: &str,
    ) -> Result<Option<String>, Error> {
        let found = match keys::delivery_in(pk) {
            Some(id) => self.backend.store.get::<Delivery>(&id).await?,
            None => None,
        };
        let told = found.and_then(|found| found.value.told);
        let is_newest = told.is_some_and(|told| told.id() == cause);
        Ok((!is_newest).then(|| "its issue is told something newer".to_owned()))
    }

    /// Why a delivery does not close an issue any more: another one was made of it while that was held or tried again.
    pub(in crate::dispatcher) async fn not_its_issue(
        &self,
        pk: &str,
        issue: &IssueRef,
    ) -> Result<Option<String>, Error> {
        let newest = self.backend.delivery_of_issue(issue).await?;
        let id = keys::delivery_in(pk);
        let is_other = newest.is_some_and(|newest| Some(&newest.value.id) != id.as_ref());
        Ok(is_other.then(|| "another delivery of the issue is there by now".to_owned()))
    }
}
