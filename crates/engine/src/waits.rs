//! Loads the inputs of the one rule for who a job waits for, for one job and for many.

use std::collections::BTreeMap;

use domain::ids::{AgentName, RepoName};
use domain::job::{self, Job, Phase, WaitsFor};
use domain::pull::Pull;
use jiff::Timestamp;

use crate::backend::{Backend, Error};
use crate::why::AsRead;

/// Determines who several jobs wait for: shared inputs are read once.
pub struct Waits<'a> {
    backend: &'a Backend,
    /// The agent that a source names.
    sources: BTreeMap<RepoName, Option<AgentName>>,
    /// Whether an agent can be woken.
    agents: BTreeMap<AgentName, bool>,
    /// Whether everything is paused, and since when.
    pause: Option<Option<Timestamp>>,
    /// Whether a source is paused.
    paused: BTreeMap<RepoName, bool>,
}

impl<'a> Waits<'a> {
    /// Nothing is read yet.
    pub fn new(backend: &'a Backend) -> Self {
        Self {
            backend,
            sources: BTreeMap::new(),
            agents: BTreeMap::new(),
            pause: None,
            paused: BTreeMap::new(),
        }
    }

    /// Who must act before a job goes on.
    pub async fn waits_for(&mut self, job: &Job) -> Result<WaitsFor, Error> {
        Ok(self.as_read(job).await?.0)
    }

    /// The same, with the age of the reading of its pull request.
    pub async fn as_read(&mut self, job: &Job) -> Result<(WaitsFor, Option<AsRead>), Error> {
        if !matches!(job.phase, Phase::Watching(_) | Phase::Proposed { .. }) {
            let waits = job::waits_for(job, None, None);
            return Ok((self.held(waits, &job.repo).await?, None));
        }
        let pull = match job.pull() {
            Some(reference) => self.backend.store.pull(reference).await?,
            None => None,
        };
        let tracked = pull.map(|found| found.value);
        let waits = self
            .told_by(job, tracked.as_ref().map(|it| &it.pull))
            .await?;
        let now = self.backend.now();
        Ok((waits, tracked.and_then(|it| AsRead::from_tracked(&it, now))))
    }

    /// The same of a job whose pull request was read before.
    pub(crate) async fn told_by(
        &mut self,
        job: &Job,
        pull: Option<&Pull>,
    ) -> Result<WaitsFor, Error> {
        let agent = self.woken(job.agent.as_ref(), &job.repo).await?;
        let waits = job::waits_for(job, pull, agent.as_ref());
        self.held(waits, &job.repo).await
    }

    /// The same while everything, or the source, is paused.
    pub(crate) async fn held(
        &mut self,
        waits: WaitsFor,
        repo: &RepoName,
    ) -> Result<WaitsFor, Error> {
        if self.pause.is_none() {
            let switches = self.backend.store.switches().await?;
            self.pause = Some(switches.value.paused_since);
        }
        if let Some(Some(since)) = self.pause {
            return Ok(waits.while_held(Some(since)));
        }
        if !self.paused.contains_key(repo) {
            self.read_source(repo).await?;
        }
        Ok(match self.paused.get(repo) {
            Some(true) => waits.while_held(None),
            Some(false) | None => waits,
        })
    }

    /// The agent that would be woken for a job that names this one, or none, in a repository.
    pub(crate) async fn woken(
        &mut self,
        named: Option<&AgentName>,
        repo: &RepoName,
    ) -> Result<Option<AgentName>, Error> {
        let named = match named {
            Some(named) => Some(named.clone()),
            None => self.of_source(repo).await?,
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

    async fn of_source(&mut self, repo: &RepoName) -> Result<Option<AgentName>, Error> {
        if let Some(known) = self.sources.get(repo) {
            return Ok(known.clone());
        }
        self.read_source(repo).await
    }

    /// Reads what is shared by the jobs of a source.
    async fn read_source(&mut self, repo: &RepoName) -> Result<Option<AgentName>, Error> {
        let source = self.backend.store.source(repo).await?;
        let is_paused = source.as_ref().is_some_and(|source| source.value.paused);
        let agent = source.and_then(|source| source.value.agent);
        self.sources.insert(repo.clone(), agent.clone());
        self.paused.insert(repo.clone(), is_paused);
        Ok(agent)
    }
}

impl Backend {
    /// Who must act before a job goes on.
    pub async fn waits_for(&self, job: &Job) -> Result<WaitsFor, Error> {
        Waits::new(self).waits_for(job).await
    }
}
