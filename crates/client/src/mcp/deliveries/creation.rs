//! `delivery_create`: an issue, or words of the caller, become a delivery.

use domain::delivery::{RefRole, RefType};
use domain::ids::RepoName;
use domain::web_page::WebPage;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::ordered;
use crate::mcp::arguments::read;
use crate::mcp::tool_error::ToolError;
use crate::wire::{CreateDelivery, RefRequest};
use crate::{Answer, Client};

/// `delivery_create`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct Create {
    repo: RepoName,
    /// The issue's title without it.
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    issue: Option<u64>,
    /// Although it had one.
    #[serde(default)]
    again: bool,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    acceptance_criteria: Vec<String>,
    #[serde(default)]
    refs: Vec<CreateRef>,
}

/// A reference. The refusal of an unknown role or type names those that there are.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateRef {
    role: RefRole,
    #[serde(rename = "type")]
    kind: RefType,
    label: String,
    #[serde(default)]
    url: Option<WebPage>,
}

/// `delivery_create`.
pub(in crate::mcp) async fn create(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: Create = read(given)?;
    let reference = |sent: CreateRef| RefRequest {
        role: sent.role,
        kind: sent.kind,
        label: sent.label,
        url: sent.url,
    };
    let wanted = CreateDelivery {
        repo: wanted.repo,
        issue: wanted.issue,
        again: wanted.again,
        summary: wanted.summary,
        description: wanted.description,
        acceptance_criteria: wanted.acceptance_criteria,
        refs: wanted.refs.into_iter().map(reference).collect(),
        priority: None,
    };
    match client.create_delivery(&wanted, None).await? {
        Answer::Done(delivery) => ordered(&delivery),
        Answer::Later(later) => Err(ToolError::argument("issue", later.sentence)),
    }
}
