//! `gaffer secret set`: stores a secret of a Gaffer here or on AWS.

use anyhow::{Context, Result};
use serde_json::json;

use crate::args::secret::{SecretCommand, SetArgs};
use crate::here::Here;
use crate::render::Answer;
use crate::site::Keeping;
use crate::stdin;

pub(crate) mod tokens;

/// Runs one of the commands.
pub(crate) async fn run(command: SecretCommand, here: &Here) -> Result<Answer> {
    match command {
        SecretCommand::Set(args) => set(args, here).await.context("storing the secret"),
    }
}

async fn set(args: SetArgs, here: &Here) -> Result<Answer> {
    let keeping = Keeping::of(here).await?;
    let path = args.name.path();
    let value = stdin::secret(&format!("the secret {path}"))?;
    keeping.secrets.write(&args.name, &value).await?;
    let place = format!("{}/{path}", keeping.root);
    let answer = Answer::new(json!({ "secret": path, "place": place }));
    Ok(answer.line(format!("Stored in {place}.")))
}
