//! `gaffer agent rotate`: a new secret signs beside the old one until the receiver knows it.

use anyhow::{Context, Result};
use engine::ports::{SecretName, SecretsError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{HEADERS, must_find, with_secret};
use crate::args::agent::RotateArgs;
use crate::error::Error;
use crate::render::Answer;
use crate::site::StoreAccess;

enum LiveSecrets {
    /// Nothing: the secret was lost.
    None,
    /// One secret.
    One(SecretString),
    /// A rotation is under way.
    Two {
        new: SecretString,
        old: SecretString,
    },
}

/// Runs one step of a rotation.
pub(super) async fn run(args: &RotateArgs, data: &StoreAccess) -> Result<Answer> {
    must_find(&data.backend, &args.name).await?;
    let secret = SecretName::Agent(args.name.clone());
    let live = match data.secrets.read(&secret).await {
        Ok(stored) => parse(&stored),
        Err(SecretsError::Missing(_)) => LiveSecrets::None,
        Err(error) => return Err(error).context("reading its secret"),
    };
    if args.finish || args.undo {
        return end(args, live, data).await;
    }
    let fresh = agents::new_secret(rand::random());
    let stored = match live {
        LiveSecrets::None => fresh.clone(),
        LiveSecrets::One(old) => {
            SecretString::from(format!("{},{}", fresh.expose_secret(), old.expose_secret()))
        }
        LiveSecrets::Two { .. } => return Err(under_way(args).into()),
    };
    data.secrets.write(&secret, &stored).await?;
    let name = &args.name;
    let json = json!({ "agent": name, "rotation": "begun", "secret": fresh.expose_secret(), "headers": HEADERS });
    let answer = Answer::new(json).line(format!(
        "Agent `{name}` has a new secret; wakes are signed with the old one too."
    ));
    let next = format!(
        "Once the receiver knows it: `gaffer agent rotate {name} --finish`. If it is not wanted: `--undo`."
    );
    Ok(with_secret(answer, fresh.expose_secret()).line(next))
}

async fn end(args: &RotateArgs, live: LiveSecrets, data: &StoreAccess) -> Result<Answer> {
    let name = &args.name;
    let LiveSecrets::Two { new, old } = live else {
        let next = format!("begin one with `gaffer agent rotate {name}`");
        return Err(Error::refused("no_rotation", "no rotation is under way", next).into());
    };
    let (kept, word, text) = if args.finish {
        (new, "finished", "new")
    } else {
        (old, "undone", "old")
    };
    data.secrets
        .write(&SecretName::Agent(name.clone()), &kept)
        .await?;
    let text = format!("Wakes of agent `{name}` are signed with the {text} secret alone.");
    Ok(Answer::new(json!({ "agent": name, "rotation": word })).line(text))
}

/// The stored form: the current secret, then the previous after a comma.
fn parse(stored: &SecretString) -> LiveSecrets {
    let part = |text: &str| SecretString::from(text.trim().to_owned());
    match stored.expose_secret().split_once(',') {
        Some((new, old)) => LiveSecrets::Two {
            new: part(new),
            old: part(old),
        },
        None => LiveSecrets::One(part(stored.expose_secret())),
    }
}

fn under_way(args: &RotateArgs) -> Error {
    let name = &args.name;
    let next = format!(
        "end it with `gaffer agent rotate {name} --finish` once the receiver knows the new secret, or with `--undo`"
    );
    Error::refused(
        "rotation_under_way",
        "a rotation is under way: two secrets sign already",
        next,
    )
}
