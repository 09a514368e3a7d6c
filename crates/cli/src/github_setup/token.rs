//! `gaffer github token`: another token in the place of the stored credential, checked before it is kept.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use engine::ports::{SecretName, SecretsError};
use engine::settings::{AppSetup, Upstreams};
use serde_json::json;

use super::progress;
use crate::args::github::TokenArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::init::outside::Outside;
use crate::init::secrets::{TOKEN, checked};
use crate::render::Answer;
use crate::stdin::{self, KeyFrom};
use crate::upstreams;
use server::data::Data;

/// Takes the token, lets it read every source, and keeps it.
pub(super) async fn replace(args: TokenArgs, here: &CommandContext) -> Result<Answer> {
    let overlaid = here.is_overlaid(&SecretName::GitHub);
    let data = here.stored_only().found().await?;
    let sources = data.backend.store.sources().await?;
    if sources.is_empty() {
        let what = "there is no source that the token could be checked with";
        let next = "type `gaffer init --repo OWNER/REPO`, which takes the token too";
        return Err(Error::refused("no_source", what, next).into());
    }
    let token = checked(stdin::key(KeyFrom::StdinOrAsked, TOKEN.what)?, &TOKEN)?;
    let typed = Upstreams {
        github_base: args.github_base,
        ..Upstreams::default()
    };
    let places = upstreams::in_force(&data.backend, typed, |_| false).await?;
    let asked = Upstreams {
        github_app_id: None,
        ..places.clone()
    };
    let overlay = BTreeMap::from([(SecretName::GitHub.path(), token.clone())]);
    let outside = Outside::new(&here.folder, overlay, asked);
    for source in &sources {
        outside.default_branch(&source.value.repo).await?;
    }
    if let Some(app) = places.github_app_id {
        keep_app(&data, app).await?;
    }
    data.secrets.write(&SecretName::GitHub, &token).await?;
    upstreams::remember(&data.backend, |known| Upstreams {
        github_app_id: None,
        ..known.clone()
    })
    .await?;
    let repos: Vec<_> = sources.iter().map(|it| it.value.repo.to_string()).collect();
    let answer = Answer::new(json!({ "stored": true, "reads": repos })).line(format!(
        "The token reads {}, and is stored.",
        repos.join(", ")
    ));
    let answer = match places.github_app_id {
        Some(app) => answer.line(format!(
            "It took the place of the GitHub App {app}: start a running `gaffer up` again. `gaffer github setup` goes back to the App."
        )),
        None => answer.line("A running `gaffer up` takes it within five minutes."),
    };
    if overlaid {
        return Ok(answer
            .line("GITHUB_TOKEN or GITHUB_APP_KEY in the environment goes before it: unset it."));
    }
    Ok(answer)
}

/// Moves the App's key to the place of unused ones, so that the App can be restored.
async fn keep_app(data: &Data, app: u64) -> Result<()> {
    let key = match data.secrets.read(&SecretName::GitHub).await {
        Ok(key) => key,
        Err(SecretsError::Missing(_)) => return Ok(()),
        Err(error @ (SecretsError::Unusable { .. } | SecretsError::Unreachable { .. })) => {
            return Err(error.into());
        }
    };
    data.secrets
        .write(&SecretName::App(app), &key)
        .await
        .context("keeping the App's key")?;
    let found = progress::read(&data.backend)
        .await?
        .map(|found| found.value);
    match found {
        Some(AppSetup::Stored(made)) if made.id == app => {
            progress::made(&data.backend, &made).await
        }
        Some(AppSetup::Stored(_) | AppSetup::Made(_) | AppSetup::Asked { .. }) | None => Ok(()),
    }
}
