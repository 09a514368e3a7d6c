//! An agent's inbox: wakes are taken, extended, given back, and acknowledged however they came.

use std::time::Duration;

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use client::wire::{
    Acknowledge, Acknowledged, Extend, Extended, GiveBack, GivenBack, RETRY_AFTER_SECONDS_MAX,
    TAKE_LIMIT, TAKE_LIMIT_MAX, TakeRequest, Taken, TakenWake, WAIT_SECONDS_MAX, WHY_BYTES_MAX,
};
use domain::ids::{AgentName, EventId, InvalidId};
use domain::wake::{Resume, ReturnMode, Wake, WakeState};
use engine::backend::Error;
use jiff::SignedDuration;

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts, Sent};
use crate::refusal::Refused;
use crate::route::{ApiRow, RequestBody, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};

/// The reason of a return without one.
const NO_WORDS: &str = "it was given back without a reason";

/// What agents do with their wakes, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::post(
        "/agents/{agent}/take",
        "take_wakes",
        "Takes wakes out of an agent's inbox, on a lease",
        || post(take),
    )
    .sends(RequestBody::MaybeJson("TakeRequest"))
    .answers(&[(200, ResponseBody::Json("Taken"))])
    .refuses(&[404, 409]),
    Row::post(
        "/events/{event}/ack",
        "acknowledge",
        "Acknowledges an event for an agent",
        || post(acknowledge),
    )
    .sends(RequestBody::Json("Acknowledge"))
    .answers(&[(200, ResponseBody::Json("Acknowledged"))])
    .refuses(&[404, 409]),
    Row::post(
        "/events/{event}/extend",
        "extend",
        "Extends the lease of a wake that was taken",
        || post(extend),
    )
    .sends(RequestBody::Json("Extend"))
    .answers(&[(200, ResponseBody::Json("Extended"))])
    .refuses(&[404, 409]),
    Row::post(
        "/events/{event}/return",
        "give_back",
        "Returns a wake that was taken and not handled",
        || post(give_back),
    )
    .sends(RequestBody::Json("GiveBack"))
    .answers(&[(200, ResponseBody::Json("GivenBack"))])
    .refuses(&[404, 409]),
];

