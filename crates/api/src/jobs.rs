//! Creates jobs and shows them.

use std::fmt;

use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use client::wire::{
    Constraints, CreateJob, Events, InvalidConstraint, JOBS_LIMIT, JOBS_LIMIT_MAX, Jobs, Pulls, Why,
};
use domain::advice::Advice;
use domain::ids::{InvalidId, PullRef, RepoName};
use domain::job::Job;
use domain::redact::presentable;
use domain::{outgoing_text, wake};
use engine::backend::Error;
use engine::job_state::STATES;
use engine::jobs::{IdempotencyKey, InvalidJobsCursor, JobQuery, JobsCursor, Order};
use engine::settings::TrackedPull;
use engine::waits::Waits;
use sha2::{Digest, Sha256};

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts, SHOWN_CHARS_MAX, Sent};
use crate::refusal::Refused;
use crate::route::{ApiRow, KEY, Parameter, ParameterType, RequestBody, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};
use crate::{query, reach, view};

/// What `GET /jobs` takes.
const JOBS: [Parameter; 4] = [
    Parameter::query(
        "repo",
        ParameterType::Form("RepoName"),
        "Only jobs of this repository.",
    ),
    Parameter::query(
        "state",
        ParameterType::States,
        "Only jobs in one of these states, with commas between them.",
    ),
    Parameter::limit(JOBS_LIMIT_MAX, JOBS_LIMIT),
    Parameter::query(
        "cursor",
        ParameterType::Cursor,
        "Goes on where an earlier answer ended: its `next_cursor`.",
    ),
];

/// What `GET /pulls` takes.
const PULLS: [Parameter; 1] = [Parameter::query(
    "repo",
    ParameterType::Form("RepoName"),
    "Only pull requests of this repository.",
)];

/// Jobs and their pull requests, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get("/jobs", "list_jobs", "Lists jobs, the newest first", || {
        get(list)
    })
    .takes(&JOBS)
    .answers(&[(200, ResponseBody::Json("Jobs"))])
    .refuses(&[404]),
    Row::post(
        "/jobs",
        "create_job",
        "Hands a piece of work to Jules",
        || post(create),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("CreateJob"))
    .answers(&[(201, ResponseBody::Json("JobView"))])
    .refuses(&[409]),
    Row::get(
        "/jobs/{job}/why",
        "why_job",
        "Explains why a job does not move",
        || get(why),
    )
    .answers(&[(200, ResponseBody::Json("Why"))])
    .refuses(&[404]),
    Row::get(
        "/jobs/{job}/events",
        "job_events",
        "Lists a job's events",
        || get(events),
    )
    .answers(&[(200, ResponseBody::Json("Events"))])
    .refuses(&[404]),
    Row::get(
        "/pulls",
        "list_pulls",
        "Lists open pull requests of jobs, the oldest first; one that was closed stays for ten minutes",
        || get(pulls),
    )
    .takes(&PULLS)
    .answers(&[(200, ResponseBody::Json("Pulls"))])
    .refuses(&[404]),
    Row::get(
        "/pulls/{owner}/{name}/{number}/why",
        "why_pull",
        "Explains why a pull request is not merged, or not even read",
        || get(pull_why),
    )
    .answers(&[(200, ResponseBody::Json("Why"))])
    .refuses(&[404]),
];

