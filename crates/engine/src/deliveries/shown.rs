//! A delivery as every surface shows it: with who is waited for, and why.

use domain::delivery::{self, Child, ChildState, Delivery, DeliveryReason, RunStatus};
use domain::effect::{Effect, EffectState};
use domain::ids::{AgentName, DeliveryId, JobId};
use domain::job::{Job, WaitsFor};
use domain::policy::Timing;
use jiff::Timestamp;

use super::{DeliveryOrder, no_such};
use crate::backend::{Backend, Error};
use crate::keys;
use crate::settings::TrackedPull;
use crate::waits::Waits;
use crate::why::pull_reasons;

/// A delivery, with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryShown {
    /// The delivery; computed for a job that belongs to none.
    pub delivery: Delivery,
    /// Whether it is stored, or computed.
    pub is_stored: bool,
    /// Its job, once there is one.
    pub job: Option<Job>,
    /// The job whose session reviews it, while its answer is awaited, or an answer to its question.
    pub reviewing: Option<Job>,
    /// Its pull request, once it is tracked.
    pub pull: Option<TrackedPull>,
    /// Who is waited for.
    pub waits_for: WaitsFor,
    /// Why it is where it is, the decisive reason first.
    pub because: Vec<DeliveryReason>,
}

/// A delivery, with what decides who it waits for.
pub(crate) struct WaitingDelivery {
    pub(crate) delivery: Delivery,
    pub(crate) waits_for: WaitsFor,
    /// The agent that would be woken.
    agent: Option<AgentName>,
    job: Option<Job>,
    reviewing: Option<Job>,
    pull: Option<TrackedPull>,
    parts: Vec<WaitingDelivery>,
}

impl DeliveryShown {
    /// The job whose session may ask something.
    pub fn asking(&self) -> Option<&Job> {
        let is_blocked = self.delivery.run_status == RunStatus::Blocked;
        let reviewing = self.reviewing.as_ref().filter(|_| is_blocked);
        reviewing.or(self.job.as_ref())
    }
}

impl Backend {
    /// A delivery, or a job that belongs to none, by the id under which it is shown.
    pub async fn delivery_shown(&self, id: &DeliveryId) -> Result<DeliveryShown, Error> {
        let mut waits = Waits::new(self);
        if let Some(shown) = self.shown_stored(id, &mut waits).await? {
            return Ok(shown);
        }
        let job: Option<JobId> = id.as_str().parse().ok();
        let shown = match &job {
            Some(job) => self.shown_job(job, &mut waits).await?,
            None => None,
        };
        shown.ok_or_else(|| no_such(id.as_str()))
    }

    pub(super) async fn shown_stored(
        &self,
        id: &DeliveryId,
        waits: &mut Waits<'_>,
    ) -> Result<Option<DeliveryShown>, Error> {
        let Some(found) = self.store.get::<Delivery>(id).await? else {
            return Ok(None);
        };
        let waiting = Box::pin(self.waiting(found.value, waits)).await?;
        let mut because = self.reasons_of(&waiting).await?;
        because.extend(waiting.parts.iter().filter_map(part_that_waits));
        Ok(Some(DeliveryShown {
            waits_for: waiting.waits_for,
            because,
            is_stored: true,
            delivery: waiting.delivery,
            job: waiting.job,
            reviewing: waiting.reviewing,
            pull: waiting.pull,
        }))
    }

    /// A stored delivery with who it waits for.
    pub(crate) async fn waiting(
        &self,
        mut delivery: Delivery,
        waits: &mut Waits<'_>,
    ) -> Result<WaitingDelivery, Error> {
        let parts = self.parts_of(&mut delivery, waits).await?;
        let job = match &delivery.task.job {
            Some(job) => self.store.job(job).await?.map(|found| found.value),
            None => None,
        };
        let pull = match &delivery.task.pull {
            Some(pull) => self.store.pull(pull).await?.map(|found| found.value),
            None => None,
        };
        let reviewing = self.reviewing_job(&delivery).await?;
        let at_work = match &reviewing {
            Some(reviewing) => Some(waits.told_by(reviewing, None).await?),
            None if !delivery.children.is_empty() => delivery::waits_of_parts(&waits_of(&parts)),
            None => match &job {
                Some(job) => Some(waits.told_by(job, pull.as_ref().map(|it| &it.pull)).await?),
                None => None,
            },
        };
        let agent = waits.woken(None, &delivery.repo).await?;
        let waits_for = delivery::waits(&delivery, at_work, agent.as_ref());
        let waits_for = waits
            .under_pause(waits_for, &delivery.repo, job.as_ref())
            .await?;
        Ok(WaitingDelivery {
            waits_for,
            agent,
            delivery,
            job,
            reviewing,
            pull,
            parts,
        })
    }

    /// The job whose session reviews.
    async fn reviewing_job(&self, delivery: &Delivery) -> Result<Option<Job>, Error> {
        match delivery.reviewing_job() {
            Some(id) => Ok(self.store.job(id).await?.map(|found| found.value)),
            None => Ok(None),
        }
    }

    /// The parts of a delivery as they are now: what it keeps of them may be older. Those that were just wanted are about to
    /// be created.
    async fn parts_of(
        &self,
        delivery: &mut Delivery,
        waits: &mut Waits<'_>,
    ) -> Result<Vec<WaitingDelivery>, Error> {
        let mut parts = Vec::new();
        let mut children = std::mem::take(&mut delivery.children);
        for child in &mut children {
            let found = self.store.get::<Delivery>(&child.id).await?;
            let found = found.map(|found| found.value);
            if let Some(part) = found.or_else(|| to_be_created(delivery, child, self.now())) {
                // A part has no parts, so this goes no deeper.
                let part = Box::pin(self.waiting(part, waits)).await?;
                child.state = ChildState::of(&part.delivery);
                parts.push(part);
            }
        }
        delivery.children = children;
        Ok(parts)
    }

