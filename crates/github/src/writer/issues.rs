//! Writes to issues, and starts workflows.

use async_trait::async_trait;
use domain::delivery::IssueRef;
use domain::failure::Failure;
use domain::ids::{BranchName, RepoName};
use engine::ports::IssuesWrite;
use http::Method;
use serde_json::json;

use super::{Writer, marked};
use crate::client::{Call, segment};

#[async_trait]
impl IssuesWrite for Writer {
    async fn comment(&self, issue: &IssueRef, text: &str, marker: &str) -> Result<(), Failure> {
        let doing = format!("commenting on the issue {issue}");
        let path = format!("/repos/{}/issues/{}/comments", issue.repo, issue.number);
        self.send(Call {
            method: Method::POST,
            url: self.client().base().rest(&path),
            repo: &issue.repo,
            body: Some(json!({ "body": marked(text, marker, &doing)? })),
            doing: &doing,
        })
        .await
        .map(drop)
    }

    async fn edit_comment(
        &self,
        repo: &RepoName,
        comment: u64,
        text: &str,
        marker: &str,
    ) -> Result<(), Failure> {
        let doing = format!("changing our comment {comment} in {repo}");
        let path = format!("/repos/{repo}/issues/comments/{comment}");
        self.send(Call {
            method: Method::PATCH,
            url: self.client().base().rest(&path),
            repo,
            body: Some(json!({ "body": marked(text, marker, &doing)? })),
            doing: &doing,
        })
        .await
        .map(drop)
    }

    async fn close_issue(&self, issue: &IssueRef) -> Result<(), Failure> {
        let doing = format!("closing the issue {issue}");
        let path = format!("/repos/{}/issues/{}", issue.repo, issue.number);
        self.send(Call {
            method: Method::PATCH,
            url: self.client().base().rest(&path),
            repo: &issue.repo,
            body: Some(json!({ "state": "closed", "state_reason": "completed" })),
            doing: &doing,
        })
        .await
        .map(drop)
    }

    async fn dispatch_workflow(
        &self,
        repo: &RepoName,
        file: &str,
        branch: &BranchName,
    ) -> Result<(), Failure> {
        let doing = format!("starting {repo}'s workflow `{file}` on {branch}");
        let path = format!(
            "/repos/{repo}/actions/workflows/{}/dispatches",
            segment(file)
        );
        self.send(Call {
            method: Method::POST,
            url: self.client().base().rest(&path),
            repo,
            body: Some(json!({ "ref": branch.as_str() })),
            doing: &doing,
        })
        .await
        .map(drop)
    }
}
