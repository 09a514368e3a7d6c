//! Removing a source: only one that no job works in any more, and no delivery is under way in.

use domain::delivery::{IssueRef, Phase, RunStatus};
use domain::ids::{ArtefactId, DeliveryId, JobId, PipelineId, PullRef, RepoName, SprintNumber};
use domain::intake::Intake;
use domain::pipeline::{Requirement, RequirementState};
use domain::policy::Source;
use domain::redelivery::WebhookLog;
use domain::schedule::Schedule;

use crate::backend::{Backend, Error, decide_again, ignore_conflict};
use crate::keys;
use crate::store::{Aggregate, Versioned};

/// What uses a source, so that it cannot be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceUse {
    /// A job would silently be neither answered nor merged.
    Job(JobId),
    /// A delivery would stop.
    Delivery {
        /// Which.
        id: DeliveryId,
        /// Where it is.
        phase: Phase,
        /// Its issue, if it has one.
        issue: Option<IssueRef>,
    },
    /// A pull request of a job is still open.
    Pull(PullRef),
    /// A sprint would stop.
    Sprint(SprintNumber),
    /// A run of its pipeline would stop.
    Pipeline(PipelineId),
    /// A requirement would be neither implemented nor tidied up.
    Requirement(ArtefactId),
}

impl Backend {
    /// Removes a source and the state of its repository; its ended jobs, its closed deliveries and their events stay.
    /// Returns its name as it was stored.
    ///
    /// # Errors
    /// With [`Error::NoSuch`] for a source that there is not.
    pub async fn remove_source(
        &self,
        repo: &RepoName,
    ) -> Result<Result<RepoName, SourceUse>, Error> {
        let removed = match self.remove_unused(repo).await? {
            Ok(removed) => removed,
            Err(used) => return Ok(Err(used)),
        };
        // What was created between the look and the removal needs its source.
        if let Some(used) = self.use_of(repo).await? {
            // Or it was added again meanwhile.
            ignore_conflict(self.save_source(None, &removed).await)?;
            return Ok(Err(used));
        }
        Ok(Ok(removed.repo))
    }

    async fn remove_unused(&self, repo: &RepoName) -> Result<Result<Source, SourceUse>, Error> {
        decide_again(format!("source {repo}"), async || {
            let found = self.must::<Source>(repo).await?;
            if let Some(used) = self.use_of(repo).await? {
                return Ok(Some(Err(used)));
            }
            let mut unit = self.unit();
            unit.delete(keys::source(repo), &found);
            let reach = self.store.reach(repo).await?;
            if reach.version > 0 {
                unit.delete(keys::repository_access(repo), &reach);
            }
            let log = WebhookLog::Repo(repo.clone());
            if let Some(repair) = self.store.repair(&log).await? {
                unit.delete(keys::hook_log(&log), &repair);
            }
            if let Some(intake) = self.store.get::<Intake>(repo).await? {
                unit.delete(Intake::key(repo), &intake);
            }
            if let Some(schedule) = self.store.get::<Schedule>(repo).await? {
                unit.delete(Schedule::key(repo), &schedule);
            }
            let is_saved = self.try_commit(unit).await?;
            Ok(is_saved.then_some(Ok(found.value)))
        })
        .await
    }

    async fn use_of(&self, repo: &RepoName) -> Result<Option<SourceUse>, Error> {
        if let Some(run) = self.running_pipeline(repo).await? {
            return Ok(Some(SourceUse::Pipeline(run.id)));
        }
        if let Some(sprint) = self.sprint_under_way(repo).await? {
            return Ok(Some(SourceUse::Sprint(sprint)));
        }
        for account in self.store.accounts().await? {
            let name = &account.value.name;
            let mut jobs = self.store.queued(name).await?;
            jobs.extend(self.store.watched(name).await?);
            jobs.extend(self.store.proposed(name).await?);
            if let Some(job) = jobs.iter().find(|job| job.value.repo == *repo) {
                return Ok(Some(SourceUse::Job(job.value.id.clone())));
            }
        }
        if let Some(used) = self.delivery_under_way(repo).await? {
            return Ok(Some(used));
        }
        if let Some(used) = self.requirement_under_way(repo).await? {
            return Ok(Some(used));
        }
        let pulls = self.store.open_pulls().await?;
        let mut pulls = pulls.into_iter().map(|found| found.value.pull.pull);
        let open = pulls.find(|pull| pull.repo == *repo);
        Ok(open.map(SourceUse::Pull))
    }

    /// A requirement whose delivery or whose last pull request is still to come.
    async fn requirement_under_way(&self, repo: &RepoName) -> Result<Option<SourceUse>, Error> {
        let list = keys::open_requirements(repo);
        let open: Vec<Versioned<Requirement>> = self.store.all(&list).await?;
        let mut open = open.into_iter().map(|found| found.value);
        let found = open.find(|it| match it.state {
            RequirementState::Implementing { .. }
            | RequirementState::Tidying { .. }
            | RequirementState::Removing { .. } => true,
            RequirementState::Planning { .. }
            | RequirementState::Unplanned { .. }
            | RequirementState::Ready
            | RequirementState::Merged { .. }
            | RequirementState::Tidied { .. }
            | RequirementState::Failed { .. } => false,
        });
        Ok(found.map(|found| SourceUse::Requirement(found.reference.id)))
    }

    /// A delivery under way. One that failed and has no issue may stay so: nothing closes it.
    async fn delivery_under_way(&self, repo: &RepoName) -> Result<Option<SourceUse>, Error> {
        let open = self.store.open_deliveries().await?;
        let mut open = open.into_iter().map(|found| found.value);
        let found = open.find(|delivery| {
            let is_left = delivery.run_status == RunStatus::Failed && delivery.issue.is_none();
            delivery.repo == *repo && !is_left
        });
        Ok(found.map(|delivery| SourceUse::Delivery {
            id: delivery.id,
            phase: delivery.phase,
            issue: delivery.issue,
        }))
    }
}
