//! What a step of a pipeline is going to do, by the files of both branches.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use domain::failure::{FailureClass, Hindrance};
use domain::ids::{BranchName, JobId, RepoName};
use domain::layer::Layer;
use domain::pipeline::{
    FoundRequirement, MEMBERS_MAX, Member, Pipeline, Requirement, StepKind, StepPlan, TreeShas,
    refused,
};
use domain::policy::Source;
use domain::redact::presentable;
use scaffold::config::{self, Config, StreamAgents};
use scaffold::layout::{CONFIG, Layout, Paths, SYSTEM};
use scaffold::prompt::{PromptError, Trees};
use scaffold::{commits, doctor, exchange, pin, roles};

use super::asked::{Asked, deciders, idle, innovators, observers, trial_of_code, unplanned};
use super::cleaning::{of_trial, real};
use super::prompts::PromptSources;
use super::trees::TreeCache;
use super::{at_work, prompts};
use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::ports::{CommitRange, RootEntry};

/// How much is said about an agent's prompt, in characters.
const NOTE_CHARS_MAX: usize = 300;

/// The version of this Gaffer.
const OURS: &str = env!("CARGO_PKG_VERSION");

impl Dispatcher {
    /// What a pending step is going to do, or why that cannot be found out now.
    pub(super) async fn plan(
        &self,
        pipeline: &Pipeline,
        place: usize,
        source: &Source,
        trees: &mut TreeCache,
    ) -> Result<Result<StepPlan, Hindrance>, Error> {
        let step = &pipeline.steps[place];
        let planned = match step.kind {
            StepKind::Bootstrap => Box::pin(self.plan_bootstrap(pipeline, trees)).await,
            StepKind::Layer(layer) => Box::pin(self.plan_layer(pipeline, layer, trees)).await,
            StepKind::Requirements => Box::pin(self.hand_on(pipeline, source, trees)).await,
            StepKind::Proposals => Box::pin(self.plan_publishing(pipeline, trees)).await,
            StepKind::Clean => match &pipeline.ask.requirement {
                Some(path) => Box::pin(self.plan_removal(pipeline, path, trees)).await,
                None => Box::pin(self.plan_cleaning(pipeline, trees)).await,
            },
            StepKind::Labels => Box::pin(self.plan_labels(pipeline, trees)).await,
        };
        match planned {
            Ok(plan) => Ok(Ok(plan)),
            Err(Error::Outside(failure)) => {
                tracing::warn!(pipeline = %pipeline.id, %failure, "the step is not planned");
                let before = step.hindrance.as_ref();
                let hindrance = Hindrance::of(&failure, before, self.backend.now());
                Ok(hindrance.map_or_else(|| Ok(StepPlan::Fail(failure.to_string())), Err))
            }
            Err(error) => Err(error),
        }
    }

    /// The tips of both branches; a sentence if one is not there.
    pub(super) async fn both_tips(
        &self,
        pipeline: &Pipeline,
    ) -> Result<Result<TreeShas, String>, Error> {
        let found = self.tips(pipeline).await?;
        Ok(found.and_then(|(shas, has_worker)| match has_worker {
            true => Ok(shas),
            false => Err(format!(
                "{} has no branch `{}`: a run from `gaffer pipeline start` makes it",
                pipeline.repo, pipeline.worker
            )),
        }))
    }

    /// The tips of both branches, and whether there is a worker branch; a sentence if there is no target. A worker branch that is not
    /// there begins with the code, and the effect that opens the bootstrap's pull request makes it.
    async fn tips(&self, pipeline: &Pipeline) -> Result<Result<(TreeShas, bool), String>, Error> {
        let (git, repo) = (&self.readers.git, &pipeline.repo);
        let Some(target) = git.tip(repo, &pipeline.target).await? else {
            return Ok(Err(format!(
                "{repo} has no branch `{}`: name another one in the source",
                pipeline.target
            )));
        };
        let worker = git.tip(repo, &pipeline.worker).await?;
        let has_worker = worker.is_some();
        let worker = worker.unwrap_or_else(|| target.clone());
        Ok(Ok((TreeShas { target, worker }, has_worker)))
    }

    async fn plan_bootstrap(
        &self,
        pipeline: &Pipeline,
        cache: &mut TreeCache,
    ) -> Result<StepPlan, Error> {
        let (shas, has_worker) = match self.tips(pipeline).await? {
            Ok(found) => found,
            Err(why) => return Ok(StepPlan::Fail(why)),
        };
        let trees = self.trees_of(&pipeline.repo, &shas, cache).await?;
        let config = match settings(trees, &pipeline.target, &pipeline.worker) {
            Ok(config) => config,
            Err(why) => return Ok(StepPlan::Fail(why)),
        };
        let files = match doctor::system(&trees.worker, &doctor::streams(&config)) {
            Ok(files) => files,
            Err(error) => return Ok(StepPlan::Fail(error.to_string())),
        };
        let differs = |file: &scaffold::assets::Asset| {
            trees.worker.text(file.path.as_str()) != Some(file.text)
        };
        let is_complete = !files.iter().any(differs);
        let wait_minutes = Some(config.workflow.wait_minutes);
        if has_worker && is_complete && self.holds(&pipeline.repo, &shas).await? {
            return Ok(StepPlan::Skip("the worker branch is up to date".to_owned()));
        }
        let job = JobId::of_pipeline(&pipeline.id, "bootstrap", self.backend.now());
        Ok(StepPlan::Run {
            members: vec![at_work(job)],
            trees: Some(shas),
            range: String::new(),
            wait_minutes,
        })
    }

