//! The toolset `sprint`: sprints of a repository, shown, started and called off.

use domain::fence::fence;
use domain::ids::{PersonaName, RepoName, SprintNumber};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answers::to_value;
use super::arguments::read;
use super::tool_error::ToolError;
use crate::Client;
use crate::wire::{SprintPlanView, SprintView, SprintWhy, StartSprint};

/// Most of what a sprint waits for, or of what is wrong with files, in characters: a model has to read all of it.
const WORDS_CHARS_MAX: usize = 8_000;

/// `sprint_status` and `sprint_abort`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct One {
    /// `owner/name`.
    repo: RepoName,
    /// The newest without it.
    #[serde(default)]
    number: Option<SprintNumber>,
}

/// `sprint_start`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    /// `owner/name`.
    repo: RepoName,
    /// The next without it.
    #[serde(default)]
    number: Option<SprintNumber>,
    /// All without any.
    #[serde(default)]
    personas: Vec<PersonaName>,
    /// Only plan.
    #[serde(default)]
    dry_run: bool,
}

/// A sprint.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SprintAnswer {
    number: SprintNumber,
    state: String,
    /// The one pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pull_request: Option<String>,
    ticks: u32,
    integrated: u32,
    merged: u32,
    conflicts: u32,
    ticks_to_resolution: u32,
    tasks: u32,
    members: Vec<MemberLine>,
    /// What it and its members wait for: data from outside.
    words: String,
}

/// One member.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MemberLine {
    persona: PersonaName,
    state: String,
    job_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pull_request: Option<String>,
}

/// A sprint that was started or planned.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StartAnswer {
    number: SprintNumber,
    started: bool,
    members: Vec<PersonaName>,
    /// Persona files that cannot be used: data from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<String>,
    /// Of a plan: how many sessions begin now.
    #[serde(skip_serializing_if = "Option::is_none")]
    begin_now: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    begin_later: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_for_slots: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_for_quota: Option<u32>,
}

/// A sprint after an order.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SprintState {
    number: SprintNumber,
    state: String,
}

/// `sprint_status`.
pub(super) async fn status(client: &Client, given: Value) -> Result<Value, ToolError> {
    let One { repo, number } = read(given)?;
    let sprint = client.sprint(&repo, number).await?;
    let why = client.sprint_why(&repo, Some(sprint.number)).await?;
    to_value(shown(sprint, &why))
}

/// `sprint_start`.
pub(super) async fn start(client: &Client, given: Value) -> Result<Value, ToolError> {
    let Start {
        repo,
        number,
        personas,
        dry_run,
    } = read(given)?;
    let wanted = StartSprint {
        number,
        personas,
        dry_run,
    };
    match dry_run {
        true => to_value(planned(client.plan_sprint(&repo, wanted).await?)),
        false => to_value(started(client.start_sprint(&repo, wanted).await?)),
    }
}

/// `sprint_abort`.
pub(super) async fn abort(client: &Client, given: Value) -> Result<Value, ToolError> {
    let One { repo, number } = read(given)?;
    let SprintView { number, state, .. } = client.abort_sprint(&repo, number).await?;
    to_value(SprintState { number, state })
}

fn shown(sprint: SprintView, why: &SprintWhy) -> SprintAnswer {
    let because = why.because.iter().map(|it| it.sentence.clone());
    let of_members = why.members.iter();
    let of_members = of_members.map(|it| format!("{}: {}", it.persona, it.sentence));
    let lines: Vec<String> = because.chain(of_members).collect();
    let origin = format!("from sprint {} of {}", sprint.number, sprint.repo);
    let member = |it: crate::wire::SprintMemberView| MemberLine {
        persona: it.persona,
        state: it.state,
        job_id: it.job_id.to_string(),
        pull_request: it.pull.map(|pull| pull.to_string()),
    };
    SprintAnswer {
        number: sprint.number,
        state: sprint.state,
        pull_request: sprint.woven.map(|woven| woven.pull.to_string()),
        ticks: sprint.ticks,
        integrated: sprint.figures.integrated,
        merged: sprint.figures.merged,
        conflicts: sprint.figures.conflicts,
        ticks_to_resolution: sprint.figures.ticks_to_resolution,
        tasks: sprint.figures.tasks,
        members: sprint.members.into_iter().map(member).collect(),
        words: fence(&origin, &lines.join("\n"), WORDS_CHARS_MAX),
    }
}

fn planned(plan: SprintPlanView) -> StartAnswer {
    StartAnswer {
        number: plan.number,
        started: false,
        members: plan.members,
        faults: faulty(&plan.repo, &plan.faults),
        begin_now: Some(plan.begin_now),
        begin_later: Some(plan.begin_later),
        wait_for_slots: Some(plan.wait_for_slots),
        wait_for_quota: Some(plan.wait_for_quota),
    }
}

fn started(sprint: SprintView) -> StartAnswer {
    StartAnswer {
        number: sprint.number,
        started: true,
        members: sprint.members.into_iter().map(|it| it.persona).collect(),
        faults: faulty(&sprint.repo, &sprint.faults),
        begin_now: None,
        begin_later: None,
        wait_for_slots: None,
        wait_for_quota: None,
    }
}

fn faulty(repo: &RepoName, faults: &[String]) -> Option<String> {
    let origin = format!("from files of {repo}");
    (!faults.is_empty()).then(|| fence(&origin, &faults.join("\n"), WORDS_CHARS_MAX))
}