/// `POST /agents/{agent}/take`.
async fn take(
    State(api): SharedState,
    path: Parts<String>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<Taken>, Refused> {
    let agent: AgentName = body::parts(path)?.parse().map_err(bad_id("agent"))?;
    who.must_be(&agent)?;
    let asked: TakeRequest = body::maybe_order(sent)?;
    let limit = asked.limit.unwrap_or(TAKE_LIMIT);
    if !(1..=TAKE_LIMIT_MAX).contains(&limit) {
        let detail = format!("`limit` is {limit}; it can be 1 to {TAKE_LIMIT_MAX}");
        return Err(Refused::field("limit", "bad_field", &detail));
    }
    let seconds = at_most("wait_seconds", asked.wait_seconds, WAIT_SECONDS_MAX)?;
    let within = Duration::from_secs(seconds.unwrap_or(0).into());
    let limit = usize::try_from(limit).unwrap_or(1);
    // Read before anything is taken: a taken wake must reach its caller.
    let known = api.backend.store.agent(&agent).await?;
    let resume = known.and_then(|known| known.value.resume);
    let wakes = waited(&api, &agent, limit, within).await?;
    let shown = |wake| shown(wake, resume.as_ref());
    let wakes = wakes.into_iter().filter_map(shown).collect();
    Ok(Json(Taken { wakes }))
}

/// Long-polls where that is enabled, until a wake comes or the process is to stop.
async fn waited(
    api: &ApiInner,
    agent: &AgentName,
    limit: usize,
    within: Duration,
) -> Result<Vec<Wake>, Refused> {
    let Some(mut stopped) = api.holding.clone() else {
        return Ok(api.backend.take(agent, limit).await?);
    };
    let waiting = async move {
        drop(tokio::time::timeout(within, stopped.wait_for(|stop| *stop)).await);
    };
    Ok(api.backend.take_while(agent, limit, waiting).await?)
}

fn shown(wake: Wake, resume: Option<&Resume>) -> Option<TakenWake> {
    let WakeState::Leased { attempt, until } = wake.state else {
        return None;
    };
    let event = wake.message(resume);
    Some(TakenWake {
        event,
        attempt,
        until,
    })
}

/// `POST /events/{event_id}/extend`.
async fn extend(
    State(api): SharedState,
    path: Parts<String>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<Extended>, Refused> {
    let event_id = event(&api, path).await?;
    let Extend { agent, attempt } = body::order(sent)?;
    who.must_be(&agent)?;
    let wake = api.backend.extend((&agent, &event_id, attempt)).await?;
    let until = wake.due().unwrap_or_else(|| api.backend.now());
    Ok(Json(Extended {
        event_id,
        agent,
        until,
    }))
}

/// `POST /events/{event_id}/return`.
async fn give_back(
    State(api): SharedState,
    path: Parts<String>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<GivenBack>, Refused> {
    let event_id = event(&api, path).await?;
    let asked: GiveBack = body::order(sent)?;
    who.must_be(&asked.agent)?;
    let max = RETRY_AFTER_SECONDS_MAX;
    let after = at_most("retry_after_seconds", asked.retry_after_seconds, max)?;
    let after = after.map(|seconds| SignedDuration::from_secs(seconds.into()));
    let back = match (after, asked.untried) {
        (None, false) => ReturnMode::AsPlanned,
        (Some(wait), false) => ReturnMode::After(wait),
        (None, true) => ReturnMode::Untried,
        (Some(_), true) => {
            let detail = "`untried`: what was not tried comes again at once; leave `retry_after_seconds` out";
            return Err(Refused::field("untried", "bad_field", detail));
        }
    };
    let why = asked.why.as_deref().unwrap_or(NO_WORDS);
    if why.len() > WHY_BYTES_MAX {
        let detail = format!("`why` is longer than {WHY_BYTES_MAX} bytes");
        return Err(Refused::field("why", "too_long", &detail));
    }
    let held = (&asked.agent, &event_id, asked.attempt);
    let wake = api.backend.give_back(held, why, back).await?;
    tracing::info!(event.id = %event_id, agent = %asked.agent, "an event was given back");
    let comes_again = match wake.state {
        WakeState::Pending { not_before, .. } => Some(not_before),
        WakeState::Sending { .. }
        | WakeState::Leased { .. }
        | WakeState::Acknowledged { .. }
        | WakeState::Dead { .. } => None,
    };
    Ok(Json(GivenBack {
        event_id,
        agent: asked.agent,
        comes_again,
    }))
}

/// `POST /events/{event_id}/ack`.
async fn acknowledge(
    State(api): SharedState,
    path: Parts<String>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<Acknowledged>, Refused> {
    let event_id = event(&api, path).await?;
    let Acknowledge { agent } = body::order(sent)?;
    who.must_be(&agent)?;
    api.backend.acknowledge(&agent, &event_id).await?;
    tracing::info!(event.id = %event_id, agent = %agent, "an event was acknowledged");
    Ok(Json(Acknowledged { event_id, agent }))
}

/// The event that a path names, by its whole id or the beginning of it.
async fn event(api: &ApiInner, path: Parts<String>) -> Result<EventId, Refused> {
    let name = body::parts(path)?;
    let wrong = match name.parse() {
        Ok(whole) => return Ok(whole),
        Err(wrong) => wrong,
    };
    match api.backend.find_event(&name).await {
        Err(Error::NoSuch { .. }) => Err(bad_id("event_id")(wrong)),
        found => Ok(found?),
    }
}

fn bad_id(field: &'static str) -> impl Fn(InvalidId) -> Refused {
    move |error| {
        let detail = format!("`{field}`: {error}");
        Refused::new(StatusCode::BAD_REQUEST, "bad_id", &detail).about(field)
    }
}

fn at_most(field: &str, given: Option<u32>, max: u32) -> Result<Option<u32>, Refused> {
    match given {
        Some(given) if given > max => {
            let detail = format!("`{field}` is {given}; it can be 0 to {max}");
            Err(Refused::field(field, "bad_field", &detail))
        }
        Some(_) | None => Ok(given),
    }
}
