//! `gaffer token`: who may enter the HTTP API, and to do what.

use anyhow::{Context, Result};
use domain::ids::TokenName;
use domain::token::{Closed, Scope, Token};
use engine::desk::Desk;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::args::token::{ScopeName, TokenCommand};
use crate::here::Here;
use crate::render::Answer;
use crate::site::Keeping;
use crate::switch::moment;

/// Runs one of the commands.
pub(crate) async fn run(command: TokenCommand, here: &Here) -> Result<Answer> {
    match command {
        TokenCommand::Create {
            name,
            scope,
            expires,
        } => {
            let desk = Keeping::of(here).await?.desk;
            create(&name, (scope, expires), &desk)
                .await
                .with_context(|| format!("making the token `{name}`"))
        }
        TokenCommand::List => {
            let desk = Keeping::found(here).await?.desk;
            list(&desk).await.context("listing tokens")
        }
        TokenCommand::Revoke { name } => {
            let desk = Keeping::found(here).await?.desk;
            let revoking = || format!("revoking the token `{name}`");
            let token = desk.revoke_token(&name).await.with_context(revoking)?;
            let answer = Answer::new(json!({ "token": told(&token, &desk) }));
            Ok(answer.line(format!("Token `{name}` opens nothing any more.")))
        }
    }
}

async fn create(
    name: &TokenName,
    (scope, expires): (ScopeName, Option<SignedDuration>),
    desk: &Desk,
) -> Result<Answer> {
    let scope = match scope {
        ScopeName::Read => Scope::Read,
        ScopeName::Write => Scope::Write,
        ScopeName::Admin => Scope::Admin,
    };
    let random: [u8; 32] = rand::random();
    let (token, text) = desk.create_token(name, scope, expires, random).await?;
    let until = token.expires_at.map(moment);
    let until = until.map_or_else(String::new, |until| format!(" until {until}"));
    Ok(
        Answer::new(json!({ "token": told(&token, desk), "value": text }))
            .line(format!(
                "Token `{name}` allows `{}`{until}. It is shown only now:",
                scope.word()
            ))
            .line(text)
            .line("It goes into GAFFER_TOKEN, or after `Authorization: Bearer`."),
    )
}

async fn list(desk: &Desk) -> Result<Answer> {
    let tokens = desk.store.tokens().await?;
    let row = |token: &Token| {
        vec![
            token.name.to_string(),
            token.scope.word().to_owned(),
            moment(token.created_at),
            token.expires_at.map_or_else(|| "-".to_owned(), moment),
            state(token, desk).to_owned(),
        ]
    };
    let rows = tokens.iter().map(|token| row(&token.value)).collect();
    let all: Vec<Value> = tokens.iter().map(|it| told(&it.value, desk)).collect();
    let head = ["token", "allows", "made", "until", "state"];
    Ok(Answer::new(json!({ "tokens": all })).table(
        &head,
        rows,
        "No token but the installation's own: `gaffer token create NAME`.",
    ))
}

fn state(token: &Token, desk: &Desk) -> &'static str {
    match token.scope_at(desk.now()) {
        Ok(_) => "open",
        Err(Closed::Revoked) => "revoked",
        Err(Closed::Expired) => "expired",
    }
}

/// Never with its digest: it is of no use to people.
fn told(token: &Token, desk: &Desk) -> Value {
    json!({
        "name": token.name, "scope": token.scope, "state": state(token, desk),
        "created_at": token.created_at, "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
    })
}
