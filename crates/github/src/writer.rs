//! Changes pull requests, issues and files. Nothing is ever sent twice from here: what is unknown afterwards is settled by reading.

mod git;
mod issues;

use async_trait::async_trait;
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, CommitSha, PullRef, RepoName};
use domain::policy::MergeMethod;
use engine::ports::PullsWrite;
use http::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Call, Client, branch_path, failure};
use crate::graph;
use crate::reader::hidden;
use crate::wire;

/// GitHub accepts no longer comment.
const COMMENT_CHARS_MAX: usize = 65_536;

/// The only mutation that REST lacks.
const MARK_READY: &str = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }";

/// Where the mutation says whether it worked.
const IS_DRAFT: &str = "/markPullRequestReadyForReview/pullRequest/isDraft";

/// Writes to GitHub. Only the dispatcher holds one.
#[derive(Debug, Clone)]
pub struct Writer {
    client: Client,
}

impl Writer {
    /// A writer over a client.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) async fn send(&self, call: Call<'_>) -> Result<Answer, Failure> {
        self.client.write(call).await
    }

    /// The address of a path below the pull request, or below the issue that it also is.
    fn at(&self, pull: &PullRef, kind: &str, rest: &str) -> String {
        self.client.base().rest(&format!(
            "/repos/{}/{kind}/{}/{rest}",
            pull.repo, pull.number
        ))
    }
}

#[async_trait]
impl PullsWrite for Writer {
    async fn merge(
        &self,
        pull: &PullRef,
        sha: &CommitSha,
        method: MergeMethod,
        title: Option<&str>,
    ) -> Result<CommitSha, Failure> {
        let doing = format!("merging {pull} at {sha}");
        let url = self.at(pull, "pulls", "merge");
        // With the SHA GitHub refuses a moved head, so only the judged commit can be merged.
        let mut body = json!({ "sha": sha.as_str(), "merge_method": method.as_str() });
        if let Some(title) = title {
            body["commit_title"] = title.into();
        }
        let answer = self
            .send(Call {
                method: Method::PUT,
                url,
                repo: &pull.repo,
                body: Some(body),
                doing: &doing,
            })
            .await?;
        let merged: wire::Merged = answer.json(&doing)?;
        if !merged.merged {
            return Err(failure(
                FailureClass::Garbled,
                &format!("{doing}: GitHub answered 200 and says that it is not merged"),
            ));
        }
        merged
            .sha
            .parse()
            .map_err(|error| failure(FailureClass::Garbled, &format!("{doing}: {error}")))
    }

    async fn mark_ready(&self, pull: &PullRef, node_id: &str) -> Result<(), Failure> {
        let doing = format!("marking {pull} ready for review");
        let url = self.client.base().graphql();
        let body = Some(json!({ "query": MARK_READY, "variables": { "id": node_id } }));
        let answer = self
            .send(Call {
                method: Method::POST,
                url,
                repo: &pull.repo,
                body,
                doing: &doing,
            })
            .await?;
        let answer: wire::GraphAnswer = answer.json(&doing)?;
        is_ready(&answer, &doing)
    }

    async fn update_branch(&self, pull: &PullRef, sha: &CommitSha) -> Result<(), Failure> {
        let doing = format!("updating the branch of {pull}");
        let url = self.at(pull, "pulls", "update-branch");
        let body = Some(json!({ "expected_head_sha": sha.as_str() }));
        self.send(Call {
            method: Method::PUT,
            url,
            repo: &pull.repo,
            body,
            doing: &doing,
        })
        .await
        .map(|_| ())
    }

    async fn comment(&self, pull: &PullRef, text: &str, marker: &str) -> Result<(), Failure> {
        let doing = format!("commenting on {pull}");
        let url = self.at(pull, "issues", "comments");
        let body = Some(json!({ "body": marked(text, marker, &doing)? }));
        self.send(Call {
            method: Method::POST,
            url,
            repo: &pull.repo,
            body,
            doing: &doing,
        })
        .await
        .map(|_| ())
    }

    async fn label(&self, pull: &PullRef, label: &str) -> Result<(), Failure> {
        let doing = format!("labelling {pull}");
        let url = self.at(pull, "issues", "labels");
        let body = Some(json!({ "labels": [label] }));
        self.send(Call {
            method: Method::POST,
            url,
            repo: &pull.repo,
            body,
            doing: &doing,
        })
        .await
        .map(|_| ())
    }

    async fn close(&self, pull: &PullRef) -> Result<(), Failure> {
        let doing = format!("closing {pull}");
        let path = format!("/repos/{}/pulls/{}", pull.repo, pull.number);
        let url = self.client.base().rest(&path);
        let body = Some(json!({ "state": "closed" }));
        self.send(Call {
            method: Method::PATCH,
            url,
            repo: &pull.repo,
            body,
            doing: &doing,
        })
        .await
        .map(|_| ())
    }

    async fn delete_branch(&self, repo: &RepoName, branch: &BranchName) -> Result<(), Failure> {
        let doing = format!("deleting {repo}'s branch {branch}");
        let path = format!(
            "/repos/{repo}/git/refs/heads/{}",
            branch_path(branch.as_str())
        );
        let url = self.client.base().rest(&path);
        match self
            .send(Call {
                method: Method::DELETE,
                url,
                repo,
                body: None,
                doing: &doing,
            })
            .await
        {
            Err(failure) if is_gone(&failure) => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }
}

/// GitHub answers 422 "Reference does not exist" for a missing branch. Another 422 is a branch that it keeps.
fn is_gone(failure: &Failure) -> bool {
    let says_so = failure.message.contains("Reference does not exist");
    failure.class == FailureClass::NotFound || (failure.class == FailureClass::Conflict && says_so)
}

/// The text with its hidden marker at the end, cut where GitHub would refuse it.
fn marked(text: &str, marker: &str, doing: &str) -> Result<String, Failure> {
    if marker.is_empty()
        || marker.contains("--")
        || marker.contains(['<', '>'])
        || marker.contains(char::is_control)
    {
        let message = format!("{doing}: its marker cannot be hidden in a comment");
        return Err(failure(FailureClass::Invalid, &message).never_sent());
    }
    let end = format!("\n\n{}", hidden(marker));
    let room = COMMENT_CHARS_MAX.saturating_sub(end.chars().count());
    let kept: String = text.chars().take(room).collect();
    Ok(format!("{kept}{end}"))
}

/// Whether the answer confirms it.
fn is_ready(answer: &wire::GraphAnswer, doing: &str) -> Result<(), Failure> {
    let data: Value = graph::data(answer, doing)?;
    match data.pointer(IS_DRAFT).and_then(Value::as_bool) {
        Some(false) => Ok(()),
        Some(true) | None => Err(failure(
            FailureClass::Garbled,
            &format!("{doing}: GitHub does not say that it is ready"),
        )),
    }
}
