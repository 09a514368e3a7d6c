//! `gaffer source remove`: only a source that nothing uses any more.

use anyhow::Result;
use domain::ids::RepoName;
use engine::backend::Backend;
use engine::sources::SourceUse;
use serde_json::json;

use super::missing;
use crate::error::Error;
use crate::render::Answer;

/// Removes a source and the state of its repository; its ended jobs, its closed deliveries and their events stay.
pub(super) async fn run(repo: &RepoName, backend: &Backend) -> Result<Answer> {
    let removed = match backend.remove_source(repo).await {
        Ok(removed) => removed,
        Err(error) => return Err(missing(&backend.store, error.into()).await),
    };
    let repo = removed.map_err(|used| in_use(repo, &used))?;
    Ok(
        Answer::new(json!({ "source": repo, "removed": true })).line(format!(
            "Source {repo} is removed. Its jobs and its deliveries can still be shown."
        )),
    )
}

fn in_use(repo: &RepoName, used: &SourceUse) -> Error {
    let (what, next) = match used {
        SourceUse::Job(id) => (
            format!("job {id} still works in it"),
            format!(
                "wait for its end, or call it off with `gaffer job cancel {id}`; `gaffer source pause {repo}` stops writing at once"
            ),
        ),
        SourceUse::Delivery { id, phase, issue } => (
            format!("delivery {id} is not closed: it is at {phase}"),
            match issue {
                Some(issue) => format!(
                    "wait until it is closed, or close {issue} on GitHub, which calls it off"
                ),
                None => {
                    format!("wait for its end, or call it off with `gaffer delivery cancel {id}`")
                }
            },
        ),
        SourceUse::Pull(pull) => (
            format!("pull request {pull} of a job is still open"),
            format!("merge or close it on GitHub, or call off `gaffer job cancel '{pull}'`"),
        ),
        SourceUse::Sprint(number) => (
            format!("sprint {number} of it still runs"),
            format!("wait for its end, or call it off with `gaffer sprint abort {repo} {number}`"),
        ),
        SourceUse::Pipeline(id) => (
            format!("pipeline {id} of it still runs"),
            format!("wait for its end, or call it off with `gaffer pipeline cancel {id}`"),
        ),
        SourceUse::Requirement(id) => (
            format!("requirement {id} of it is not through"),
            format!("look how far it is with `gaffer requirement show {repo} {id}`"),
        ),
    };
    Error::refused("in_use", what, next)
}
