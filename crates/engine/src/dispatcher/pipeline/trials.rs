//! Trial runs: Gaffer makes up what a layer would have written, everything after that is real, and all of it can be removed again.

use domain::failure::{Failure, FailureClass};
use domain::ids::JobId;
use domain::job::{EndReason, Job, JobPhase};
use domain::pipeline::{Agent, MockTag, PartWork, Pipeline, StepPlan};
use jiff::civil::Date;
use scaffold::mock;
use scaffold::prompt::Ask;
use scaffold::tree::Change;

use super::trees::TreeCache;
use super::{at_work, cleaning, named, prompts};
use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::pipelines::LIST_MAX;
use crate::ports::Edit;

impl Dispatcher {
    /// What an agent would have changed; nothing where it would have had nothing to do.
    pub(super) async fn made_up(
        &self,
        job: &Job,
        range: &str,
        today: Date,
    ) -> Result<Vec<Edit>, Error> {
        let Some((agent, tag, pipeline)) = self.trial_of(job).await? else {
            return Ok(Vec::new());
        };
        let ask = Ask {
            role: agent.role.clone(),
            stream: Some(agent.stream.clone()),
            task: pipeline.ask.task.clone(),
            range_description: range.to_owned(),
            ..prompts::ask(
                agent.layer,
                &job.id,
                prompts::Branches::of_run(&pipeline),
                agent.requirement.as_deref(),
            )
        };
        let mut cache = TreeCache::default();
        let trees = self.trees_of(&job.repo, &agent.trees, &mut cache).await?;
        let changes = mock::changes(trees, &ask, tag, today)
            .map_err(|error| Failure::new(FailureClass::Precondition, error.to_string()))?;
        Ok(changes.into_iter().map(edit).collect())
    }

    /// The agent that a job stands for in a trial run, and the run.
    async fn trial_of<'a>(
        &self,
        job: &'a Job,
    ) -> Result<Option<(&'a Agent, &'a MockTag, Pipeline)>, Error> {
        let Some(part) = &job.part else {
            return Ok(None);
        };
        let (PartWork::Agent(agent), Some(id)) = (&part.work, &part.pipeline) else {
            return Ok(None);
        };
        let Some(tag) = &agent.mock else {
            return Ok(None);
        };
        let pipeline = self.backend.must::<Pipeline>(id).await?.value;
        Ok(Some((agent, tag, pipeline)))
    }

    /// The label of the requirement whose code a trial run made up.
    pub(in crate::dispatcher) async fn label_of_trial(
        &self,
        job: &Job,
    ) -> Result<Option<String>, Error> {
        let part = job.part.as_ref().filter(|part| part.is_mock_code());
        let Some(PartWork::Agent(agent)) = part.map(|part| &part.work) else {
            return Ok(None);
        };
        let Some(path) = &agent.requirement else {
            return Ok(None);
        };
        let mut cache = TreeCache::default();
        let trees = self.trees_of(&job.repo, &agent.trees, &mut cache).await?;
        let found = cleaning::named(trees, path).ok();
        let label = found.map(|found| found.label);
        Ok(label.filter(|label| !label.is_empty()))
    }

    /// Removes what a trial run made: its open pull requests are closed with their branches, and what is merged goes by a pull request.
    pub(super) async fn plan_cleaning(
        &self,
        pipeline: &Pipeline,
        cache: &mut TreeCache,
    ) -> Result<StepPlan, Error> {
        let Some(tag) = &pipeline.ask.mock else {
            return Ok(StepPlan::Skip("No trial run is named".to_owned()));
        };
        let closed = self.end_trials(pipeline, tag).await?;
        let shas = match self.both_tips(pipeline).await? {
            Ok(shas) => shas,
            Err(why) => return Ok(StepPlan::Fail(why)),
        };
        let trees = self.trees_of(&pipeline.repo, &shas, cache).await?;
        let members = match mock::traces(&trees.worker, tag).is_empty() {
            true if !closed => {
                let reason = format!("Nothing of the trial run {tag} is left");
                return Ok(StepPlan::Skip(reason));
            }
            true => Vec::new(),
            false => {
                let now = self.backend.now();
                vec![at_work(JobId::of_pipeline(&pipeline.id, "clean", now))]
            }
        };
        Ok(StepPlan::run(members, shas))
    }

    /// Calls off the jobs of a trial run that go on, however long ago it was. Returns whether there were any.
    async fn end_trials(&self, pipeline: &Pipeline, tag: &MockTag) -> Result<bool, Error> {
        let (mut any, mut after) = (false, None);
        loop {
            let page = self.backend.runs_after(&pipeline.repo, after, LIST_MAX);
            let (runs, next) = page.await?;
            let is_of_trial =
                |run: &&Pipeline| run.id != pipeline.id && run.ask.mock.as_ref() == Some(tag);
            for run in runs.iter().filter(is_of_trial) {
                for member in run.steps.iter().flat_map(|step| &step.members) {
                    any |= self.end_trial(pipeline, &member.job).await?;
                }
            }
            if next.is_none() {
                return Ok(any);
            }
            after = next;
        }
    }

    /// Calls off a job. Returns whether this run did, now or before its process died.
    async fn end_trial(&self, pipeline: &Pipeline, id: &JobId) -> Result<bool, Error> {
        let Some(job) = self.backend.store.job(id).await? else {
            return Ok(false);
        };
        if let JobPhase::Ended(ending) = &job.value.phase {
            let by = named(pipeline);
            return Ok(ending.how == EndReason::Cancelled { by });
        }
        self.cancel_member(&named(pipeline), id).await?;
        Ok(true)
    }
}

/// A change as a commit makes it.
pub(super) fn edit(change: Change) -> Edit {
    match change {
        Change::Write(path, text) => Edit::Write(path, text),
        Change::Remove(path) => Edit::Remove(path),
    }
}
