//! Control over HTTP below `/_sandbox`: reads and switches everything. JSON in, JSON out.

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Error;
use crate::agent::AgentSetup;
use crate::faults::{Fault, Lags};
use crate::jules::Switches;
use crate::parts::Parts;
use crate::scenario::{ForeignPull, ForeignSession, read_json};
use crate::story::Step;
use crate::webhook::{WebhookFaults, WebhookTarget};

/// The routes below `/_sandbox`.
pub(crate) fn router(parts: Parts) -> Router {
    Router::new()
        .route("/state", get(state))
        .route("/counters", get(counters))
        .route("/log", get(log))
        .route("/faults", get(faults).post(add_fault).delete(clear_faults))
        .route("/lags", post(set_lags))
        .route("/switches", post(turn_switches))
        .route("/sessions", post(add_sessions))
        .route("/sessions/{id}/steps", post(append_steps))
        .route("/pulls", post(add_pulls))
        .route("/webhooks", get(deliveries).post(set_webhooks))
        .route("/advance", post(advance))
        .route("/agents/{name}", get(received).post(set_agent))
        .layer(DefaultBodyLimit::disable())
        .with_state(parts)
}

/// A request that control cannot read or perform.
struct Refused {
    status: StatusCode,
    field: String,
    problem: String,
}

impl Refused {
    fn bad(field: String, problem: String) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            field,
            problem,
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        match error {
            Error::Scenario { field, problem } => Self::bad(field, problem),
            error @ (Error::Bind { .. } | Error::ScenarioFile { .. } | Error::Git { .. }) => {
                Self::bad(".".to_owned(), error.to_string())
            }
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let body = json!({ "error": { "field": self.field, "problem": self.problem } });
        let mut response = answer(&body);
        *response.status_mut() = self.status;
        response
    }
}

fn answer(value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    read_json(body).map_err(|(field, problem)| Refused::bad(field, problem))
}

async fn state(State(parts): State<Parts>) -> Response {
    parts.advance();
    let repos = parts.jules.repos();
    let pulls = repos.iter().flat_map(|repo| {
        let views = parts
            .github
            .pulls(repo)
            .into_iter()
            .filter_map(|it| parts.github.pull(repo, it));
        views
            .map(|view| json!({ "repo": repo, "pull": view }))
            .collect::<Vec<_>>()
    });
    let issues = repos.iter().flat_map(|repo| {
        let numbers = parts.github.issues(repo).into_iter();
        let views = numbers.filter_map(|number| parts.github.issue(repo, number));
        views
            .map(|view| json!({ "repo": repo, "issue": view }))
            .collect::<Vec<_>>()
    });
    answer(&json!({
        "now": (parts.clock)(),
        "sessions": parts.jules.sessions(),
        "pulls": pulls.collect::<Vec<_>>(),
        "issues": issues.collect::<Vec<_>>(),
        "switches": parts.jules.switches(),
        "faults": parts.faults.list(),
        "lags": parts.faults.lags(),
        "webhook": parts.github.webhook().map(|it| it.url),
        "webhook_faults": parts.github.webhook_faults(),
        "agents": parts.agents.names(),
    }))
}

async fn counters(State(parts): State<Parts>) -> Response {
    answer(&parts.counters.counters())
}

async fn log(State(parts): State<Parts>) -> Response {
    answer(&json!({ "requests": parts.counters.requests() }))
}

async fn faults(State(parts): State<Parts>) -> Response {
    answer(&json!({ "faults": parts.faults.list(), "lags": parts.faults.lags() }))
}

async fn add_fault(State(parts): State<Parts>, body: Bytes) -> Result<Response, Refused> {
    parts.faults.add(read::<Fault>(&body)?);
    Ok(answer(&json!({ "faults": parts.faults.list() })))
}

async fn clear_faults(State(parts): State<Parts>) -> Response {
    parts.faults.clear();
    answer(&json!({ "faults": [] }))
}

async fn set_lags(State(parts): State<Parts>, body: Bytes) -> Result<Response, Refused> {
    parts.faults.set_lags(read::<Lags>(&body)?);
    Ok(answer(&json!({ "lags": parts.faults.lags() })))
}

/// Takes any of the switches; those not named stay.
async fn turn_switches(State(parts): State<Parts>, body: Bytes) -> Result<Response, Refused> {
    let changes: serde_json::Map<String, Value> = read(&body)?;
    let mut all = json!(parts.jules.switches());
    if let Some(members) = all.as_object_mut() {
        members.extend(changes);
    }
    let switches: Switches = read(all.to_string().as_bytes())?;
    parts.jules.switch(|it| *it = switches);
    Ok(answer(&json!({ "switches": parts.jules.switches() })))
}

async fn add_sessions(State(parts): State<Parts>, body: Bytes) -> Result<Response, Refused> {
    let ids = parts.jules.add_foreign(&read::<ForeignSession>(&body)?)?;
    Ok(answer(&json!({ "ids": ids })))
}

async fn append_steps(
    State(parts): State<Parts>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Refused> {
    let steps: Vec<Step> = read(&body)?;
    if parts.jules.append_steps(&id, steps) {
        return Ok(answer(&json!({})));
    }
    let (field, problem) = ("id".to_owned(), "names no session".to_owned());
    Err(Refused {
        status: StatusCode::NOT_FOUND,
        field,
        problem,
    })
}

async fn add_pulls(State(parts): State<Parts>, body: Bytes) -> Result<Response, Refused> {
    let numbers = parts.add_foreign_pulls(&read::<ForeignPull>(&body)?)?;
    Ok(answer(&json!({ "numbers": numbers })))
}

/// What can be said about webhooks; what is not named stays.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Webhooks {
    target: Option<WebhookTarget>,
    faults: Option<WebhookFaults>,
}

async fn set_webhooks(State(parts): State<Parts>, body: Bytes) -> Result<Response, Refused> {
    let Webhooks { target, faults } = read(&body)?;
    if target.is_some() {
        parts.github.set_webhook(target);
    }
    if let Some(faults) = faults {
        parts.github.set_webhook_faults(faults);
    }
    Ok(deliveries(State(parts)).await)
}

async fn deliveries(State(parts): State<Parts>) -> Response {
    answer(&json!({
        "target": parts.github.webhook().map(|it| it.url),
        "faults": parts.github.webhook_faults(),
        "deliveries": parts.github.deliveries(),
    }))
}

/// Plays what is due. Its body has no field, since time is the clock's.
async fn advance(State(parts): State<Parts>, body: Bytes) -> Result<Response, Refused> {
    if !body.is_empty() {
        let fields: Map<String, Value> = read(&body)?;
        if let Some((field, _)) = fields.into_iter().next() {
            let problem = "`advance` takes no field: time is the clock's".to_owned();
            return Err(Refused::bad(field, problem));
        }
    }
    parts.advance();
    let posted = parts.deliver_webhooks().await;
    Ok(answer(
        &json!({ "now": (parts.clock)(), "webhooks_posted": posted }),
    ))
}

async fn received(State(parts): State<Parts>, Path(name): Path<String>) -> Response {
    answer(&json!({ "received": parts.agents.received(&name) }))
}

async fn set_agent(
    State(parts): State<Parts>,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<Response, Refused> {
    let setup: AgentSetup = read(&body)?;
    parts.agents.set(AgentSetup { name, ..setup });
    Ok(answer(&json!({})))
}
