//! Requirements: lists them, shows them, and has one implemented.

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Extension, Json};
use client::wire::{RequirementView, Requirements, StartRequirement};
use domain::delivery::Delivery;
use domain::ids::{ArtefactId, RepoName};
use domain::pipeline::Requirement;

use super::{OF_REPO, must_repo, named_repo, no_such, view};
use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts, Sent};
use crate::query::{self, QueryPairs};
use crate::refusal::Refused;
use crate::route::{ApiRow, RequestBody, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};
use crate::{reach, sources};

/// Requirements, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get(
        "/api/requirements",
        "list_requirements",
        "Lists the requirements of a repository that Gaffer follows, the newest first",
        || get(list),
    )
    .takes(&[OF_REPO])
    .answers(&[(200, ResponseBody::Json("Requirements"))])
    .refuses(&[404]),
    Row::get(
        "/api/requirements/{owner}/{name}/{requirement}",
        "show_requirement",
        "Shows a requirement, with how far its delivery is",
        || get(show),
    )
    .answers(&[(200, ResponseBody::Json("RequirementView"))])
    .refuses(&[404]),
    Row::post(
        "/api/requirements/{owner}/{name}/{requirement}/start",
        "start_requirement",
        "Has a requirement implemented, for the first time or again",
        || post(start),
    )
    .sends(RequestBody::MaybeJson("StartRequirement"))
    .answers(&[(200, ResponseBody::Json("RequirementView"))])
    .refuses(&[404, 409]),
];

/// `GET /api/requirements`.
async fn list(State(api): SharedState, asked: QueryPairs) -> Result<Json<Requirements>, Refused> {
    let given = query::one(asked, "repo")?;
    let repo = given.as_deref().map(named_repo).transpose()?;
    let found = api.backend.requirements(&must_repo(repo)?).await?;
    let mut requirements = Vec::with_capacity(found.len());
    for requirement in &found {
        requirements.push(shown(&api, requirement).await?);
    }
    Ok(Json(Requirements { requirements }))
}

/// `GET /api/requirements/{owner}/{name}/{requirement}`.
async fn show(
    State(api): SharedState,
    path: Parts<(String, String, String)>,
) -> Result<Json<RequirementView>, Refused> {
    let (repo, id) = named(path)?;
    let found = api.backend.must_requirement(&repo, &id).await?;
    Ok(Json(shown(&api, &found.value).await?))
}

/// `POST /api/requirements/{owner}/{name}/{requirement}/start`.
async fn start(
    State(api): SharedState,
    path: Parts<(String, String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<RequirementView>, Refused> {
    let StartRequirement { keep_files } = body::maybe_order(sent)?;
    let (repo, id) = named(path)?;
    reach::must_reach(&api, &who, &repo).await?;
    reach::must_implement(&api, &who, &repo).await?;
    let begun = api
        .backend
        .start_requirement(&repo, &id, keep_files)
        .await?;
    tracing::info!(%repo, requirement.id = %id, by = %who.actor(), "a requirement was started");
    Ok(Json(shown(&api, &begun).await?))
}

/// The requirement that a path names.
fn named(path: Parts<(String, String, String)>) -> Result<(RepoName, ArtefactId), Refused> {
    let (owner, name, id) = body::parts(path)?;
    let repo = sources::repo_name(&owner, &name)?;
    let read = id.parse().map_err(|_| no_such("requirement", &id))?;
    Ok((repo, read))
}

/// A requirement with its delivery and its job as they are now.
async fn shown(api: &ApiInner, found: &Requirement) -> Result<RequirementView, Refused> {
    let delivery = match found.state.delivery() {
        Some(id) => api.backend.store.get::<Delivery>(id).await?,
        None => None,
    };
    let delivery = delivery.map(|found| found.value);
    let at_work = api.backend.job_of_requirement(found).await?;
    Ok(view::requirement(found, delivery.as_ref(), at_work))
}
