//! Registers jobs: watches a session from then on, and stores notes.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use client::wire::{AdoptRequest, RegisterRequest, Registered};
use domain::ids::{InvalidId, JobId};
use domain::notes::InvalidNotes;
use engine::backend::Error;

use crate::adopt;
use crate::auth::AuthenticatedCaller;
use crate::reach;
use crate::refusal::Refused;
use crate::state::ApiInner;

/// `POST /jobs/{id}:register`: 200 once it is watched, 202 while a session has not been read yet.
pub(crate) async fn register(
    api: &ApiInner,
    name: &str,
    who: &AuthenticatedCaller,
    wanted: RegisterRequest,
) -> Result<Response, Refused> {
    let job = match api.backend.find(name).await {
        Ok(named) => named.job,
        Err(Error::NoSuch { .. }) => match adopted(api, name, who, &wanted).await? {
            Some(job) => job,
            None => return Ok(adopt::not_read_yet(format!("/jobs/{name}:register"))),
        },
        Err(error) => return Err(error.into()),
    };
    let noted = api.backend.note(&job, &wanted.metadata).await?;
    let notes = noted.map_err(|error| not_kept(&error))?;
    Ok(Json(Registered {
        registered: true,
        job_id: job,
        metadata: notes.kept,
    })
    .into_response())
}

/// A session that is not watched yet is adopted, if it is said where it works.
async fn adopted(
    api: &ApiInner,
    name: &str,
    who: &AuthenticatedCaller,
    wanted: &RegisterRequest,
) -> Result<Option<JobId>, Refused> {
    let Some(repo) = &wanted.repo else {
        let detail = format!(
            "no job is `{name}`; if it is a session that was begun elsewhere, say in `repo` where it works, and it is adopted"
        );
        return Err(Refused::new(StatusCode::NOT_FOUND, "no_such_job", &detail).about("job_id"));
    };
    let session_id = name.parse().map_err(|error: InvalidId| {
        let detail = format!("`job_id`: {error}");
        Refused::new(StatusCode::NOT_FOUND, "no_such_job", &detail).about("job_id")
    })?;
    reach::must_reach(api, who, repo).await?;
    let wanted = AdoptRequest {
        session_id,
        repo: repo.clone(),
        agent: wanted.agent.clone(),
        take_over: false,
    };
    let adoption = adopt::asked(api, wanted, who.who(None));
    let adopted = adopt::adopted(api, adoption).await?;
    Ok(adopted.map(|job| job.id))
}

fn not_kept(error: &InvalidNotes) -> Refused {
    let code = match error {
        InvalidNotes::Name(_) | InvalidNotes::Hidden(_) => "bad_field",
        InvalidNotes::Secret(_) => "secret",
        InvalidNotes::Deep(_) | InvalidNotes::Heavy(_) => "too_large",
    };
    Refused::field("metadata", code, &format!("`metadata`: {error}"))
}
