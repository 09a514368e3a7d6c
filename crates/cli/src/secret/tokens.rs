//! `gaffer token`: who may enter the HTTP API, and to do what.

use anyhow::{Context, Result};
use domain::ids::TokenName;
use domain::token::{Rights, Token, TokenRejection};
use engine::backend::Backend;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::args::token::TokenCommand;
use crate::context::{CommandContext, must_agent};
use crate::render::{Answer, moment, or_dash};
use crate::site::StoreAccess;

pub(crate) async fn run(command: TokenCommand, here: &CommandContext) -> Result<Answer> {
    match command {
        TokenCommand::Create {
            name,
            scope,
            expires,
            agent,
            persona,
        } => {
            let backend = StoreAccess::load(here).await?.backend;
            let rights = Rights {
                scope,
                agent,
                persona,
            };
            create(&name, rights, expires, &backend)
                .await
                .with_context(|| format!("making the token `{name}`"))
        }
        TokenCommand::List => {
            let backend = StoreAccess::found(here).await?.backend;
            list(&backend).await.context("listing tokens")
        }
        TokenCommand::Revoke { name } => {
            let backend = StoreAccess::found(here).await?.backend;
            let revoking = || format!("revoking the token `{name}`");
            let token = backend.revoke_token(&name).await.with_context(revoking)?;
            let answer = Answer::new(json!({ "token": token_json(&token, &backend) }));
            Ok(answer.line(format!("Token `{name}` opens nothing any more.")))
        }
    }
}

async fn create(
    name: &TokenName,
    rights: Rights,
    expires: Option<SignedDuration>,
    backend: &Backend,
) -> Result<Answer> {
    if let Some(agent) = &rights.agent {
        must_agent(backend, agent).await?;
    }
    let scope = rights.scope;
    let random: [u8; 32] = rand::random();
    let (token, text) = backend.create_token(name, rights, expires, random).await?;
    let until = token.expires_at.map(moment);
    let until = until.map_or_else(String::new, |until| format!(" until {until}"));
    Ok(
        Answer::new(json!({ "token": token_json(&token, backend), "value": text }))
            .line(format!(
                "Token `{name}`{} allows `{}`{until}. It is shown only now:",
                of_holder(&token),
                scope.word()
            ))
            .line(text)
            .line("It goes into GAFFER_TOKEN, or after `Authorization: Bearer`."),
    )
}

fn of_holder(token: &Token) -> String {
    let agent = token.agent.as_ref();
    let agent = agent.map_or_else(String::new, |agent| format!(" of the agent `{agent}`"));
    let persona = token.persona.as_ref();
    persona.map_or(agent.clone(), |persona| {
        format!("{agent} of the persona `{persona}`")
    })
}

async fn list(backend: &Backend) -> Result<Answer> {
    let tokens = backend.store.tokens().await?;
    let row = |token: &Token| {
        vec![
            token.name.to_string(),
            token.scope.word().to_owned(),
            or_dash(token.agent.as_ref()),
            or_dash(token.persona.as_ref()),
            moment(token.created_at),
            or_dash(token.expires_at.map(moment)),
            state(token, backend).to_owned(),
        ]
    };
    let rows = tokens.iter().map(|token| row(&token.value)).collect();
    let all: Vec<Value> = tokens
        .iter()
        .map(|it| token_json(&it.value, backend))
        .collect();
    let head = [
        "token", "allows", "agent", "persona", "made", "until", "state",
    ];
    Ok(Answer::new(json!({ "tokens": all })).table(
        &head,
        rows,
        "No token but the installation's own: `gaffer token create NAME`.",
    ))
}

fn state(token: &Token, backend: &Backend) -> &'static str {
    match token.scope_at(backend.now()) {
        Ok(_) => "open",
        Err(TokenRejection::Revoked) => "revoked",
        Err(TokenRejection::Expired) => "expired",
    }
}

/// Never with its digest: it is of no use to people.
fn token_json(token: &Token, backend: &Backend) -> Value {
    json!({
        "name": token.name, "scope": token.scope, "agent": token.agent, "persona": token.persona,
        "state": state(token, backend),
        "created_at": token.created_at, "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
    })
}
