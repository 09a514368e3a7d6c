//! Sources of checks in a repository: its workflows, and the checks of recent commits.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::doctor::{ReportedChecks, Workflows};
use domain::facts::Fact;
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, RepoName};

use super::{fact, wire};
use crate::client::{Client, segment};
use crate::facts::checks;
use crate::wire::{Workflow, Workflows as WorkflowPage};

/// How many of the newest pull requests are read: a required check that is on none of them is not on the next.
const PULLS: usize = 5;

/// 500 workflows.
const WORKFLOW_PAGES_MAX: usize = 5;

/// So many workflow files are read; more are rare, and the answer is only a hint.
const FILES_MAX: usize = 30;

/// A text in the bodies of Jules's pull requests.
const JULES_LINK: &str = "jules.google.com/task/";

type Recent = Result<Vec<wire::ProbedPull>, Failure>;

/// The newest pull requests.
pub(super) async fn recent(client: &Client, repo: &RepoName) -> Recent {
    let doing = format!("listing the newest pull requests of {repo}");
    let path =
        format!("/repos/{repo}/pulls?state=all&sort=updated&direction=desc&per_page={PULLS}");
    let mut pulls: Vec<wire::ProbedPull> = client.get(repo, &path, &doing).await?;
    pulls.truncate(PULLS);
    Ok(pulls)
}

/// Who opened those of Jules's among them.
pub(super) fn authors(recent: &Recent) -> Vec<String> {
    let pulls = recent.as_ref().map(Vec::as_slice).unwrap_or_default();
    let of_jules = |pull: &&wire::ProbedPull| {
        let body = pull.body.as_deref().unwrap_or_default();
        body.contains(JULES_LINK)
    };
    let mut authors: Vec<String> = pulls
        .iter()
        .filter(of_jules)
        .filter_map(|pull| Some(pull.user.as_ref()?.login.clone()))
        .collect();
    authors.sort_unstable();
    authors.dedup();
    authors
}

/// What reported checks on the base and on the newest pull requests, as far as merging counts it.
pub(super) async fn checks(
    client: &Client,
    repo: &RepoName,
    base: Option<&CommitSha>,
    recent: &Recent,
) -> Fact<ReportedChecks> {
    let pulls = recent.as_ref().map(Vec::as_slice).unwrap_or_default();
    let mut seen = ReportedChecks {
        heads: pulls.len(),
        seen: Vec::new(),
    };
    let heads = pulls.iter().filter_map(|pull| pull.head.sha.parse().ok());
    for commit in base.cloned().into_iter().chain(heads) {
        match of_commit(client, repo, &commit).await {
            Ok(found) => seen.seen.extend(found),
            // The head of a deleted fork.
            Err(failure)
                if matches!(
                    failure.class,
                    FailureClass::NotFound | FailureClass::Conflict
                ) => {}
            Err(failure) => return fact(Err(failure), "Checks: read", false),
        }
    }
    seen.seen.sort_unstable();
    seen.seen.dedup();
    Fact::Known(seen)
}

async fn of_commit(
    client: &Client,
    repo: &RepoName,
    commit: &CommitSha,
) -> Result<Vec<(String, Option<u64>)>, Failure> {
    let doing = format!("looking for checks on a commit of {repo}");
    let runs = checks::runs(client, repo, commit, &doing).await?;
    let statuses = checks::statuses(client, repo, commit, &doing).await?;
    let all = runs.into_iter().chain(statuses);
    Ok(all.map(|(check, _)| (check.name, check.app)).collect())
}

/// The workflows, and with a merge queue also whether any of their files speaks of it.
pub(super) async fn workflows(client: &Client, repo: &RepoName, queued: bool) -> Fact<Workflows> {
    let doing = format!("listing the workflows of {repo}");
    let path = format!("/repos/{repo}/actions/workflows");
    let is_active = |workflow: &Workflow| workflow.state == "active";
    let read = client
        .list::<WorkflowPage>(repo, &path, WORKFLOW_PAGES_MAX, &doing)
        .await;
    let active: Vec<Workflow> = match read {
        Ok(all) => all.into_iter().filter(is_active).collect(),
        Err(failure) => return fact(Err(failure), "Actions: read", true),
    };
    let merge_group = if queued {
        speaks_of_queue(client, repo).await.ok()
    } else {
        None
    };
    Fact::Known(Workflows {
        files: active.into_iter().map(|it| it.path).collect(),
        merge_group,
    })
}

async fn speaks_of_queue(client: &Client, repo: &RepoName) -> Result<bool, Failure> {
    let doing = format!("reading the workflow files of {repo}");
    let path = format!("/repos/{repo}/contents/.github/workflows");
    let files: Vec<wire::Content> = match client.get(repo, &path, &doing).await {
        Ok(files) => files,
        Err(failure) if failure.class == FailureClass::NotFound => return Ok(false),
        Err(failure) => return Err(failure),
    };
    let files = files
        .iter()
        .filter(|file| file.kind == "file")
        .take(FILES_MAX);
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let path = format!("/repos/{repo}/contents/.github/workflows/{}", segment(name));
        let read: wire::Content = client.get(repo, &path, &doing).await?;
        if text(&read).contains("merge_group") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The content of a file, which comes in lines of base64.
fn text(file: &wire::Content) -> String {
    let lines = file.content.as_deref().unwrap_or_default();
    let whole: String = lines.split_whitespace().collect();
    let bytes = STANDARD.decode(whole).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
