//! Sources, accounts, workers and wakes. What no route tells, such as whole wakes, is read from the store.

use axum::extract::State;
use axum::response::Response;
use dashboard::{DeadLetter, PipelineStates, RequirementStatus, Wakes};
use domain::redact::presentable;
use domain::schedule::Schedule;
use domain::status::Status;
use domain::wake::Wake;
use engine::backend::Error;
use engine::dead_letters::{self, DeadLetterQueue, DeadLetterView};

use super::answer::Asked;
use super::inside::Rooms;
use super::live::{self, NoPage};
use crate::refusal::Refused;
use crate::state::{ApiInner, SharedState};
use crate::workers::source_states;

/// How many wakes are shown.
const WAKES: usize = 100;

/// How many dead letters are shown.
const LETTERS: usize = 20;

/// Longest part of a dead letter that is shown, in characters: our own messages have a few hundred.
const LETTER_CHARS_MAX: usize = 400;

/// How many runs of a pipeline are shown.
const RUNS: usize = 5;

/// How many requirements of a source are shown.
const REQUIREMENTS: usize = 30;

/// `GET /dashboard/pipelines`.
pub(crate) async fn pipelines(State(api): SharedState, asked: Asked) -> Response {
    live::answer(&api, &asked, |_, frame| {
        let api = api.clone();
        async move { Ok(dashboard::pipelines(&frame, &pipeline_states(&api).await?)?) }
    })
    .await
}

/// The pipelines of the sources that have one, or had one.
async fn pipeline_states(api: &ApiInner) -> Result<Vec<PipelineStates>, Refused> {
    let mut states = Vec::new();
    for found in api.backend.store.sources().await? {
        let repo = &found.value.repo;
        let runs = api.backend.pipelines(repo, RUNS).await?;
        if found.value.pipeline.is_none() && runs.is_empty() {
            continue;
        }
        let mut requirements = Vec::new();
        for requirement in api
            .backend
            .requirements(repo)
            .await?
            .into_iter()
            .take(REQUIREMENTS)
        {
            let at_work = api.backend.job_of_requirement(&requirement).await?;
            requirements.push(RequirementStatus {
                requirement,
                at_work,
            });
        }
        let schedule = match &found.value.pipeline {
            Some(_) => api.backend.store.get::<Schedule>(repo).await?,
            None => None,
        };
        states.push(PipelineStates {
            schedule: schedule.map(|found| found.value),
            source: found.value,
            runs,
            requirements,
        });
    }
    Ok(states)
}

/// `GET /dashboard/sources`.
pub(crate) async fn sources(State(api): SharedState, asked: Asked) -> Response {
    live::answer(&api, &asked, |_, frame| {
        let api = api.clone();
        async move { Ok(dashboard::sources(&frame, &source_states(&api).await?)?) }
    })
    .await
}

/// `GET /dashboard/accounts`.
pub(crate) async fn accounts(State(api): SharedState, rooms: Rooms, asked: Asked) -> Response {
    live::answer(&api, &asked, |session, frame| {
        let inside = rooms.0.clone();
        async move {
            let status: Status = inside.get(&session.caller, "/status").await?;
            Ok(dashboard::accounts(&frame, &status)?)
        }
    })
    .await
}

/// `GET /dashboard/workers`.
pub(crate) async fn workers(State(api): SharedState, rooms: Rooms, asked: Asked) -> Response {
    live::answer(&api, &asked, |session, frame| {
        let (api, inside) = (api.clone(), rooms.0.clone());
        async move {
            let status: Status = inside.get(&session.caller, "/status").await?;
            let states = source_states(&api).await?;
            Ok(dashboard::workers(&frame, &status, &states)?)
        }
    })
    .await
}

/// `GET /dashboard/wakes`.
pub(crate) async fn wakes(State(api): SharedState, rooms: Rooms, asked: Asked) -> Response {
    live::answer(&api, &asked, |session, frame| {
        let (api, inside) = (api.clone(), rooms.0.clone());
        async move {
            let status: Status = inside.get(&session.caller, "/status").await?;
            let wakes = newest(&api).await?;
            let letters = letters(&api).await?;
            let page = Wakes {
                is_cut: wakes.len() > WAKES,
                wakes: wakes.get(..WAKES).unwrap_or(&wakes),
                dead: status.queue.dead,
                letters: &letters,
            };
            Ok::<_, NoPage>(dashboard::wakes(&frame, page)?)
        }
    })
    .await
}

/// The wakes of all agents, the newest first.
async fn newest(api: &ApiInner) -> Result<Vec<Wake>, Refused> {
    let store = &api.backend.store;
    let mut wakes = Vec::new();
    for agent in store.agents().await? {
        let found = store.wakes(&agent.value.name).await?;
        wakes.extend(found.into_iter().map(|found| found.value));
    }
    wakes.sort_by_key(|wake| std::cmp::Reverse(wake.event.observed_at));
    Ok(wakes)
}

/// The newest dead letters; none where a look would hide them from others.
async fn letters(api: &ApiInner) -> Result<Vec<DeadLetter>, Refused> {
    let Some(dead) = &api.dead else {
        return Ok(Vec::new());
    };
    let found = dead_letters::letters(dead.as_ref(), DeadLetterQueue::Work).await;
    let found = found.map_err(Error::Queue)?;
    Ok(found.into_iter().rev().take(LETTERS).map(letter).collect())
}

fn letter(letter: DeadLetterView) -> DeadLetter {
    DeadLetter {
        body: presentable(&letter.body, LETTER_CHARS_MAX),
        id: letter.id,
        sent_at: letter.sent_at,
        died_at: letter.died_at,
        is_malformed: letter.malformed,
    }
}
