//! What GitHub answers about deployments and dispatched workflows.

use jiff::Timestamp;
use serde::Deserialize;

use crate::client::Page;

/// One of `GET /repos/{owner}/{repo}/deployments`.
#[derive(Debug, Deserialize)]
pub(crate) struct Deployment {
    pub(crate) id: u64,
    pub(crate) sha: String,
}

/// One of `GET /repos/{owner}/{repo}/deployments/{id}/statuses`.
#[derive(Debug, Deserialize)]
pub(crate) struct DeploymentStatus {
    pub(crate) id: u64,
    pub(crate) state: String,
    pub(crate) created_at: Timestamp,
}

/// A page of `GET /repos/{owner}/{repo}/actions/workflows/{file}/runs`.
#[derive(Debug, Deserialize)]
pub(crate) struct DispatchedRuns {
    total_count: u64,
    workflow_runs: Vec<DispatchedRun>,
}

/// One run of a workflow.
#[derive(Debug, Deserialize)]
pub(crate) struct DispatchedRun {
    pub(crate) id: u64,
    pub(crate) event: String,
    pub(crate) head_branch: Option<String>,
    pub(crate) head_sha: String,
    pub(crate) status: Option<String>,
    pub(crate) conclusion: Option<String>,
    pub(crate) created_at: Timestamp,
}

/// `GET /repos/{owner}/{repo}/compare/{base}...{head}`, for where the head is.
#[derive(Debug, Deserialize)]
pub(crate) struct RelativePosition {
    /// `identical`, `ahead`, `behind` or `diverged`.
    pub(crate) status: String,
}

impl Page for DispatchedRuns {
    type Item = DispatchedRun;

    fn total(&self) -> Option<u64> {
        Some(self.total_count)
    }

    fn items(self) -> Vec<DispatchedRun> {
        self.workflow_runs
    }
}
