//! Sources: lists, shows, adds, changes and removes them, and has their issues read.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, patch, post};
use axum::{Extension, Json};
use client::wire::{
    CreateSource, EditSource, IntakeResult, Pending, SourceRemoved, SourceView, Sources,
};
use domain::delivery::Rules;
use domain::ids::{BranchName, RepoName};
use domain::intake::{self, ReadingResult};
use domain::policy::{OddSource, Policy, Source, Timing};
use domain::redact::presentable;
use engine::backend::Error;
use engine::in_use::SourceInUse;
use engine::sources::SourceRefused;

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts, Sent};
use crate::outcome;
use crate::reach;
use crate::refusal::Refused;
use crate::route::{ApiRow, RequestBody, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};
use crate::view::SHORT_CHARS_MAX;

/// Sources, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get(
        "/api/sources",
        "list_sources",
        "Lists the repositories that are worked on",
        || get(list),
    )
    .answers(&[(200, ResponseBody::Json("Sources"))]),
    Row::post(
        "/api/sources",
        "create_source",
        "Adds a repository to those that are worked on; agents may not",
        || post(create),
    )
    .sends(RequestBody::Json("CreateSource"))
    .answers(&[(201, ResponseBody::Json("SourceView"))])
    .refuses(&[404, 409]),
    Row::get(
        "/api/sources/{owner}/{name}",
        "show_source",
        "Shows a source with its settings",
        || get(show),
    )
    .answers(&[(200, ResponseBody::Json("SourceView"))])
    .refuses(&[404]),
    Row::patch(
        "/api/sources/{owner}/{name}",
        "edit_source",
        "Changes the settings of a source that are about deliveries; agents may not",
        || patch(edit),
    )
    .sends(RequestBody::Json("EditSource"))
    .answers(&[(200, ResponseBody::Json("SourceView"))])
    .refuses(&[404, 409]),
    Row::delete(
        "/api/sources/{owner}/{name}",
        "remove_source",
        "Removes a source that nothing uses any more; agents may not",
        || delete(remove),
    )
    .answers(&[(200, ResponseBody::Json("SourceRemoved"))])
    .refuses(&[404, 409]),
    Row::post(
        "/api/sources/{owner}/{name}/sync",
        "sync_source",
        "Has the issues of a source read now, and waits a little for what comes of it",
        || post(sync),
    )
    .answers(&[
        (200, ResponseBody::Json("IntakeResult")),
        (202, ResponseBody::Json("Later")),
    ])
    .refuses(&[404, 409, 502]),
];

/// `GET /api/sources`.
async fn list(State(api): SharedState) -> Result<Json<Sources>, Refused> {
    let found = api.backend.store.sources().await?.into_iter();
    let sources = found.map(|found| found.value.into()).collect();
    Ok(Json(Sources { sources }))
}

/// `GET /api/sources/{owner}/{name}`.
async fn show(
    State(api): SharedState,
    path: Parts<(String, String)>,
) -> Result<Json<SourceView>, Refused> {
    let repo = named(path)?;
    Ok(Json(must_source(&api, &repo).await?.into()))
}

/// A source that has to be there.
pub(crate) async fn must_source(api: &ApiInner, repo: &RepoName) -> Result<Source, Refused> {
    Ok(api.backend.must::<Source>(repo).await?.value)
}

