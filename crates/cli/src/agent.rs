//! `gaffer agent`: who is woken when a decision is needed.

use std::time::Duration;

use anyhow::{Context, Result};
use domain::ids::{AgentName, EventId};
use domain::wake::{Wake, WakeState};
use engine::desk::{Desk, Place};
use engine::forget;
use engine::keys;
use engine::ports::SecretName;
use engine::settings::Agent;
use engine::store::Versioned;
use jiff::SignedDuration;
use secrecy::ExposeSecret;
use serde_json::json;
use url::{Host, Url};

use crate::args::agent::{AgentCommand, SetArgs};
use crate::args::value::short;
use crate::error::Error;
use crate::here::{Address, Here, busy, change, save};
use crate::render::{Answer, value};
use crate::site::Keeping;
use crate::switch::moment;

mod remove;
mod rotate;

/// What a receiver has to look at, by the Standard Webhooks specification.
const HEADERS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];

/// Runs one of the commands.
pub(crate) async fn run(command: AgentCommand, here: &Here) -> Result<Answer> {
    let data = match &command {
        AgentCommand::Add { .. } => Keeping::of(here).await?,
        AgentCommand::Set(_)
        | AgentCommand::Test { .. }
        | AgentCommand::List
        | AgentCommand::Rotate(_)
        | AgentCommand::Remove { .. } => Keeping::found(here).await?,
    };
    match command {
        AgentCommand::Add { name, url } => add(&name, url, &data)
            .await
            .with_context(|| format!("adding agent `{name}`")),
        AgentCommand::Set(args) => set(&args, &data.desk)
            .await
            .with_context(|| format!("changing agent `{}`", args.name)),
        AgentCommand::Test { name, within } => test(&name, within, &data.desk)
            .await
            .with_context(|| format!("testing agent `{name}`")),
        AgentCommand::List => list(&data.desk).await.context("listing agents"),
        AgentCommand::Rotate(args) => rotate::run(&args, &data)
            .await
            .with_context(|| format!("rotating the secret of agent `{}`", args.name)),
        AgentCommand::Remove { name } => remove::run(&name, &data)
            .await
            .with_context(|| format!("removing agent `{name}`")),
    }
}

/// Adds an agent without showing its secret, which stays in its file.
pub(crate) async fn add_quietly(name: &AgentName, url: Url, data: &Keeping) -> Result<()> {
    add(name, url, data).await.map(drop)
}

async fn add(name: &AgentName, url: Url, data: &Keeping) -> Result<Answer> {
    if data.desk.store.agent(name).await?.is_some() {
        return Err(exists(name).into());
    }
    // The secret comes first: a wake that finds none would fail. Nobody uses it before the record is there.
    let secret = agents::new_secret(rand::random());
    data.secrets
        .write(&SecretName::Agent(name.clone()), &secret)
        .await?;
    let agent = Agent {
        name: name.clone(),
        url: Some(url),
        disabled: None,
    };
    if !save(&data.desk, address(&agent), &agent, (None, None)).await? {
        return Err(busy().into());
    }
    let json =
        json!({ "agent": value(&agent), "secret": secret.expose_secret(), "headers": HEADERS });
    let answer = Answer::new(json).line(format!("Agent `{name}` is added."));
    Ok(with_hint(
        with_secret(answer, secret.expose_secret()),
        &agent,
    ))
}

async fn set(args: &SetArgs, desk: &Desk) -> Result<Answer> {
    let read = async || must_find(desk, &args.name).await;
    let agent = change(desk, address, read, |agent| {
        let disabled = agent.disabled.clone().filter(|_| !args.enable);
        let next = Agent {
            url: args.url.clone().or_else(|| agent.url.clone()),
            disabled,
            ..agent.clone()
        };
        Ok((next.clone(), next))
    })
    .await?;
    Ok(with_hint(
        Answer::new(json!({ "agent": value(&agent) }))
            .line(format!("Agent `{}` is set.", agent.name)),
        &agent,
    ))
}

