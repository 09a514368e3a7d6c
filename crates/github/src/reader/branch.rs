//! A branch and what is based on it, before it is deleted.

use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, CommitSha, RepoName};
use engine::ports::BranchState;
use serde::Deserialize;
use serde_json::json;

use crate::client::{Client, branch_path, failure, segment};
use crate::wire;
use crate::wire::git::References;

/// 1,000 open pull requests on one base.
const OPEN_PAGES_MAX: usize = 10;

/// Both at one moment: REST has a request for each of them.
const ASK: &str = "query($owner:String!,$name:String!,$ref:String!,$branch:String!){repository(owner:$owner,name:$name){databaseId ref(qualifiedName:$ref){target{oid}} pullRequests(states:OPEN,baseRefName:$branch,first:1){totalCount}}}";

/// What the query answers.
#[derive(Deserialize)]
struct Data {
    repository: BranchRepository,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BranchRepository {
    database_id: u64,
    /// Null for a missing branch.
    #[serde(rename = "ref")]
    reference: Option<BranchReference>,
    pull_requests: Counted,
}

#[derive(Deserialize)]
struct BranchReference {
    target: Target,
}

#[derive(Deserialize)]
struct Target {
    oid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counted {
    total_count: u64,
}

/// Asks both at once; where that is not answered, one after the other.
pub(super) async fn read(
    client: &Client,
    repo: &RepoName,
    branch: &BranchName,
) -> Result<BranchState, Failure> {
    match at_once(client, repo, branch).await {
        Err(failure) => match failure.class {
            FailureClass::Unauthorized
            | FailureClass::Throttled
            | FailureClass::Network
            | FailureClass::Conflict => Err(failure),
            FailureClass::Forbidden
            | FailureClass::NotFound
            | FailureClass::Precondition
            | FailureClass::Invalid
            | FailureClass::Unavailable
            | FailureClass::Garbled => by_rest(client, repo, branch).await,
        },
        read => read,
    }
}

async fn at_once(
    client: &Client,
    repo: &RepoName,
    branch: &BranchName,
) -> Result<BranchState, Failure> {
    let doing = format!("reading {repo}'s branch {branch} and what is based on it");
    let variables = json!({
        "owner": repo.owner(), "name": repo.name(),
        "ref": format!("refs/heads/{branch}"), "branch": branch.as_str(),
    });
    let data: Data = client.query(repo, ASK, variables, &doing).await?;
    let found = data.repository;
    if client
        .identity(repo)
        .is_some_and(|id| id.0 != found.database_id)
    {
        let message = format!("{doing}: another repository bears the name now");
        return Err(failure(FailureClass::Conflict, &message));
    }
    let sha = found.reference.map(|it| commit_sha(&it.target.oid, &doing));
    Ok(BranchState {
        sha: sha.transpose()?,
        based_on_it: found.pull_requests.total_count,
    })
}

async fn by_rest(
    client: &Client,
    repo: &RepoName,
    branch: &BranchName,
) -> Result<BranchState, Failure> {
    let doing = format!("looking for pull requests that are based on {repo}'s branch {branch}");
    let path = format!(
        "/repos/{repo}/pulls?state=open&base={}",
        segment(branch.as_str())
    );
    let (sha, open) = tokio::join!(
        sha(client, repo, branch),
        client.list::<Vec<wire::Numbered>>(repo, &path, OPEN_PAGES_MAX, &doing)
    );
    Ok(BranchState {
        sha: sha?,
        based_on_it: open?.len() as u64,
    })
}

/// The commit of a branch; none if there is no such branch in a repository that is there.
pub(crate) async fn sha(
    client: &Client,
    repo: &RepoName,
    branch: &BranchName,
) -> Result<Option<CommitSha>, Failure> {
    let doing = format!("reading {repo}'s branch {branch}");
    let path = format!(
        "/repos/{repo}/git/ref/heads/{}",
        branch_path(branch.as_str())
    );
    let found = match client.get::<References>(repo, &path, &doing).await {
        Ok(References::One(found)) => Some(found),
        Ok(References::Several(found)) => {
            let full = format!("refs/heads/{branch}");
            found.into_iter().find(|it| it.name == full)
        }
        Err(failure) if failure.class == FailureClass::NotFound => {
            // A branch is missing only if its repository is visible: GitHub answers 404 for both.
            return super::default_branch(client, repo).await.map(|_| None);
        }
        Err(failure) => return Err(failure),
    };
    let sha = found.map(|found| commit_sha(&found.object.sha, &doing));
    sha.transpose()
}

/// The id of a commit in an answer.
pub(crate) fn commit_sha(text: &str, doing: &str) -> Result<CommitSha, Failure> {
    text.parse()
        .map_err(|error| failure(FailureClass::Garbled, &format!("{doing}: {error}")))
}
