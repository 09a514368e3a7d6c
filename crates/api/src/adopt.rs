//! Adopts sessions that were started elsewhere.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Json};
use client::wire::{AdoptRequest, Pending};
use domain::job::Job;
use domain::token::Scope;
use engine::jobs::adoption::{Adopted, Adoption};

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Sent};
use crate::jobs::not_created;
use crate::refusal::Refused;
use crate::route::{ApiRow, RequestBody, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};
use crate::{outcome, reach, view};

/// The adoption of a session, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[Row::post(
    "/jobs/adopt",
    "adopt_session",
    "Adopts a session that was begun elsewhere as a job; `take_over` needs the scope `admin`",
    || post(adopt),
)
.sends(RequestBody::Json("AdoptRequest"))
.answers(&[
    (200, ResponseBody::Json("JobView")),
    (202, ResponseBody::Json("Later")),
])
.refuses(&[409])];

/// `POST /jobs/adopt`: 200 with the job, 409 when the session may not be adopted, 202 while it is still unread.
async fn adopt(
    State(api): SharedState,
    Extension(admitted): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Response, Refused> {
    let wanted: AdoptRequest = body::order(sent)?;
    if wanted.take_over {
        admitted.must(Scope::Admin)?;
    }
    reach::must_reach(&api, &admitted, &wanted.repo).await?;
    let by = admitted.who(None);
    let adoption = asked(&api, wanted, by);
    Ok(match adopted(&api, adoption).await? {
        Some(job) => Json(view::job_view(&api, &job).await?).into_response(),
        None => not_read_yet("/jobs/adopt".to_owned()),
    })
}

/// What is asked for now, whatever the session does.
pub(crate) fn asked(api: &ApiInner, wanted: AdoptRequest, by: String) -> Adoption {
    Adoption {
        session: wanted.session_id,
        repo: wanted.repo,
        agent: wanted.agent,
        take_over: wanted.take_over,
        delivery: None,
        by: Some(by),
        asked_at: api.backend.now(),
        refused: None,
    }
}

/// Adopts a session; returns `None` while it is still unread.
pub(crate) async fn adopted(api: &ApiInner, adoption: Adoption) -> Result<Option<Job>, Refused> {
    let adopted = api.backend.adopt(adoption, api.answer_within).await;
    match adopted.map_err(not_created)? {
        Adopted::Job(job) => Ok(Some(*job)),
        Adopted::Refused(code, sentence) => {
            Err(Refused::new(StatusCode::CONFLICT, &code, &sentence))
        }
        Adopted::Later(_) => Ok(None),
    }
}

/// 202: the caller has to repeat the request.
pub(crate) fn not_read_yet(ask_again: String) -> Response {
    outcome::later(Pending {
        ask_again,
        sentence: "The session has not been read yet: send the same request again.".to_owned(),
        reasons: Vec::new(),
        effect: None,
    })
}
