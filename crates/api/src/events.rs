//! `GET /events`: events after the caller's cursor.

use std::time::Duration;

use axum::extract::State;
use axum::routing::get;
use axum::{Extension, Json};
use client::wire::{EVENTS_LIMIT, EVENTS_LIMIT_MAX, EventPage, WAIT_SECONDS_MAX};
use domain::event::{EventCursor, InvalidEventCursor};
use domain::ids::{InvalidId, JobName};
use domain::wake::message;
use engine::events::{EventList, EventQuery};

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts};
use crate::query;
use crate::refusal::Refused;
use crate::route::{ApiRow, Parameter, ParameterType, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};

/// What `GET /events` takes.
const EVENTS: [Parameter; 5] = [
    Parameter::query(
        "after",
        ParameterType::Cursor,
        "The `cursor` of an earlier answer; without it the newest events are listed.",
    ),
    Parameter::query("job", ParameterType::Job, "Only events of this job."),
    Parameter::query(
        "open",
        ParameterType::Switch,
        "Only open events: not acknowledged, and no question that was answered; without `after` the oldest first, and of what belongs to no open job or delivery only those among the newest 100.",
    ),
    Parameter::number(
        "limit",
        0,
        EVENTS_LIMIT_MAX,
        EVENTS_LIMIT,
        "How many at most; 0 returns only the present cursor.",
    ),
    Parameter::number(
        "wait_seconds",
        0,
        WAIT_SECONDS_MAX,
        0,
        "How long an empty answer may be held open, in seconds; on Lambda it never is.",
    ),
];

/// What `GET /api/deliveries/{delivery}/events` takes: the same without a job.
const DELIVERY_EVENTS: [Parameter; 4] = [EVENTS[0], EVENTS[2], EVENTS[3], EVENTS[4]];

/// Events, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get(
        "/events",
        "list_events",
        "Lists the events that the caller may see, after a cursor",
        || get(events),
    )
    .takes(&EVENTS)
    .answers(&[(200, ResponseBody::Json("EventPage"))])
    .refuses(&[404, 410]),
    Row::get(
        "/api/deliveries/{delivery}/events",
        "delivery_events",
        "Lists the events of a delivery and its jobs, after a cursor",
        || get(delivery_events),
    )
    .takes(&DELIVERY_EVENTS)
    .answers(&[(200, ResponseBody::Json("EventPage"))])
    .refuses(&[404]),
];

/// `GET /events?after=&job=&open=&limit=&wait_seconds=`.
async fn events(
    State(api): SharedState,
    Extension(who): Extension<AuthenticatedCaller>,
    query: query::QueryPairs,
) -> Result<Json<EventPage>, Refused> {
    let (mut asked, of_job, within) = read(query)?;
    asked.persona = who.persona().cloned();
    if let Some(name) = of_job {
        asked.job = Some(api.backend.find(&name).await?.job);
    }
    Ok(Json(listed(&api, &asked, within).await?))
}

/// `GET /api/deliveries/{delivery}/events?after=&open=&limit=&wait_seconds=`.
async fn delivery_events(
    State(api): SharedState,
    path: Parts<String>,
    Extension(who): Extension<AuthenticatedCaller>,
    query: query::QueryPairs,
) -> Result<Json<EventPage>, Refused> {
    let (mut asked, of_job, within) = read(query)?;
    if of_job.is_some() {
        let known = "there are `after`, `open`, `limit` and `wait_seconds`";
        return Err(query::unknown("job", known));
    }
    let name = body::parts(path)?;
    asked.persona = who.persona().cloned();
    asked.delivery = Some(api.backend.find_delivery(&name).await?);
    Ok(Json(listed(&api, &asked, within).await?))
}

/// The events that are asked for; an empty answer is held open where that is possible.
async fn listed(
    api: &ApiInner,
    asked: &EventQuery,
    within: Duration,
) -> Result<EventPage, Refused> {
    let list = match api.holding.clone() {
        Some(mut stopped) if !within.is_zero() => {
            let waiting = async move {
                drop(tokio::time::timeout(within, stopped.wait_for(|stop| *stop)).await);
            };
            api.backend.events_while(asked, waiting).await?
        }
        Some(_) | None => api.backend.events_after(asked).await?,
    };
    Ok(shown(&list))
}

fn shown(list: &EventList) -> EventPage {
    let events = list.events.iter();
    EventPage {
        events: events
            .map(|(event, repo)| message(event, repo.as_deref()))
            .collect(),
        cursor: list.cursor.to_string(),
        more: list.more,
    }
}

/// What is asked for, what names the job whose events are, and how long one waits for them.
fn read(query: query::QueryPairs) -> Result<(EventQuery, Option<String>, Duration), Refused> {
    let mut asked = EventQuery {
        after: None,
        job: None,
        delivery: None,
        persona: None,
        open: false,
        limit: usize::try_from(EVENTS_LIMIT).unwrap_or(0),
    };
    let (mut of_job, mut seconds) = (None, 0);
    for (name, value) in query::pairs(query)? {
        match name.as_str() {
            "after" => {
                let cursor = value.parse::<EventCursor>();
                asked.after =
                    Some(cursor.map_err(|error: InvalidEventCursor| query::bad(&name, &error))?);
            }
            "job" => {
                let named = value.parse::<JobName>();
                named.map_err(|error: InvalidId| query::bad(&name, &error))?;
                of_job = Some(value);
            }
            "open" => asked.open = query::switch(&name, &value)?,
            "limit" => {
                let limit = number(&name, &value, EVENTS_LIMIT_MAX)?;
                asked.limit = usize::try_from(limit).unwrap_or(0);
            }
            "wait_seconds" => seconds = number(&name, &value, WAIT_SECONDS_MAX)?,
            _ => {
                let known = "there are `after`, `job`, `open`, `limit` and `wait_seconds`";
                return Err(query::unknown(&name, known));
            }
        }
    }
    Ok((asked, of_job, Duration::from_secs(seconds.into())))
}

fn number(name: &str, value: &str, max: u32) -> Result<u32, Refused> {
    let read = value.parse::<u32>().ok().filter(|number| *number <= max);
    read.ok_or_else(|| query::bad(name, &format!("it has to be a number from 0 to {max}")))
}
