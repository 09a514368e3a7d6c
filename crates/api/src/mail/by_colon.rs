//! Orders about a message as words after a colon.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use client::wire::MailMessage;
use domain::mail::MessageOrder;
use domain::redact::presentable;

use super::{MessagePath, mark, tag};
use crate::auth::AuthenticatedCaller;
use crate::body::{self, SHOWN_CHARS_MAX, Sent};
use crate::refusal::Refused;
use crate::state::SharedState;

/// `POST /api/mail/{owner}/{name}/{persona}/{message}:{verb}`.
pub(crate) async fn by_colon(
    State(api): SharedState,
    path: MessagePath,
    who: Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<MailMessage>, Refused> {
    let (owner, name, persona, order) = body::parts(path)?;
    let (message, verb) = order.rsplit_once(':').unwrap_or((order.as_str(), ""));
    let path: MessagePath = Ok(Path((owner, name, persona, message.to_owned())));
    let state = State(api);
    match verb {
        "read" => mark(MessageOrder::Read, state, path, who, sent).await,
        "tag" => tag(state, path, who, sent).await,
        "trash" => mark(MessageOrder::Trash, state, path, who, sent).await,
        "untrash" => mark(MessageOrder::Untrash, state, path, who, sent).await,
        _ => Err(no_such_verb(&order)),
    }
}

fn no_such_verb(order: &str) -> Refused {
    let order = presentable(order, SHOWN_CHARS_MAX);
    let detail =
        format!("`{order}` is no order about a message; there are read, tag, trash, untrash");
    Refused::new(StatusCode::NOT_FOUND, "no_such_verb", &detail)
}
