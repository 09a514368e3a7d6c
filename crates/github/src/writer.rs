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

/// A path below a repository, and what is done with it.
struct Endpoint<'a> {
    method: Method,
    repo: &'a RepoName,
    path: &'a str,
}

impl<'a> Endpoint<'a> {
    fn post(repo: &'a RepoName, path: &'a str) -> Self {
        let method = Method::POST;
        Self { method, repo, path }
    }

    fn put(repo: &'a RepoName, path: &'a str) -> Self {
        let method = Method::PUT;
        Self { method, repo, path }
    }

    fn patch(repo: &'a RepoName, path: &'a str) -> Self {
        let method = Method::PATCH;
        Self { method, repo, path }
    }

    fn delete(repo: &'a RepoName, path: &'a str) -> Self {
        let method = Method::DELETE;
        Self { method, repo, path }
    }
}

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

    /// Sends a write whose answer says no more than that it is done.
    async fn act(&self, to: Endpoint<'_>, body: Value, doing: &str) -> Result<(), Failure> {
        self.send_below(to, body, doing).await.map(drop)
    }

    async fn send_below(
        &self,
        to: Endpoint<'_>,
        body: Value,
        doing: &str,
    ) -> Result<Answer, Failure> {
        self.send(self.below(to, Some(body), doing)).await
    }

    /// The same where it goes on with what an earlier write began.
    async fn follow_up(
        &self,
        to: Endpoint<'_>,
        body: Value,
        doing: &str,
    ) -> Result<Answer, Failure> {
        let call = self.below(to, Some(body), doing);
        self.client().follow_up(call).await
    }

    fn below<'a>(&self, to: Endpoint<'a>, body: Option<Value>, doing: &'a str) -> Call<'a> {
        let Endpoint { method, repo, path } = to;
        Call {
            method,
            url: self.client().base().rest(&format!("/repos/{repo}/{path}")),
            repo,
            body,
            doing,
        }
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
        let path = format!("pulls/{}/merge", pull.number);
        // With the SHA GitHub refuses a moved head, so only the judged commit can be merged.
        let mut body = json!({ "sha": sha.as_str(), "merge_method": method.as_str() });
        if let Some(title) = title {
            body["commit_title"] = title.into();
        }
        let answer = self
            .send_below(Endpoint::put(&pull.repo, &path), body, &doing)
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
        let path = format!("pulls/{}/update-branch", pull.number);
        let body = json!({ "expected_head_sha": sha.as_str() });
        self.act(Endpoint::put(&pull.repo, &path), body, &doing)
            .await
    }

    async fn comment(&self, pull: &PullRef, text: &str, marker: &str) -> Result<(), Failure> {
        let doing = format!("commenting on {pull}");
        let path = format!("issues/{}/comments", pull.number);
        let body = json!({ "body": marked(text, marker, &doing)? });
        self.act(Endpoint::post(&pull.repo, &path), body, &doing)
            .await
    }

    async fn label(&self, pull: &PullRef, label: &str) -> Result<(), Failure> {
        let doing = format!("labelling {pull}");
        let path = format!("issues/{}/labels", pull.number);
        let body = json!({ "labels": [label] });
        self.act(Endpoint::post(&pull.repo, &path), body, &doing)
            .await
    }

    async fn close(&self, pull: &PullRef) -> Result<(), Failure> {
        let doing = format!("closing {pull}");
        let path = format!("pulls/{}", pull.number);
        let body = json!({ "state": "closed" });
        self.act(Endpoint::patch(&pull.repo, &path), body, &doing)
            .await
    }

    async fn delete_branch(&self, repo: &RepoName, branch: &BranchName) -> Result<(), Failure> {
        let doing = format!("deleting {repo}'s branch {branch}");
        let path = format!("git/refs/heads/{}", branch_path(branch.as_str()));
        let call = self.below(Endpoint::delete(repo, &path), None, &doing);
        match self.send(call).await {
            Err(failure) if is_gone(&failure) => Ok(()),
            outcome => outcome.map(drop),
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
