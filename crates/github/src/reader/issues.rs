//! Issues and our comment on them.

use std::collections::BTreeSet;

use async_trait::async_trait;
use domain::delivery::{IssueRef, ProviderReport};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, RepoName};
use engine::ports::{AwaitedRun, IssueComment, IssueFacts, IssuesRead};
use jiff::Timestamp;

use super::{COMMENT_PAGES_MAX, Reader, deployments, hidden, revealed};
use crate::client::{Client, encoded, failure};
use crate::text::cut;
use crate::wire::issues as wire;

/// 2,000 issues and pull requests that changed since the last reading.
const CHANGED_PAGES_MAX: usize = 20;

/// 2,000 open issues with one label.
const LABELLED_PAGES_MAX: usize = 20;

/// GitHub accepts no longer title.
const TITLE_CHARS_MAX: usize = 256;

/// GitHub accepts no longer body or comment.
const BODY_CHARS_MAX: usize = 65_536;

/// GitHub accepts no more labels on one issue, and no longer name of one.
const LABELS_MAX: (usize, usize) = (100, 100);

#[async_trait]
impl IssuesRead for Reader {
    async fn issues_since(
        &self,
        repo: &RepoName,
        since: Timestamp,
    ) -> Result<Vec<IssueFacts>, Failure> {
        let doing = format!("reading the issues of {repo} that changed since {since}");
        // The newest first: what changes while pages are read moves to the front, where it hides no other one.
        let path = format!(
            "/repos/{repo}/issues?state=all&sort=updated&direction=desc&since={}",
            since.strftime("%Y-%m-%dT%H:%M:%SZ")
        );
        list(self.client(), repo, &path, CHANGED_PAGES_MAX, &doing).await
    }

    async fn issues_labelled(
        &self,
        repo: &RepoName,
        label: &str,
    ) -> Result<Vec<IssueFacts>, Failure> {
        let doing = format!("reading the issues of {repo} with the label `{label}`");
        let path = format!(
            "/repos/{repo}/issues?state=open&sort=updated&direction=desc&labels={}",
            encoded(label)
        );
        list(self.client(), repo, &path, LABELLED_PAGES_MAX, &doing).await
    }

    async fn own_markers(&self, repo: &RepoName, label: &str) -> Result<Vec<String>, Failure> {
        let doing = format!("looking for issues of ours in {repo} with the label `{label}`");
        let path = format!("/repos/{repo}/issues?state=all&labels={}", encoded(label));
        let found = self
            .client()
            .list::<Vec<wire::Issue>>(repo, &path, LABELLED_PAGES_MAX, &doing)
            .await?;
        let marked = found.into_iter().filter(|it| it.pull_request.is_none());
        let marked: Vec<(u64, String)> = marked
            .filter_map(|it| Some((it.user?.id, revealed(it.body.as_deref()?)?.to_owned())))
            .collect();
        if marked.is_empty() {
            return Ok(Vec::new());
        }
        // Every user can write a marker; only the author shows that it is ours.
        let own = self.client().viewer(repo, &doing).await?;
        let ours = marked.into_iter().filter(|(author, _)| *author == own);
        Ok(ours.map(|(_, marker)| marker).collect())
    }

    async fn issue(&self, issue: &IssueRef) -> Result<IssueFacts, Failure> {
        let doing = format!("reading the issue {issue}");
        let path = format!("/repos/{}/issues/{}", issue.repo, issue.number);
        let answer = self.client().read_here(&issue.repo, &path, &doing).await?;
        let found: wire::Issue = answer.json(&doing)?;
        if found.number != issue.number {
            return Err(failure(
                FailureClass::Garbled,
                &format!("{doing}: GitHub answered about another issue"),
            ));
        }
        Ok(facts(found))
    }

    async fn marked_comment(
        &self,
        issue: &IssueRef,
        marker: &str,
    ) -> Result<Option<IssueComment>, Failure> {
        let doing = format!("looking for our comment on {issue}");
        let path = format!("/repos/{}/issues/{}/comments", issue.repo, issue.number);
        let comments = self.client().list::<Vec<wire::IssueComment>>(
            &issue.repo,
            &path,
            COMMENT_PAGES_MAX,
            &doing,
        );
        let end = hidden(marker);
        // Only at the very end: a person who quotes our comment has it elsewhere.
        let marked: Vec<(u64, Option<u64>, String)> = comments
            .await?
            .into_iter()
            .filter_map(|comment| {
                let body = comment.body?;
                let author = comment.user.map(|user| user.id);
                let is_marked = body.trim_end().ends_with(&end);
                is_marked.then_some((comment.id, author, body))
            })
            .collect();
        if marked.is_empty() {
            return Ok(None);
        }
        // Every user can write the marker; only the author shows that it is ours.
        let own = self.client().viewer(&issue.repo, &doing).await?;
        let ours = marked
            .into_iter()
            .filter(|(_, author, _)| *author == Some(own))
            .min_by_key(|(id, ..)| *id);
        Ok(ours.map(|(id, _, body)| IssueComment {
            id,
            body: cut(body, BODY_CHARS_MAX),
        }))
    }

    async fn workflow_run(
        &self,
        repo: &RepoName,
        awaited: AwaitedRun<'_>,
    ) -> Result<ProviderReport, Failure> {
        deployments::workflow_run(self.client(), repo, awaited).await
    }

    async fn deployment(
        &self,
        repo: &RepoName,
        sha: &CommitSha,
        environment: &str,
        failed_at: Option<Timestamp>,
    ) -> Result<ProviderReport, Failure> {
        deployments::deployment(self.client(), repo, sha, environment, failed_at).await
    }

    async fn commit_checks(
        &self,
        repo: &RepoName,
        sha: &CommitSha,
        since: Option<Timestamp>,
    ) -> Result<ProviderReport, Failure> {
        deployments::commit_checks(self.client(), repo, sha, since).await
    }
}

/// A list that comes newest first, as the longest unchanged first.
async fn list(
    client: &Client,
    repo: &RepoName,
    path: &str,
    pages_max: usize,
    doing: &str,
) -> Result<Vec<IssueFacts>, Failure> {
    let found = client.list::<Vec<wire::Issue>>(repo, path, pages_max, doing);
    let found = found.await?;
    // What moved to the front while pages were read pushed others on to the next one, where they are read again.
    let mut seen = BTreeSet::new();
    let mut issues: Vec<IssueFacts> = found
        .into_iter()
        .filter(|issue| seen.insert(issue.number))
        .map(facts)
        .collect();
    issues.reverse();
    Ok(issues)
}

/// What is kept of an issue.
fn facts(found: wire::Issue) -> IssueFacts {
    let (labels_max, label_chars_max) = LABELS_MAX;
    let labels = found.labels.into_iter().take(labels_max);
    IssueFacts {
        number: found.number,
        title: cut(found.title, TITLE_CHARS_MAX),
        body: found.body.map(|body| cut(body, BODY_CHARS_MAX)),
        labels: labels
            .filter_map(wire::IssueLabel::into_name)
            .map(|name| cut(name, label_chars_max))
            .collect(),
        // An unknown state ends nothing.
        is_open: found.state != "closed",
        closed_by: found
            .closed_by
            .map(|closer| cut(closer.login, label_chars_max)),
        is_pull: found.pull_request.is_some(),
        updated_at: found.updated_at,
    }
}
