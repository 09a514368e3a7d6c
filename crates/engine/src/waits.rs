//! Loads the inputs of the one rule for who a job waits for, for one job and for many.

use std::collections::BTreeMap;

use domain::delivery::{self, Delivery, DeliveryReason};
use domain::effect::{Effect, EffectState};
use domain::governor::{self, Admission, DAILY_QUOTA};
use domain::ids::{AccountName, AgentName, RepoName};
use domain::job::{self, Job, JobPhase, Pause, WaitParty, WaitReason, WaitsFor};
use domain::pull::Pull;
use domain::why::AsRead;

use crate::backend::{Backend, Error};
use crate::keys;

/// Why nothing is written while a process only observes.
pub(crate) const OBSERVES: &str =
    "Gaffer runs with --observe-only and writes nothing: start `gaffer up` again without it.";

/// What a source says about waiting.
#[derive(Debug, Clone, Default)]
struct SourceWaits {
    agent: Option<AgentName>,
    pause: Option<Pause>,
}

/// Determines who several jobs wait for: shared inputs are read once.
pub struct Waits<'a> {
    backend: &'a Backend,
    sources: BTreeMap<RepoName, SourceWaits>,
    /// Whether an agent can be woken.
    agents: BTreeMap<AgentName, bool>,
    /// Whether an account has used its tasks of 24 hours.
    used_up: BTreeMap<AccountName, bool>,
}

impl<'a> Waits<'a> {
    /// Nothing is read yet.
    pub fn new(backend: &'a Backend) -> Self {
        Self {
            backend,
            sources: BTreeMap::new(),
            agents: BTreeMap::new(),
            used_up: BTreeMap::new(),
        }
    }

    /// Who must act before a job goes on.
    pub async fn waits_for(&mut self, job: &Job) -> Result<WaitsFor, Error> {
        Ok(self.as_read(job).await?.0)
    }

    /// The same, with the age of the reading of its pull request.
    pub async fn as_read(&mut self, job: &Job) -> Result<(WaitsFor, Option<AsRead>), Error> {
        if !matches!(job.phase, JobPhase::Watching(_) | JobPhase::Proposed { .. }) {
            return Ok((self.told_by(job, None).await?, None));
        }
        let pull = match job.pull() {
            Some(reference) => self.backend.store.pull(reference).await?,
            None => None,
        };
        let tracked = pull.map(|found| found.value);
        let told = self.unless_paused(job, tracked.as_ref().map(|it| &it.pull));
        let told = told.await?;
        // A pause holds up what its delivery waits for, not the delivery that its job waits for.
        let waits = self.by_delivery(job, told).await?;
        let waits = self.under_pause(waits, &job.repo, Some(job)).await?;
        let now = self.backend.now();
        Ok((waits, tracked.and_then(|it| it.as_read(now))))
    }

    /// The same of a job whose pull request was read before.
    pub(crate) async fn told_by(
        &mut self,
        job: &Job,
        pull: Option<&Pull>,
    ) -> Result<WaitsFor, Error> {
        let waits = self.unless_paused(job, pull).await?;
        self.under_pause(waits, &job.repo, Some(job)).await
    }

    /// The same without a pause.
    async fn unless_paused(&mut self, job: &Job, pull: Option<&Pull>) -> Result<WaitsFor, Error> {
        let agent = self.woken(job.agent.as_ref(), &job.repo).await?;
        let mut waits = job::waits_for(job, pull, agent.as_ref());
        if waits.what == WaitReason::Slot && self.is_used_up(job).await? {
            waits.what = WaitReason::Quota;
        }
        Ok(waits)
    }

    /// Whether the account of a queued job has used its tasks of 24 hours.
    async fn is_used_up(&mut self, job: &Job) -> Result<bool, Error> {
        if let Some(known) = self.used_up.get(&job.account) {
            return Ok(*known);
        }
        let store = &self.backend.store;
        let is_used_up = match store.account(&job.account).await? {
            Some(account) => {
                let slots = store.slots_now(&job.account).await?.value;
                let now = self.backend.now();
                let may = governor::admit(&slots, &job.id, account.value.limits, now);
                matches!(
                    may,
                    Admission::Later {
                        code: DAILY_QUOTA,
                        ..
                    }
                )
            }
            None => false,
        };
        self.used_up.insert(job.account.clone(), is_used_up);
        Ok(is_used_up)
    }

