//! Sprints: plans and starts them, lists, shows and explains them, and takes orders about them.

mod view;

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Json};
use client::wire::{
    IntegrateSprint, OrderSprint, SPRINTS_LIMIT, SPRINTS_LIMIT_MAX, SprintView, SprintWhy, Sprints,
    StartSprint,
};
use domain::ids::{RepoName, SprintNumber};
use domain::redact::presentable;
use domain::sprint::Sprint;
use engine::backend::Error;
use engine::jobs::IdempotencyKey;
use engine::sprints::SprintOrder;
use sha2::{Digest, Sha256};

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts, SHOWN_CHARS_MAX, Sent};
use crate::query::{self, QueryPairs};
use crate::refusal::Refused;
use crate::route::{ApiRow, KEY, Parameter, RequestBody, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};
use crate::{reach, sources};

/// One sprint. Orders about it with a colon are posted there.
pub(crate) const ONE: &str = "/api/sprints/{owner}/{name}/{sprint}";

/// What answers a sprint as it is then.
const SPRINT: &[(u16, ResponseBody)] = &[(200, ResponseBody::Json("SprintView"))];

/// What `GET /api/sprints/{owner}/{name}` takes.
const SPRINTS: [Parameter; 1] = [Parameter::limit(SPRINTS_LIMIT_MAX, SPRINTS_LIMIT)];

/// Sprints, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get(
        "/api/sprints/{owner}/{name}",
        "list_sprints",
        "Lists the sprints of a repository, the newest first",
        || get(list),
    )
    .takes(&SPRINTS)
    .answers(&[(200, ResponseBody::Json("Sprints"))])
    .refuses(&[404]),
    Row::post(
        "/api/sprints/{owner}/{name}",
        "start_sprint",
        "Starts a sprint of a repository, or with `dry_run` tells what it would be",
        || post(start),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("StartSprint"))
    .answers(&[
        (200, ResponseBody::Json("SprintPlanView")),
        (202, ResponseBody::Json("SprintView")),
    ])
    .refuses(&[404, 409]),
    Row::get(
        ONE,
        "show_sprint",
        "Shows a sprint with its members and what came of its weaves; `latest` is the newest",
        || get(show),
    )
    .answers(SPRINT)
    .refuses(&[404]),
    Row::get(
        "/api/sprints/{owner}/{name}/{sprint}/why",
        "why_sprint",
        "Explains what a sprint and each of its members wait for",
        || get(why),
    )
    .answers(&[(200, ResponseBody::Json("SprintWhy"))])
    .refuses(&[404]),
    Row::post(
        "/api/sprints/{owner}/{name}/{sprint}/tick",
        "tick_sprint",
        "Has a sprint looked at now",
        || ordered(SprintVerb::Tick),
    )
    .also_at("/api/sprints/{owner}/{name}/{sprint}:tick")
    .sends(RequestBody::MaybeJson("OrderSprint"))
    .answers(SPRINT)
    .refuses(&[404, 409]),
    Row::post(
        "/api/sprints/{owner}/{name}/{sprint}/integrate",
        "integrate_sprint",
        "Has what the members made woven, with `now` also while some of them work",
        || ordered(SprintVerb::Integrate),
    )
    .also_at("/api/sprints/{owner}/{name}/{sprint}:integrate")
    .sends(RequestBody::MaybeJson("IntegrateSprint"))
    .answers(SPRINT)
    .refuses(&[404, 409]),
    Row::post(
        "/api/sprints/{owner}/{name}/{sprint}/abort",
        "abort_sprint",
        "Aborts a sprint with its jobs; branches and pull requests stay",
        || ordered(SprintVerb::Abort),
    )
    .also_at("/api/sprints/{owner}/{name}/{sprint}:abort")
    .sends(RequestBody::MaybeJson("OrderSprint"))
    .answers(SPRINT)
    .refuses(&[404, 409]),
];

