//! Writes to issues, and starts workflows.

use async_trait::async_trait;
use domain::delivery::IssueRef;
use domain::failure::Failure;
use domain::ids::{BranchName, RepoName};
use engine::ports::IssuesWrite;
use serde_json::json;

use super::{Endpoint, Writer, marked};
use crate::client::segment;

#[async_trait]
impl IssuesWrite for Writer {
    async fn comment(&self, issue: &IssueRef, text: &str, marker: &str) -> Result<(), Failure> {
        let doing = format!("commenting on the issue {issue}");
        let path = format!("issues/{}/comments", issue.number);
        let body = json!({ "body": marked(text, marker, &doing)? });
        self.act(Endpoint::post(&issue.repo, &path), body, &doing)
            .await
    }

    async fn edit_comment(
        &self,
        repo: &RepoName,
        comment: u64,
        text: &str,
        marker: &str,
    ) -> Result<(), Failure> {
        let doing = format!("changing our comment {comment} in {repo}");
        let path = format!("issues/comments/{comment}");
        let body = json!({ "body": marked(text, marker, &doing)? });
        self.act(Endpoint::patch(repo, &path), body, &doing).await
    }

    async fn close_issue(&self, issue: &IssueRef) -> Result<(), Failure> {
        let doing = format!("closing the issue {issue}");
        let path = format!("issues/{}", issue.number);
        let body = json!({ "state": "closed", "state_reason": "completed" });
        self.act(Endpoint::patch(&issue.repo, &path), body, &doing)
            .await
    }

    async fn dispatch_workflow(
        &self,
        repo: &RepoName,
        file: &str,
        branch: &BranchName,
    ) -> Result<(), Failure> {
        let doing = format!("starting {repo}'s workflow `{file}` on {branch}");
        let path = format!("actions/workflows/{}/dispatches", segment(file));
        let body = json!({ "ref": branch.as_str() });
        self.act(Endpoint::post(repo, &path), body, &doing).await
    }
}
