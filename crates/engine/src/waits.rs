//! Loads the inputs of the one rule for who a job waits for, for one job and for many.

use std::collections::BTreeMap;

use domain::ids::{AgentName, RepoName};
use domain::job::{self, Job, Phase, WaitsFor};
use domain::pull::Pull;

use crate::backend::{Backend, Error};
use crate::why::AsRead;

/// Determines who several jobs wait for: shared inputs are read once.
pub struct Waits<'a> {
    backend: &'a Backend,
    /// The agent that a source names.
    sources: BTreeMap<RepoName, Option<AgentName>>,
    /// Whether an agent can be woken.
    agents: BTreeMap<AgentName, bool>,
}

impl<'a> Waits<'a> {
    /// Nothing is read yet.
    pub fn new(backend: &'a Backend) -> Self {
        Self {
            backend,
            sources: BTreeMap::new(),
            agents: BTreeMap::new(),
        }
    }

    /// Who must act before a job goes on.
    pub async fn waits_for(&mut self, job: &Job) -> Result<WaitsFor, Error> {
        Ok(self.as_read(job).await?.0)
    }

    /// The same, with the age of the reading of its pull request.
    pub async fn as_read(&mut self, job: &Job) -> Result<(WaitsFor, Option<AsRead>), Error> {
        if !matches!(job.phase, Phase::Watching(_)) {
            return Ok((job::waits_for(job, None, None), None));
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
        Ok(job::waits_for(job, pull, agent.as_ref()))
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
        let source = self.backend.store.source(repo).await?;
        let agent = source.and_then(|source| source.value.agent);
        self.sources.insert(repo.clone(), agent.clone());
        Ok(agent)
    }
}

impl Backend {
    /// Who must act before a job goes on.
    pub async fn waits_for(&self, job: &Job) -> Result<WaitsFor, Error> {
        Waits::new(self).waits_for(job).await
    }
}
