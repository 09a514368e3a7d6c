//! `gaffer agent`: who is woken when a decision is needed.

use anyhow::{Context, Result};
use domain::ids::AgentName;
use domain::wake::Channel;
use engine::backend::Backend;
use engine::ports::{SecretName, SecretsError};
use engine::settings::Agent;
use engine::store::Versioned;
use secrecy::ExposeSecret;
use serde_json::json;
use url::{Host, Url};

use crate::args::agent::{AgentCommand, SetAgentArgs};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{Answer, value};
use crate::site::StoreAccess;
use crate::upstreams;

mod notify;
mod remove;
mod rotate;
mod show;
mod trial;
pub(crate) mod wakes;

/// Headers that a receiver checks, by the Standard Webhooks specification.
const HEADERS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];

pub(crate) async fn run(command: AgentCommand, here: &CommandContext) -> Result<Answer> {
    let data = match &command {
        AgentCommand::Add { .. } => StoreAccess::load(here).await?,
        AgentCommand::Set(_)
        | AgentCommand::Test { .. }
        | AgentCommand::List
        | AgentCommand::Show { .. }
        | AgentCommand::Rotate(_)
        | AgentCommand::Remove { .. } => StoreAccess::found(here).await?,
    };
    match command {
        AgentCommand::Add {
            name,
            notify: Some(to),
            ..
        } => notify::add(&name, to, &data)
            .await
            .with_context(|| format!("adding `{name}`")),
        AgentCommand::Add {
            name,
            url,
            ways,
            notify: None,
        } => add(&name, url, ways.channel, &data)
            .await
            .with_context(|| format!("adding agent `{name}`")),
        AgentCommand::Set(args) => set(&args, &data)
            .await
            .with_context(|| format!("changing agent `{}`", args.name)),
        AgentCommand::Test { name, within } => {
            // The functions of a stack have rules of their own.
            let allowed = match here.stack {
                Some(_) => None,
                None => upstreams::allowed_hosts(&here.folder),
            };
            trial::run(&name, within, allowed, &data)
                .await
                .with_context(|| format!("testing agent `{name}`"))
        }
        AgentCommand::List => show::all(&data.backend).await.context("listing agents"),
        AgentCommand::Show { name } => show::one(&name, &data.backend)
            .await
            .with_context(|| format!("showing agent `{name}`")),
        AgentCommand::Rotate(args) => rotate::run(&args, &data)
            .await
            .with_context(|| format!("rotating the secret of agent `{}`", args.name)),
        AgentCommand::Remove { name } => remove::run(&name, &data)
            .await
            .with_context(|| format!("removing agent `{name}`")),
    }
}

/// Adds an agent without showing its secret, which stays in its file.
pub(crate) async fn add_quietly(name: &AgentName, url: Url, data: &StoreAccess) -> Result<()> {
    add(name, Some(url), Vec::new(), data).await.map(drop)
}

async fn add(
    name: &AgentName,
    url: Option<Url>,
    channels: Vec<Channel>,
    data: &StoreAccess,
) -> Result<Answer> {
    if data.backend.store.agent(name).await?.is_some() {
        return Err(exists(name).into());
    }
    let agent = Agent {
        url,
        channels,
        ..Agent::new(name.clone())
    };
    refuse_odd_ways(&agent)?;
    // The secret comes first: a wake without one would fail. Nothing uses it before the record is there.
    let secret = match agent.url {
        Some(_) => Some(new_secret(name, data).await?),
        None => None,
    };
    if !data.backend.insert(name, &agent).await? {
        return Err(exists(name).into());
    }
    let answer = |json| Answer::new(json).line(format!("Agent `{name}` is added."));
    let shown = value(&agent);
    Ok(match secret {
        Some(secret) => {
            let json = json!({ "agent": shown, "secret": secret, "headers": HEADERS });
            with_hint(with_secret(answer(json), &secret), agent.url.as_ref())
        }
        None => answer(json!({ "agent": shown })).line(format!(
            "Its wakes wait in its inbox: `gaffer watch --agent {name} -- COMMAND` fetches them."
        )),
    })
}

/// Draws and keeps what an agent's wakes are signed with.
async fn new_secret(name: &AgentName, data: &StoreAccess) -> Result<String> {
    let secret = agents::new_secret(rand::random());
    let kept = SecretName::Agent(name.clone());
    data.secrets.write(&kept, &secret).await?;
    Ok(secret.expose_secret().to_owned())
}

