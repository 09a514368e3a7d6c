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
    (layer, member, range): (Layer, &Member, &str),
    (trees, records): (&Trees, &Records),
) -> Result<Prompt, PromptError> {
    let ask = Ask {
        role: member.role.clone(),
        stream: Some(member.stream.clone()),
        task: pipeline.ask.task.clone(),
        range_description: range.to_owned(),
        records: records.clone(),
        ..ask(
            (layer, &member.job),
            (&pipeline.repo, &pipeline.target, &pipeline.worker),
            member.requirement.as_deref(),
        )
    };
    assemble(trees, &ask)
}

/// What is asked of an agent, apart from its role and its stream.
pub(super) fn ask(
    (layer, job): (Layer, &JobId),
    (repo, target, worker): (&RepoName, &BranchName, &BranchName),
    requirement: Option<&str>,
) -> Ask {
    Ask {
        layer,
        role: None,
        stream: None,
        task: None,
        requirement: requirement.and_then(|path| path.parse().ok()),
        repository: repo.clone(),
        target_branch: target.clone(),
        worker_branch: worker.clone(),
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
