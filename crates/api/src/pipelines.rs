//! Runs of pipelines and requirements: begins them, lists them, shows them, and calls runs off.

pub(crate) mod requirements;
mod schedule;
mod view;

use std::fmt;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use client::wire::{
    CancelPipeline, PIPELINES_LIMIT, PIPELINES_LIMIT_MAX, PipelineView, PipelineWhy, Pipelines,
    StartPipeline,
};
use domain::ids::{InvalidId, PipelineId, RepoName};
use domain::layer::Layer;
use domain::pipeline::{ASK_CHARS_MAX, EntryPoint, OddAsk, Pipeline, PipelineAsk};
use domain::redact::presentable;
use domain::schedule::Schedule;
use engine::backend::Error;
use engine::pipelines::PipelineOrder;

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts, SHOWN_CHARS_MAX, Sent};
use crate::query::{self, QueryPairs};
use crate::reach;
use crate::refusal::Refused;
use crate::route::{ApiRow, Parameter, ParameterType, RequestBody, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};

/// What is about one repository.
const OF_REPO: Parameter = Parameter::query(
    "repo",
    ParameterType::Form("RepoName"),
    "The repository; it has to be given.",
);

/// What `GET /api/pipelines` takes.
const PIPELINES: [Parameter; 2] = [
    OF_REPO,
    Parameter::limit(PIPELINES_LIMIT_MAX, PIPELINES_LIMIT),
];

/// Runs of pipelines, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get(
        "/api/pipelines",
        "list_pipelines",
        "Lists the runs of a repository's pipeline, the newest first, and when the next ones begin by themselves",
        || get(list),
    )
    .takes(&PIPELINES)
    .answers(&[(200, ResponseBody::Json("Pipelines"))])
    .refuses(&[404]),
    Row::post(
        "/api/pipelines",
        "start_pipeline",
        "Begins a run of a repository's pipeline, or of one of its layers",
        || post(start),
    )
    .sends(RequestBody::Json("StartPipeline"))
    .answers(&[(202, ResponseBody::Json("PipelineView"))])
    .refuses(&[404, 409]),
    Row::get(
        "/api/pipelines/{pipeline}",
        "show_pipeline",
        "Shows a run of a pipeline with its steps and their agents",
        || get(show),
    )
    .answers(&[(200, ResponseBody::Json("PipelineView"))])
    .refuses(&[404]),
    Row::get(
        "/api/pipelines/{pipeline}/why",
        "why_pipeline",
        "Explains what a run of a pipeline waits for",
        || get(why),
    )
    .answers(&[(200, ResponseBody::Json("PipelineWhy"))])
    .refuses(&[404]),
    Row::post(
        "/api/pipelines/{pipeline}/cancel",
        "cancel_pipeline",
        "Cancels a run of a pipeline, with its jobs",
        || post(cancel),
    )
    .sends(RequestBody::MaybeJson("CancelPipeline"))
    .answers(&[(200, ResponseBody::Json("PipelineView"))])
    .refuses(&[404, 409]),
];