/// What stands for the newest sprint.
const LATEST: &str = "latest";

/// Owner, name and sprint in a path.
type SprintPath = Parts<(String, String, String)>;

/// The sprint that a path names; none is the newest.
type Named = (RepoName, Option<SprintNumber>);

/// `POST /api/sprints/{owner}/{name}`.
async fn start(
    State(api): SharedState,
    path: Parts<(String, String)>,
    Extension(who): Extension<AuthenticatedCaller>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Refused> {
    let key = body::idempotency_key(&headers)?;
    let StartSprint {
        number,
        personas,
        dry_run,
    } = body::maybe_order(sent)?;
    let (owner, name) = body::parts(path)?;
    let repo = sources::repo_name(&owner, &name)?;
    reach::must_reach(&api, &who, &repo).await?;
    let order = SprintOrder {
        repo,
        number,
        personas,
    };
    if dry_run {
        let plan = api.backend.plan_sprint(&order, api.answer_within).await;
        return Ok(match plan {
            Ok(plan) => Json(view::plan(&plan)).into_response(),
            Err(error) => return Err(not_started(&api, &order.repo, error).await?),
        });
    }
    let by = who.actor().to_string();
    let (backend, within) = (&api.backend, api.answer_within);
    let started = match key.map(|key| once(key, &order)) {
        Some(once) => backend.start_sprint_once(&order, &once, within, &by).await,
        None => backend.start_sprint(&order, within, &by).await,
    };
    let started = match started {
        Ok(started) => started,
        Err(error) => return Err(not_started(&api, &order.repo, error).await?),
    };
    let (repo, number) = (&started.sprint.repo, started.sprint.number);
    tracing::info!(sprint.number = %number, %repo, %by, "a sprint was started");
    let address = [(LOCATION, format!("/api/sprints/{repo}/{number}"))];
    let shown = Json(view::started(&started));
    Ok((StatusCode::ACCEPTED, address, shown).into_response())
}

/// Digests of a name and of what is started under it.
fn once(key: &str, order: &SprintOrder) -> IdempotencyKey {
    let SprintOrder {
        repo,
        number,
        personas,
    } = order;
    // Plain fields always serialize; should they not, everything under this name counts as the same.
    let order = serde_json::to_vec(&(repo, number, personas)).unwrap_or_default();
    IdempotencyKey {
        name: hex::encode(Sha256::digest(format!("sprints:{key}"))),
        order: hex::encode(Sha256::digest(order)),
    }
}

/// Why a sprint is not started, with the one that is under way.
async fn not_started(api: &ApiInner, repo: &RepoName, error: Error) -> Result<Refused, Refused> {
    let is_taken = matches!(&error, Error::NotNow(refused) if refused.code == "already_running");
    let refused = Refused::from(error);
    if !is_taken {
        return Ok(refused);
    }
    let running = api.backend.must_sprint(repo, None).await?.value;
    Ok(refused.with_existing(&running.number.to_string()))
}

/// `GET /api/sprints/{owner}/{name}`.
async fn list(
    State(api): SharedState,
    path: Parts<(String, String)>,
    asked: QueryPairs,
) -> Result<Json<Sprints>, Refused> {
    let limit = query::one(asked, "limit")?;
    let limit = limit.map_or(Ok(SPRINTS_LIMIT), |value| {
        query::number("limit", &value, 1..=SPRINTS_LIMIT_MAX)
    })?;
    let (owner, name) = body::parts(path)?;
    let repo = sources::repo_name(&owner, &name)?;
    sources::must_source(&api, &repo).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let sprints = api.backend.sprints(&repo, limit).await?;
    let sprints = sprints.iter().map(view::sprint).collect();
    Ok(Json(Sprints { sprints }))
}

/// `GET /api/sprints/{owner}/{name}/{sprint}`.
async fn show(State(api): SharedState, path: SprintPath) -> Result<Json<SprintView>, Refused> {
    let (repo, number) = named(path)?;
    let found = api.backend.must_sprint(&repo, number).await?.value;
    let reports = api.backend.sprint_weaves(&found).await?;
    let pulls = api.backend.sprint_pulls(&found).await?;
    Ok(Json(view::whole(&found, &reports, &pulls)))
}

/// `GET …/why`.
async fn why(State(api): SharedState, path: SprintPath) -> Result<Json<SprintWhy>, Refused> {
    let (repo, number) = named(path)?;
    let why = Box::pin(api.backend.sprint_why(&repo, number)).await?;
    Ok(Json(view::why(&why)))
}

/// What serves an order: `POST …/tick`, `…/integrate` or `…/abort`.
fn ordered(verb: SprintVerb) -> MethodRouter<Arc<ApiInner>> {
    post(move |api, path, who, sent| carry_out(verb, api, path, who, sent))
}

/// `POST /api/sprints/{owner}/{name}/{sprint}:{verb}`.
pub(crate) async fn by_colon(
    api: SharedState,
    path: SprintPath,
    who: Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<SprintView>, Refused> {
    let (owner, name, order) = body::parts(path)?;
    let Some((sprint, word)) = order.rsplit_once(':') else {
        return Err(no_such_verb(&order));
    };
    let verb = SprintVerb::parse(word)?;
    let path = Ok(axum::extract::Path((owner, name, sprint.to_owned())));
    carry_out(verb, api, path, who, sent).await
}

/// What can be ordered of a sprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SprintVerb {
    /// Have it looked at.
    Tick,
    /// Have what there is woven.
    Integrate,
    /// Call it off.
    Abort,
}

impl SprintVerb {
    fn parse(word: &str) -> Result<Self, Refused> {
        match word {
            "tick" => Ok(Self::Tick),
            "integrate" => Ok(Self::Integrate),
            "abort" => Ok(Self::Abort),
            other => Err(no_such_verb(other)),
        }
    }
}

fn no_such_verb(word: &str) -> Refused {
    let word = presentable(word, SHOWN_CHARS_MAX);
    let detail = format!("`{word}` is no order about a sprint; there are tick, integrate, abort");
    Refused::new(StatusCode::NOT_FOUND, "no_such_verb", &detail)
}

async fn carry_out(
    verb: SprintVerb,
    State(api): SharedState,
    path: SprintPath,
    Extension(who): Extension<AuthenticatedCaller>,
    sent: Sent,
) -> Result<Json<SprintView>, Refused> {
    let is_now = match verb {
        SprintVerb::Integrate => body::maybe_order::<IntegrateSprint>(sent)?.now,
        SprintVerb::Tick | SprintVerb::Abort => {
            let OrderSprint {} = body::maybe_order(sent)?;
            false
        }
    };
    let (repo, number) = named(path)?;
    reach::must_reach(&api, &who, &repo).await?;
    let by = who.actor().to_string();
    let sprint: Sprint = match verb {
        SprintVerb::Tick => api.backend.tick_sprint(&repo, number).await?,
        SprintVerb::Integrate => api.backend.integrate_sprint(&repo, number, is_now).await?,
        SprintVerb::Abort => api.backend.abort_sprint(&repo, number, &by).await?,
    };
    tracing::info!(sprint.number = %sprint.number, %repo, %by, ?verb, "a sprint got an order");
    Ok(Json(view::sprint(&sprint)))
}

/// A number that no sprint can have names none, as one that none has.
fn named(path: SprintPath) -> Result<Named, Refused> {
    let (owner, name, sprint) = body::parts(path)?;
    let repo = sources::repo_name(&owner, &name)?;
    if sprint == LATEST {
        return Ok((repo, None));
    }
    let no_such = |_| Error::NoSuch {
        what: "sprint",
        name: presentable(&sprint, SHOWN_CHARS_MAX),
    };
    Ok((repo, Some(sprint.parse().map_err(no_such)?)))
}
