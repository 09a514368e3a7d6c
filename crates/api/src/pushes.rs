//! `POST /webhooks/jules`: snapshots of sessions, should Jules ever push them.
//!
//! A pushed session is a hint. It names the session to read again, and decisions depend on Jules's answer to that.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use client::wire::{PushTaken, PushedSession, SessionName};
use domain::ids::SessionId;
use engine::backend::Error;

use crate::body::{self, Sent};
use crate::refusal::Refused;
use crate::route::{ApiRow, RequestBody, ResponseBody, Row};
use crate::state::SharedState;

/// What Jules calls, with a token.
pub(crate) static ROWS: &[ApiRow] = &[Row::post(
    "/webhooks/jules",
    "push_session",
    "Takes a session that Jules pushes, and can do nothing but have it read again from Jules",
    || post(pushed),
)
.sends(RequestBody::Json("PushedSession"))
.answers(&[(202, ResponseBody::Json("PushTaken"))])
.refuses(&[404, 409])];

/// 202 with the session's job, 404 when it belongs to none of ours.
async fn pushed(State(api): SharedState, sent: Sent) -> Result<Response, Refused> {
    let (session, field) = named(body::order(sent)?)?;
    let pushed = api.backend.pushed(&session).await;
    let job_id = pushed.map_err(|error| not_ours(error, field))?;
    let ask_again = format!("/jobs/{job_id}");
    let address = [(LOCATION, ask_again.clone())];
    let taken = PushTaken { job_id, ask_again };
    Ok((StatusCode::ACCEPTED, address, Json(taken)).into_response())
}

/// The pushed session's id, and the field that contains it.
fn named(pushed: PushedSession) -> Result<(SessionId, &'static str), Refused> {
    match (pushed.name, pushed.id) {
        (Some(SessionName(name)), Some(id)) if name != id => {
            let detail = "`id` and `name` are of different sessions: send one session";
            Err(Refused::field("id", "bad_field", detail))
        }
        (Some(SessionName(name)), _) => Ok((name, "name")),
        (None, Some(id)) => Ok((id, "id")),
        (None, None) => {
            let detail = "`name` is missing: send a session as Jules's API shows it, with its `name` or its `id`";
            Err(Refused::field("name", "missing_field", detail))
        }
    }
}

fn not_ours(error: Error, field: &str) -> Refused {
    match error {
        Error::NoSuch {
            what: "session", ..
        } => {
            let detail = format!("no such session: no job here has the one that `{field}` names");
            Refused::new(StatusCode::NOT_FOUND, "no_such_session", &detail).about(field)
        }
        Error::NoSuch { .. }
        | Error::NotNow(_)
        | Error::Transition(_)
        | Error::Records(_)
        | Error::Commit(_)
        | Error::Queue(_)
        | Error::Outside(_) => error.into(),
    }
}
