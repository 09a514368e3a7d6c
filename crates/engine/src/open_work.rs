//! What is open in a source: the one list of what goes on after a pause, and of what keeps a source from being removed.

use std::collections::BTreeSet;

use domain::advice::{Advice, Next};
use domain::delivery::{Delivery, IssueRef, Phase, RunStatus};
use domain::ids::{ArtefactId, DeliveryId, JobId, PipelineId, PullRef, RepoName, SprintNumber};
use domain::job::{Job, JobPhase};
use domain::pipeline::Requirement;
use domain::pull::{Pull, PullPhase, REOPEN_WAIT};
use domain::when::plus;
use jiff::Timestamp;

use crate::backend::{Backend, Error};
use crate::keys;
use crate::poller::CLAIM;
use crate::ports::RecordsError;
use crate::store::Versioned;
use crate::work::Work;

/// Maximum number of due rows to look for effects in: what lies beyond goes on when it is due.
const ROWS_MAX: usize = 10_000;

/// Something that is open in a source, and the sentence why the source cannot be removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenWork {
    /// A run of its pipeline.
    #[error("pipeline {0} of it still runs")]
    Pipeline(PipelineId),
    /// A sprint.
    #[error("sprint {0} of it still runs")]
    Sprint(SprintNumber),
    /// A job, which would silently be neither answered nor merged.
    #[error("job {0} still works in it")]
    Job(JobId),
    /// A delivery.
    #[error("delivery {id} is not closed: it is at {phase}")]
    Delivery {
        /// Which.
        id: DeliveryId,
        /// Where it is.
        phase: Phase,
        /// Its issue, if it has one.
        issue: Option<IssueRef>,
    },
    /// A requirement, which would be neither implemented nor tidied up.
    #[error("requirement {0} of it is not through")]
    Requirement(ArtefactId),
    /// A pull request of a job.
    #[error("pull request {0} of a job is still open")]
    Pull(PullRef),
    /// A pull request of a job that was closed a moment ago.
    #[error("pull request {pull} of a job is closed, and may be reopened until {until:.0}")]
    ClosedPull {
        /// Which.
        pull: PullRef,
        /// Until when a reopening is waited for.
        until: Timestamp,
    },
}

impl OpenWork {
    /// Its kind and its id.
    pub(crate) fn name(&self) -> String {
        let kind = match self {
            Self::Pipeline(_) => "pipeline",
            Self::Sprint(_) => "sprint",
            Self::Job(_) => "job",
            Self::Delivery { .. } => "delivery",
            Self::Requirement(_) => "requirement",
            Self::Pull(_) | Self::ClosedPull { .. } => "pull request",
        };
        format!("{kind} {}", self.id())
    }

    /// Its id, as callers name it.
    pub fn id(&self) -> String {
        match self {
            Self::Pipeline(id) => id.to_string(),
            Self::Sprint(number) => number.to_string(),
            Self::Job(id) => id.to_string(),
            Self::Delivery { id, .. } => id.to_string(),
            Self::Requirement(id) => id.to_string(),
            Self::Pull(pull) | Self::ClosedPull { pull, .. } => pull.to_string(),
        }
    }

    /// What a person waits for or does, so that it is open no more.
    pub fn ending(&self) -> String {
        match self {
            Self::Delivery {
                issue: Some(issue),
                phase,
                ..
            } if !is_after_merge(*phase) => {
                format!("wait until it is closed, or close {issue} on GitHub, which calls it off")
            }
            Self::Job(_) | Self::Sprint(_) | Self::Pipeline(_) | Self::Delivery { .. } => {
                "wait for its end".to_owned()
            }
            Self::Requirement(_) => {
                "wait until its delivery and its last pull request are through".to_owned()
            }
            Self::Pull(_) => "merge or close it on GitHub".to_owned(),
            Self::ClosedPull { .. } => "wait until then".to_owned(),
        }
    }

    /// The orders that end it or hold it, in its source.
    pub fn advice(&self, repo: &RepoName) -> Vec<Next> {
        match self {
            Self::Job(id) => vec![Advice::Cancel.about(id), Advice::PauseSource.about(repo)],
            Self::Sprint(_) => vec![Advice::AbortSprint.about(repo)],
            Self::Pipeline(id) => vec![Advice::CancelPipeline.about(id)],
            Self::Delivery { id, issue, phase } if issue.is_none() || is_after_merge(*phase) => {
                vec![Advice::CancelDelivery.about(id)]
            }
            // A job that is not over comes before its pull request, so no order is left for that.
            Self::Delivery { .. }
            | Self::Requirement(_)
            | Self::Pull(_)
            | Self::ClosedPull { .. } => Vec::new(),
        }
    }
}