/// `POST /api/sources`. What may be done without asking is as it is by default.
async fn create(
    State(api): SharedState,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Response, Refused> {
    who.must_be_person()?;
    let wanted: CreateSource = body::order(sent)?;
    let source = Source {
        repo: wanted.repo,
        account: wanted.account,
        agent: wanted.agent,
        paused: false,
        // As where it is added by a command.
        branch: Some(wanted.branch.unwrap_or_else(BranchName::main)),
        policy: Policy::default(),
        timing: Timing::default(),
        pipeline: wanted
            .pipeline
            .flatten()
            .map(|settings| settings.over(None)),
        deliveries: wanted.deliveries.over(&Rules::default()),
        sprints: domain::sprint::SprintRules::default(),
    };
    match api.backend.add_source(&source).await? {
        Ok(()) => {}
        Err(SourceRefused::Odd(odd)) => return Err(refused(odd)),
        Err(SourceRefused::Exists(found)) => {
            let name = found.repo.to_string();
            let detail = format!("{name} is a source already");
            let exists = Refused::new(StatusCode::CONFLICT, "exists", &detail);
            return Err(exists.with_existing(&name));
        }
    }
    tracing::info!(repo = %source.repo, by = %who.actor(), "a source was added");
    let address = [(LOCATION, format!("/api/sources/{}", source.repo))];
    let created = (StatusCode::CREATED, address, Json(SourceView::from(source)));
    Ok(created.into_response())
}

/// `PATCH /api/sources/{owner}/{name}`.
async fn edit(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<SourceView>, Refused> {
    who.must_be_person()?;
    let changes: EditSource = body::order(sent)?;
    let paused = changes.paused;
    let repo = named(path)?;
    let changed = api.backend.change_source(&repo, |source| {
        let EditSource {
            account,
            agent,
            branch,
            paused,
            deliveries,
            pipeline,
            sprints,
        } = changes.clone();
        Ok::<_, Error>(Source {
            account: account.unwrap_or_else(|| source.account.clone()),
            agent: agent.unwrap_or_else(|| source.agent.clone()),
            branch: branch.or_else(|| source.branch.clone()),
            paused: paused.unwrap_or(source.paused),
            deliveries: deliveries.over(&source.deliveries),
            pipeline: match pipeline {
                Some(settings) => settings.map(|settings| settings.over(source.pipeline.as_ref())),
                None => source.pipeline.clone(),
            },
            sprints: sprints.over(&source.sprints),
            ..source.clone()
        })
    });
    let source = changed.await?.map_err(refused)?;
    tracing::info!(%repo, by = %who.actor(), "a source was changed");
    match paused {
        Some(true) => api.backend.hold_sprints(Some(&repo)).await?,
        Some(false) => api.backend.go_on(Some(&repo)).await?,
        None => {}
    }
    Ok(Json(source.into()))
}

/// `DELETE /api/sources/{owner}/{name}`.
async fn remove(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
) -> Result<Json<SourceRemoved>, Refused> {
    who.must_be_person()?;
    let repo = named(path)?;
    let removed = api.backend.remove_source(&repo).await?;
    let removed = removed.map_err(|used| in_use(&used))?;
    tracing::info!(repo = %removed, by = %who.actor(), "a source was removed");
    Ok(Json(SourceRemoved { removed }))
}

/// `POST /api/sources/{owner}/{name}/sync`: 200 with what the reading came to, 202 while it is not done.
async fn sync(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
) -> Result<Response, Refused> {
    let repo = named(path)?;
    reach::must_reach(&api, &who, &repo).await?;
    let read = api.backend.sync_source(&repo, api.answer_within).await?;
    match read {
        Some(ReadingResult::Read { created, closed }) => {
            Ok(Json(IntakeResult { created, closed }).into_response())
        }
        Some(ReadingResult::Failed(why)) => {
            let why = presentable(&why, SHORT_CHARS_MAX);
            let detail = intake::unread(&repo, &why);
            let status = StatusCode::BAD_GATEWAY;
            Err(Refused::new(status, "issues_unread", &detail))
        }
        // It was paused meanwhile, or the reading is not done.
        Some(ReadingResult::Skipped) | None => Ok(outcome::later(Pending {
            ask_again: "/api/worker/status".to_owned(),
            sentence: "The issues have not been read yet; the worker's status will tell."
                .to_owned(),
            reasons: Vec::new(),
            effect: None,
        })),
    }
}

/// The repository that a path names.
fn named(path: Parts<(String, String)>) -> Result<RepoName, Refused> {
    let (owner, name) = body::parts(path)?;
    repo_name(&owner, &name)
}

/// The repository of this owner and name.
pub(crate) fn repo_name(owner: &str, name: &str) -> Result<RepoName, Refused> {
    let written = format!("{owner}/{name}");
    written.parse().map_err(|error| {
        let shown = presentable(&written, SHORT_CHARS_MAX);
        let detail = format!("`{shown}` is no repository: {error}");
        Refused::new(StatusCode::BAD_REQUEST, "bad_repo", &detail).about("repo")
    })
}

fn refused(odd: OddSource) -> Refused {
    let field = odd.field();
    let detail = format!("`{field}`: {odd}");
    Refused::new(StatusCode::BAD_REQUEST, "odd_settings", &detail).about(&field)
}

fn in_use(used: &SourceInUse) -> Refused {
    Refused::new(StatusCode::CONFLICT, "in_use", &used.sentence()).with_existing(&used.first.id())
}
