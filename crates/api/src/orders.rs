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

use crate::auth::Admitted;
use crate::body::{self, Parts, Sent};
use crate::door::{Door, Inner};
use crate::refusal::Refused;
use crate::{merge, outcome, register, view};

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

/// The sender of an order, and the request's headers.
pub(crate) type Sender = (Extension<Admitted>, HeaderMap);

/// What serves an order in the spelling with a slash.
pub(crate) fn order(verb: Verb) -> MethodRouter<Arc<Inner>> {
    post(move |door, path, sender, body| by_segment(verb, door, path, sender, body))
}

/// `POST /jobs/{id}/{verb}`.
async fn by_segment(
    verb: Verb,
    State(door): Door,
    path: Parts<String>,
    sender: Sender,
    sent: Sent,
) -> Result<Response, Refused> {
    carry_out(&door, verb, &body::parts(path)?, (&sender, sent)).await
}

/// `POST /jobs/{id}:{verb}`.
pub(crate) async fn by_colon(
    State(door): State<Arc<Inner>>,
    path: Parts<String>,
    sender: Sender,
    sent: Sent,
) -> Result<Response, Refused> {
    let path = body::parts(path)?;
    let Some((name, word)) = path.rsplit_once(':') else {
        let detail = "an order names its verb: `POST /jobs/{id}:say` and so on";
        return Err(Refused::new(StatusCode::NOT_FOUND, "no_such_verb", detail));
    };
    carry_out(&door, Verb::of(word)?, name, (&sender, sent)).await
}

async fn carry_out(
    door: &Inner,
    verb: Verb,
    name: &str,
    ((Extension(who), headers), sent): (&Sender, Sent),
) -> Result<Response, Refused> {
    let key = body::idempotency_key(headers)?;
    match verb {
        Verb::Say => say(door, (name, who), &body::order(sent)?, key).await,
        Verb::Approve => approve(door, (name, who), body::maybe_order(sent)?).await,
        Verb::Merge => merge::merge(door, (name, who), body::maybe_order(sent)?).await,
        Verb::Cancel => cancel(door, (name, who), body::maybe_order(sent)?).await,
        Verb::Retry => retry(door, (name, who), body::maybe_order(sent)?).await,
        Verb::Register => register::register(door, (name, who), body::maybe_order(sent)?).await,
    }
}

async fn say(
    door: &Inner,
    (name, who): (&str, &Admitted),
    message: &Message,
    key: Option<&str>,
) -> Result<Response, Refused> {
    let named = door.desk.find(name).await?.by(who.who(None));
    // Two messages with the same text are two messages, unless their sender says otherwise.
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

async fn approve(
    door: &Inner,
    (name, who): (&str, &Admitted),
    approve: ApproveRequest,
) -> Result<Response, Refused> {
    let named = door.desk.find(name).await?.by(who.who(None));
    let wish = door
        .desk
        .approve_plan(&named, approve.plan_id.as_ref())
        .await?;
    outcome::wait(door, &named.job, &wish).await
}

async fn cancel(
    door: &Inner,
    (name, who): (&str, &Admitted),
    cancel: CancelRequest,
) -> Result<Response, Refused> {
    let by = who.who(cancel.by.as_deref());
    let named = door.desk.find(name).await?.by(by.clone());
    door.desk.refuse_superseded(&named).await?;
    let job = if cancel.close_pull {
        door.desk.cancel_and_close(&named, &by).await?
    } else {
        door.desk.cancel_job(&named, &by).await?
    };
    Ok(Json(view::of(door, &job).await?).into_response())
}

async fn retry(
    door: &Inner,
    (name, who): (&str, &Admitted),
    retry: RetryRequest,
) -> Result<Response, Refused> {
    let named = door.desk.find(name).await?.by(who.who(None));
    door.desk.refuse_superseded(&named).await?;
    let job = door.desk.retry_job(&named, retry.reason.as_deref()).await?;
    Ok(Json(view::of(door, &job).await?).into_response())
}
