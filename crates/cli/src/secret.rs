//! `gaffer secret`: stores a secret of a Gaffer here or on AWS, and lists their names.

use anyhow::{Context, Result};
use engine::ports::{SecretName, SecretsError};
use serde_json::json;

use crate::args::secret::{SecretCommand, SetSecretArgs};
use crate::context::CommandContext;
use crate::render::Answer;
use crate::site::StoreAccess;
use crate::stdin;

pub(crate) mod tokens;

pub(crate) async fn run(command: SecretCommand, here: &CommandContext) -> Result<Answer> {
    match command {
        SecretCommand::Set(args) => set(args, here).await.context("storing the secret"),
        SecretCommand::List => list(here).await.context("listing the secrets"),
    }
}

/// Every secret that is in use here, and its place.
async fn list(here: &CommandContext) -> Result<Answer> {
    let keeping = StoreAccess::found(here).await?;
    let store = &keeping.backend.store;
    let mut names = vec![
        SecretName::GitHub,
        SecretName::Webhook,
        SecretName::ApiToken,
    ];
    let accounts = store.accounts().await?.into_iter();
    names.extend(accounts.map(|account| SecretName::Jules(account.value.name)));
    let agents = store.agents().await?.into_iter();
    names.extend(agents.map(|agent| SecretName::Agent(agent.value.name)));
    let (mut all, mut rows) = (Vec::new(), Vec::new());
    for name in names {
        let state = state(&name, here, &keeping).await;
        let path = name.path();
        all.push(json!({ "secret": path, "state": state }));
        rows.push(vec![path, state.to_owned()]);
    }
    Ok(Answer::new(json!({ "secrets": all })).table(&["secret", "state"], rows, ""))
}

/// Where a secret is, in one word; never the secret.
pub(crate) async fn state(
    name: &SecretName,
    here: &CommandContext,
    keeping: &StoreAccess,
) -> &'static str {
    if here.is_overlaid(name) {
        return "environment";
    }
    match keeping.secrets.read(name).await {
        Ok(_) => "stored",
        Err(SecretsError::Missing(_)) => "missing",
        Err(SecretsError::Unusable { .. }) => "unusable",
        Err(SecretsError::Unreachable { .. }) => "unreachable",
    }
}

async fn set(args: SetSecretArgs, here: &CommandContext) -> Result<Answer> {
    let keeping = StoreAccess::load(here).await?;
    let path = args.name.path();
    let value = stdin::secret(&format!("the secret {path}"))?;
    keeping.secrets.write(&args.name, &value).await?;
    let place = format!("{}/{path}", keeping.root);
    let answer = Answer::new(json!({ "secret": path, "place": place }));
    Ok(answer.line(format!("Stored in {place}.")))
}