/// Whether the issue of a delivery may be closed by its merge: closing it ends nothing then.
fn is_after_merge(phase: Phase) -> bool {
    phase > Phase::Verify
}

/// Something open, with what follows from that.
pub(crate) struct OpenEntry {
    repo: RepoName,
    /// What is open.
    pub(crate) what: OpenWork,
    /// What continues it after a pause; none if something else begins it.
    pub(crate) continued_by: Option<Work>,
    /// Whether its source stays while it is open.
    pub(crate) holds_source: bool,
}

impl OpenEntry {
    /// Something that a message continues, and that keeps its source.
    fn new(repo: &RepoName, what: OpenWork, work: Work) -> Self {
        Self {
            repo: repo.clone(),
            what,
            continued_by: Some(work),
            holds_source: true,
        }
    }
}

impl Backend {
    /// Everything that is open in a source, or in all. What is made of others comes before them.
    pub(crate) async fn open_work(&self, of: Option<&RepoName>) -> Result<Vec<OpenEntry>, Error> {
        let repos = self.repositories(of).await?;
        let mut open = Vec::new();
        for repo in &repos {
            open.extend(self.pipeline_under_way(repo).await?);
            open.extend(self.sprint_not_over(repo).await?);
        }
        open.extend(self.jobs_not_over().await?);
        let deliveries = self.store.open_deliveries().await?.into_iter();
        open.extend(deliveries.map(|found| of_delivery(found.value)));
        for repo in &repos {
            open.extend(self.requirements_under_way(repo).await?);
        }
        let pulls = self.store.open_pulls().await?.into_iter();
        open.extend(pulls.map(|found| of_pull(found.value.pull)));
        open.retain(|entry| of.is_none_or(|of| *of == entry.repo));
        Ok(open)
    }

