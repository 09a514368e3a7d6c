//! `gaffer workflow run`: a run of one layer with a report in JSON, for workflows and other programs.

use anyhow::{Context, Result};
use client::Client;
use client::wire::{JobView, PipelineView};
use domain::ids::BranchName;
use domain::pipeline::MockTag;
use jiff::Timestamp;
use serde::Serialize;

use super::{one_layer, wait};
use crate::args::scaffold::ReportedRun;
use crate::context::CommandContext;
use crate::render;

/// The form of the report.
const SCHEMA_VERSION: u32 = 1;

/// What became of a run.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct RunReport {
    schema_version: u32,
    layer: String,
    run_started_at: Timestamp,
    /// How many sessions were created.
    number_of_api_requests_succeeded: usize,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    skip_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mock_tag: Option<MockTag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mock_pr_numbers: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mock_branches: Option<Vec<BranchName>>,
}

/// Begins the run, waits for its end, and prints the report of a run that is over, however it ended.
pub(crate) async fn run(args: ReportedRun, here: &CommandContext) -> Result<()> {
    let (layer, mock) = (args.of.layer.name(), args.of.mock.clone());
    let (client, begun) = one_layer::begin(args.of, here).await?;
    let looked = wait::last_look(&client, &begun.id, args.within, true).await;
    let over = looked.with_context(|| format!("waiting for pipeline {}", begun.id))?;
    if over.is_over {
        let jobs = jobs(&client, &over).await;
        let jobs = jobs.with_context(|| format!("reading the jobs of pipeline {}", over.id))?;
        let report = report(layer, mock, &over, &jobs);
        let told = serde_json::to_value(&report).context("writing the report")?;
        render::json_line(&told).context("writing the report")?;
    }
    wait::must_be_well(&over, args.within)
}

/// The jobs of a run that were made.
async fn jobs(client: &Client, run: &PipelineView) -> Result<Vec<JobView>, client::Error> {
    let mut jobs = Vec::new();
    let members = run.steps.iter().flat_map(|step| &step.members);
    for id in members.filter_map(|member| member.job_id.as_ref()) {
        match client.job(id.as_str()).await {
            Ok(job) => jobs.push(job),
            // A run that was called off may never have made it.
            Err(client::Error::Problem(problem)) if problem.status == 404 => {}
            Err(error) => return Err(error),
        }
    }
    Ok(jobs)
}

fn report(
    layer: &str,
    mock_tag: Option<MockTag>,
    run: &PipelineView,
    jobs: &[JobView],
) -> RunReport {
    let sessions = jobs.iter().filter(|job| job.session_id.is_some()).count();
    let opened = jobs.iter().filter(|job| job.pull_request.is_some());
    let opened: Vec<&JobView> = opened.filter(|_| mock_tag.is_some()).collect();
    let numbers = opened.iter().filter_map(|job| job.pull_request.as_ref());
    let numbers = numbers.map(|pull| pull.number).collect();
    let branches = opened.iter().map(|job| &job.job_id);
    let branches = branches.filter_map(BranchName::of_proposal).collect();
    RunReport {
        schema_version: SCHEMA_VERSION,
        layer: layer.to_owned(),
        run_started_at: run.created_at,
        number_of_api_requests_succeeded: sessions,
        skip_reason: (sessions == 0).then(|| skipped(run, mock_tag.as_ref())),
        mock_pr_numbers: mock_tag.is_some().then_some(numbers),
        mock_branches: mock_tag.is_some().then_some(branches),
        mock_tag,
    }
}

/// Why a run created no session.
fn skipped(run: &PipelineView, mock: Option<&MockTag>) -> String {
    let of_member = run.steps.iter().flat_map(|step| &step.members);
    let of_member = of_member.filter_map(|member| member.reason.clone());
    let of_step = run.steps.iter().filter_map(|step| step.reason.clone());
    match (of_step.chain(of_member).next(), mock) {
        (Some(reason), _) => reason,
        (None, Some(tag)) => format!("in the trial run {tag} no session runs"),
        (None, None) => "requirements are implemented by deliveries".to_owned(),
    }
}
