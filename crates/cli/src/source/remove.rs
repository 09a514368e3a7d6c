//! `gaffer source remove`: only a source that no job works in any more.

use anyhow::Result;
use domain::ids::RepoName;
use domain::redelivery::Log;
use engine::backend::{Backend, decide_again};
use engine::keys;
use serde_json::json;

use crate::error::Error;
use crate::render::Answer;

/// Removes a source and the state of its repository; its ended jobs and their events stay.
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
        if !backend.try_commit(unit).await? {
            return Ok(None);
        }
        let repo = &found.value.repo;
        Ok(Some(
            Answer::new(json!({ "source": repo, "removed": true })).line(format!(
                "Source {repo} is removed. Its jobs can still be shown."
            )),
        ))
    })
    .await
}

/// Refuses to remove a source in use: its jobs would silently be neither answered nor merged.
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
