//! `gaffer source pause` and `gaffer source resume`: one source, also by `--source` of `gaffer pause` and `gaffer resume`.

use anyhow::{Context, Result};
use domain::ids::RepoName;
use domain::policy::Source;
use engine::backend::Backend;
use serde_json::json;

use super::change_source;
use crate::render::Answer;

/// The error when the immediate resume failed.
pub(crate) const STILL_HELD: &str =
    "it is resumed, and what was held goes on when it is due; asking for a look at once";

/// The error when sprints could not be told of a pause.
pub(crate) const PAUSED: &str = "it is paused; asking for a look at its sprints";

/// Pauses one source, or lets it go on.
pub(crate) async fn set(backend: &Backend, repo: &RepoName, paused: bool) -> Result<Answer> {
    let source = change_source(backend, repo, |source| {
        Ok(Source {
            paused,
            ..source.clone()
        })
    })
    .await?;
    match paused {
        true => backend.hold_sprints(Some(repo)).await.context(PAUSED)?,
        false => backend.go_on(Some(repo)).await.context(STILL_HELD)?,
    }
    let text = if paused {
        "is paused: nothing is written to Jules or GitHub for it"
    } else {
        "goes on"
    };
    Ok(
        Answer::new(json!({ "source": source.repo, "paused": paused }))
            .line(format!("Source {} {text}.", source.repo)),
    )
}
