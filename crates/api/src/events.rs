//! `GET /events`: what somebody had to know, from where the asker stands.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use client::wire::{EVENTS_LIMIT, EVENTS_LIMIT_MAX, EventPage, WAIT_SECONDS_MAX};
use domain::event::Cursor;
use domain::ids::JobId;
use domain::wake::message;
use engine::events::{Asked, Told};

use crate::door::Door;
use crate::refusal::Refused;

/// `GET /events?after=&job=&limit=&wait_seconds=`.
pub(crate) async fn events(
    State(door): Door,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Json<EventPage>, Refused> {
    let (asked, within) = read(query)?;
    let told = match door.holding.clone() {
        Some(mut stopped) if !within.is_zero() => {
            let waiting = async move {
                drop(tokio::time::timeout(within, stopped.wait_for(|stop| *stop)).await);
            };
            door.desk.events_while(&asked, waiting).await?
        }
        Some(_) | None => door.desk.events_after(&asked).await?,
    };
    Ok(Json(shown(&told)))
}

fn shown(told: &Told) -> EventPage {
    let events = told.events.iter();
    EventPage {
        events: events
            .map(|(event, repo)| message(event, repo.as_deref()))
            .collect(),
        cursor: told.cursor.to_string(),
        more: told.more,
    }
}

fn read(
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<(Asked, Duration), Refused> {
    let Ok(Query(pairs)) = query else {
        let detail = "the query cannot be read";
        return Err(Refused::new(StatusCode::BAD_REQUEST, "bad_query", detail));
    };
    let mut asked = Asked {
        after: None,
        job: None,
        limit: usize::try_from(EVENTS_LIMIT).unwrap_or(0),
    };
    let mut seconds = 0;
    for (name, value) in pairs {
        match name.as_str() {
            "after" => {
                let cursor = value.parse::<Cursor>();
                asked.after = Some(cursor.map_err(|error| bad(&name, &error.to_string()))?);
            }
            "job" => {
                let job = value.parse::<JobId>();
                asked.job = Some(job.map_err(|error| bad(&name, &error.to_string()))?);
            }
            "limit" => {
                let limit = number(&name, &value, EVENTS_LIMIT_MAX)?;
                asked.limit = usize::try_from(limit).unwrap_or(0);
            }
            "wait_seconds" => seconds = number(&name, &value, WAIT_SECONDS_MAX)?,
            _ => {
                let known = "there are `after`, `job`, `limit` and `wait_seconds`";
                return Err(bad(&name, known));
            }
        }
    }
    Ok((asked, Duration::from_secs(seconds.into())))
}

fn number(name: &str, value: &str, max: u32) -> Result<u32, Refused> {
    let read = value.parse::<u32>().ok().filter(|number| *number <= max);
    read.ok_or_else(|| bad(name, &format!("it has to be a number from 0 to {max}")))
}

fn bad(field: &str, wrong: &str) -> Refused {
    let detail = format!("`{field}`: {wrong}");
    Refused::new(StatusCode::BAD_REQUEST, "bad_parameter", &detail).about(field)
}
