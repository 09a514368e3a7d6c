//! Reads from Jules while the caller waits: the present job, the session's outputs, and its messages.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use client::wire::{ARTIFACTS_PAGE_MAX, Artifacts, JobView, MessageView, Messages, Pending};
use domain::conversation::{ConversationCursor, InvalidConversationCursor};
use domain::ids::JobId;
use domain::job::Job;
use domain::redact::{presentable, redact};
use engine::readings::ReadMessages;
use engine::settings::ReadArtifacts;

use crate::body::Parts;
use crate::jobs::named;
use crate::refusal::Refused;
use crate::route::{ApiRow, Parameter, ParameterType, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};
use crate::{query, view};

/// Whether to read Jules first.
const FRESH: Parameter = Parameter::query(
    "fresh",
    ParameterType::Switch,
    "Whether Jules is looked at first: what the job then is, is answered.",
);

/// Which piece of a patch is wanted.
const PIECE: Parameter = Parameter::number(
    "page",
    0,
    ARTIFACTS_PAGE_MAX,
    0,
    "Which piece of the patch: the first is read afresh, a further one is of the reading before and named by its `next_page`.",
);

/// The cursor of a conversation.
const SAID: Parameter = Parameter::query(
    "cursor",
    ParameterType::Cursor,
    "Goes on where an earlier answer ended: its `next_cursor`.",
);

/// What is read of a job, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get(
        "/jobs/{job}",
        "show_job",
        "Shows a job, and with `fresh=1` as Jules shows it now",
        || get(show),
    )
    .takes(&[FRESH])
    .answers(&[
        (200, ResponseBody::Json("JobView")),
        (202, ResponseBody::Json("Later")),
    ])
    .refuses(&[404, 409, 502]),
    Row::get(
        "/jobs/{job}/artifacts",
        "job_artifacts",
        "Shows what a job's session has produced, read afresh",
        || get(artifacts),
    )
    .takes(&[PIECE])
    .answers(&[
        (200, ResponseBody::Json("Artifacts")),
        (202, ResponseBody::Json("Later")),
    ])
    .refuses(&[404, 409, 502]),
    Row::get(
        "/jobs/{job}/messages",
        "job_messages",
        "Shows what was said between a job's session and its people, the oldest first",
        || get(messages),
    )
    .takes(&[SAID])
    .answers(&[
        (200, ResponseBody::Json("Messages")),
        (202, ResponseBody::Json("Later")),
    ])
    .refuses(&[404, 409, 502]),
];

/// `GET /jobs/{id}`, and with `?fresh=1` as Jules shows it now.
async fn show(
    State(api): SharedState,
    path: Parts<String>,
    asked: query::QueryPairs,
) -> Result<Response, Refused> {
    let given = query::one(asked, "fresh")?;
    let is_fresh = given.map_or(Ok(false), |given| query::switch("fresh", &given))?;
    let mut job = named(&api, path).await?;
    if is_fresh {
        let looked = api.backend.fresh_look(&job.id, api.answer_within).await?;
        let Some(looked) = looked else {
            return Ok(later(format!("/jobs/{}?fresh=1", job.id)));
        };
        looked.failure.map_or(Ok(()), |why| Err(unread(&why)))?;
        job = api.backend.must_job(&job.id).await?.value;
    }
    Ok(Json(with_notes(&api, &job).await?).into_response())
}

/// A job with what is noted down about it.
pub(crate) async fn with_notes(api: &ApiInner, job: &Job) -> Result<JobView, Refused> {
    let notes = api.backend.notes(&job.id).await?.kept;
    Ok(JobView {
        metadata: (!notes.is_empty()).then_some(notes),
        ..view::job_view(api, job).await?
    })
}

