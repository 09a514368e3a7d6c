//! `gaffer wake`: lists wakes and restarts them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use domain::ids::{AgentName, EventId};
use domain::wake::{Notify, Wake, WakeState};
use engine::backend::Backend;
use engine::wakes::Replayed;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::args::wake::{ListWakesArgs, ReplayArgs, WakeCommand, WakeFilter};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{Answer, moment, or_dash, or_empty, value};
use crate::site::StoreAccess;

pub(crate) async fn run(command: WakeCommand, here: &CommandContext) -> Result<Answer> {
    let backend = StoreAccess::found(here).await?.backend;
    match command {
        WakeCommand::List(args) => list(&args, &backend).await.context("listing wakes"),
        WakeCommand::Show { event } => show(&event, &backend)
            .await
            .with_context(|| format!("showing the wake of {event}")),
        WakeCommand::Replay(args) => replay(&args, &backend)
            .await
            .context("putting wakes on their way once more"),
    }
}

async fn list(args: &ListWakesArgs, backend: &Backend) -> Result<Answer> {
    let from = args.since.map(|since| before(backend, since));
    let job = match &args.job {
        Some(name) => Some(backend.find(name.as_str()).await?.job),
        None => None,
    };
    let meant = |wake: &Wake| {
        job.as_ref()
            .is_none_or(|job| wake.event.job.as_ref() == Some(job))
            && args.state.is_none_or(|state| state == standing(wake))
            && from.is_none_or(|from| wake.event.observed_at >= from)
    };
    let mut wakes = of_agents(args.agent.as_ref(), backend).await?;
    wakes.retain(meant);
    wakes.reverse();
    let more = wakes.len() > usize::from(args.limit);
    wakes.truncate(args.limit.into());
    let ways = Ways::load(backend).await?;
    let row = |wake: &Wake| {
        vec![
            wake.event.id.to_string(),
            moment(wake.event.observed_at),
            wake.event.what.kind().to_owned(),
            about(wake),
            wake.agent.to_string(),
            ways.word(wake).to_owned(),
            standing(wake).word().to_owned(),
        ]
    };
    let head = ["event", "seen", "kind", "about", "agent", "way", "state"];
    let rows = wakes.iter().map(row).collect();
    let all: Vec<Value> = wakes.iter().map(wake_json).collect();
    let answer = Answer::new(json!({ "wakes": all, "more": more }));
    Ok(answer.table(&head, rows, "No wake matches."))
}

async fn show(name: &str, backend: &Backend) -> Result<Answer> {
    let event = backend.find_event(name).await?;
    let wakes = of_event(&event, None, backend).await?;
    let sent = |wake: &Wake| wake.message(None);
    let shown = |wake: &Wake| {
        let mut shown = wake_json(wake);
        shown["message"] = value(&sent(wake));
        shown
    };
    let all: Vec<Value> = wakes.iter().map(shown).collect();
    let ways = Ways::load(backend).await?;
    let mut answer = Answer::new(json!({ "wakes": all }));
    for wake in &wakes {
        answer = answer.pairs(vec![
            ("agent", wake.agent.to_string()),
            ("way", ways.word(wake).to_owned()),
            ("state", sentence(wake)),
            ("next", or_empty(wake.due().map(moment))),
        ]);
        answer = answer.line(format!("{:#}", value(&sent(wake))));
    }
    Ok(answer)
}

async fn replay(args: &ReplayArgs, backend: &Backend) -> Result<Answer> {
    let mut wakes = match &args.event {
        Some(name) => {
            of_event(
                &backend.find_event(name).await?,
                args.agent.as_ref(),
                backend,
            )
            .await?
        }
        None => of_agents(args.agent.as_ref(), backend).await?,
    };
    if let Some(since) = args.since {
        let from = before(backend, since);
        wakes.retain(|wake| wake.event.observed_at >= from && wake.is_lost());
    }
    let mut sent = Vec::new();
    for wake in &wakes {
        let event = &wake.event.id;
        match (backend.replay(&wake.agent, event).await?, &args.event) {
            (Replayed::Sent, _) => sent.push(event),
            (Replayed::Acknowledged, Some(_)) => {
                let what = format!("{event} was acknowledged");
                let next = "what an agent is done with is not sent again";
                return Err(Error::refused("acknowledged", what, next).into());
            }
            (Replayed::UnderWay, Some(_)) => {
                let what = format!("{event} {}", sentence(wake));
                let next = "it comes again by itself if nothing comes of that";
                return Err(Error::refused("under_way", what, next).into());
            }
            (Replayed::Acknowledged | Replayed::UnderWay, None) => {}
        }
    }
    let answer = Answer::new(json!({ "replayed": sent }));
    Ok(match sent.len() {
        0 => answer.line("No wake was given up since then."),
        1 => answer.line("1 wake is on its way once more."),
        count => answer.line(format!("{count} wakes are on their way once more.")),
    })
}