/// `POST /jobs`.
async fn create(
    State(api): SharedState,
    Extension(who): Extension<AuthenticatedCaller>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response, Refused> {
    let key = body::idempotency_key(&headers)?;
    let wanted: CreateJob = body::order(sent)?;
    reach::must_reach(&api, &who, &wanted.repo).await?;
    let once = key.map(|key| once(key, &wanted));
    let order = order(wanted)?;
    let by = who.who(None);
    let by = Some(by.as_str());
    let created = match once {
        Some(once) => api.backend.create_job_once(order, &once, by).await,
        None => api.backend.create_job_by(order, by).await,
    };
    let job = created.map_err(not_created)?;
    let address = [(LOCATION, format!("/jobs/{}", job.id))];
    Ok((
        StatusCode::CREATED,
        address,
        Json(view::job_view(&api, &job).await?),
    )
        .into_response())
}

/// The order, with its constraints in their fields.
fn order(wanted: CreateJob) -> Result<Order, Refused> {
    let constraints = wanted.constraints.as_ref().map(Constraints::understood);
    let asked = constraints.transpose().map_err(odd)?.unwrap_or_default();
    Ok(Order {
        repo: wanted.repo,
        branch: wanted.branch,
        prompt: outgoing_text::with_constraints(&wanted.prompt, &asked.lines),
        title: asked.title.or(wanted.title),
        agent: wanted.agent,
        resume: wanted.resume,
        priority: asked.priority.or(wanted.priority),
        terms: asked.terms,
    })
}

fn odd(InvalidConstraint { field, wrong }: InvalidConstraint) -> Refused {
    Refused::field(&field, "bad_field", &format!("`{field}`: {wrong}"))
}

/// Digests of a name and of its order, independent of spacing and field order.
fn once(key: &str, wanted: &CreateJob) -> IdempotencyKey {
    // Plain fields with text keys always serialize; should they not, every order under this name counts as the same.
    let order = serde_json::to_vec(wanted).unwrap_or_default();
    IdempotencyKey {
        name: hex::encode(Sha256::digest(format!("jobs:{key}"))),
        order: hex::encode(Sha256::digest(order)),
    }
}

/// A source or agent that does not exist is a wrong field here, not a wrong address.
pub(crate) fn not_created(error: Error) -> Refused {
    let (field, next) = match &error {
        Error::NoSuch {
            what: "source",
            name,
        } => ("repo", Advice::AddSource.about(name)),
        Error::NoSuch {
            what: "agent",
            name,
        } => ("agent", Advice::AddAgent.about(name)),
        Error::NoSuch { .. }
        | Error::NotNow(_)
        | Error::Transition(_)
        | Error::Records(_)
        | Error::Commit(_)
        | Error::Queue(_)
        | Error::Outside(_) => return error.into(),
    };
    let detail = format!("`{field}`: {error}");
    Refused::field(field, "unknown_name", &detail).advising(&[next])
}

/// `GET /jobs`.
async fn list(State(api): SharedState, query: query::QueryPairs) -> Result<Json<Jobs>, Refused> {
    let JobFilter {
        asked,
        after,
        limit,
    } = list_query(query)?;
    let listed = api.backend.list_jobs(&asked, after.as_ref(), limit).await?;
    let mut jobs = Vec::with_capacity(listed.jobs.len());
    let mut waits = Waits::new(&api.backend);
    for job in &listed.jobs {
        jobs.push(view::among(&mut waits, job).await?);
    }
    Ok(Json(Jobs {
        jobs,
        more: listed.next.is_some(),
        next_cursor: listed.next.map(|next| next.to_string()),
    }))
}

/// Which jobs are wanted.
struct JobFilter {
    asked: JobQuery,
    after: Option<JobsCursor>,
    limit: usize,
}

fn list_query(query: query::QueryPairs) -> Result<JobFilter, Refused> {
    let mut asked = JobQuery::default();
    let (mut after, mut limit) = (None, JOBS_LIMIT);
    for (name, value) in query::pairs(query)? {
        let wrong = |error: &dyn fmt::Display| query::bad(&name, error);
        match name.as_str() {
            "repo" => asked.repo = Some(value.parse().map_err(|error: InvalidId| wrong(&error))?),
            "state" => asked.states = states_of(&value)?,
            "cursor" => {
                after = Some(
                    value
                        .parse()
                        .map_err(|error: InvalidJobsCursor| wrong(&error))?,
                );
            }
            "limit" => limit = query::number(&name, &value, 1..=JOBS_LIMIT_MAX)?,
            _ => {
                let known = "there are `repo`, `state`, `limit` and `cursor`";
                return Err(query::unknown(&name, known));
            }
        }
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(JobFilter {
        asked,
        after,
        limit,
    })
}

/// Parses states separated by commas.
fn states_of(value: &str) -> Result<Vec<&'static str>, Refused> {
    let state = |word: &str| {
        let known = STATES.into_iter().find(|state| *state == word);
        known.ok_or_else(|| {
            let word = presentable(word, SHOWN_CHARS_MAX);
            let wrong = format!("`{word}` is no state; there are {}", STATES.join(", "));
            query::bad("state", &wrong)
        })
    };
    value.split(',').map(state).collect()
}

/// `GET /pulls`.
async fn pulls(State(api): SharedState, query: query::QueryPairs) -> Result<Json<Pulls>, Refused> {
    let repo = query::one(query, "repo")?;
    let repo: Option<RepoName> = repo
        .map(|repo| repo.parse())
        .transpose()
        .map_err(|error: InvalidId| query::bad("repo", &error))?;
    let open = api.backend.store.open_pulls().await?;
    let open = open.iter().map(|found| &found.value);
    let is_of = |it: &&TrackedPull| repo.as_ref().is_none_or(|repo| it.pull.pull.repo == *repo);
    let now = api.backend.now();
    let mut pulls: Vec<_> = open
        .filter(is_of)
        .map(|tracked| view::pull(tracked, now))
        .collect();
    pulls.sort_by(|a, b| (a.since, &a.pull_request).cmp(&(b.since, &b.pull_request)));
    if let Some(repo) = &repo {
        api.backend.must_be_known(repo, pulls.is_empty()).await?;
    }
    Ok(Json(Pulls { pulls }))
}

/// A job that a path names by its id or by a session of its.
pub(crate) async fn named(api: &ApiInner, path: Parts<String>) -> Result<Job, Refused> {
    let named = api.backend.find(&body::parts(path)?).await?;
    Ok(api.backend.must_job(&named.job).await?.value)
}

/// `GET /jobs/{id}/why`.
async fn why(State(api): SharedState, path: Parts<String>) -> Result<Json<Why>, Refused> {
    let job = named(&api, path).await?;
    Ok(Json(view::why(api.backend.why(&job.id).await?)))
}

/// `GET /pulls/{owner}/{name}/{number}/why`.
async fn pull_why(
    State(api): SharedState,
    path: Parts<(String, String, String)>,
) -> Result<Json<Why>, Refused> {
    let (owner, name, number) = body::parts(path)?;
    let written = format!("{owner}/{name}#{number}");
    let pull: PullRef = written.parse().map_err(|error| {
        let shown = presentable(&written, 80);
        let detail = format!("`{shown}` is no pull request: {error}");
        Refused::new(StatusCode::BAD_REQUEST, "bad_pull", &detail).about("pull")
    })?;
    Ok(Json(view::why(api.backend.pull_why(&pull).await?)))
}

/// `GET /jobs/{id}/events`.
async fn events(State(api): SharedState, path: Parts<String>) -> Result<Json<Events>, Refused> {
    let job = named(&api, path).await?;
    let events = api.backend.store.events(&job.id).await?;
    let repo = job.repo.to_string();
    let events = events
        .iter()
        .map(|event| wake::message(event, Some(&repo)))
        .collect();
    Ok(Json(Events {
        job_id: job.id,
        events,
    }))
}
