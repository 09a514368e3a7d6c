//! Mail between the personas of a repository: sent, listed, read, tagged and thrown away.
//!
//! Who speaks is told by the token, never by a text alone.

mod by_colon;
mod routes;

use std::fmt;

use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Extension, Json};
use client::wire::{
    ImportMail, MAIL_LOG_PAGE_MAX, MAILBOX_LIMIT_MAX, MailImported, MailLog, MailMessage,
    MailRebuilt, MailSealed, MailSent, MailStats, MailVerified, Mailbox, MarkMail, SendMail,
    SentMessage, TagMail,
};
use domain::ids::{MessageId, PersonaName, RepoName};
use domain::mail::{MessageOrder, Outgoing};
use domain::redact::presentable;
use domain::token::Scope;
use engine::backend::Error;
use engine::jobs::IdempotencyKey;
use engine::mail::{InboxQuery, SentMail};
use sha2::{Digest, Sha256};

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts, SHOWN_CHARS_MAX, Sent};
use crate::query::{self, QueryPairs};
use crate::refusal::Refused;
use crate::state::{ApiInner, SharedState};
use crate::{reach, sources};

pub(crate) use by_colon::by_colon;
pub(crate) use routes::{ONE, ROWS};

/// Owner, name, persona and message in a path.
type MessagePath = Parts<(String, String, String, String)>;

/// A message that a path names, in a mailbox that is the caller's to change.
struct Named {
    repo: RepoName,
    persona: PersonaName,
    message: MessageId,
}

