//! Registers jobs: watches a session from then on, and stores notes.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use client::wire::{AdoptRequest, RegisterRequest, Registered};
use domain::ids::{InvalidId, JobId};
use domain::notes::NotKept;
use engine::desk::Error;

use crate::adopt;
use crate::auth::Admitted;
use crate::door::Inner;
use crate::refusal::Refused;

/// `POST /jobs/{id}:register`: 200 once it is watched, 202 while a session has not been read yet.
pub(crate) async fn register(
    door: &Inner,
    (name, who): (&str, &Admitted),
    wanted: RegisterRequest,
) -> Result<Response, Refused> {
    let job = match door.desk.find(name).await {
        Ok(named) => named.job,
        Err(Error::NoSuch { .. }) => match adopted(door, (name, who), &wanted).await? {
            Some(job) => job,
            None => return Ok(adopt::not_read_yet(format!("/jobs/{name}:register"))),
        },
        Err(error) => return Err(error.into()),
    };
    let noted = door.desk.note(&job, &wanted.metadata).await?;
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
    door: &Inner,
    (name, who): (&str, &Admitted),
    wanted: &RegisterRequest,
) -> Result<Option<JobId>, Refused> {
    let Some(repo) = &wanted.repo else {
        let detail = format!(
            "no job is `{name}`; if it is a session that somebody else began, say in `repo` where it works, and it is adopted"
        );
        return Err(Refused::new(StatusCode::NOT_FOUND, "no_such_job", &detail).about("job_id"));
    };
    let session_id = name.parse().map_err(|error: InvalidId| {
        let detail = format!("`job_id`: {error}");
        Refused::new(StatusCode::NOT_FOUND, "no_such_job", &detail).about("job_id")
    })?;
    let adopted = adopt::adopted(
        door,
        AdoptRequest {
            session_id,
            repo: repo.clone(),
            agent: wanted.agent.clone(),
            take_over: false,
        },
        who.who(None),
    );
    Ok(adopted.await?.map(|job| job.id))
}

fn not_kept(error: &NotKept) -> Refused {
    let code = match error {
        NotKept::Name(_) | NotKept::Hidden(_) => "bad_field",
        NotKept::Secret(_) => "secret",
        NotKept::Deep(_) | NotKept::Heavy(_) => "too_large",
    };
    Refused::field("metadata", code, &format!("`metadata`: {error}"))
}