async fn set(args: &SetAgentArgs, data: &StoreAccess) -> Result<Answer> {
    let backend = &data.backend;
    let before = must_find(backend, &args.name).await?.value;
    refuse_odd_ways(&changed(&before, args))?;
    let secret = match &args.url {
        Some(_) => secret_if_none(&before, data).await?,
        None => None,
    };
    let set = backend.update(&args.name, |agent| {
        let next = changed(agent, args);
        refuse_odd_ways(&next)?;
        Ok::<_, anyhow::Error>((next.clone(), next))
    });
    let agent = set.await?;
    if before.disabled.is_some() && args.enable {
        send_what_waited(&agent.name, backend).await?;
    }
    let mut json = json!({ "agent": value(&agent) });
    if let Some(secret) = &secret {
        json["secret"] = json!(secret);
    }
    let answer = Answer::new(json).line(format!("Agent `{}` is set.", agent.name));
    let answer = match &secret {
        Some(secret) => with_secret(answer, secret),
        None => answer,
    };
    Ok(with_hint(answer, agent.url.as_ref()))
}

/// Applies the arguments to the agent.
fn changed(agent: &Agent, args: &SetAgentArgs) -> Agent {
    Agent {
        url: args.url.clone().or_else(|| agent.url.clone()),
        channels: if args.ways.channel.is_empty() {
            agent.channels.clone()
        } else {
            args.ways.channel.clone()
        },
        disabled: agent.disabled.clone().filter(|_| !args.enable),
        resume: match &args.resume {
            Some(resume) => Some(resume.clone()),
            None => agent.resume.clone().filter(|_| !args.no_resume),
        },
        ..agent.clone()
    }
}

/// Wakes that rested while their agent took none.
async fn send_what_waited(name: &AgentName, backend: &Backend) -> Result<()> {
    for wake in backend.store.wakes(name).await? {
        if !wake.value.is_settled() {
            backend.replay(name, &wake.value.event.id).await?;
        }
    }
    Ok(())
}

/// A new secret for an agent that gets its first address; `None` when it has one.
async fn secret_if_none(agent: &Agent, data: &StoreAccess) -> Result<Option<String>> {
    let kept = SecretName::Agent(agent.name.clone());
    match data.secrets.read(&kept).await {
        Err(SecretsError::Missing(_)) => Ok(Some(new_secret(&agent.name, data).await?)),
        Err(error) => Err(error).context("reading its secret"),
        Ok(_) => Ok(None),
    }
}

/// Ways that lead nowhere, or twice to the same place.
fn refuse_odd_ways(agent: &Agent) -> Result<(), Error> {
    let name = &agent.name;
    if agent.channels.contains(&Channel::Http) && agent.url.is_none() {
        let next = format!("give it one with `--url URL`, or take `--channel inbox` for `{name}`");
        return Err(Error::refused("no_url", "it has no address", next));
    }
    let twice = |way: &Channel| agent.channels.iter().filter(|it| *it == way).count() > 1;
    if let Some(way) = agent.channels.iter().find(|way| twice(way)) {
        let what = format!("`--channel {}` is given twice", way.word());
        return Err(Error::refused(
            "doubled_channel",
            what,
            "name each way once, in their order",
        ));
    }
    Ok(())
}

async fn must_find(backend: &Backend, name: &AgentName) -> Result<Versioned<Agent>> {
    backend
        .store
        .agent(name)
        .await?
        .ok_or_else(|| Error::no_such("agent", name, " --url URL").into())
}

fn exists(name: &AgentName) -> Error {
    let next = format!(
        "change it with `gaffer agent set {name} --url URL`, or its secret with `gaffer agent rotate {name}`"
    );
    Error::refused("exists", format!("agent `{name}` is already there"), next)
}

/// Shows a secret, this once.
fn with_secret(answer: Answer, secret: &str) -> Answer {
    answer
        .line(format!("Its signing secret, shown only now: {secret}"))
        .line(format!(
            "The receiver verifies {} with it, as the Standard Webhooks specification says.",
            HEADERS.join(", ")
        ))
}

/// Says what `gaffer up` needs to reach an agent that is not on the public internet.
fn with_hint(answer: Answer, url: Option<&Url>) -> Answer {
    match url {
        Some(url) if is_unusual(url) => answer.line(format!(
            "Wakes go there only if `gaffer up` is started with `--allow-host {}`.",
            host(url)
        )),
        Some(_) | None => answer,
    }
}

/// Whether the sender refuses an address unless a rule names its host; a name that leads to a private address shows only there.
fn is_unusual(url: &Url) -> bool {
    let private = match url.host() {
        Some(Host::Domain(name)) => {
            name == "localhost" || name.ends_with(".localhost") || !name.contains('.')
        }
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => true,
    };
    url.scheme() != "https" || url.port().is_some() || private
}

/// The host as a rule names it.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests;
