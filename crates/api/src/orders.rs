//! Orders about one job, in both spellings: `/jobs/{id}:verb` and `/jobs/{id}/verb`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use client::wire::{CancelRequest, IDEMPOTENCY_KEY, MergeRequest, Message, Nothing, RetryRequest};
use domain::effect::Action;
use domain::redact::presentable;
use sha2::{Digest, Sha256};

use crate::body::{self, Parts, Sent};
use crate::door::{Door, Inner};
use crate::refusal::Refused;
use crate::{merge, outcome, register, view};

/// Who gave an order that names nobody.
const BY_NOBODY: &str = "api";

/// Longest name of who gave an order, in characters.
const BY_CHARS_MAX: usize = 80;

/// What can be ordered of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Say something to its session.
    Say,
    /// Approve its plan.
    Approve,
    /// Merge its pull request.
    Merge,
    /// Call it off.
    Cancel,
    /// Give it another session.
    Retry,
    /// Have it watched, and note something down about it.
    Register,
}

impl Verb {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Say,
        Self::Approve,
        Self::Merge,
        Self::Cancel,
        Self::Retry,
        Self::Register,
    ];

    /// Where it is ordered: with a slash, and with a colon.
    pub(crate) const fn paths(self) -> (&'static str, &'static str) {
        match self {
            Self::Say => ("/jobs/{job}/messages", "/jobs/{job}:say"),
            Self::Approve => ("/jobs/{job}/approve", "/jobs/{job}:approve"),
            Self::Merge => ("/jobs/{job}/merge", "/jobs/{job}:merge"),
            Self::Cancel => ("/jobs/{job}/cancel", "/jobs/{job}:cancel"),
            Self::Retry => ("/jobs/{job}/retry", "/jobs/{job}:retry"),
            Self::Register => ("/jobs/{job}/register", "/jobs/{job}:register"),
        }
    }

    /// What stands after the colon.
    fn word(self) -> &'static str {
        let (_, colon) = self.paths();
        colon.rsplit_once(':').map_or("", |(_, word)| word)
    }

    fn of(word: &str) -> Result<Self, Refused> {
        let verb = Self::ALL.into_iter().find(|verb| verb.word() == word);
        verb.ok_or_else(|| {
            let words: Vec<_> = Self::ALL.iter().map(|verb| verb.word()).collect();
            let word = presentable(word, 80);
            let detail = format!("`{word}` is no order; there are {}", words.join(", "));
            Refused::new(StatusCode::NOT_FOUND, "no_such_verb", &detail)
        })
    }
}

/// What serves an order in the spelling with a slash.
pub(crate) fn order(verb: Verb) -> MethodRouter<Arc<Inner>> {
    post(move |door, path, headers, body| by_segment(verb, door, path, headers, body))
}

/// `POST /jobs/{id}/{verb}`.
async fn by_segment(
    verb: Verb,
    State(door): Door,
    path: Parts<String>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Refused> {
    carry_out(&door, verb, &body::parts(path)?, (&headers, sent)).await
}

/// `POST /jobs/{id}:{verb}`.
pub(crate) async fn by_colon(
    State(door): State<Arc<Inner>>,
    path: Parts<String>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Refused> {
    let path = body::parts(path)?;
    let Some((name, word)) = path.rsplit_once(':') else {
        let detail = "an order names its verb: `POST /jobs/{id}:say` and so on";
        return Err(Refused::new(StatusCode::NOT_FOUND, "no_such_verb", detail));
    };
    carry_out(&door, Verb::of(word)?, name, (&headers, sent)).await
}

async fn carry_out(
    door: &Inner,
    verb: Verb,
    name: &str,
    (headers, sent): (&HeaderMap, Sent),
) -> Result<Response, Refused> {
    let key = body::idempotency_key(headers)?;
    match verb {
        Verb::Say => say(door, name, &body::order(sent)?, key).await,
        Verb::Approve => approve(door, name, body::maybe_order(sent)?).await,
        Verb::Merge => merge::merge(door, name, body::maybe_order::<MergeRequest>(sent)?).await,
        Verb::Cancel => cancel(door, name, body::maybe_order(sent)?).await,
        Verb::Retry => retry(door, name, body::maybe_order(sent)?).await,
        Verb::Register => register::register(door, name, body::maybe_order(sent)?).await,
    }
}

async fn say(
    door: &Inner,
    name: &str,
    message: &Message,
    key: Option<&str>,
) -> Result<Response, Refused> {
    let named = door.desk.find(name).await?;
    // Two messages of the same words are two messages, unless their sender says otherwise.
    let cause = match key {
        Some(key) => format!("key:{}", hex::encode(Sha256::digest(key))),
        None => format!("api:{}", door.desk.ulid()),
    };
    let wish = door.desk.say(&named, &message.message, &cause).await?;
    let kept = door.desk.store.effect(&wish.pk, &wish.id).await?;
    let same = kept.is_none_or(|kept| {
        matches!(kept.value.action, Action::Say { text, .. } if text == message.message.trim())
    });
    if !same {
        let detail = "this name stands for another message already: give every message its own";
        return Err(Refused::field(
            IDEMPOTENCY_KEY,
            "idempotency_key_reused",
            detail,
        ));
    }
    outcome::wait(door, &named.job, &wish).await
}

async fn approve(door: &Inner, name: &str, Nothing {}: Nothing) -> Result<Response, Refused> {
    let named = door.desk.find(name).await?;
    let wish = door.desk.approve_plan(&named).await?;
    outcome::wait(door, &named.job, &wish).await
}

async fn cancel(door: &Inner, name: &str, cancel: CancelRequest) -> Result<Response, Refused> {
    let named = door.desk.find(name).await?;
    door.desk.refuse_superseded(&named).await?;
    let job = door.desk.cancel_job(&named, &by(cancel.by)).await?;
    tracing::info!(job.id = %job.id, "a job was called off");
    Ok(Json(view::job(&job)).into_response())
}

async fn retry(door: &Inner, name: &str, retry: RetryRequest) -> Result<Response, Refused> {
    let named = door.desk.find(name).await?;
    door.desk.refuse_superseded(&named).await?;
    let job = door.desk.retry_job(&named, retry.reason.as_deref()).await?;
    tracing::info!(job.id = %job.id, job.attempt = job.attempt, "a job gets another session");
    Ok(Json(view::job(&job)).into_response())
}

/// Who gave an order, for the record.
pub(crate) fn by(by: Option<String>) -> String {
    let by = by.map(|by| presentable(by.trim(), BY_CHARS_MAX));
    by.filter(|by| !by.is_empty())
        .unwrap_or_else(|| BY_NOBODY.to_owned())
}
