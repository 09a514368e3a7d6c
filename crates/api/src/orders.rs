//! Orders about one job, in both spellings: `/jobs/{id}:verb` and `/jobs/{id}/verb`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use axum::{Extension, Json};
use client::wire::{ApproveRequest, CancelRequest, IDEMPOTENCY_KEY, Message, RetryRequest};
use domain::effect::{Action, JulesAction};
use domain::redact::presentable;
use sha2::{Digest, Sha256};

use crate::auth::{AuthenticatedCaller, OrderCaller};
use crate::body::{self, Parts, Sent};
use crate::deliveries::{NamedCaller, approve_instead, cancel_instead, retry_instead};
use crate::refusal::Refused;
use crate::route::{ApiRow, KEY, RequestBody, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};
use crate::verb::Verb;
use crate::{merge, outcome, reach, register, view};

/// What an order answers that waits a little for its effect.
const EFFECT: &[(u16, ResponseBody)] = &[
    (200, ResponseBody::Json("EffectView")),
    (202, ResponseBody::Json("Later")),
];

/// Orders about a job, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::order(
        Verb::Say,
        "say",
        "Sends a message to a job's session",
        || order(Verb::Say),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("Message"))
    .answers(EFFECT)
    .refuses(&[404, 409]),
    Row::order(
        Verb::Approve,
        "approve_plan",
        "Approves the plan that a job waits with",
        || order(Verb::Approve),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("ApproveRequest"))
    .answers(EFFECT)
    .refuses(&[404, 409]),
    Row::order(
        Verb::Merge,
        "merge",
        "Allows the merge of a job's pull request, and waits a little for it",
        || order(Verb::Merge),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("MergeRequest"))
    .answers(&[
        (200, ResponseBody::Json("Merged")),
        (202, ResponseBody::Json("Later")),
    ])
    .refuses(&[404, 409]),
    Row::order(Verb::Cancel, "cancel_job", "Cancels a job", || {
        order(Verb::Cancel)
    })
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("CancelRequest"))
    .answers(&[(200, ResponseBody::Json("JobView"))])
    .refuses(&[404, 409]),
    Row::order(
        Verb::Retry,
        "retry_job",
        "Retries a job that ended, in another session",
        || order(Verb::Retry),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("RetryRequest"))
    .answers(&[(200, ResponseBody::Json("JobView"))])
    .refuses(&[404, 409]),
    Row::order(
        Verb::Register,
        "register",
        "Watches a job or a session, and records notes about it",
        || order(Verb::Register),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("RegisterRequest"))
    .answers(&[
        (200, ResponseBody::Json("Registered")),
        (202, ResponseBody::Json("Later")),
    ])
    .refuses(&[404, 409]),
];

/// What serves an order in the spelling with a slash.
fn order(verb: Verb) -> MethodRouter<Arc<ApiInner>> {
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
    carry_out(&api, verb, &body::parts(path)?, &sender, sent).await
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
    carry_out(&api, parse(word)?, name, &sender, sent).await
}

/// The order that a word after a colon means.
fn parse(word: &str) -> Result<Verb, Refused> {
    let verb = Verb::ALL.into_iter().find(|verb| verb.word() == word);
    verb.ok_or_else(|| {
        let words: Vec<_> = Verb::ALL.iter().map(|verb| verb.word()).collect();
        let word = presentable(word, 80);
        let detail = format!("`{word}` is no order; there are {}", words.join(", "));
        Refused::new(StatusCode::NOT_FOUND, "no_such_verb", &detail)
    })
}

async fn carry_out(
    api: &ApiInner,
    verb: Verb,
    name: &str,
    sender: &OrderCaller,
    sent: Sent,
) -> Result<Response, Refused> {
    let (Extension(who), headers) = sender;
    let key = body::idempotency_key(headers)?;
    let name = &reach::must_reach_job(api, who, name).await?;
    match verb {
        Verb::Say => say(api, name, who, &body::order(sent)?, key).await,
        Verb::Approve => approve(api, name, who, body::maybe_order(sent)?, key).await,
        Verb::Merge => merge::merge(api, name, who, body::maybe_order(sent)?, key).await,
        Verb::Cancel => cancel(api, name, who, body::maybe_order(sent)?, key).await,
        Verb::Retry => retry(api, name, who, body::maybe_order(sent)?, key).await,
        Verb::Register => register::register(api, name, who, body::maybe_order(sent)?).await,
    }
}

async fn say(
    api: &ApiInner,
    name: &str,
    who: &AuthenticatedCaller,
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
        matches!(kept.value.action, Action::Jules(JulesAction::Say { text, .. }) if text == message.message.trim())
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
    name: &str,
    who: &AuthenticatedCaller,
    approve: ApproveRequest,
    key: Option<&str>,
) -> Result<Response, Refused> {
    let named = api.backend.find(name).await?.by(who.who(None));
    let read = approve.plan_id.as_ref();
    let caller = NamedCaller { who, key };
    if let Some(answer) = approve_instead(api, &named.job, read, caller).await? {
        return Ok(answer);
    }
    let effect_ref = api.backend.approve_plan(&named, read).await?;
    outcome::wait(api, &named.job, &effect_ref).await
}

async fn cancel(
    api: &ApiInner,
    name: &str,
    who: &AuthenticatedCaller,
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
    let caller = NamedCaller { who, key };
    if let Some(answer) = cancel_instead(api, &named.job, pull.as_ref(), &by, caller).await? {
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
    name: &str,
    who: &AuthenticatedCaller,
    retry: RetryRequest,
    key: Option<&str>,
) -> Result<Response, Refused> {
    let named = api.backend.find(name).await?.by(who.who(None));
    api.backend.refuse_superseded(&named).await?;
    let reason = retry.reason.clone();
    let caller = NamedCaller { who, key };
    if let Some(answer) = retry_instead(api, &named.job, reason, caller).await? {
        return Ok(answer);
    }
    let job = api
        .backend
        .retry_job(&named, retry.reason.as_deref())
        .await?;
    Ok(Json(view::job_view(api, &job).await?).into_response())
}
