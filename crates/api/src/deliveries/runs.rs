//! The runs of a delivery, and what was said and done in them.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use client::wire::{DeliveryRun, EntryView, TRANSCRIPT_PAGE_MAX, Transcript};
use domain::delivery::{Run, TranscriptEntry};
use domain::ids::{DeliveryId, RunId};
use domain::redact::{presentable, redact};
use engine::deliveries::{RunTranscript, TranscriptAnswer};

use super::view;
use crate::body::{self, Parts};
use crate::query;
use crate::readings::{later, unread};
use crate::refusal::Refused;
use crate::state::{ApiInner, SharedState};
use crate::view::SHORT_CHARS_MAX;

/// The name of a delivery's newest run that has something to show.
const LATEST: &str = "latest";

/// `GET /api/deliveries/{delivery}/runs/{run}`.
pub(crate) async fn show(
    State(api): SharedState,
    path: Parts<(String, String)>,
) -> Result<Json<DeliveryRun>, Refused> {
    let (id, run) = named(&api, path).await?;
    Ok(Json(delivery_run(id, &run)))
}

/// A run in its wire form.
pub(crate) fn delivery_run(delivery_id: DeliveryId, run: &Run) -> DeliveryRun {
    DeliveryRun {
        delivery_id,
        run: view::run(run),
    }
}

/// `GET /api/deliveries/{delivery}/runs/{run}/transcript`.
pub(crate) async fn transcript(
    State(api): SharedState,
    path: Parts<(String, String)>,
    asked: query::QueryPairs,
) -> Result<Response, Refused> {
    let page = page_of(query::one(asked, "page")?.as_deref())?;
    let (id, run) = named(&api, path).await?;
    let found = page_read(&api, &id, &run, page).await?;
    Ok(match found {
        Some(found) => Json(shown(&id, found)).into_response(),
        None => later(format!("{}/transcript?page={page}", at(&id, &run.id))),
    })
}

/// `GET /api/deliveries/{delivery}/runs/{run}/stream_log`: all pages as a text.
pub(crate) async fn stream_log(
    State(api): SharedState,
    path: Parts<(String, String)>,
) -> Result<Response, Refused> {
    let (id, run) = named(&api, path).await?;
    let Some(whole) = whole(&api, &id, &run).await? else {
        return Ok(later(format!("{}/stream_log", at(&id, &run.id))));
    };
    let text = [(CONTENT_TYPE, "text/plain; charset=utf-8")];
    Ok((text, log(&whole)).into_response())
}

/// All pages of a transcript in one; none while it is unread.
async fn whole(api: &ApiInner, id: &DeliveryId, run: &Run) -> Result<Option<Transcript>, Refused> {
    let Some(first) = page_read(api, id, run, 1).await? else {
        return Ok(None);
    };
    let mut whole = shown(id, first);
    while let Some(page) = whole.next_page.take() {
        let Some(next) = page_read(api, id, run, page).await? else {
            return Ok(None);
        };
        let next = shown(id, next);
        whole.leader.extend(next.leader);
        whole.next_page = next.next_page;
    }
    Ok(Some(whole))
}

/// The run that a path names.
async fn named(
    api: &ApiInner,
    path: Parts<(String, String)>,
) -> Result<(DeliveryId, Run), Refused> {
    let (name, run) = body::parts(path)?;
    let id = api.backend.find_delivery(&name).await?;
    let run = run_named(api, &id, &run).await?;
    Ok((id, run))
}

/// The run that an analysis is about: by its id, or the newest that failed.
pub(crate) async fn failed(
    api: &ApiInner,
    path: Parts<(String, String)>,
) -> Result<(DeliveryId, Run), Refused> {
    let (name, run) = body::parts(path)?;
    let id = api.backend.find_delivery(&name).await?;
    let newest = match run.as_str() {
        LATEST => api.backend.latest_failed_run(&id).await?,
        _ => None,
    };
    let run = match newest {
        Some(newest) => newest,
        None => run_named(api, &id, &run).await?,
    };
    Ok((id, run))
}

