//! `gaffer source remove`: only a source that no job works in any more, and no delivery is under way in.

use anyhow::Result;
use domain::delivery::RunStatus;
use domain::ids::RepoName;
use domain::intake::Intake;
use domain::redelivery::Log;
use engine::backend::{Backend, decide_again};
use engine::keys;
use serde_json::json;

use crate::error::Error;
use crate::render::Answer;

/// Removes a source and the state of its repository; its ended jobs, its closed deliveries and their events stay.
pub(super) async fn run(repo: &RepoName, backend: &Backend) -> Result<Answer> {
    decide_again(format!("source {repo}"), async || {
        let Some(found) = backend.store.source(repo).await? else {
            return Err(Error::no_such("source", repo, "").into());
        };
        refuse_used(repo, backend).await?;
        let mut unit = backend.unit();
        unit.delete(keys::source(repo), &found);
        let reach = backend.store.reach(repo).await?;
        if reach.version > 0 {
            unit.delete(keys::repository_access(repo), &reach);
        }
        let log = Log::Repo(repo.clone());
        if let Some(repair) = backend.store.repair(&log).await? {
            unit.delete(keys::hook_log(&log), &repair);
        }
        if let Some(intake) = backend.store.get::<Intake>(repo).await? {
            unit.delete(keys::intake(repo), &intake);
        }
        if !backend.try_commit(unit).await? {
            return Ok(None);
        }
        let repo = &found.value.repo;
        Ok(Some(
            Answer::new(json!({ "source": repo, "removed": true })).line(format!(
                "Source {repo} is removed. Its jobs and its deliveries can still be shown."
            )),
        ))
    })
    .await
}

/// Refuses to remove a source in use: its deliveries would stop, and its jobs would silently be neither answered nor
/// merged.
async fn refuse_used(repo: &RepoName, backend: &Backend) -> Result<()> {
    for account in backend.store.accounts().await? {
        let name = &account.value.name;
        let mut jobs = backend.store.queued(name).await?;
        jobs.extend(backend.store.watched(name).await?);
        if let Some(job) = jobs.iter().find(|job| job.value.repo == *repo) {
            let id = &job.value.id;
            let what = format!("job {id} still works in it");
            let next = format!(
                "wait for its end, or call it off with `gaffer job cancel {id}`; `gaffer source pause {repo}` stops writing at once"
            );
            return Err(Error::refused("in_use", what, next).into());
        }
    }
    refuse_with_deliveries(repo, backend).await?;
    let pulls = backend.store.open_pulls().await?;
    if let Some(found) = pulls
        .iter()
        .find(|found| found.value.pull.pull.repo == *repo)
    {
        let pull = &found.value.pull.pull;
        let what = format!("pull request {pull} of a job is still open");
        let next = format!("merge or close it on GitHub, or call off `gaffer job cancel '{pull}'`");
        return Err(Error::refused("in_use", what, next).into());
    }
    Ok(())
}

/// Refuses while a delivery is under way. One that failed and has no issue may stay so: nothing closes it.
async fn refuse_with_deliveries(repo: &RepoName, backend: &Backend) -> Result<()> {
    let open = backend.store.open_deliveries().await?;
    let found = open.iter().map(|found| &found.value).find(|delivery| {
        let is_left = delivery.run_status == RunStatus::Failed && delivery.issue.is_none();
        delivery.repo == *repo && !is_left
    });
    let Some(delivery) = found else {
        return Ok(());
    };
    let (id, phase) = (&delivery.id, delivery.phase);
    let what = format!("delivery {id} is not closed: it is at {phase}");
    let next = match &delivery.issue {
        Some(issue) => {
            format!("wait until it is closed, or close {issue} on GitHub, which calls it off")
        }
        None => format!("wait for its end, or call it off with `gaffer delivery cancel {id}`"),
    };
    Err(Error::refused("in_use", what, next).into())
}