/// `POST /api/mail/{owner}/{name}`.
async fn send(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Refused> {
    let key = body::idempotency_key(&headers)?;
    let wanted: SendMail = body::order(sent)?;
    let (owner, name) = body::parts(path)?;
    let repo = sources::repo_name(&owner, &name)?;
    let outgoing = outgoing(&who, wanted)?;
    reach::must_reach(&api, &who, &repo).await?;
    let once = key.map(|key| once(key, &who, &outgoing));
    let actor = who.mail_actor();
    let sent = api
        .backend
        .send_mail(&repo, &outgoing, &actor, once.as_ref())
        .await?;
    // Each order makes one message at least.
    let first = sent.first().map(|SentMail { message, to }| {
        let number = message.number();
        (LOCATION, format!("/api/mail/{repo}/{to}/{number}"))
    });
    let one = |SentMail { message, to }| SentMessage {
        message_id: message,
        to_persona: to,
    };
    let sent = sent.into_iter().map(one).collect();
    let address = AppendHeaders(first);
    Ok((StatusCode::CREATED, address, Json(MailSent { sent })).into_response())
}

/// What is to be sent, by the persona as which the caller may speak.
fn outgoing(who: &AuthenticatedCaller, wanted: SendMail) -> Result<Outgoing, Refused> {
    let from = who.speaker(wanted.from.as_ref())?;
    Ok(Outgoing {
        from,
        to: wanted.to,
        subject: wanted.subject,
        body: wanted.body,
        attachments: wanted.attachments,
    })
}

/// Digests of a name and of what is sent under it. A name is its token's own.
fn once(key: &str, who: &AuthenticatedCaller, outgoing: &Outgoing) -> IdempotencyKey {
    let by = who.mail_actor();
    // Plain fields with text keys always serialize; should they not, everything under this name counts as the same.
    let Outgoing {
        from,
        to,
        subject,
        body,
        attachments,
    } = outgoing;
    let order = serde_json::to_vec(&(from, to, subject, body, attachments)).unwrap_or_default();
    IdempotencyKey {
        name: hex::encode(Sha256::digest(format!("mail:{by}:{key}"))),
        order: hex::encode(Sha256::digest(order)),
    }
}

/// `GET /api/mail/{owner}/{name}/{persona}`.
async fn mailbox(
    State(api): SharedState,
    path: Parts<(String, String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
    asked: QueryPairs,
) -> Result<Json<Mailbox>, Refused> {
    let query = inbox_query(asked)?;
    let (owner, name, persona) = body::parts(path)?;
    let repo = sources::repo_name(&owner, &name)?;
    let persona = named_persona(&persona)?;
    who.must_have_mailbox(&persona)?;
    let page = api.backend.inbox_of(&repo, &persona, &query).await?;
    Ok(Json(Mailbox {
        persona,
        messages: page.messages,
        more: page.more,
    }))
}

fn inbox_query(asked: QueryPairs) -> Result<InboxQuery, Refused> {
    let mut query = InboxQuery {
        limit: limit(
            "limit",
            &MAILBOX_LIMIT_MAX.to_string(),
            1,
            MAILBOX_LIMIT_MAX,
        )?,
        ..InboxQuery::default()
    };
    for (name, value) in query::pairs(asked)? {
        match name.as_str() {
            "unread" => query.unread = query::switch("unread", &value)?,
            "limit" => query.limit = limit("limit", &value, 1, MAILBOX_LIMIT_MAX)?,
            "after" => query.after = Some(after(&value)?),
            _ => {
                let known = "there are `unread`, `after` and `limit`";
                return Err(query::unknown(&name, known));
            }
        }
    }
    Ok(query)
}

fn limit(field: &str, value: &str, min: u32, max: u32) -> Result<usize, Refused> {
    let number = query::number(field, value, min..=max)?;
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

fn after(value: &str) -> Result<MessageId, Refused> {
    let wrong = |error: &dyn fmt::Display| query::bad("after", error);
    value
        .parse()
        .map_err(|error: domain::ids::InvalidId| wrong(&error))
}

/// `GET /api/mail/{owner}/{name}/{persona}/{message}`: it stays as it is.
async fn show(
    State(api): SharedState,
    path: MessagePath,
    Extension(who): Extension<AuthenticatedCaller>,
) -> Result<Json<MailMessage>, Refused> {
    let Named {
        repo,
        persona,
        message,
    } = named(path)?;
    who.must_have_mailbox(&persona)?;
    let found = api.backend.mail_message(&repo, message, &persona).await?;
    Ok(Json(found))
}

/// `POST …/read`, `…/trash` or `…/untrash`.
async fn mark(
    order: MessageOrder,
    State(api): SharedState,
    path: MessagePath,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<MailMessage>, Refused> {
    let MarkMail {} = body::maybe_order(sent)?;
    carry_out(&api, &who, path, order).await
}

/// `POST …/tag`.
async fn tag(
    State(api): SharedState,
    path: MessagePath,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<MailMessage>, Refused> {
    let TagMail { tag, remove } = body::order(sent)?;
    let order = match remove {
        true => MessageOrder::TagRm(tag),
        false => MessageOrder::TagAdd(tag),
    };
    carry_out(&api, &who, path, order).await
}

async fn carry_out(
    api: &ApiInner,
    who: &AuthenticatedCaller,
    path: MessagePath,
    order: MessageOrder,
) -> Result<Json<MailMessage>, Refused> {
    let Named {
        repo,
        persona,
        message,
    } = named(path)?;
    who.must_have_mailbox(&persona)?;
    who.speaker(Some(&persona))?;
    reach::must_reach(api, who, &repo).await?;
    let (which, actor) = ((message, &persona), who.mail_actor());
    let message = api.backend.order_mail(&repo, which, &order, &actor).await?;
    Ok(Json(message))
}

/// `GET /api/mail/{owner}/{name}/log`.
async fn log(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
    asked: QueryPairs,
) -> Result<Json<MailLog>, Refused> {
    let page = query::one(asked, "page")?.unwrap_or_else(|| "0".to_owned());
    let page = limit("page", &page, 0, MAIL_LOG_PAGE_MAX)? as u64;
    let repo = whole(&who, path)?;
    // What is sent meanwhile belongs to a page that is read after this one.
    let counters = api.backend.mail_counters(&repo).await?;
    let lines = api.backend.mail_block(&repo, page).await?;
    let next = (page + 1) * engine::keys::MAIL_BLOCK;
    let next = (next <= counters.events).then_some(page + 1);
    Ok(Json(MailLog {
        lines,
        next_page: next.and_then(|page| page.try_into().ok()),
    }))
}

/// `GET /api/mail/{owner}/{name}` and `…/stats`.
async fn stats(
    State(api): SharedState,
    path: Parts<(String, String)>,
) -> Result<Json<MailStats>, Refused> {
    let (owner, name) = body::parts(path)?;
    let repo = sources::repo_name(&owner, &name)?;
    Ok(Json(api.backend.mail_counters(&repo).await?.into()))
}

/// `GET /api/mail/{owner}/{name}/verify`.
async fn verify(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
) -> Result<Json<MailVerified>, Refused> {
    let repo = whole(&who, path)?;
    Ok(Json(api.backend.verify_mail(&repo).await?))
}

/// `POST /api/mail/{owner}/{name}/rebuild`.
async fn rebuild(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<MailRebuilt>, Refused> {
    let MarkMail {} = body::maybe_order(sent)?;
    let repo = whole(&who, path)?;
    reach::must_reach(&api, &who, &repo).await?;
    let changed = api.backend.rebuild_mail(&repo).await? as u64;
    Ok(Json(MailRebuilt { changed }))
}

/// `POST /api/mail/{owner}/{name}/seal`.
async fn seal(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<MailSealed>, Refused> {
    let MarkMail {} = body::maybe_order(sent)?;
    let repo = whole(&who, path)?;
    reach::must_reach(&api, &who, &repo).await?;
    let sealed = api.backend.seal_mail(&repo).await?;
    Ok(Json(MailSealed { sealed }))
}

/// `POST /api/mail/{owner}/{name}/import`: its lines say who spoke, so it takes the largest scope.
async fn import(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<MailImported>, Refused> {
    let ImportMail { lines } = body::order(sent)?;
    let repo = whole(&who, path)?;
    who.must(Scope::Admin)?;
    reach::must_reach(&api, &who, &repo).await?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let imported = api.backend.import_mail(&repo, text.as_bytes()).await?;
    Ok(Json(imported))
}

/// The repository of a path, for a caller that may see all of its mail.
fn whole(who: &AuthenticatedCaller, path: Parts<(String, String)>) -> Result<RepoName, Refused> {
    let (owner, name) = body::parts(path)?;
    who.must_have_every_mailbox()?;
    sources::repo_name(&owner, &name)
}

/// A number that no message can have names none, as one that none has.
fn named(path: MessagePath) -> Result<Named, Refused> {
    let (owner, name, persona, message) = body::parts(path)?;
    let no_such = |_| Error::NoSuch {
        what: "message",
        name: presentable(&message, SHOWN_CHARS_MAX),
    };
    Ok(Named {
        repo: sources::repo_name(&owner, &name)?,
        persona: named_persona(&persona)?,
        message: message.parse().map_err(no_such)?,
    })
}

fn named_persona(name: &str) -> Result<PersonaName, Refused> {
    name.parse().map_err(|error| {
        let detail = format!("`persona`: {error}");
        Refused::new(StatusCode::NOT_FOUND, "no_such_persona", &detail).about("persona")
    })
}