/// A run of a delivery by its id, or the newest that has something to show.
async fn run_named(api: &ApiInner, id: &DeliveryId, name: &str) -> Result<Run, Refused> {
    if let Ok(run) = name.parse::<RunId>() {
        return Ok(api.backend.run_of(id, &run).await?);
    }
    let latest = match name {
        LATEST => api.backend.latest_run(id).await?,
        _ => None,
    };
    latest.ok_or_else(|| {
        let detail = match name {
            LATEST => format!("delivery {id} has no run yet"),
            other => {
                let other = presentable(other, SHORT_CHARS_MAX);
                format!(
                    "`{other}` is no run of delivery {id}: give its 8 hex digits, or `{LATEST}`"
                )
            }
        };
        Refused::new(StatusCode::NOT_FOUND, "no_such_run", &detail).about("run")
    })
}

/// A page that there has to be; none while it is unread.
async fn page_read(
    api: &ApiInner,
    id: &DeliveryId,
    run: &Run,
    page: u32,
) -> Result<Option<RunTranscript>, Refused> {
    match api
        .backend
        .run_transcript(id, &run.id, page, api.answer_within)
        .await?
    {
        TranscriptAnswer::Page(found) => Ok(Some(*found)),
        TranscriptAnswer::Later => Ok(None),
        TranscriptAnswer::Unread(why) => Err(unread(&why)),
        TranscriptAnswer::Nothing if page > 1 => {
            let detail = format!(
                "`page`: the transcript of run {} has no page {page}",
                run.id
            );
            Err(Refused::new(StatusCode::NOT_FOUND, "no_such_page", &detail).about("page"))
        }
        TranscriptAnswer::Nothing => {
            let detail = match (&run.session, run.ended_at) {
                (_, None) => format!(
                    "run {} is under way: its transcript is kept at its end",
                    run.id
                ),
                (None, Some(_)) => format!("no session did run {}: it has no transcript", run.id),
                (Some(_), Some(_)) => format!("nothing was said or done in run {}", run.id),
            };
            Err(Refused::new(StatusCode::NOT_FOUND, "no_transcript", &detail).about("run"))
        }
    }
}

fn page_of(given: Option<&str>) -> Result<u32, Refused> {
    let Some(given) = given else { return Ok(1) };
    let page = given.parse().ok();
    page.filter(|page| (1..=TRANSCRIPT_PAGE_MAX).contains(page))
        .ok_or_else(|| {
            let given = presentable(given, SHORT_CHARS_MAX);
            let wrong = format!("it is `{given}`, but has to be from 1 to {TRANSCRIPT_PAGE_MAX}");
            query::bad("page", &wrong)
        })
}

fn shown(id: &DeliveryId, found: RunTranscript) -> Transcript {
    let RunTranscript { run, page, kept } = found;
    Transcript {
        delivery_id: id.clone(),
        run_id: run.id,
        mode: view::word(run.mode),
        read_at: kept.read_at,
        page,
        pages: kept.pages,
        next_page: (page < kept.pages).then_some(page.saturating_add(1)),
        left_out: kept.left_out,
        leader: kept.entries.iter().map(entry).collect(),
    }
}

fn entry(entry: &TranscriptEntry) -> EntryView {
    EntryView {
        at: entry.at,
        role: entry.role.as_str().to_owned(),
        kind: entry.kind.word().to_owned(),
        // Bounded where it was read.
        text: redact(&entry.text),
    }
}

/// A transcript as a text: a line on who and when before the words of each entry.
fn log(whole: &Transcript) -> String {
    let mut text = String::new();
    if whole.left_out > 0 {
        text.push_str(&format!(
            "({} earlier entries are not kept)\n\n",
            whole.left_out
        ));
    }
    for entry in &whole.leader {
        let EntryView {
            at,
            role,
            kind,
            text: words,
        } = entry;
        text.push_str(&format!("[{at}] {role} {kind}\n{words}\n\n"));
    }
    text
}

fn at(id: &DeliveryId, run: &RunId) -> String {
    format!("/api/deliveries/{id}/runs/{run}")
}
