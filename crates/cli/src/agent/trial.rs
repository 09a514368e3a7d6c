//! `gaffer agent test`: a test message on the way that real wakes take.

use std::time::Duration;

use agents::{HostRule, Probe};
use anyhow::Result;
use domain::doctor::Reachability;
use domain::ids::AgentName;
use domain::wake::{Channel, Notify, Wake, WakeState};
use engine::backend::Backend;
use engine::ports::{AgentsProbe, SecretName};
use engine::settings::Agent;
use engine::store::Versioned;
use jiff::SignedDuration;
use secrecy::ExposeSecret;
use serde_json::json;
use url::Url;

use super::{host, must_find};
use crate::args::value::short;
use crate::error::Error;
use crate::render::{Answer, moment};
use crate::site::StoreAccess;

/// Sends a test message and waits for its outcome.
pub(super) async fn run(
    name: &AgentName,
    within: SignedDuration,
    allowed: Option<Vec<HostRule>>,
    data: &StoreAccess,
) -> Result<Answer> {
    let backend = &data.backend;
    let agent = must_find(backend, name).await?.value;
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
    let receiver = Receiver::new(&agent, data).await?;
    if let (Some(allowed), Receiver::Address { url, .. }) = (allowed, &receiver)
        && agent.ways().contains(&Channel::Http)
        && let Reachability::Refused { why } = Probe::new(allowed).reach(url).await
    {
        let what = format!("its address may not be woken: {why}");
        let next = format!(
            "start `gaffer up` with `--allow-host {}`, if it is yours",
            host(url)
        );
        return Err(Error::refused("address_refused", what, next).into());
    }
    let event = backend.test_wake(&agent).await?;
    let found = backend
        .wake_settled(name, &event, Duration::try_from(within).unwrap_or_default())
        .await?;
    withdraw(backend, &found).await?;
    outcome(&found.value, &receiver, within)
}

/// Where the test message goes.
enum Receiver {
    /// An address: it may be shown whole, or only its host may be.
    Address { url: Url, shown: String },
    /// The desktop of the machine that `gaffer up` runs on.
    Desktop,
    /// Its inbox.
    Inbox,
}

impl Receiver {
    async fn new(agent: &Agent, data: &StoreAccess) -> Result<Self> {
        let (url, shown) = match (agent.notify, &agent.url) {
            (Some(Notify::Desktop), _) => return Ok(Self::Desktop),
            (Some(Notify::Slack | Notify::Discord | Notify::Ntfy), _) => {
                let kept = SecretName::Agent(agent.name.clone());
                let address = data.secrets.read(&kept).await?;
                let url: Url = address
                    .expose_secret()
                    .parse()
                    .map_err(|_| unusable(agent))?;
                let shown = host(&url);
                (url, shown)
            }
            (None, Some(url)) => (url.clone(), url.to_string()),
            (None, None) => return Ok(Self::Inbox),
        };
        Ok(Self::Address { url, shown })
    }
}

fn unusable(agent: &Agent) -> Error {
    let name = &agent.name;
    let next = format!("remove it with `gaffer agent remove {name}` and add it again");
    Error::refused("no_address", "its address is not readable", next)
}

/// A test that did not get through is over: it must not be tried for days like a real wake.
async fn withdraw(backend: &Backend, found: &Versioned<Wake>) -> Result<()> {
    let WakeState::Pending { .. } = found.value.state else {
        return Ok(());
    };
    let why = "a test that was not acknowledged in time";
    let mut unit = backend.unit();
    unit.put_wake(found, &found.value.given_up(why, backend.now()));
    match backend.commit(unit).await {
        // It is being sent at this very moment, and goes on as a wake without a waiting command.
        Err(error) if error.is_conflict() => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(()),
    }
}

fn outcome(wake: &Wake, receiver: &Receiver, within: SignedDuration) -> Result<Answer> {
    let (name, event) = (&wake.agent, &wake.event.id);
    let answer = |outcome: &str, text: String| {
        Ok(Answer::new(json!({ "agent": name, "event_id": event, "outcome": outcome })).line(text))
    };
    match &wake.state {
        WakeState::Acknowledged { .. } => answer(
            "acknowledged",
            format!("Agent `{name}` acknowledged the test message {event}."),
        ),
        WakeState::Leased { until, .. } => answer(
            "accepted",
            format!(
                "Agent `{name}` took the test message {event} and has until {} to acknowledge it.",
                moment(*until)
            ),
        ),
        WakeState::Pending { .. } | WakeState::Sending { .. } | WakeState::Dead { .. } => {
            let refused = match (wake.channel, receiver) {
                (Channel::Http, Receiver::Address { url, shown }) => {
                    not_delivered(wake, shown, &hint(url), within)
                }
                (Channel::Http, Receiver::Desktop) => {
                    not_delivered(wake, "the desktop", LOOK_AT_DESKTOP, within)
                }
                (Channel::Http, Receiver::Inbox) | (Channel::Inbox, _) => by_inbox(wake, within),
            };
            Err(refused.into())
        }
    }
}

/// What to check when a desktop shows nothing.
const LOOK_AT_DESKTOP: &str =
    "look at what `gaffer up` prints; it has to run in the desktop session that shows the notices";

/// What to check when nothing arrives at an address.
fn hint(url: &Url) -> String {
    let host = host(url);
    format!(
        "look at what the receiver and `gaffer up` print; a private host has to be allowed with `gaffer up --allow-host {host}`"
    )
}

/// Why a test message did not get to an address or a desktop.
fn not_delivered(wake: &Wake, shown: &str, look: &str, within: SignedDuration) -> Error {
    let within = short(within);
    match &wake.state {
        WakeState::Dead { why, .. } => {
            let what = format!("the test message was given up: {why}");
            Error::refused("not_delivered", what, look)
        }
        WakeState::Pending { attempt: 1, .. } => {
            let what = format!("nothing took the test message within {within}");
            let next = "start `gaffer up` on this data folder, which delivers it, and test again";
            Error::refused("not_running", what, next)
        }
        WakeState::Pending { attempt, .. } => {
            let attempts = attempt - 1;
            let what =
                format!("the test message failed at {shown} ({attempts} attempts within {within})");
            Error::refused("not_delivered", what, look)
        }
        WakeState::Sending { .. } | WakeState::Leased { .. } | WakeState::Acknowledged { .. } => {
            let what = format!("{shown} has not answered within {within}");
            Error::refused("no_answer", what, look)
        }
    }
}

/// Why a test message was not fetched.
fn by_inbox(wake: &Wake, within: SignedDuration) -> Error {
    let name = &wake.agent;
    let what = format!(
        "nothing took the test message out of its inbox within {}",
        short(within)
    );
    let next = format!("start `gaffer watch --agent {name} -- COMMAND`, and test again");
    Error::refused("not_taken", what, next)
}

#[cfg(test)]
mod tests;
