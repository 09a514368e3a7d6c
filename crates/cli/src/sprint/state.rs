//! `gaffer sprint state`: the file `.jules/cycle_state.json`, for schedulers and scripts that read it.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use client::Client;
use client::wire::{JobView, SprintView};
use domain::ids::{PersonaName, SessionId};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::args::sprint::OneSprint;
use crate::render::{Answer, value};
use crate::scaffold::must_be_inside;

/// The file, below the present folder.
const FILE: &str = ".jules/cycle_state.json";

/// How far a sprint is, in the names of that file.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct CycleState {
    last_persona_id: Option<PersonaName>,
    last_persona_index: Option<usize>,
    last_session_id: Option<SessionId>,
    last_pr_number: Option<u64>,
    updated_at: Timestamp,
    history: Vec<Turn>,
}

/// One persona whose job was made, in the order in which they were.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Turn {
    persona_id: PersonaName,
    session_id: Option<SessionId>,
    pr_number: Option<u64>,
    created_at: Timestamp,
}

/// Reads a sprint and its jobs, and writes the file.
pub(super) async fn write(client: &Client, one: &OneSprint) -> Result<Answer> {
    must_be_inside(Path::new(""), FILE)?;
    let sprint = client.sprint(&one.repo, one.number).await?;
    let jobs = jobs(client, &sprint).await?;
    let state = state(&sprint, &jobs);
    let mut text = serde_json::to_string_pretty(&state).context("writing JSON")?;
    text.push('\n');
    replace(Path::new(FILE), &text)?;
    let told = json!({ "file": FILE, "sprint": sprint.number, "cycle_state": value(&state) });
    let line = format!("Wrote sprint {} of {} to {FILE}.", sprint.number, one.repo);
    Ok(Answer::new(told).line(line))
}

/// The jobs of its members; none of a member whose job is not made yet.
async fn jobs(client: &Client, sprint: &SprintView) -> Result<Vec<Option<JobView>>> {
    let mut jobs = Vec::new();
    for member in &sprint.members {
        jobs.push(match client.job(member.job_id.as_str()).await {
            Ok(job) => Some(job),
            Err(client::Error::Problem(problem)) if problem.status == 404 => None,
            Err(error) => return Err(error).context("reading the jobs of its members"),
        });
    }
    Ok(jobs)
}

fn state(sprint: &SprintView, jobs: &[Option<JobView>]) -> CycleState {
    let members = sprint.members.iter().zip(jobs).enumerate();
    let made = members.filter_map(|(index, (member, job))| {
        let job = job.as_ref()?;
        let pull = member.pull.as_ref().or(job.pull_request.as_ref());
        let turn = Turn {
            persona_id: member.persona.clone(),
            session_id: job.session_id.clone(),
            pr_number: pull.map(|pull| pull.number),
            created_at: job.created_at,
        };
        Some((index, turn))
    });
    let mut made: Vec<(usize, Turn)> = made.collect();
    made.sort_by_key(|(index, turn)| (turn.created_at, *index));
    let last = made.last();
    CycleState {
        last_persona_id: last.map(|(_, turn)| turn.persona_id.clone()),
        last_persona_index: last.map(|(index, _)| *index),
        last_session_id: last.and_then(|(_, turn)| turn.session_id.clone()),
        last_pr_number: last.and_then(|(_, turn)| turn.pr_number),
        updated_at: sprint.updated_at,
        history: made.into_iter().map(|(_, turn)| turn).collect(),
    }
}

/// Puts a text in place of a file, so that readers see the one or the other.
fn replace(path: &Path, text: &str) -> Result<()> {
    let doing = || format!("writing {}", path.display());
    let folder = path.parent().with_context(doing)?;
    fs::create_dir_all(folder).with_context(doing)?;
    let mut file = NamedTempFile::new_in(folder).with_context(doing)?;
    file.write_all(text.as_bytes()).with_context(doing)?;
    file.persist(path).with_context(doing)?;
    Ok(())
}
