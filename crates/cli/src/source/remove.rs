//! `gaffer source remove`: only a source that nothing uses any more.

use anyhow::Result;
use domain::ids::RepoName;
use engine::backend::Backend;
use engine::in_use::SourceInUse;
use serde_json::json;

use super::missing;
use crate::error::Error;
use crate::render::{Answer, next};

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

fn in_use(repo: &RepoName, used: &SourceInUse) -> Error {
    let mut steps = vec![used.ending()];
    steps.extend(used.advice(repo).iter().map(next::of_ours));
    Error::refused("in_use", used.sentence(), steps.join("; "))
}
