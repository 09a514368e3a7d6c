//! For anything that does not move: why nothing happens now, and what will be done when.

mod effects;
mod github;
mod job;
mod pipeline;
mod polls;
mod pull;
mod sprint;
#[cfg(test)]
mod tests;
mod told;

use domain::acceptance::accepted;
use domain::advice::{Advice, Next};
use domain::delivery::{self, Delivery};
use domain::facts::Check;
use domain::ids::{DeliveryId, JobId, PullRef};
use domain::job::{Job, JobPhase, WaitsFor};
use domain::policy::Timing;
use domain::pull::Pull;
use domain::reasoned::Reasoned;
use domain::why::{AsRead, PlannedStep};
use jiff::Timestamp;

use crate::backend::{Backend, Error};
use crate::job_state::state_of;
use crate::keys;
use crate::ports::Key;
use crate::waits::OBSERVES;

pub use pipeline::{PipelineWhy, StepWhy};
pub(crate) use pull::reasons as pull_reasons;
pub use pull::state_of as pull_state_of;
pub use sprint::{MemberWhy, SprintWhy};

/// Why a job or a pull request does not move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The job; `None` for a pull request that no job of ours made.
    pub job: Option<JobId>,
    /// The pull request, if one is known.
    pub pull: Option<PullRef>,
    /// In one word.
    pub state: String,
    /// Who is waited for; `None` for a pull request that no job of ours made.
    pub waits_for: Option<WaitsFor>,
    /// Age of what is shown of the pull request; `None` where nothing of a reading is shown.
    pub as_read: Option<AsRead>,
    /// What is the case.
    pub because: Vec<Reasoned>,
    /// The checks of its head, as they were when that was judged.
    pub checks: Vec<Check>,
    /// What will be done, the soonest first.
    pub then: Vec<PlannedStep>,
    /// Advice: orders that would be accepted now.
    pub next: Vec<Next>,
    /// The latest time of its next check.
    pub next_look: Option<Timestamp>,
}

/// What is found out, piece by piece.
#[derive(Default)]
struct WhySubject {
    because: Vec<Reasoned>,
    checks: Vec<Check>,
    then: Vec<PlannedStep>,
    next: Vec<Next>,
    as_read: Option<AsRead>,
    waits_for: Option<WaitsFor>,
    /// Whether nothing may be written outside just now.
    held: bool,
}

impl WhySubject {
    fn because(&mut self, code: &str, sentence: impl AsRef<str>) {
        self.because.push(Reasoned::new(code, sentence.as_ref()));
    }

    fn then(&mut self, at: impl Into<Option<Timestamp>>, sentence: impl AsRef<str>) {
        self.then
            .push(PlannedStep::new(at.into(), sentence.as_ref()));
    }

    /// Actions with a time come first, the soonest first.
    fn into_why(
        mut self,
        job: Option<JobId>,
        pull: Option<PullRef>,
        state: &str,
        next_look: Option<Timestamp>,
    ) -> Why {
        if self.then.iter().all(|planned| planned.at.is_none()) {
            let who = self.waits_for.as_ref().map(|waits| waits.who);
            self.then.extend(PlannedStep::read_again(who, next_look));
        }
        self.then
            .sort_by_key(|planned| (planned.at.is_none(), planned.at));
        Why {
            job,
            pull,
            state: state.to_owned(),
            waits_for: self.waits_for,
            as_read: self.as_read,
            because: self.because,
            checks: self.checks,
            then: self.then,
            next: self.next,
            next_look,
        }
    }
}

impl Backend {
    /// Why a job does not move.
    pub async fn why(&self, id: &JobId) -> Result<Why, Error> {
        self.why_within(id, None).await
    }

