//! `gaffer agent add NAME --notify`: a person who gets a notice of every event that waits for a person.

use anyhow::{Context, Result};
use domain::ids::AgentName;
use domain::wake::Notify;
use engine::ports::SecretName;
use engine::settings::Agent;
use secrecy::SecretString;
use serde_json::json;
use url::Url;

use super::{exists, with_hint};
use crate::args::agent::NotifyTo;
use crate::args::value::agent_url;
use crate::error::Error;
use crate::render::{Answer, value};
use crate::site::StoreAccess;
use crate::stdin;

/// Longest address that is read, in bytes.
const ADDRESS_BYTES_MAX: u64 = 4_096;

/// Adds a person. The address of a chat is kept as a secret, since it allows writing there.
pub(super) async fn add(name: &AgentName, to: NotifyTo, data: &StoreAccess) -> Result<Answer> {
    if data.backend.store.agent(name).await?.is_some() {
        return Err(exists(name).into());
    }
    let url = match to {
        NotifyTo::Desktop => None,
        NotifyTo::Url(url) => Some(url),
        NotifyTo::Stdin => Some(read_address()?),
    };
    let notify = match &url {
        None => Notify::Desktop,
        Some(url) => Notify::of_host(url.host_str().unwrap_or_default()),
    };
    if let Some(url) = &url {
        let secret = SecretString::from(url.to_string());
        let kept = SecretName::Agent(name.clone());
        data.secrets.write(&kept, &secret).await?;
    }
    let agent = Agent {
        notify: Some(notify),
        ..Agent::new(name.clone())
    };
    if !data.backend.insert(name, &agent).await? {
        return Err(exists(name).into());
    }
    let answer = Answer::new(json!({ "agent": value(&agent) }))
        .line(format!("`{name}` is added."))
        .line(format!(
            "Events that wait for a person are shown by {}; try it with `gaffer agent test {name}`.",
            notify.word()
        ));
    Ok(with_hint(answer, url.as_ref()))
}

fn read_address() -> Result<Url> {
    let text = stdin::of_stdin(ADDRESS_BYTES_MAX).context("reading the address from stdin")?;
    agent_url(text.trim()).map_err(|why| {
        let what = format!("stdin is no address: {why}");
        let next = "give the address of a Slack or Discord webhook or of an ntfy topic on stdin";
        Error::refused("no_address", what, next).into()
    })
}
