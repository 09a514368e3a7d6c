//! What works by itself at intervals, for programs and for the pages.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use client::wire::{IntakeResult, WorkerView, Workers};
use dashboard::SourceState;
use domain::intake::ReadingResult;
use domain::redact::presentable;
use domain::webhook_activity;

use crate::refusal::Refused;
use crate::route::{ApiRow, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};
use crate::view::SHORT_CHARS_MAX;

/// What works by itself, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[Row::get(
    "/api/worker/status",
    "worker_status",
    "Shows how the reading of each source's issues goes",
    || get(status),
)
.answers(&[(200, ResponseBody::Json("Workers"))])];

/// How the sources and the reading of their issues do.
pub(crate) async fn source_states(api: &ApiInner) -> Result<Vec<SourceState>, Refused> {
    let store = &api.backend.store;
    let now = api.backend.now();
    let mut states = Vec::new();
    for found in store.sources().await? {
        let source = found.value;
        let intake = store.intake(&source).await?;
        let activity = store.feed(&source.repo).await?;
        states.push(SourceState {
            intake,
            feed: webhook_activity::health(activity, now),
            source,
        });
    }
    Ok(states)
}

/// `GET /api/worker/status`.
async fn status(State(api): SharedState) -> Result<Json<Workers>, Refused> {
    let states = source_states(&api).await?;
    let workers = states.iter().map(worker).collect();
    Ok(Json(Workers { workers }))
}

fn worker(state: &SourceState) -> WorkerView {
    let SourceState {
        source,
        intake,
        feed,
    } = state;
    let last = intake.last.as_ref();
    let (result, error) = match last.map(|last| &last.result) {
        Some(ReadingResult::Read { created, closed }) => {
            let (created, closed) = (*created, *closed);
            (Some(IntakeResult { created, closed }), None)
        }
        Some(ReadingResult::Failed(why)) => (None, Some(presentable(why, SHORT_CHARS_MAX))),
        Some(ReadingResult::Skipped) | None => (None, None),
    };
    let repo = &source.repo;
    let interval = intake.interval(feed.is_arriving()).as_secs();
    WorkerView {
        name: format!("intake:{repo}"),
        label: format!("Issues of {repo}"),
        repo: repo.clone(),
        enabled: source.deliveries.label.is_some() && !source.paused,
        interval_seconds: u64::try_from(interval).unwrap_or_default(),
        last_poll_at: last.map(|last| last.at),
        last_result: result,
        last_error: error,
        next_poll_at: intake.due,
    }
}