async fn list(desk: &Desk) -> Result<Answer> {
    let (mut all, mut rows) = (Vec::new(), Vec::new());
    for agent in desk.store.agents().await? {
        let agent = agent.value;
        let wakes = desk.store.wakes(&agent.name).await?;
        let waiting = wakes.iter().filter(|wake| !wake.value.is_settled()).count();
        let dead = wakes
            .iter()
            .filter(|wake| matches!(wake.value.state, WakeState::Dead { .. }))
            .count();
        let url = agent
            .url
            .as_ref()
            .map_or_else(|| "-".to_owned(), ToString::to_string);
        let state = agent.disabled.as_ref().map_or_else(
            || "takes wakes".to_owned(),
            |it| format!("disabled since {}: {}", moment(it.at), it.why),
        );
        let mut shown = value(&agent);
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("wakes_waiting".to_owned(), json!(waiting));
            shown.insert("wakes_given_up".to_owned(), json!(dead));
        }
        all.push(shown);
        rows.push(vec![
            agent.name.to_string(),
            url,
            state,
            waiting.to_string(),
            dead.to_string(),
        ]);
    }
    let head = ["agent", "url", "state", "waiting", "given up"];
    Ok(Answer::new(json!({ "agents": all })).table(
        &head,
        rows,
        "No agent yet: `gaffer agent add NAME --url URL`.",
    ))
}

async fn test(name: &AgentName, within: SignedDuration, desk: &Desk) -> Result<Answer> {
    let agent = must_find(desk, name).await?.value;
    let Some(url) = &agent.url else {
        return Err(Error::refused(
            "no_url",
            "it has no address",
            format!("give it one with `gaffer agent set {name} --url URL`"),
        )
        .into());
    };
    if let Some(disabled) = &agent.disabled {
        let what = format!(
            "it takes no wakes since {}: {}",
            moment(disabled.at),
            disabled.why
        );
        return Err(Error::refused(
            "disabled",
            what,
            format!("let it with `gaffer agent set {name} --enable`"),
        )
        .into());
    }
    let event = desk.test_wake(name).await?;
    let found = desk
        .wake_settled(name, &event, Duration::try_from(within).unwrap_or_default())
        .await?;
    withdraw(desk, &found).await?;
    outcome(&found.value, &event, (url, within))
}

/// A test that did not get through is over: it must not be tried for days like a real wake.
async fn withdraw(desk: &Desk, found: &Versioned<Wake>) -> Result<()> {
    let WakeState::Pending { .. } = found.value.state else {
        return Ok(());
    };
    let why = "a test that was not acknowledged in time".to_owned();
    let over = Wake {
        state: WakeState::Dead {
            at: desk.now(),
            why,
        },
        ..found.value.clone()
    };
    let mut unit = desk.unit();
    unit.put(
        keys::wake(&over.agent, &over.event.id),
        &over,
        Some(found.version),
        Place::until(desk.now(), forget::WAKE),
    );
    match desk.commit(unit).await {
        // It is being sent at this very moment, and goes on as a wake that nobody waits for.
        Err(error) if error.is_conflict() => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(()),
    }
}

fn outcome(wake: &Wake, event: &EventId, (url, within): (&Url, SignedDuration)) -> Result<Answer> {
    let name = &wake.agent;
    let answer = |outcome: &str, text: String| {
        Ok(Answer::new(json!({ "agent": name, "event_id": event, "outcome": outcome })).line(text))
    };
    let refused = |code, what: String, next: String| Err(Error::refused(code, what, next).into());
    let look = format!(
        "look at what the receiver and `gaffer up` print; a private host has to be allowed with `gaffer up --allow-host {}`",
        host(url)
    );
    match &wake.state {
        WakeState::Acknowledged { .. } => answer(
            "acknowledged",
            format!("Agent `{name}` acknowledged the test message {event}."),
        ),
        WakeState::Leased { until, .. } => answer(
            "accepted",
            format!(
                "Agent `{name}` took the test message {event} (202) and has until {} to acknowledge it.",
                moment(*until)
            ),
        ),
        WakeState::Dead { why, .. } => refused(
            "not_delivered",
            format!("the test message was given up: {why}"),
            look,
        ),
        WakeState::Pending { attempt: 1, .. } => {
            let what = format!("nothing took the test message within {}", short(within));
            refused(
                "not_running",
                what,
                "start `gaffer up` on this data folder, which delivers it, and test again"
                    .to_owned(),
            )
        }
        WakeState::Pending { attempt, .. } => refused(
            "not_delivered",
            format!(
                "the test message failed at {url} ({} tries within {})",
                attempt - 1,
                short(within)
            ),
            look,
        ),
        WakeState::Sending { .. } => refused(
            "no_answer",
            format!("{url} has not answered within {}", short(within)),
            look,
        ),
    }
}

async fn must_find(desk: &Desk, name: &AgentName) -> Result<Versioned<Agent>> {
    desk.store
        .agent(name)
        .await?
        .ok_or_else(|| Error::no_such("agent", name, " --url URL").into())
}

fn address(agent: &Agent) -> Address {
    Address {
        key: keys::agent(&agent.name),
        list: keys::listed(keys::AGENTS, agent.name.as_str()),
    }
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
fn with_hint(answer: Answer, agent: &Agent) -> Answer {
    match &agent.url {
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