    /// The same as a part of what is told of its delivery, which knows who is waited for.
    pub async fn why_within(
        &self,
        id: &JobId,
        delivery_waits: Option<&WaitsFor>,
    ) -> Result<Why, Error> {
        let job = self.must_job(id).await?.value;
        let mut found = WhySubject::default();
        self.switches(&mut found, &job.repo).await?;
        self.why_job(&mut found, &job).await?;
        self.why_told(&mut found, &job).await?;
        self.why_effects(&mut found, &job).await?;
        let mut next_look = self.due_of(&keys::job(id)).await?;
        let mut pull = None;
        if let Some(reference) = job.pull() {
            let pull_due = if let Some(tracked) = self.store.pull(reference).await? {
                self.why_pull(&mut found, &tracked.value).await?;
                pull = Some(tracked.value.pull);
                self.due_of(&keys::pull(reference)).await?
            } else {
                self.why_never_read(&mut found, reference).await?
            };
            next_look = [next_look, pull_due].into_iter().flatten().min();
        }
        if matches!(job.phase, JobPhase::Queued { .. }) {
            // The slots of its account are due for all jobs that wait.
            let slots_due = self.due_of(&keys::slots(&job.account)).await?;
            next_look = [next_look, slots_due].into_iter().flatten().min();
        }
        self.accepted(&mut found, &job, pull.as_ref()).await?;
        found.waits_for = Some(match delivery_waits {
            Some(waits_for) => waits_for.clone(),
            None => self.waits_for(&job).await?,
        });
        let (id, pull) = (Some(id.clone()), job.pull().cloned());
        Ok(found.into_why(id, pull, state_of(&job), next_look))
    }

    /// Explains why a pull request is not merged, or not even read.
    pub async fn pull_why(&self, reference: &PullRef) -> Result<Why, Error> {
        if let Some(tracked) = self.store.pull(reference).await? {
            let tracked = tracked.value;
            let mut found = WhySubject::default();
            self.switches(&mut found, &reference.repo).await?;
            self.why_pull(&mut found, &tracked).await?;
            let next_look = self.due_of(&keys::pull(reference)).await?;
            if let Some(job) = self.store.job(&tracked.pull.job).await? {
                let pull = Some(&tracked.pull);
                self.accepted(&mut found, &job.value, pull).await?;
                found.waits_for = Some(self.waits_for(&job.value).await?);
            }
            let state = pull::state_of(&tracked.pull);
            let (id, pull) = (Some(tracked.pull.job), Some(reference.clone()));
            return Ok(found.into_why(id, pull, state, next_look));
        }
        self.why_not_followed(reference).await
    }

    /// Keeps only advice that would be accepted now. An order about the job of a delivery is one about that.
    async fn accepted(
        &self,
        found: &mut WhySubject,
        job: &Job,
        pull: Option<&Pull>,
    ) -> Result<(), Error> {
        let advised = std::mem::take(&mut found.next);
        let timing = &Timing::default();
        found.next = accepted(job, pull, advised, self.now(), timing);
        let Some(id) = &job.delivery else {
            return Ok(());
        };
        let Some(delivery) = self.store.get::<Delivery>(id).await? else {
            return Ok(());
        };
        let delivery = delivery.value;
        let rules = self.delivery_rules(&delivery).await?;
        let takes = |order| delivery::takes_order(&delivery, job, order, &rules);
        let orders = |next: &Next| next.advice.order();
        found.next.retain(|next| orders(next).is_none_or(takes));
        Ok(())
    }

    /// Explains pauses of everything, or of a source.
    async fn switches(
        &self,
        found: &mut WhySubject,
        repo: &domain::ids::RepoName,
    ) -> Result<(), Error> {
        let switches = self.store.switches().await?.value;
        if switches.paused_since.is_some() {
            found.because("paused", "Everything is paused.");
            found.next.push(Advice::Resume.about(&""));
            found.held = true;
        }
        if self.observe_only || switches.observe_only {
            found.because("observe_only", OBSERVES);
            found.held = true;
        }
        match self.store.source(repo).await? {
            Some(source) if source.value.paused => {
                found.because("source_paused", format!("Source {repo} is paused."));
                found.next.push(Advice::ResumeSource.about(repo));
                found.held = true;
            }
            Some(_) => {}
            None => {
                found.because("no_source", format!("{repo} is no source."));
                found.next.push(Advice::AddSource.about(repo));
            }
        }
        self.why_github(found, repo).await
    }

    /// When a delivery is read again at the latest.
    pub async fn delivery_due(&self, id: &DeliveryId) -> Result<Option<Timestamp>, Error> {
        self.due_of(&keys::delivery(id)).await
    }

    async fn due_of(&self, key: &Key) -> Result<Option<Timestamp>, Error> {
        let record = self.store.records().get(key).await?;
        Ok(record.and_then(|record| record.due))
    }
}
