//! `gaffer source sync`: has the issues of a source read now, through the API of a running `gaffer up`.

use anyhow::Result;
use client::Answer as Came;
use domain::ids::RepoName;
use serde_json::json;
use url::Url;

use crate::context::CommandContext;
use crate::error::Error;
use crate::render::Answer;
use crate::site;

/// Waits for the reading, and says what came of it.
pub(super) async fn run(
    repo: &RepoName,
    url: Option<Url>,
    here: &CommandContext,
) -> Result<Answer> {
    let client = site::api_client(url, here).await?;
    match client
        .sync_source(repo)
        .await
        .map_err(|it| refused(it, repo))?
    {
        Came::Done(read) => {
            let (created, closed) = (read.created, read.closed);
            let json = json!({ "source": repo, "created": created, "closed": closed });
            Ok(Answer::new(json).line(format!(
                "The issues of {repo} were read: {}, {} closed theirs.",
                became(created),
                closed
            )))
        }
        Came::Later(later) => Err(Error::not_read_yet(later.sentence).into()),
    }
}

/// Why the issues of a source are not read, with what to do about it.
fn refused(error: client::Error, repo: &RepoName) -> anyhow::Error {
    let client::Error::Problem(problem) = &error else {
        return error.into();
    };
    let (code, next) = match problem.code.as_str() {
        "source_paused" => (
            "source_paused",
            format!("resume it with `gaffer source resume {repo}`"),
        ),
        "no_intake_label" => (
            "no_intake_label",
            format!("set one with `gaffer source set {repo} --label gaffer`"),
        ),
        _ => return error.into(),
    };
    Error::refused(code, problem.detail.clone(), next).into()
}

fn became(created: u32) -> String {
    match created {
        1 => "1 became a delivery".to_owned(),
        more => format!("{more} became deliveries"),
    }
}
