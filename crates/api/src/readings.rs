//! What Jules is read for while somebody waits: a job as it is now, what its session produced, and what was said.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use client::wire::{Artifacts, JobView, Later, MessageView, Messages};
use domain::conversation::{Cursor, NoCursor};
use domain::ids::JobId;
use domain::job::Job;
use domain::redact::{presentable, redact};
use engine::readings::ReadMessages;
use engine::settings::ReadArtifacts;

use crate::body::Parts;
use crate::door::{Door, Inner};
use crate::jobs::named;
use crate::refusal::Refused;
use crate::{query, view};

/// `GET /jobs/{id}`, and with `?fresh=1` as Jules shows it now.
pub(crate) async fn show(
    State(door): Door,
    path: Parts<String>,
    asked: query::Asked,
) -> Result<Response, Refused> {
    let is_fresh = match query::one(asked, "fresh")?.as_deref() {
        None | Some("0" | "false") => false,
        Some("1" | "true" | "") => true,
        Some(other) => {
            let other = presentable(other, view::SHORT_CHARS_MAX);
            return Err(query::bad(
                "fresh",
                &format!("it is `{other}`, but has to be 1 or 0"),
            ));
        }
    };
    let mut job = named(&door, path).await?;
    if is_fresh {
        let looked = door.desk.fresh_look(&job.id, door.answer_within).await?;
        let Some(looked) = looked else {
            return Ok(later(format!("/jobs/{}?fresh=1", job.id)));
        };
        looked.failure.map_or(Ok(()), |why| Err(unread(&why)))?;
        job = door.desk.must_job(&job.id).await?.value;
    }
    Ok(Json(with_notes(&door, &job).await?).into_response())
}

/// A job with what is noted down about it.
pub(crate) async fn with_notes(door: &Inner, job: &Job) -> Result<JobView, Refused> {
    let notes = door.desk.notes(&job.id).await?.kept;
    Ok(JobView {
        metadata: (!notes.is_empty()).then_some(notes),
        ..view::job(job)
    })
}

/// `GET /jobs/{id}/messages`.
pub(crate) async fn messages(
    State(door): Door,
    path: Parts<String>,
    asked: query::Asked,
) -> Result<Response, Refused> {
    let cursor = match query::one(asked, "cursor")? {
        None => Cursor::default(),
        Some(text) if text.is_empty() => Cursor::default(),
        Some(text) => text
            .parse()
            .map_err(|error: NoCursor| query::bad("cursor", &error))?,
    };
    let job = named(&door, path).await?;
    let reading = door
        .desk
        .fresh_messages(&job.id, &cursor, door.answer_within);
    let Some(read) = reading.await? else {
        return Ok(later(format!("/jobs/{}/messages?cursor={cursor}", job.id)));
    };
    match &read.failure {
        Some(failure) => Err(unread(failure)),
        None => Ok(Json(said(&job, read)).into_response()),
    }
}

fn said(job: &Job, read: ReadMessages) -> Messages {
    let asked = job.asked();
    let messages = read.messages.into_iter().map(|message| MessageView {
        tags: if asked == Some(message.id.as_str()) {
            vec!["question".to_owned()]
        } else {
            Vec::new()
        },
        role: message.role.as_str().to_owned(),
        content: redact(&message.text),
        created_at: message.at,
    });
    Messages {
        job_id: job.id.clone(),
        session_id: read.session,
        messages: messages.collect(),
        next_cursor: read.next,
        more: read.more,
    }
}

/// `GET /jobs/{id}/artifacts`.
pub(crate) async fn artifacts(State(door): Door, path: Parts<String>) -> Result<Response, Refused> {
    let job = named(&door, path).await?;
    let read = door.desk.fresh_artifacts(&job.id, door.answer_within);
    let Some(read) = read.await? else {
        return Ok(later(format!("/jobs/{}/artifacts", job.id)));
    };
    match &read.failure {
        Some(failure) => Err(unread(failure)),
        None => Ok(Json(shown(job.id, read)).into_response()),
    }
}

fn shown(job_id: JobId, read: ReadArtifacts) -> Artifacts {
    let short = |text: String| presentable(&text, view::SHORT_CHARS_MAX);
    Artifacts {
        job_id,
        read_at: read.read_at,
        pull_urls: read.pull_urls.into_iter().map(short).collect(),
        // Bounded where it was read; taking anything else out of a patch would break it.
        patch: read.patch.as_deref().map(redact),
        patch_cut: read.patch_cut,
        base_commit: read.base_commit.map(short),
        suggested_message: read.suggested_message.map(short),
    }
}

fn later(ask_again: String) -> Response {
    crate::outcome::later(Later {
        ask_again,
        sentence: "Jules is being read; ask again.".to_owned(),
        reasons: Vec::new(),
        effect: None,
    })
}

fn unread(why: &str) -> Refused {
    let detail = format!("Jules could not be read: {why}");
    Refused::new(StatusCode::BAD_GATEWAY, "jules_unread", &detail)
}
