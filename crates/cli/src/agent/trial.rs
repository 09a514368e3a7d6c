//! `gaffer agent test`: a test message on the way that real wakes take.

use std::time::Duration;

use agents::{HostRule, Probe};
use anyhow::Result;
use domain::doctor::Reach;
use domain::ids::AgentName;
use domain::wake::{Channel, Wake, WakeState};
use engine::desk::Desk;
use engine::ports::AgentsProbe;
use engine::store::Versioned;
use jiff::SignedDuration;
use serde_json::json;
use url::Url;

use super::{host, must_find};
use crate::args::value::short;
use crate::error::Error;
use crate::render::Answer;
use crate::switch::moment;

/// Sends a test message and waits for what becomes of it.
pub(super) async fn run(
    (name, within): (&AgentName, SignedDuration),
    allowed: Option<Vec<HostRule>>,
    desk: &Desk,
) -> Result<Answer> {
    let agent = must_find(desk, name).await?.value;
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
    if let (Some(allowed), Some(url)) = (allowed, &agent.url)
        && agent.ways().contains(&Channel::Http)
        && let Reach::Refused { why } = Probe::new(allowed).reach(url).await
    {
        let what = format!("its address may not be woken: {why}");
        let next = format!(
            "start `gaffer up` with `--allow-host {}`, if it is yours",
            host(url)
        );
        return Err(Error::refused("address_refused", what, next).into());
    }
    let event = desk.test_wake(&agent).await?;
    let found = desk
        .wake_settled(name, &event, Duration::try_from(within).unwrap_or_default())
        .await?;
    withdraw(desk, &found).await?;
    outcome(&found.value, agent.url.as_ref(), within)
}

/// A test that did not get through is over: it must not be tried for days like a real wake.
async fn withdraw(desk: &Desk, found: &Versioned<Wake>) -> Result<()> {
    let WakeState::Pending { .. } = found.value.state else {
        return Ok(());
    };
    let why = "a test that was not acknowledged in time";
    let mut unit = desk.unit();
    unit.put_wake(found, &found.value.given_up(why, desk.now()));
    match desk.commit(unit).await {
        // It is being sent at this very moment, and goes on as a wake that nobody waits for.
        Err(error) if error.is_conflict() => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(()),
    }
}

fn outcome(wake: &Wake, url: Option<&Url>, within: SignedDuration) -> Result<Answer> {
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
            let refused = match url {
                Some(url) if wake.channel == Channel::Http => by_http(wake, url, within),
                Some(_) | None => by_inbox(wake, within),
            };
            Err(refused.into())
        }
    }
}

/// Why a test message did not get to an address.
fn by_http(wake: &Wake, url: &Url, within: SignedDuration) -> Error {
    let look = format!(
        "look at what the receiver and `gaffer up` print; a private host has to be allowed with `gaffer up --allow-host {}`",
        host(url)
    );
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
            let tries = attempt - 1;
            let what = format!("the test message failed at {url} ({tries} tries within {within})");
            Error::refused("not_delivered", what, look)
        }
        WakeState::Sending { .. } | WakeState::Leased { .. } | WakeState::Acknowledged { .. } => {
            let what = format!("{url} has not answered within {within}");
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
