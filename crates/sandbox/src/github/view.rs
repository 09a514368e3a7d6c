//! What a test can ask about a pull request without going over HTTP.

use serde::Serialize;

use super::world::{GitHubWorld, Repo};

/// State of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    /// Neither merged nor closed.
    Open,
    /// Closed without a merge.
    Closed,
    /// Merged.
    Merged,
}

/// One comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommentView {
    /// Numeric id.
    pub id: u64,
    /// Login of the author.
    pub author: String,
    /// The text.
    pub body: String,
}

/// A pull request as it really is, without lags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PullView {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its description.
    pub body: String,
    /// Login of the author.
    pub author: String,
    /// Its state.
    pub state: PullState,
    /// Whether it is a draft.
    pub draft: bool,
    /// The branch it comes from.
    pub head_ref: String,
    /// Full name of the repository it comes from, lower case.
    pub head_repo: String,
    /// The head.
    pub head_sha: String,
    /// The branch it goes to.
    pub base_ref: String,
    /// The head that was merged.
    pub merged_sha: Option<String>,
    /// The commit on the base that the merge made.
    pub merge_commit_sha: Option<String>,
    /// Who merged it.
    pub merged_by: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Its comments, oldest first.
    pub comments: Vec<CommentView>,
    /// Whether it conflicts with its base.
    pub conflicts: bool,
}

/// An issue as it really is, without lags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IssueView {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its description.
    pub body: String,
    /// Login of the author.
    pub author: String,
    /// Whether it is open.
    pub is_open: bool,
    /// Login of the user who closed it.
    pub closed_by: Option<String>,
    /// Why it was closed, or that it was opened again, in GitHub's word.
    pub state_reason: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Its comments, oldest first.
    pub comments: Vec<CommentView>,
}

/// The view of one pull request.
pub(super) fn load(world: &GitHubWorld, repo: &str, number: u64) -> Option<PullView> {
    let found = world.repo(repo).ok()?;
    let (pull, issue) = (found.pulls.get(&number)?, found.issues.get(&number)?);
    let merged = pull.merged.as_ref();
    let state = match (merged, issue.closed_at) {
        (Some(_), _) => PullState::Merged,
        (None, Some(_)) => PullState::Closed,
        (None, None) => PullState::Open,
    };
    Some(PullView {
        number,
        title: issue.title.clone(),
        body: issue.body.clone(),
        author: issue.author.login.clone(),
        state,
        draft: pull.draft,
        head_ref: pull.head_ref.clone(),
        head_repo: pull.head_repo.clone(),
        head_sha: pull.head_sha.clone(),
        base_ref: pull.base_ref.clone(),
        merged_sha: merged.map(|merged| merged.head.clone()),
        merge_commit_sha: merged.map(|merged| merged.sha.clone()),
        merged_by: merged.map(|merged| merged.by.login.clone()),
        labels: issue.labels.clone(),
        comments: comments(found, number),
        conflicts: state == PullState::Open && world.conflicts(found, pull),
    })
}

/// The view of one issue that is no pull request.
pub(super) fn load_issue(world: &GitHubWorld, repo: &str, number: u64) -> Option<IssueView> {
    let found = world.repo(repo).ok()?;
    let issue = found.issues.get(&number)?;
    let is_pull = found.pulls.contains_key(&number);
    (!is_pull).then(|| IssueView {
        number,
        title: issue.title.clone(),
        body: issue.body.clone(),
        author: issue.author.login.clone(),
        is_open: issue.closed_at.is_none(),
        closed_by: issue.closed_by.as_ref().map(|closer| closer.login.clone()),
        state_reason: issue.state_reason.clone(),
        labels: issue.labels.clone(),
        comments: comments(found, number),
    })
}

fn comments(repo: &Repo, number: u64) -> Vec<CommentView> {
    let own = repo.comments.iter().filter(|it| it.number == number);
    own.map(|comment| CommentView {
        id: comment.id,
        author: comment.author.login.clone(),
        body: comment.body.clone(),
    })
    .collect()
}
