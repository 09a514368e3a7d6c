//! `gaffer source remove`: only a source that no job works in any more.

use anyhow::Result;
use domain::hooks::Log;
use domain::ids::RepoName;
use engine::desk::{Desk, decide_again};
use engine::keys;
use serde_json::json;

use crate::error::Error;
use crate::render::Answer;

/// Removes a source and the state of its repository; its ended jobs and their events stay.
pub(super) async fn run(repo: &RepoName, desk: &Desk) -> Result<Answer> {
    decide_again(format!("source {repo}"), async || {
        let Some(found) = desk.store.source(repo).await? else {
            return Err(Error::no_such("source", repo, "").into());
        };
        refuse_used(repo, desk).await?;
        let mut unit = desk.unit();
        unit.delete(keys::source(repo), &found);
        let reach = desk.store.reach(repo).await?;
        if reach.version > 0 {
            unit.delete(keys::reach(repo), &reach);
        }
        let log = Log::Repo(repo.clone());
        if let Some(repair) = desk.store.repair(&log).await? {
            unit.delete(keys::hook_log(&log), &repair);
        }
        if !desk.try_commit(unit).await? {
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
async fn refuse_used(repo: &RepoName, desk: &Desk) -> Result<()> {
    for account in desk.store.accounts().await? {
        let name = &account.value.name;
        let mut jobs = desk.store.queued(name).await?;
        jobs.extend(desk.store.watched(name).await?);
        if let Some(job) = jobs.iter().find(|job| job.value.repo == *repo) {
            let id = &job.value.id;
            let what = format!("job {id} still works in it");
            let next = format!(
                "wait for its end, or call it off with `gaffer job cancel {id}`; `gaffer source pause {repo}` stops writing at once"
            );
            return Err(Error::refused("in_use", what, next).into());
        }
    }
    let pulls = desk.store.open_pulls().await?;
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