    /// The same, where the delivery of the job decides: it waits for whom that waits for.
    async fn by_delivery(&mut self, job: &Job, told: WaitsFor) -> Result<WaitsFor, Error> {
        let Some(id) = job
            .delivery
            .as_ref()
            .filter(|_| told.is_told_by_delivery(job))
        else {
            return Ok(told);
        };
        let found = self.backend.store.get::<Delivery>(id).await?;
        let is_its = |delivery: &Delivery| delivery.task.job.as_ref() == Some(&job.id);
        let Some(delivery) = found.map(|found| found.value).filter(is_its) else {
            return Ok(told);
        };
        let agent = self.woken(None, &delivery.repo).await?;
        Ok(delivery::waits(&delivery, Some(told), agent.as_ref()))
    }

    /// The same, unless a pause holds up what has to be written first. Without a job nothing was sent yet.
    pub(crate) async fn under_pause(
        &mut self,
        waits: WaitsFor,
        repo: &RepoName,
        job: Option<&Job>,
    ) -> Result<WaitsFor, Error> {
        let Some(pause) = self.of_source(repo).await?.pause else {
            return Ok(waits);
        };
        // Only of these it matters.
        let is_outside = matches!(
            waits.who,
            WaitParty::Jules | WaitParty::GitHub | WaitParty::Nobody
        );
        let is_unsent = match job {
            Some(job) if is_outside && !job.is_ended() => {
                let effects = self.backend.store.effects(&keys::job_pk(&job.id)).await?;
                let unsent = |it: &Effect| matches!(it.state, EffectState::Intent { .. });
                effects.iter().any(|found| unsent(&found.value))
            }
            Some(_) | None => true,
        };
        Ok(waits.while_held(pause, is_unsent))
    }

    /// The agent that would be woken for a job that names this one, or none, in a repository.
    pub(crate) async fn woken(
        &mut self,
        named: Option<&AgentName>,
        repo: &RepoName,
    ) -> Result<Option<AgentName>, Error> {
        let named = match named {
            Some(named) => Some(named.clone()),
            None => self.of_source(repo).await?.agent,
        };
        let Some(name) = named else { return Ok(None) };
        let is_awake = match self.agents.get(&name) {
            Some(known) => *known,
            None => {
                let is_awake = self.backend.awake(Some(name.clone())).await?.is_some();
                self.agents.insert(name.clone(), is_awake);
                is_awake
            }
        };
        Ok(is_awake.then_some(name))
    }

    async fn of_source(&mut self, repo: &RepoName) -> Result<SourceWaits, Error> {
        if let Some(known) = self.sources.get(repo) {
            return Ok(known.clone());
        }
        let store = &self.backend.store;
        let switches = store.switches().await?.value;
        let observes = self.backend.observe_only || switches.observe_only;
        let source = store.source(repo).await?.map(|source| source.value);
        let paused = source.as_ref().is_some_and(|source| source.paused);
        let said = SourceWaits {
            pause: switches
                .paused_since
                .map(|since| Pause::Everything { since })
                .or(paused.then_some(Pause::Source))
                .or(observes.then_some(Pause::Observing)),
            agent: source.and_then(|source| source.agent),
        };
        self.sources.insert(repo.clone(), said.clone());
        Ok(said)
    }
}

impl Backend {
    /// The pauses that hold up what is to be written in a repository.
    pub async fn pauses(&self, repo: &RepoName) -> Result<Vec<DeliveryReason>, Error> {
        let mut found = Vec::new();
        let mut add = |code, sentence| found.push(DeliveryReason { code, sentence });
        let switches = self.store.switches().await?.value;
        if switches.paused_since.is_some() {
            add("paused", "Everything is paused.".to_owned());
        }
        if self.observe_only || switches.observe_only {
            add("observe_only", OBSERVES.to_owned());
        }
        let source = self.store.source(repo).await?;
        if source.is_some_and(|source| source.value.paused) {
            add("source_paused", format!("Source {repo} is paused."));
        }
        Ok(found)
    }

    /// Who must act before a job goes on.
    pub async fn waits_for(&self, job: &Job) -> Result<WaitsFor, Error> {
        Waits::new(self).waits_for(job).await
    }
}
