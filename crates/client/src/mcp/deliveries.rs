//! The toolset `deliveries`: what an agent plans, reviews, splits, approves and tries again on the way from an issue to a closed
//! delivery.

mod creation;

use domain::delivery::{Phase, Verdict};
use domain::ids::{CommitSha, PlanId, RepoName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use creation::{Create, create};

use super::answers::to_value;
use super::arguments::read;
use super::tool_error::ToolError;
use super::waiting;
use crate::wire::{
    self, ApproveDelivery, DeliveryCard, DeliveryView, PartRequest, PlanRequest, RejectDelivery,
    RetryDelivery, SplitRequest, VerdictRequest,
};
use crate::{Client, DeliveryQuery};

/// `delivery_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListDeliveries {
    #[serde(default)]
    needs: Option<Needs>,
    #[serde(default)]
    phase: Option<Phase>,
    #[serde(default)]
    repo: Option<RepoName>,
    #[serde(default)]
    limit: Option<u32>,
    /// An earlier `next`.
    #[serde(default)]
    after: Option<String>,
}

// Who is waited for. Every byte of the schemas is shown to models, so what a name says already has no description.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Needs {
    Agent,
    Person,
}

impl Needs {
    fn word(&self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Person => "person",
        }
    }
}

/// `delivery_get`, `delivery_start` and `delivery_cancel`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneDelivery {
    /// Id, or `owner/name#issue`.
    id: String,
}

/// `delivery_plan`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    id: String,
    content: String,
    /// Files that it changes.
    #[serde(default)]
    target_files: Vec<String>,
}

/// `delivery_split`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Split {
    id: String,
    children: Vec<Part>,
}

/// A smaller delivery.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    summary: String,
    #[serde(default)]
    acceptance_criteria: Vec<String>,
}

/// `delivery_approve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Approve {
    id: String,
    /// The head you looked at.
    #[serde(default)]
    sha: Option<CommitSha>,
    /// The plan you read.
    #[serde(default)]
    plan_id: Option<PlanId>,
}

/// `delivery_reject`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reject {
    id: String,
    reason: String,
}

/// `delivery_retry`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Retry {
    id: String,
    #[serde(default)]
    reason: Option<String>,
}

/// `delivery_verdict`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Judge {
    id: String,
    /// `pass` or `not_pass`.
    verdict: Verdict,
    /// The head you reviewed.
    sha: CommitSha,
    #[serde(default)]
    summary: Option<String>,
    /// Needed with `not_pass`.
    #[serde(default)]
    feedback: Option<String>,
}

/// Deliveries, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeliveriesAnswer {
    deliveries: Vec<Line>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// One delivery in a list.
#[derive(Debug, Serialize, JsonSchema)]
struct Line {
    id: String,
    repo: String,
    summary: String,
    state: String,
    waits_for: String,
}

/// Where a delivery is after an order.
#[derive(Debug, Serialize)]
pub(super) struct DeliveryState {
    id: String,
    state: String,
    why: String,
}

/// One delivery.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeliveryAnswer {
    #[serde(flatten)]
    line: Line,
    why: String,
    /// Data from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    acceptance_criteria: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issue: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    refs: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pull_request: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    children: Vec<String>,
    legal: Vec<String>,
}

fn state(card: &DeliveryCard) -> String {
    let verdict = card.verdict.as_ref();
    let verdict = verdict.map_or_else(String::new, |verdict| format!(" ({verdict})"));
    format!("{} {}{verdict}", card.phase, card.run_status)
}

impl From<&DeliveryCard> for Line {
    fn from(card: &DeliveryCard) -> Self {
        Self {
            id: card.id.to_string(),
            repo: card.repo.to_string(),
            summary: card.summary.clone(),
            state: state(card),
            waits_for: card.waits_for.sentence.clone(),
        }
    }
}

impl From<&DeliveryView> for DeliveryState {
    fn from(delivery: &DeliveryView) -> Self {
        Self {
            id: delivery.card.id.to_string(),
            state: state(&delivery.card),
            why: delivery.card.why.sentence.clone(),
        }
    }
}

