//! `POST /api/deliveries`.

use axum::Extension;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use client::wire::{CreateDelivery, ISSUE_NUMBER_MAX};
use domain::delivery::{DESCRIPTION_BYTES_MAX, IssueRef, IssueText, TITLE_CHARS_MAX};
use domain::ids::DeliveryId;
use engine::deliveries::{CreateRefused, DeliveryOrder};
use sha2::{Digest, Sha256};

use super::{refused, requests, shown};
use crate::auth::AuthenticatedCaller;
use crate::body::{self, Sent};
use crate::http_api::SharedState;
use crate::refusal::Refused;

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
    let id = match (key, wanted.issue) {
        (Some(key), None) => id_of(key, &wanted),
        (Some(_) | None, _) => None,
    };
    let order = order(wanted, id, &who)?;
    let created = api.backend.create_delivery(&order).await;
    let id = match created.map_err(refused::no_delivery)? {
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

fn order(
    wanted: CreateDelivery,
    id: Option<DeliveryId>,
    who: &AuthenticatedCaller,
) -> Result<DeliveryOrder, Refused> {
    let issue = match wanted.issue {
        Some(number) if !(1..=ISSUE_NUMBER_MAX).contains(&number) => {
            let detail = format!("`issue`: a number from 1 to {ISSUE_NUMBER_MAX}");
            return Err(Refused::field("issue", "bad_field", &detail));
        }
        Some(number) => Some(IssueRef {
            repo: wanted.repo.clone(),
            number,
        }),
        None => None,
    };
    let Some(summary) = wanted.summary else {
        let detail = "`summary` has to say what is wanted";
        return Err(Refused::field("summary", "missing_field", detail));
    };
    requests::fits("summary", &summary, TITLE_CHARS_MAX)?;
    requests::criteria(&wanted.acceptance_criteria)?;
    if let Some(description) = &wanted.description {
        requests::fits("description", description, DESCRIPTION_BYTES_MAX)?;
    }
    Ok(DeliveryOrder {
        repo: wanted.repo,
        issue,
        again: wanted.again,
        text: IssueText {
            summary,
            description: wanted.description,
            acceptance_criteria: wanted.acceptance_criteria,
        },
        refs: Vec::new(),
        priority: wanted.priority,
        parent: None,
        id,
        by: who.actor(),
    })
}