/// Wakes of one agent or of all, in order of their events.
async fn of_agents(name: Option<&AgentName>, backend: &Backend) -> Result<Vec<Wake>> {
    let names = match name {
        Some(name) => vec![super::must_find(backend, name).await?.value.name],
        None => {
            let all = backend.store.agents().await?.into_iter();
            all.map(|agent| agent.value.name).collect()
        }
    };
    let mut wakes = Vec::new();
    for name in names {
        let found = backend.store.wakes(&name).await?;
        wakes.extend(found.into_iter().map(|wake| wake.value));
    }
    wakes.sort_by(|a, b| {
        let order = |wake: &Wake| (wake.event.observed_at, wake.event.id.clone());
        order(a).cmp(&order(b))
    });
    Ok(wakes)
}

/// Wakes of one event: usually one.
async fn of_event(
    event: &EventId,
    name: Option<&AgentName>,
    backend: &Backend,
) -> Result<Vec<Wake>> {
    let mut wakes = Vec::new();
    for agent in backend.store.agents().await? {
        let agent = agent.value.name;
        if name.is_none_or(|name| *name == agent) {
            let found = backend.store.wake(&agent, event).await?;
            wakes.extend(found.map(|wake| wake.value));
        }
    }
    if wakes.is_empty() {
        let what = format!("no agent has a wake of {event}");
        let next = "`gaffer wake list` shows those that there are";
        return Err(Error::refused("no_such_wake", what, next).into());
    }
    Ok(wakes)
}

/// How each person gets notices.
struct Ways(BTreeMap<AgentName, Notify>);

impl Ways {
    async fn load(backend: &Backend) -> Result<Self> {
        let agents = backend.store.agents().await?.into_iter();
        let people = agents.filter_map(|it| Some((it.value.name, it.value.notify?)));
        Ok(Self(people.collect()))
    }

    /// The way that a wake goes, in one word.
    fn word(&self, wake: &Wake) -> &'static str {
        match self.0.get(&wake.agent) {
            Some(notify) => notify.word(),
            None => wake.channel.word(),
        }
    }
}

fn before(backend: &Backend, since: SignedDuration) -> Timestamp {
    let from = backend.now().checked_sub(since);
    from.unwrap_or(Timestamp::MIN)
}

fn wake_json(wake: &Wake) -> Value {
    json!({
        "event_id": wake.event.id, "event": wake.event.what.name(),
        "kind": wake.event.what.kind(), "job_id": wake.event.job,
        "delivery_id": wake.event.aid.delivery,
        "agent": wake.agent, "observed_at": wake.event.observed_at,
        "way": wake.channel.word(), "state": standing(wake).word(),
        "told": sentence(wake), "next": wake.due(),
    })
}

/// Its job, or its delivery while that has none.
fn about(wake: &Wake) -> String {
    let event = &wake.event;
    let job = event.job.as_ref().map(ToString::to_string);
    let delivery = || event.aid.delivery.as_ref().map(ToString::to_string);
    or_dash(job.or_else(delivery))
}

fn standing(wake: &Wake) -> WakeFilter {
    match wake.state {
        WakeState::Pending { .. } => WakeFilter::Waiting,
        WakeState::Sending { .. } => WakeFilter::Sending,
        WakeState::Leased { .. } => WakeFilter::Taken,
        WakeState::Acknowledged { .. } => WakeFilter::Acknowledged,
        WakeState::Dead { .. } => WakeFilter::GivenUp,
    }
}

fn sentence(wake: &Wake) -> String {
    match &wake.state {
        WakeState::Pending {
            attempt,
            not_before,
        } => format!("waits for try {attempt} from {} on", moment(*not_before)),
        WakeState::Sending { attempt, .. } => format!("is sent, try {attempt}"),
        WakeState::Leased { attempt, .. } if wake.answered => {
            format!("was received at try {attempt}, and answered")
        }
        WakeState::Leased { attempt, until } => format!(
            "was received at try {attempt}, to be acknowledged until {}",
            moment(*until)
        ),
        WakeState::Acknowledged { at } => format!("was acknowledged at {}", moment(*at)),
        WakeState::Dead { at, why } => format!("was given up at {}: {why}", moment(*at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_without_a_job_names_its_delivery() {
        let event = json!({
            "id": "evt_00000000000000000000000000000001", "job": null, "account": "default",
            "attempt": 1, "observed_at": "2026-03-01T09:00:00Z", "status": "", "last_activity": null,
            "what": { "delivery": { "ask": "plan", "summary": "Add search" } },
            "audience": "agent", "aid": { "delivery": "f11647a73aa0" },
        });
        let event = serde_json::from_value(event).unwrap();
        let wake = Wake::new(event, "bot".parse().unwrap(), None, Timestamp::UNIX_EPOCH);
        assert_eq!(about(&wake), "f11647a73aa0");
        assert_eq!(wake_json(&wake)["delivery_id"], "f11647a73aa0");
        assert_eq!(wake_json(&wake)["job_id"], Value::Null);
    }
}