    /// What handles the effects that are due, of a source or of all. They may outlive what they belong to: the branch of a merged pull
    /// request is still to be deleted, or the session of an ended job to be archived.
    ///
    /// The poller moves the row of an effect that a pause holds by [`CLAIM`] each time it is due, so all of them are due within that.
    pub(crate) async fn due_effects(&self, of: Option<&RepoName>) -> Result<Vec<Work>, Error> {
        let records = self.store.records();
        let rows = records.due(plus(self.now(), CLAIM), ROWS_MAX).await?;
        let effects = rows
            .iter()
            .filter(|row| row.key.sk.starts_with(keys::EFFECT));
        let mut works: Vec<Work> = effects.filter_map(|row| Work::of_due(&row.key)).collect();
        let mut seen = BTreeSet::new();
        works.retain(|work| seen.insert(work.key()));
        let Some(of) = of else {
            return Ok(works);
        };
        let mut meant = Vec::new();
        for work in works {
            match self.repo_behind(&work).await {
                Ok(repo) if repo.as_ref().is_none_or(|repo| repo == of) => meant.push(work),
                Ok(_) => {}
                // The others go on; this one does when it is due, once it can be read.
                Err(error @ Error::Records(RecordsError::Unreadable { .. })) => {
                    tracing::warn!(%error, "what a pause may have held does not go on");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(meant)
    }

    /// The repositories in which something may be open. One whose source was just removed still counts, if it is named.
    async fn repositories(&self, of: Option<&RepoName>) -> Result<Vec<RepoName>, Error> {
        if let Some(of) = of {
            return Ok(vec![of.clone()]);
        }
        let sources = self.store.sources().await?.into_iter();
        Ok(sources.map(|source| source.value.repo).collect())
    }

    async fn pipeline_under_way(&self, repo: &RepoName) -> Result<Option<OpenEntry>, Error> {
        let run = self.running_pipeline(repo).await?;
        Ok(run.map(|run| {
            let id = run.id;
            OpenEntry::new(repo, OpenWork::Pipeline(id.clone()), Work::Pipeline { id })
        }))
    }

    async fn sprint_not_over(&self, repo: &RepoName) -> Result<Option<OpenEntry>, Error> {
        let number = self.sprint_under_way(repo).await?;
        Ok(number.map(|number| {
            let work = Work::Sprint {
                repo: repo.clone(),
                number,
            };
            OpenEntry::new(repo, OpenWork::Sprint(number), work)
        }))
    }

    async fn jobs_not_over(&self) -> Result<Vec<OpenEntry>, Error> {
        let mut open = Vec::new();
        for account in self.store.accounts().await? {
            let account = &account.value.name;
            let mut jobs = self.store.queued(account).await?;
            jobs.extend(self.store.watched(account).await?);
            jobs.extend(self.store.proposed(account).await?);
            open.extend(jobs.iter().map(|job| of_job(&job.value)));
        }
        Ok(open)
    }

    /// Requirements whose delivery or whose last pull request is still to come.
    async fn requirements_under_way(&self, repo: &RepoName) -> Result<Vec<OpenEntry>, Error> {
        let list = keys::open_requirements(repo);
        let open: Vec<Versioned<Requirement>> = self.store.all(&list).await?;
        let open = open.into_iter().map(|found| found.value);
        Ok(open
            .filter(|it| it.state.is_under_way())
            .map(of_requirement)
            .collect())
    }

    /// The repository of the job, pull request or delivery that a message is about; none for anything else, which is asked for in doubt.
    async fn repo_behind(&self, work: &Work) -> Result<Option<RepoName>, Error> {
        if let Work::Pull { pull, .. } = work {
            return Ok(Some(pull.repo.clone()));
        }
        if let Work::Job { id } = work {
            let found = self.store.job(id).await?;
            return Ok(found.map(|found| found.value.repo));
        }
        if let Work::Delivery { id } = work {
            let found = self.store.get::<Delivery>(id).await?;
            return Ok(found.map(|found| found.value.repo));
        }
        Ok(None)
    }
}

fn of_job(job: &Job) -> OpenEntry {
    let id = job.id.clone();
    let entry = OpenEntry::new(&job.repo, OpenWork::Job(id.clone()), Work::Job { id });
    match job.phase {
        // Slots begin it.
        JobPhase::Queued { .. } => OpenEntry {
            continued_by: None,
            ..entry
        },
        // A create that was held belongs to its job: others may have taken its turn.
        JobPhase::Creating { .. }
        | JobPhase::Watching(_)
        | JobPhase::Proposed { .. }
        | JobPhase::Ended(_) => entry,
    }
}

fn of_delivery(delivery: Delivery) -> OpenEntry {
    // One that failed and has no issue may stay so: nothing closes it.
    let is_left = delivery.run_status == RunStatus::Failed && delivery.issue.is_none();
    let id = delivery.id.clone();
    let what = OpenWork::Delivery {
        id: delivery.id,
        phase: delivery.phase,
        issue: delivery.issue,
    };
    OpenEntry {
        holds_source: !is_left,
        ..OpenEntry::new(&delivery.repo, what, Work::Delivery { id })
    }
}

fn of_requirement(requirement: Requirement) -> OpenEntry {
    let (repo, id) = (requirement.repo, requirement.reference.id);
    let what = OpenWork::Requirement(id.clone());
    let work = Work::Requirement {
        repo: repo.clone(),
        id,
    };
    OpenEntry::new(&repo, what, work)
}

fn of_pull(tracked: Pull) -> OpenEntry {
    let (pull, repo) = (tracked.pull.clone(), tracked.pull.repo);
    let what = match tracked.phase {
        PullPhase::Closed { since, .. } => OpenWork::ClosedPull {
            pull: pull.clone(),
            until: plus(since, REOPEN_WAIT),
        },
        PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Settled { .. } => {
            OpenWork::Pull(pull.clone())
        }
    };
    let work = Work::of_pull(pull);
    OpenEntry::new(&repo, what, work)
}

#[cfg(test)]
mod tests {
    use domain::pull::track;

    use super::*;

    #[test]
    fn a_pull_request_that_was_closed_is_waited_for_until_it_counts_as_given_up() {
        let since: Timestamp = "2026-11-30T16:48:25Z".parse().unwrap();
        let job = "01k5nx0000000000000000000a".parse().unwrap();
        let reference: PullRef = "acme/shop#7".parse().unwrap();
        let open = track(reference.clone(), job, None, since);
        let closed = Pull {
            phase: PullPhase::Closed {
                sha: "0123456789012345678901234567890123456789".parse().unwrap(),
                since,
            },
            ..open.clone()
        };
        assert_eq!(of_pull(open).what, OpenWork::Pull(reference.clone()));
        let until = plus(since, REOPEN_WAIT);
        let pull = reference;
        assert_eq!(of_pull(closed).what, OpenWork::ClosedPull { pull, until });
    }
}
