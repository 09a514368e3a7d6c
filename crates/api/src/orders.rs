//! Orders about one job, in both spellings: `/jobs/{id}:verb` and `/jobs/{id}/verb`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use axum::{Extension, Json};
use client::wire::{ApproveRequest, CancelRequest, IDEMPOTENCY_KEY, Message, RetryRequest};
use domain::effect::Action;
use domain::redact::presentable;
use sha2::{Digest, Sha256};

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts, Sent};
use crate::deliveries::{approve_instead, cancel_instead, retry_instead};
use crate::http_api::{ApiInner, SharedState};
use crate::refusal::Refused;
use crate::{merge, outcome, reach, register, view};

/// What can be ordered of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Send a message to its session.
    Say,
    /// Approve its plan.
    Approve,
    /// Merge its pull request.
    Merge,
    /// Call it off.
    Cancel,
    /// Give it another session.
    Retry,
    /// Watch it, and store notes about it.
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

    /// The word after the colon.
    fn word(self) -> &'static str {
        let (_, colon) = self.paths();
        colon.rsplit_once(':').map_or("", |(_, word)| word)
    }

    fn parse(word: &str) -> Result<Self, Refused> {
        let verb = Self::ALL.into_iter().find(|verb| verb.word() == word);
        verb.ok_or_else(|| {
            let words: Vec<_> = Self::ALL.iter().map(|verb| verb.word()).collect();
            let word = presentable(word, 80);
            let detail = format!("`{word}` is no order; there are {}", words.join(", "));
            Refused::new(StatusCode::NOT_FOUND, "no_such_verb", &detail)
        })
    }
}

/// The sender of an order, and the request's headers.
pub(crate) type OrderCaller = (Extension<AuthenticatedCaller>, HeaderMap);

/// What serves an order in the spelling with a slash.
pub(crate) fn order(verb: Verb) -> MethodRouter<Arc<ApiInner>> {
    post(move |api, path, sender, body| by_segment(verb, api, path, sender, body))
}

/// `POST /jobs/{id}/{verb}`.
async fn by_segment(
    verb: Verb,
    State(api): SharedState,
    path: Parts<String>,
    sender: OrderCaller,
    sent: Sent,
) -> Result<Response, Refused> {
    carry_out(&api, verb, &body::parts(path)?, (&sender, sent)).await
}

/// `POST /jobs/{id}:{verb}`.
pub(crate) async fn by_colon(
    State(api): State<Arc<ApiInner>>,
    path: Parts<String>,
    sender: OrderCaller,
    sent: Sent,
) -> Result<Response, Refused> {
    let path = body::parts(path)?;
    let Some((name, word)) = path.rsplit_once(':') else {
        let detail = "an order names its verb: `POST /jobs/{id}:say` and so on";
        return Err(Refused::new(StatusCode::NOT_FOUND, "no_such_verb", detail));
    };
    carry_out(&api, Verb::parse(word)?, name, (&sender, sent)).await
}

async fn carry_out(
    api: &ApiInner,
    verb: Verb,
    name: &str,
    ((Extension(who), headers), sent): (&OrderCaller, Sent),
) -> Result<Response, Refused> {
    let key = body::idempotency_key(headers)?;
    let name = &reach::must_reach_job(api, who, name).await?;
    match verb {
        Verb::Say => say(api, (name, who), &body::order(sent)?, key).await,
        Verb::Approve => approve(api, (name, who), body::maybe_order(sent)?, key).await,
        Verb::Merge => merge::merge(api, (name, who), body::maybe_order(sent)?, key).await,
        Verb::Cancel => cancel(api, (name, who), body::maybe_order(sent)?, key).await,
        Verb::Retry => retry(api, (name, who), body::maybe_order(sent)?, key).await,
        Verb::Register => register::register(api, (name, who), body::maybe_order(sent)?).await,
    }
}

async fn say(
    api: &ApiInner,
    (name, who): (&str, &AuthenticatedCaller),
    message: &Message,
    key: Option<&str>,
) -> Result<Response, Refused> {
    let named = api.backend.find(name).await?.by(who.who(None));
    // Two messages with the same text are two messages, unless their sender says otherwise.
    let cause = match key {
        Some(key) => format!("key:{}", hex::encode(Sha256::digest(key))),
        None => format!("api:{}", api.backend.ulid()),
    };
    let effect_ref = api.backend.say(&named, &message.message, &cause).await?;
    let kept = api
        .backend
        .store
        .effect(&effect_ref.pk, &effect_ref.id)
        .await?;
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
    outcome::wait(api, &named.job, &effect_ref).await
}

async fn approve(
    api: &ApiInner,
    (name, who): (&str, &AuthenticatedCaller),
    approve: ApproveRequest,
    key: Option<&str>,
) -> Result<Response, Refused> {
    let named = api.backend.find(name).await?.by(who.who(None));
    let read = approve.plan_id.as_ref();
    if let Some(answer) = approve_instead(api, &named.job, read, (who, key)).await? {
        return Ok(answer);
    }
    let effect_ref = api.backend.approve_plan(&named, read).await?;
    outcome::wait(api, &named.job, &effect_ref).await
}

async fn cancel(
    api: &ApiInner,
    (name, who): (&str, &AuthenticatedCaller),
    cancel: CancelRequest,
    key: Option<&str>,
) -> Result<Response, Refused> {
    let by = who.who(cancel.by.as_deref());
    let named = api.backend.find(name).await?.by(by.clone());
    api.backend.refuse_superseded(&named).await?;
    let pull = match cancel.close_pull {
        true => api.backend.pull_to_close(&named.job).await?,
        false => None,
    };
    let closing = pull.as_ref().map(|pull| (pull, by.as_str()));
    if let Some(answer) = cancel_instead(api, &named.job, closing, (who, key)).await? {
        return Ok(answer);
    }
    let job = if cancel.close_pull {
        api.backend.cancel_and_close(&named, &by).await?
    } else {
        api.backend.cancel_job(&named, &by).await?
    };
    Ok(Json(view::job_view(api, &job).await?).into_response())
}

async fn retry(
    api: &ApiInner,
    (name, who): (&str, &AuthenticatedCaller),
    retry: RetryRequest,
    key: Option<&str>,
) -> Result<Response, Refused> {
    let named = api.backend.find(name).await?.by(who.who(None));
    api.backend.refuse_superseded(&named).await?;
    let reason = retry.reason.clone();
    if let Some(answer) = retry_instead(api, &named.job, reason, (who, key)).await? {
        return Ok(answer);
    }
    let job = api
        .backend
        .retry_job(&named, retry.reason.as_deref())
        .await?;
    Ok(Json(view::job_view(api, &job).await?).into_response())
}