/// `POST /api/pipelines`.
async fn start(
    State(api): SharedState,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Response, Refused> {
    let wanted: StartPipeline = body::order(sent)?;
    reach::must_reach(&api, &who, &wanted.repo).await?;
    let repo = wanted.repo.clone();
    let order = order(wanted)?;
    if decides_implementation(&order) {
        reach::must_implement(&api, &who, &repo).await?;
    }
    let by = who.actor().to_string();
    let run = match api.backend.start_pipeline(&repo, &order, &by).await {
        Ok(run) => run,
        Err(error) => return Err(not_begun(&api, &repo, error).await?),
    };
    tracing::info!(pipeline.id = %run.id, %repo, %by, "a run of a pipeline was begun");
    let address = [(LOCATION, format!("/api/pipelines/{}", run.id))];
    Ok((StatusCode::ACCEPTED, address, Json(view::run(&run))).into_response())
}

/// `GET /api/pipelines`.
async fn list(State(api): SharedState, asked: QueryPairs) -> Result<Json<Pipelines>, Refused> {
    let (mut repo, mut limit) = (None, PIPELINES_LIMIT);
    for (name, value) in query::pairs(asked)? {
        match name.as_str() {
            "repo" => repo = Some(named_repo(&value)?),
            "limit" => limit = query::number(&name, &value, 1..=PIPELINES_LIMIT_MAX)?,
            _ => return Err(query::unknown(&name, "there are `repo` and `limit`")),
        }
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let repo = must_repo(repo)?;
    let runs = api.backend.pipelines(&repo, limit).await?;
    let known = api.backend.store.get::<Schedule>(&repo).await?;
    Ok(Json(Pipelines {
        pipelines: runs.iter().map(view::run).collect(),
        schedule: known.map(|found| schedule::view(&found.value)),
    }))
}

/// `GET /api/pipelines/{pipeline}`.
async fn show(State(api): SharedState, path: Parts<String>) -> Result<Json<PipelineView>, Refused> {
    let run = api.backend.must::<Pipeline>(&named(path)?).await?;
    Ok(Json(with_sessions(&api, view::run(&run.value)).await?))
}

/// `GET /api/pipelines/{pipeline}/why`.
async fn why(State(api): SharedState, path: Parts<String>) -> Result<Json<PipelineWhy>, Refused> {
    let why = Box::pin(api.backend.pipeline_why(&named(path)?)).await?;
    Ok(Json(view::why(&why)))
}

/// `POST /api/pipelines/{pipeline}/cancel`.
async fn cancel(
    State(api): SharedState,
    path: Parts<String>,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<PipelineView>, Refused> {
    let CancelPipeline {} = body::maybe_order(sent)?;
    let id = named(path)?;
    let repo = api.backend.must::<Pipeline>(&id).await?.value.repo;
    reach::must_reach(&api, &who, &repo).await?;
    let by = who.actor().to_string();
    let run = api.backend.cancel_pipeline(&id, &by).await?;
    tracing::info!(pipeline.id = %id, %by, "a run of a pipeline was cancelled");
    Ok(Json(with_sessions(&api, view::run(&run)).await?))
}

/// One run with the sessions of its agents. A list goes without them: each is in the record of its job.
async fn with_sessions(api: &ApiInner, mut run: PipelineView) -> Result<PipelineView, Refused> {
    for member in run.steps.iter_mut().flat_map(|step| &mut step.members) {
        if let Some(id) = &member.job_id {
            let job = api.backend.store.job(id).await?;
            member.session_id = job.and_then(|job| job.value.session().cloned());
        }
    }
    Ok(run)
}

/// What a run is asked to do.
fn order(wanted: StartPipeline) -> Result<PipelineOrder, Refused> {
    for (field, text) in [
        ("requirement", &wanted.requirement),
        ("task", &wanted.task),
        ("clean_requirement", &wanted.clean_requirement),
    ] {
        text.as_deref().map_or(Ok(()), |text| fits(field, text))?;
    }
    let from = wanted.from.as_deref().map(str::parse::<EntryPoint>);
    let from = from
        .transpose()
        .map_err(|error| unknown("from", "unknown_step", &error))?;
    let layer = wanted.layer.as_deref().map(str::parse::<Layer>);
    let layer = layer
        .transpose()
        .map_err(|error| unknown("layer", "unknown_layer", &error))?;
    let ask = PipelineAsk {
        layer,
        role: wanted.role,
        stream: wanted.stream,
        requirement: wanted.requirement,
        task: wanted.task,
        mock: wanted.mock,
        keep_files: wanted.keep_files,
    };
    let is_of_layer = ask != PipelineAsk::default();
    let is_alone = from.is_none() && !is_of_layer;
    match (wanted.clean, wanted.clean_requirement) {
        (None, None) => {}
        (Some(tag), None) if is_alone => return Ok(PipelineOrder::Clean(tag)),
        (None, Some(path)) if is_alone => return Ok(PipelineOrder::Remove(path)),
        (Some(_), _) => return Err(not_alone("clean", "a trial run")),
        (None, Some(_)) => return Err(not_alone("clean_requirement", "a requirement")),
    }
    match (from, layer) {
        (Some(_), _) if is_of_layer => {
            let detail = "`from` begins the whole pipeline, so nothing else can be chosen: leave it out to run one layer";
            Err(Refused::field("from", "from_and_layer", detail))
        }
        (None, None) if is_of_layer => {
            let detail = "`layer` has to say which layer the role, the stream, the requirement, the task, the trial run or the files that stay are for";
            Err(Refused::field("layer", "missing_field", detail))
        }
        (None, Some(_)) => {
            ask.check().map_err(|odd| refused_ask(&odd))?;
            Ok(PipelineOrder::Only(ask))
        }
        (from, _) => Ok(PipelineOrder::From(from.unwrap_or_default())),
    }
}

/// Whether an order has a requirement implemented, or keeps people from that.
fn decides_implementation(order: &PipelineOrder) -> bool {
    match order {
        PipelineOrder::Only(ask) => ask.implements(),
        PipelineOrder::Remove(_) => true,
        PipelineOrder::From(_) | PipelineOrder::Clean(_) => false,
    }
}

/// Refuses a removal that is asked for together with something else.
fn not_alone(field: &str, what: &str) -> Refused {
    let detail =
        format!("`{field}` removes {what} and does nothing else: leave the other fields out");
    Refused::field(field, "clean_alone", &detail)
}

fn refused_ask(odd: &OddAsk) -> Refused {
    let field = match odd {
        OddAsk::Role(_) => "role",
        OddAsk::Stream(_) => "stream",
        OddAsk::Requirement(_) | OddAsk::NoRequirement => "requirement",
        OddAsk::KeepFiles(_) => "keep_files",
    };
    Refused::field(field, "bad_field", &format!("`{field}`: {odd}"))
}

/// Refuses a text that is blank or too long.
fn fits(field: &str, text: &str) -> Result<(), Refused> {
    let long = text.chars().count();
    if text.trim().is_empty() || long > ASK_CHARS_MAX {
        let detail = format!(
            "`{field}` has {long} characters: it takes 1 to {ASK_CHARS_MAX}, and not only spaces"
        );
        return Err(Refused::field(field, "bad_field", &detail));
    }
    Ok(())
}

fn unknown(field: &str, code: &str, error: &dyn fmt::Display) -> Refused {
    let detail = format!("`{field}`: {error}");
    Refused::new(StatusCode::BAD_REQUEST, code, &detail).about(field)
}

/// Why a run is not begun, with the one that runs already.
async fn not_begun(api: &ApiInner, repo: &RepoName, error: Error) -> Result<Refused, Refused> {
    let is_taken = matches!(&error, Error::NotNow(refused) if refused.code == "already_running");
    let running = match is_taken {
        true => api.backend.running_pipeline(repo).await?,
        false => None,
    };
    let refused = Refused::from(error);
    Ok(match running {
        Some(run) => refused.with_existing(run.id.as_str()),
        None => refused,
    })
}

/// The run that a path names.
fn named(path: Parts<String>) -> Result<PipelineId, Refused> {
    let name = body::parts(path)?;
    Ok(name.parse().map_err(|_| no_such("pipeline", &name))?)
}

/// A name that nothing can have names nothing.
fn no_such(what: &'static str, name: &str) -> Error {
    Error::NoSuch {
        what,
        name: presentable(name, SHOWN_CHARS_MAX),
    }
}

fn named_repo(value: &str) -> Result<RepoName, Refused> {
    value
        .parse()
        .map_err(|error: InvalidId| query::bad("repo", &error))
}

fn must_repo(repo: Option<RepoName>) -> Result<RepoName, Refused> {
    repo.ok_or_else(|| {
        query::bad(
            "repo",
            &"it has to name the repository, as `repo=owner/name`",
        )
    })
}
