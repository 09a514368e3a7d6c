//! Adopts sessions that somebody else began.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use client::wire::{AdoptRequest, Later};
use domain::token::Scope;
use engine::jobs::adoption::{Adopted, Adoption};

use crate::auth::Admitted;
use crate::body::{self, Sent};
use crate::door::Door;
use crate::jobs::not_created;
use crate::refusal::Refused;
use crate::view;

/// `POST /jobs/adopt`: 200 with the job, 409 when the session may not be adopted, 202 while nobody has looked.
pub(crate) async fn adopt(
    State(door): Door,
    Extension(admitted): Extension<Admitted>,
    sent: Sent,
) -> Result<Response, Refused> {
    let wanted: AdoptRequest = body::order(sent)?;
    if wanted.take_over {
        admitted.must(Scope::Admin)?;
    }
    let adoption = Adoption {
        session: wanted.session_id,
        repo: wanted.repo,
        agent: wanted.agent,
        take_over: wanted.take_over,
        asked_at: door.desk.now(),
        refused: None,
    };
    let adopted = door.desk.adopt(adoption, door.answer_within).await;
    Ok(match adopted.map_err(not_created)? {
        Adopted::Job(job) => Json(view::job(&job)).into_response(),
        Adopted::Refused(code, sentence) => {
            return Err(Refused::new(StatusCode::CONFLICT, &code, &sentence));
        }
        Adopted::Later(_) => {
            let address = "/jobs/adopt".to_owned();
            let later = Later {
                ask_again: address.clone(),
                sentence: "The session has not been read yet: send the same request again."
                    .to_owned(),
                reasons: Vec::new(),
                effect: None,
            };
            (StatusCode::ACCEPTED, [(LOCATION, address)], Json(later)).into_response()
        }
    })
}
