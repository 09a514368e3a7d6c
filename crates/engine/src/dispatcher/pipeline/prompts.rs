//! Prompts of a pipeline's agents, put together from files at recorded commits.

use domain::ids::{ArtefactId, BranchName, JobId, RepoName};
use domain::layer::Layer;
use domain::pipeline::{Agent, Member, Pipeline, Requirement, RequirementRef, TreeShas};
use scaffold::exchange;
use scaffold::layout::Layout;
use scaffold::prompt::{Ask, Prompt, PromptError, Records, Trees, assemble, ids_wanted};
use scaffold::tree::TreePath;

use super::trees::TreeCache;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;

/// What the prompts of a step are put together from.
#[derive(Clone, Copy)]
pub(super) struct PromptSources<'a> {
    /// The files.
    pub(super) trees: &'a Trees,
    /// What agents are told besides them.
    pub(super) records: &'a Records,
    /// The commits that a narrator sums up.
    pub(super) range: &'a str,
}

/// The two branches that an agent hears of.
#[derive(Clone, Copy)]
pub(super) struct Branches<'a> {
    /// Their repository.
    pub(super) repo: &'a RepoName,
    /// The one that people work on.
    pub(super) target: &'a BranchName,
    /// The one that has the exchange.
    pub(super) worker: &'a BranchName,
}

impl<'a> Branches<'a> {
    /// Those of a run.
    pub(super) fn of_run(pipeline: &'a Pipeline) -> Self {
        Self {
            repo: &pipeline.repo,
            target: &pipeline.target,
            worker: &pipeline.worker,
        }
    }
}

impl Dispatcher {
    /// What the agents of a layer are told besides the files: a decider is not shown requirements that deliveries have taken. These are
    /// looked for once for all deciders of a step.
    pub(super) async fn records(
        &self,
        repo: &RepoName,
        layer: Layer,
        trees: &Trees,
        cache: &mut TreeCache,
    ) -> Result<Records, Error> {
        if layer != Layer::Decider {
            return Ok(Records::default());
        }
        let taken = match &cache.taken {
            Some(taken) => taken.clone(),
            None => self.taken(repo, trees).await?,
        };
        cache.taken = Some(taken.clone());
        Ok(Records {
            taken,
            ..Records::default()
        })
    }

    /// The files of requirements that deliveries have taken.
    async fn taken(&self, repo: &RepoName, trees: &Trees) -> Result<Vec<TreePath>, Error> {
        let mut taken = Vec::new();
        let Ok(paths) = Layout::paths(&trees.worker) else {
            return Ok(taken);
        };
        for found in exchange::requirements(&trees.worker, paths) {
            let RequirementRef { id, path, .. } = found.reference;
            let key = (repo.clone(), id);
            let known = self.backend.store.get::<Requirement>(&key).await?;
            if known.is_some_and(|known| known.value.state.delivery().is_some()) {
                taken.extend(path.parse::<TreePath>().ok());
            }
        }
        Ok(taken)
    }
}

/// The prompt of an agent. The same run, agent, records and trees give the same bytes.
pub(super) fn assembled(
    pipeline: &Pipeline,
    layer: Layer,
    member: &Member,
    sources: PromptSources<'_>,
) -> Result<Prompt, PromptError> {
    let ask = Ask {
        role: member.role.clone(),
        stream: Some(member.stream.clone()),
        task: pipeline.ask.task.clone(),
        range_description: sources.range.to_owned(),
        records: sources.records.clone(),
        ..ask(
            layer,
            &member.job,
            Branches::of_run(pipeline),
            member.requirement.as_deref(),
        )
    };
    assemble(sources.trees, &ask)
}

/// What is asked of an agent, apart from its role and its stream.
pub(super) fn ask(
    layer: Layer,
    job: &JobId,
    branches: Branches<'_>,
    requirement: Option<&str>,
) -> Ask {
    Ask {
        layer,
        role: None,
        stream: None,
        task: None,
        requirement: requirement.and_then(|path| path.parse().ok()),
        repository: branches.repo.clone(),
        target_branch: branches.target.clone(),
        worker_branch: branches.worker.clone(),
        range_description: String::new(),
        ids: ArtefactId::of_job(job, ids_wanted(layer)),
        records: Records::default(),
    }
}

/// What the job of an agent keeps of its prompt.
pub(super) fn agent(layer: Layer, member: &Member, trees: &TreeShas, prompt: &Prompt) -> Agent {
    Agent {
        layer,
        role: member.role.clone(),
        stream: member.stream.clone(),
        requirement: member.requirement.clone(),
        trees: trees.clone(),
        included: prompt
            .included
            .iter()
            .map(|it| it.path.to_string())
            .collect(),
        skipped: prompt.skipped.clone(),
        mock: None,
    }
}