    /// Whether the worker branch has the files of the target, apart from the system's folder. Its commits do not show it: a bootstrap may have
    /// been squashed.
    async fn holds(&self, repo: &RepoName, shas: &TreeShas) -> Result<bool, Error> {
        if shas.target == shas.worker {
            return Ok(true);
        }
        let git = &self.readers.git;
        let [target, worker] = [
            git.root(repo, &shas.target).await?,
            git.root(repo, &shas.worker).await?,
        ];
        let is_code = |entry: &&RootEntry| entry.name != SYSTEM;
        let [target, worker] =
            [&target, &worker].map(|root| root.iter().filter(is_code).collect::<BTreeSet<_>>());
        Ok(target == worker)
    }

    async fn plan_layer(
        &self,
        pipeline: &Pipeline,
        layer: Layer,
        cache: &mut TreeCache,
    ) -> Result<StepPlan, Error> {
        let shas = match self.both_tips(pipeline).await? {
            Ok(shas) => shas,
            Err(why) => return Ok(StepPlan::Fail(why)),
        };
        let trees = &self.trees_of(&pipeline.repo, &shas, cache).await?.clone();
        let (config, paths, agents) = match prepared(pipeline, layer, trees) {
            Ok(prepared) => prepared,
            Err(why) => return Ok(StepPlan::Fail(why)),
        };
        if let Some(why) = self.refusal(pipeline, layer, trees).await? {
            return Ok(StepPlan::Fail(why));
        }
        let mut range = String::new();
        let asked = match layer {
            Layer::Narrator => match self.range(pipeline, &shas, trees, paths).await? {
                Some(commits) => {
                    range = commits;
                    vec![Asked::default()]
                }
                None => Vec::new(),
            },
            Layer::Observers => observers(pipeline, &agents, trees),
            Layer::Innovators => innovators(pipeline, &config),
            Layer::Decider => deciders(pipeline, &agents, trees),
            Layer::Planner => {
                let asked = unplanned(pipeline, trees, paths);
                self.plannable(pipeline, asked, trees, paths).await?
            }
            // What implements a requirement is a delivery; in a trial it is made up.
            Layer::Implementer => trial_of_code(pipeline),
        };
        if asked.is_empty() {
            return Ok(StepPlan::Skip(idle(layer).to_owned()));
        }
        let now = self.backend.now();
        let records = self.records(&pipeline.repo, layer, trees, cache).await?;
        let sources = PromptSources {
            trees,
            records: &records,
            range: &range,
        };
        let members = asked.into_iter().take(MEMBERS_MAX).map(|asked| {
            let purpose = format!("{layer}:{}", asked.name());
            let job = JobId::of_pipeline(&pipeline.id, &purpose, now);
            let member = Member {
                role: asked.role,
                stream: asked.stream,
                requirement: asked.requirement,
                ..at_work(job)
            };
            with_prompt(pipeline, layer, member, sources)
        });
        let members = members.collect();
        Ok(StepPlan::Run {
            members,
            trees: Some(shas),
            range,
            wait_minutes: Some(config.workflow.wait_minutes),
        })
    }