    /// Why a delivery is where it is: its own reasons and what holds up everything of its source. A pause that it waits
    /// for decides.
    async fn reasons_of(&self, waiting: &WaitingDelivery) -> Result<Vec<DeliveryReason>, Error> {
        let mut because = self.with_pauses(waiting).await?;
        let delivery = &waiting.delivery;
        if delivery.is_terminal() {
            return Ok(because);
        }
        let repo = &delivery.repo;
        let mut add = |code, sentence| because.push(DeliveryReason { code, sentence });
        match self.store.source(repo).await?.map(|found| found.value) {
            None => add("no_source", format!("{repo} is no source.")),
            Some(source) if source.branch.is_none() => {
                let sentence = format!(
                    "Source {repo} names no branch, from which its sessions have to start."
                );
                add("branch_missing", sentence);
            }
            Some(_) => {}
        }
        Ok(because)
    }

    /// The reasons in its own record, with the pauses, behind those of its pull request where that decides.
    async fn with_pauses(&self, waiting: &WaitingDelivery) -> Result<Vec<DeliveryReason>, Error> {
        let delivery = &waiting.delivery;
        let own = delivery::reasons(delivery, waiting.agent.as_ref());
        if delivery.is_terminal() && !self.has_unsent(delivery).await? {
            return Ok(own);
        }
        let pauses = self.pauses(&delivery.repo).await?;
        let of_pull = of_pull(waiting, !pauses.is_empty(), self.now());
        let own = [of_pull, own].concat();
        Ok(match waiting.waits_for.is_held() {
            true => [pauses, own].concat(),
            false => [own, pauses].concat(),
        })
    }

    /// Whether something that it decided is not begun yet: its issue is to be told, or closed.
    async fn has_unsent(&self, delivery: &Delivery) -> Result<bool, Error> {
        let effects = self.store.effects(&keys::delivery_pk(&delivery.id)).await?;
        let is_unsent = |it: &Effect| matches!(it.state, EffectState::Intent { .. });
        Ok(effects.iter().any(|found| is_unsent(&found.value)))
    }

    /// A job that belongs to no delivery; none for others, which are shown by theirs.
    pub(super) async fn shown_job(
        &self,
        id: &JobId,
        waits: &mut Waits<'_>,
    ) -> Result<Option<DeliveryShown>, Error> {
        let Some(job) = self.store.job(id).await?.map(|found| found.value) else {
            return Ok(None);
        };
        if job.delivery.is_some() {
            return Ok(None);
        }
        let pull = match job.pull() {
            Some(pull) => self.store.pull(pull).await?.map(|found| found.value),
            None => None,
        };
        let source = self.store.source(&job.repo).await?;
        let timing = source.map_or_else(Timing::default, |source| source.value.timing);
        let its = pull.as_ref().map(|it| &it.pull);
        let delivery = delivery::of_job(&job, its, &timing, self.now());
        let waiting = WaitingDelivery {
            waits_for: waits.told_by(&job, its).await?,
            // What it waits for is told by its job.
            agent: None,
            delivery,
            job: Some(job),
            reviewing: None,
            pull,
            parts: Vec::new(),
        };
        Ok(Some(DeliveryShown {
            because: self.with_pauses(&waiting).await?,
            waits_for: waiting.waits_for,
            is_stored: false,
            delivery: waiting.delivery,
            job: waiting.job,
            reviewing: None,
            pull: waiting.pull,
        }))
    }
}

/// A part that has yet to be created, as it begins.
fn to_be_created(whole: &Delivery, child: &Child, now: Timestamp) -> Option<Delivery> {
    let is_wanted = whole.run_status.is_under_way() && child.state == ChildState::Open;
    let new = DeliveryOrder::of_part(whole, child).to_new(child.id.clone(), 0, &whole.repo);
    let made = delivery::create(&new, &whole.rules, now).ok();
    made.filter(|_| is_wanted).map(|made| made.aggregate)
}

fn waits_of(parts: &[WaitingDelivery]) -> Vec<WaitsFor> {
    parts.iter().map(|part| part.waits_for.clone()).collect()
}

/// What its pull request waits for, if that is why it is where it is.
fn of_pull(waiting: &WaitingDelivery, is_paused: bool, now: Timestamp) -> Vec<DeliveryReason> {
    let (Some(job), Some(tracked)) = (&waiting.job, &waiting.pull) else {
        return Vec::new();
    };
    if !delivery::is_told_by_pull(&waiting.delivery) {
        return Vec::new();
    }
    let verdict = tracked.pull.verdict.as_ref();
    let judged = verdict.filter(|_| job.delivery.is_some());
    let gate = judged.and_then(|verdict| delivery::gate(&waiting.delivery, &verdict.sha));
    pull_reasons(tracked, job.part.as_deref(), gate, is_paused, now)
}

/// What is said of a part that waits for the decision of a person or the agent.
fn part_that_waits(part: &WaitingDelivery) -> Option<DeliveryReason> {
    let waits = Some(&part.waits_for).filter(|waits| waits.is_decision())?;
    let sentence = format!(
        "Its part {} waits for {}.",
        part.delivery.id,
        waits.sentence()
    );
    Some(DeliveryReason {
        code: "part_waits",
        sentence,
    })
}
