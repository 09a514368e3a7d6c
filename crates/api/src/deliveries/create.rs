//! `POST /api/deliveries`.

use axum::Extension;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use client::wire::{CreateDelivery, ISSUE_NUMBER_MAX, Pending};
use domain::delivery::{DESCRIPTION_BYTES_MAX, IssueRef, IssueText, TITLE_CHARS_MAX};
use domain::ids::DeliveryId;
use engine::backend::Error;
use engine::deliveries::{CreateRefused, DeliveryOrder};
use engine::readings::ReadIssue;
use sha2::{Digest, Sha256};

use super::{refused, requests, shown};
use crate::auth::AuthenticatedCaller;
use crate::body::{self, Sent};
use crate::jobs::not_created;
use crate::refusal::Refused;
use crate::state::{ApiInner, SharedState};
use crate::{outcome, reach};

/// Hex digits of a delivery's id.
const ID_DIGITS: usize = 12;

/// Creates a delivery. What a name stands for is created once.
pub(crate) async fn create(
    State(api): SharedState,
    Extension(who): Extension<AuthenticatedCaller>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Refused> {
    let key = body::idempotency_key(&headers)?;
    let wanted: CreateDelivery = body::order(sent)?;
    reach::must_reach(&api, &who, &wanted.repo).await?;
    let id = match (key, wanted.issue) {
        (Some(key), None) => id_of(key, &wanted),
        (Some(_) | None, _) => None,
    };
    let Some(text) = text(&api, &wanted).await? else {
        return Ok(not_read_yet());
    };
    let order = DeliveryOrder {
        issue: issue(&wanted)?,
        repo: wanted.repo,
        again: wanted.again,
        text,
        refs: requests::references(wanted.refs),
        requirement: None,
        priority: wanted.priority,
        parent: None,
        id,
        by: who.actor(),
    };
    let created = api.backend.create_delivery(&order).await;
    let id = match created.map_err(not_created)? {
        Ok(delivery) => delivery.id,
        Err(CreateRefused::Exists(found)) if order.id.is_some() => found.id,
        Err(CreateRefused::Exists(found)) => return Err(refused::exists(&found)),
    };
    let address = [(LOCATION, format!("/api/deliveries/{id}"))];
    let view = shown(&api, &id, &who).await?;
    Ok((StatusCode::CREATED, address, view).into_response())
}

/// The id that a named order always creates.
fn id_of(key: &str, wanted: &CreateDelivery) -> Option<DeliveryId> {
    // Plain fields with text keys always serialize; should they not, the name alone counts.
    let wanted = serde_json::to_string(wanted).unwrap_or_default();
    let mut digits = hex::encode(Sha256::digest(format!("deliveries:{key}\n{wanted}")));
    digits.truncate(ID_DIGITS);
    digits.parse().ok()
}

/// The issue that is meant, if one is.
fn issue(wanted: &CreateDelivery) -> Result<Option<IssueRef>, Refused> {
    match wanted.issue {
        Some(number) if !(1..=ISSUE_NUMBER_MAX).contains(&number) => {
            let detail = format!("`issue`: a number from 1 to {ISSUE_NUMBER_MAX}");
            Err(Refused::field("issue", "bad_field", &detail))
        }
        Some(number) => Ok(Some(IssueRef {
            repo: wanted.repo.clone(),
            number,
        })),
        None => Ok(None),
    }
}

/// What the delivery is about: what was sent, else what the issue says; none while that is unread.
async fn text(api: &ApiInner, wanted: &CreateDelivery) -> Result<Option<IssueText>, Refused> {
    requests::criteria(&wanted.acceptance_criteria)?;
    if let Some(description) = &wanted.description {
        requests::fits("description", description, DESCRIPTION_BYTES_MAX)?;
    }
    let sent = |summary: String| IssueText {
        summary,
        description: wanted.description.clone(),
        acceptance_criteria: wanted.acceptance_criteria.clone(),
    };
    match (&wanted.summary, issue(wanted)?) {
        (Some(summary), issue) => {
            requests::fits("summary", summary, TITLE_CHARS_MAX)?;
            if let Some(issue) = issue {
                must_source(api, &issue).await?;
                // What is wanted is known, so only an answer that speaks against it counts.
                let read = api.backend.fresh_issue(&issue, api.answer_within).await?;
                read.map_or(Ok(()), |read| refuse_unfit(&issue, &read))?;
            }
            Ok(Some(sent(summary.clone())))
        }
        (None, None) => {
            let detail = "`summary` has to say what is wanted";
            Err(Refused::field("summary", "missing_field", detail))
        }
        (None, Some(issue)) => {
            must_source(api, &issue).await?;
            let read = api.backend.fresh_issue(&issue, api.answer_within).await?;
            let Some(read) = read else { return Ok(None) };
            refuse_unfit(&issue, &read)?;
            let text = sent(read.summary);
            let criteria = match text.acceptance_criteria.is_empty() {
                true => read.acceptance_criteria,
                false => text.acceptance_criteria,
            };
            Ok(Some(IssueText {
                description: text.description.or(read.description),
                acceptance_criteria: criteria,
                ..text
            }))
        }
    }
}

/// Nothing is read of a repository that is no source.
async fn must_source(api: &ApiInner, issue: &IssueRef) -> Result<(), Refused> {
    if api.backend.store.source(&issue.repo).await?.is_some() {
        return Ok(());
    }
    Err(not_created(Error::NoSuch {
        what: "source",
        name: issue.repo.to_string(),
    }))
}

fn refuse_unfit(issue: &IssueRef, read: &ReadIssue) -> Result<(), Refused> {
    let refuse = |code: &str, detail: &str| Err(Refused::field("issue", code, detail));
    if let Some(failure) = &read.failure {
        let detail = format!("`issue`: {issue} could not be read: {failure}");
        return refuse("issue_unreadable", &detail);
    }
    if read.is_pull {
        let detail = format!("`issue`: {issue} is a pull request");
        return refuse("issue_is_pull", &detail);
    }
    if !read.is_open {
        let detail = format!("`issue`: {issue} is closed: open it again first");
        return refuse("issue_closed", &detail);
    }
    Ok(())
}

/// 202: the caller has to repeat the request.
fn not_read_yet() -> Response {
    outcome::later(Pending {
        ask_again: "/api/deliveries".to_owned(),
        sentence: "The issue has not been read yet: send the same request again.".to_owned(),
        reasons: Vec::new(),
        effect: None,
    })
}