    /// Why what a person named is not worked on: it is not there, or it is a requirement that takes no planner.
    async fn refusal(
        &self,
        pipeline: &Pipeline,
        layer: Layer,
        trees: &Trees,
    ) -> Result<Option<String>, Error> {
        let found = match names_what_is_there(pipeline, layer, trees) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(why) => return Ok(Some(why)),
        };
        // A trial takes what it made up, which no record is about.
        if pipeline.ask.mock.is_none() {
            let key = (pipeline.repo.clone(), found.reference.id.clone());
            let known = self.backend.store.get::<Requirement>(&key).await?;
            let free = known.map_or(Ok(()), |known| known.value.must_be_free());
            if let Err(why) = free {
                return Ok(Some(why.to_string()));
            }
        }
        let path = found.reference.path.parse().ok();
        let ready = path.filter(|_| !found.needs_planning);
        Ok(ready.map(|path| PromptError::Ready(path).to_string()))
    }

    /// What a narrator sums up: the commits since the last summary, or the last ones of all. None if they changed
    /// nothing but the pipeline's own files.
    async fn range(
        &self,
        pipeline: &Pipeline,
        shas: &TreeShas,
        trees: &Trees,
        paths: &Paths,
    ) -> Result<Option<String>, Error> {
        let (git, repo) = (&self.readers.git, &pipeline.repo);
        let since = exchange::last_summary(&trees.worker, paths);
        let log = git.log(repo, &shas.target, commits::wanted(since)).await?;
        let new = commits::uncovered(&log, since, pipeline.summed_up.as_ref());
        let Some(newest) = new.first() else {
            return Ok(None);
        };
        // Without a commit before them, all that there is changed.
        if let Some(before) = log.get(new.len()) {
            let is_code = |path: &str| !exchange::is_of_pipeline(path);
            let between = CommitRange {
                base: &before.sha,
                head: &newest.sha,
            };
            match git.compare(repo, between).await {
                Ok(compared) if !compared.files.iter().any(|file| is_code(&file.path)) => {
                    return Ok(None);
                }
                Ok(_) => {}
                // What is too large to list is more than the pipeline's own files.
                Err(failure) if failure.class == FailureClass::Garbled => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        Ok(Some(commits::described(new)))
    }
}

/// The settings of the repository, if this Gaffer may work by them. The older generation does without the user's files.
pub(super) fn settings(
    trees: &Trees,
    target: &BranchName,
    worker: &BranchName,
) -> Result<Config, String> {
    let files = &trees.target;
    match files.text(pin::PIN) {
        Some(version) => {
            pin::check(version, OURS).map_err(|error| format!("{}: {error}", pin::PIN))?;
        }
        None if Layout::is_older(&trees.worker) => {}
        None => {
            return Err(format!(
                "`{}` is not on the branch `{target}`: begin with `gaffer scaffold init`, and push it",
                pin::PIN
            ));
        }
    }
    let config = config::read_with(files, &trees.worker).map_err(|error| error.to_string())?;
    // A file that is not there names no branches.
    let misfit = match files.has(CONFIG) {
        true => exchange::misfit(&config, target.as_str(), worker.as_str()),
        false => None,
    };
    misfit.map_or(Ok(config), Err)
}

/// The settings, the paths and the agents by which a layer is planned.
fn prepared(
    pipeline: &Pipeline,
    layer: Layer,
    trees: &Trees,
) -> Result<(Config, &'static Paths, Vec<StreamAgents>), String> {
    let config = settings(trees, &pipeline.target, &pipeline.worker)?;
    // The older generation has neither trial runs nor innovators.
    let paths = match pipeline.ask.mock.is_some() || layer == Layer::Innovators {
        true => Layout::newer(&trees.worker),
        false => Layout::paths(&trees.worker),
    };
    let paths = paths.map_err(|error| error.to_string())?;
    let agents = config::agents(&config, &trees.worker).map_err(|error| error.to_string())?;
    Ok((config, paths, agents))
}

/// Whether what a person named is there: a stream, or the requirement of a planner, which is returned.
fn names_what_is_there(
    pipeline: &Pipeline,
    layer: Layer,
    trees: &Trees,
) -> Result<Option<FoundRequirement>, String> {
    let ask = &pipeline.ask;
    if let Some(stream) = &ask.stream {
        Layout::paths_of(&trees.worker, stream).map_err(|error| error.to_string())?;
    }
    match (&ask.requirement, &ask.mock) {
        (Some(path), Some(tag)) if layer == Layer::Planner => of_trial(trees, path, tag).map(Some),
        (Some(path), None) if layer == Layer::Planner => real(trees, path).map(Some),
        (Some(_) | None, _) => Ok(None),
    }
}

/// A member whose role is in order and whose prompt can be put together; another one has failed before it costs a task. A trial run has no
/// prompts.
fn with_prompt(
    pipeline: &Pipeline,
    layer: Layer,
    member: Member,
    sources: PromptSources<'_>,
) -> Member {
    let told = match pipeline.ask.mock {
        Some(_) => must_be_usable(layer, &member, sources.trees).map(|()| String::new()),
        None => noted(pipeline, layer, &member, sources),
    };
    match told {
        Ok(note) => Member {
            note: presentable(&note, NOTE_CHARS_MAX),
            ..member
        },
        Err(why) => Member {
            state: refused(&why),
            ..member
        },
    }
}

/// What there is to say about an agent's prompt, or why the agent is not sent to work.
fn noted(
    pipeline: &Pipeline,
    layer: Layer,
    member: &Member,
    sources: PromptSources<'_>,
) -> Result<String, String> {
    must_be_usable(layer, member, sources.trees)?;
    let prompt = prompts::assembled(pipeline, layer, member, sources);
    let prompt = prompt.map_err(|error| error.to_string())?;
    Ok(prompt.note())
}

/// Refuses a role with an error in its file. In the older generation its list names its files.
fn must_be_usable(layer: Layer, member: &Member, trees: &Trees) -> Result<(), String> {
    let role = member.role.as_ref();
    let role = role.filter(|_| !Layout::is_older(&trees.worker));
    let unusable = role.and_then(|role| roles::unusable(&trees.target, layer, role));
    unusable.map_or(Ok(()), Err)
}