/// `GET /jobs/{id}/messages`.
async fn messages(
    State(api): SharedState,
    path: Parts<String>,
    asked: query::QueryPairs,
) -> Result<Response, Refused> {
    let cursor = match query::one(asked, "cursor")? {
        None => ConversationCursor::default(),
        Some(text) if text.is_empty() => ConversationCursor::default(),
        Some(text) => text
            .parse()
            .map_err(|error: InvalidConversationCursor| query::bad("cursor", &error))?,
    };
    let job = named(&api, path).await?;
    let reading = api
        .backend
        .fresh_messages(&job.id, &cursor, api.answer_within);
    let Some(read) = reading.await? else {
        return Ok(later(format!("/jobs/{}/messages?cursor={cursor}", job.id)));
    };
    match &read.failure {
        Some(failure) => Err(unread(failure)),
        None => Ok(Json(said(&job, read)).into_response()),
    }
}

fn said(job: &Job, read: ReadMessages) -> Messages {
    let asked = job.announced_question();
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

/// `GET /jobs/{id}/artifacts`, and with `?page=N` a further piece of the patch that was read before.
async fn artifacts(
    State(api): SharedState,
    path: Parts<String>,
    asked: query::QueryPairs,
) -> Result<Response, Refused> {
    let page = page_of(query::one(asked, "page")?.as_deref())?;
    let job = named(&api, path).await?;
    if page > 0 {
        let kept = api.backend.kept_artifacts(&job.id, page).await?;
        let (read, piece) = kept.ok_or_else(|| no_such_page(&job.id, page))?;
        let patch = Some(piece.patch);
        return Ok(Json(shown(job.id, ReadArtifacts { patch, ..read }, page)).into_response());
    }
    let read = api.backend.fresh_artifacts(&job.id, api.answer_within);
    let Some(read) = read.await? else {
        return Ok(later(format!("/jobs/{}/artifacts", job.id)));
    };
    match &read.failure {
        Some(failure) => Err(unread(failure)),
        None => Ok(Json(shown(job.id, read, 0)).into_response()),
    }
}

fn page_of(given: Option<&str>) -> Result<u32, Refused> {
    let Some(given) = given else { return Ok(0) };
    let page = given.parse().ok();
    page.filter(|page| *page <= ARTIFACTS_PAGE_MAX)
        .ok_or_else(|| {
            let given = presentable(given, view::SHORT_CHARS_MAX);
            let wrong = format!("it is `{given}`, but has to be from 0 to {ARTIFACTS_PAGE_MAX}");
            query::bad("page", &wrong)
        })
}

fn no_such_page(job: &JobId, page: u32) -> Refused {
    let detail = format!(
        "`page`: what was last read of job {job} has no page {page}: begin anew without it, and go on with `next_page`"
    );
    Refused::new(StatusCode::NOT_FOUND, "no_such_page", &detail).about("page")
}

fn shown(job_id: JobId, read: ReadArtifacts, page: u32) -> Artifacts {
    let short = |text: String| presentable(&text, view::SHORT_CHARS_MAX);
    // Bounded where it was read; taking anything else out of a patch would break it.
    let patch = read.patch.as_deref().map(redact);
    let next_page = (page < read.further).then_some(page.saturating_add(1));
    Artifacts {
        job_id,
        read_at: read.read_at,
        pull_urls: read.pull_urls.into_iter().map(short).collect(),
        patch_cut: read.patch_cut || read.further > 0,
        patch_bytes: read.patch_bytes,
        patch,
        truncated: read.patch_cut,
        next_page,
        base_commit: read.base_commit.map(short),
        suggested_message: read.suggested_message.map(short),
    }
}

/// 202: the caller has to repeat the request.
pub(crate) fn later(ask_again: String) -> Response {
    crate::outcome::later(Pending {
        ask_again,
        sentence: "Jules has not been read for it yet; ask again a little later.".to_owned(),
        reasons: Vec::new(),
        effect: None,
    })
}

/// 502: why Jules could not be read.
pub(crate) fn unread(why: &str) -> Refused {
    let detail = format!("Jules could not be read: {why}");
    Refused::new(StatusCode::BAD_GATEWAY, "jules_unread", &detail)
}