impl From<DeliveryView> for DeliveryAnswer {
    fn from(delivery: DeliveryView) -> Self {
        let card = delivery.card;
        let child = |child: &wire::ChildView| format!("{} {}", child.id, child.state);
        Self {
            line: Line::from(&card),
            why: card.why.sentence,
            description: delivery.description,
            acceptance_criteria: delivery.acceptance_criteria,
            issue: card.issue.map(|issue| issue.url),
            refs: delivery.refs.iter().map(ToString::to_string).collect(),
            plan_id: delivery.plan.as_ref().map(|plan| plan.id.to_string()),
            plan: delivery.plan.map(|plan| plan.content),
            feedback: delivery.feedback,
            job_id: delivery.job_id.map(|job| job.to_string()),
            pull_request: card.pull_request.map(|pull| pull.to_string()),
            head: delivery.head.map(|head| head.to_string()),
            children: delivery.children.iter().map(child).collect(),
            legal: delivery.legal,
        }
    }
}

/// `delivery_list`.
pub(super) async fn list(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: ListDeliveries = read(given)?;
    let after = waiting::short("after", wanted.after)?;
    let asked = DeliveryQuery {
        phase: wanted.phase.map(|phase| phase.word().to_owned()),
        repo: wanted.repo,
        needs: wanted.needs.map(|needs| needs.word().to_owned()),
        open: false,
        limit: wanted.limit,
        after,
    };
    let found = client.deliveries(&asked).await?;
    to_value(DeliveriesAnswer {
        deliveries: found.deliveries.iter().map(Line::from).collect(),
        next: found.next,
    })
}

/// `delivery_get`.
pub(super) async fn get(client: &Client, given: Value) -> Result<Value, ToolError> {
    let OneDelivery { id } = read(given)?;
    to_value(DeliveryAnswer::from(client.delivery(&id).await?))
}

/// `delivery_start`.
pub(super) async fn start(client: &Client, given: Value) -> Result<Value, ToolError> {
    let OneDelivery { id } = read(given)?;
    ordered(&client.start_delivery(&id).await?)
}

/// `delivery_plan`.
pub(super) async fn plan(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: Plan = read(given)?;
    let plan = PlanRequest {
        content: wanted.content,
        target_files: wanted.target_files,
    };
    ordered(&client.plan_delivery(&wanted.id, &plan).await?)
}

/// `delivery_split`.
pub(super) async fn split(client: &Client, given: Value) -> Result<Value, ToolError> {
    let Split { id, children } = read(given)?;
    let part = |part: Part| PartRequest {
        summary: part.summary,
        acceptance_criteria: Some(part.acceptance_criteria),
    };
    let children = children.into_iter().map(part).collect();
    ordered(
        &client
            .split_delivery(&id, &SplitRequest { children })
            .await?,
    )
}

/// `delivery_approve`.
pub(super) async fn approve(client: &Client, given: Value) -> Result<Value, ToolError> {
    let Approve { id, sha, plan_id } = read(given)?;
    let approval = ApproveDelivery { sha, plan_id };
    ordered(&client.approve_delivery(&id, &approval).await?)
}

/// `delivery_reject`.
pub(super) async fn reject(client: &Client, given: Value) -> Result<Value, ToolError> {
    let Reject { id, reason } = read(given)?;
    ordered(
        &client
            .reject_delivery(&id, &RejectDelivery { reason })
            .await?,
    )
}

/// `delivery_verdict`.
pub(super) async fn judge(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: Judge = read(given)?;
    let verdict = VerdictRequest {
        verdict: wanted.verdict,
        sha: wanted.sha,
        summary: wanted.summary,
        feedback: wanted.feedback,
    };
    ordered(&client.judge_delivery(&wanted.id, &verdict).await?)
}

/// `delivery_retry`.
pub(super) async fn retry(client: &Client, given: Value) -> Result<Value, ToolError> {
    let Retry { id, reason } = read(given)?;
    ordered(
        &client
            .retry_delivery(&id, &RetryDelivery { reason })
            .await?,
    )
}

/// `delivery_cancel`.
pub(super) async fn cancel(client: &Client, given: Value) -> Result<Value, ToolError> {
    let OneDelivery { id } = read(given)?;
    ordered(&client.cancel_delivery(&id).await?)
}

fn ordered(delivery: &DeliveryView) -> Result<Value, ToolError> {
    to_value(DeliveryState::from(delivery))
}
