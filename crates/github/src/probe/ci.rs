//! Sources of checks in a repository: its workflows, and the checks of recent commits.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::doctor::{SeenChecks, Workflows};
use domain::facts::Fact;
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, RepoName};

use super::{Probe, fact, wire};
use crate::client::{Listing, segment};
use crate::wire::{CheckRuns, Statuses};

/// How many of the newest pull requests are read: a required check that is on none of them is not on the next.
const PULLS: usize = 5;

/// 1,000 check runs or statuses on one commit.
const CHECK_PAGES_MAX: usize = 10;

/// 500 workflows.
const WORKFLOW_PAGES_MAX: usize = 5;

/// So many workflow files are read; more are rare, and the answer is only a hint.
const FILES_MAX: usize = 30;

/// A text in the bodies of Jules's pull requests.
const JULES_LINK: &str = "jules.google.com/task/";

type Recent = Result<Vec<wire::Pull>, Failure>;

/// The newest pull requests.
pub(super) async fn recent(probe: &Probe, repo: &RepoName) -> Recent {
    let doing = format!("listing the newest pull requests of {repo}");
    let path =
        format!("/repos/{repo}/pulls?state=all&sort=updated&direction=desc&per_page={PULLS}");
    let mut pulls: Vec<wire::Pull> = probe.client.get(repo, &path, &doing).await?;
    pulls.truncate(PULLS);
    Ok(pulls)
}

/// Who opened those of Jules's among them.
pub(super) fn authors(recent: &Recent) -> Vec<String> {
    let pulls = recent.as_ref().map(Vec::as_slice).unwrap_or_default();
    let of_jules = |pull: &&wire::Pull| {
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

/// What reported checks on the base and on the newest pull requests.
pub(super) async fn checks(
    probe: &Probe,
    repo: &RepoName,
    base: &BranchName,
    recent: &Recent,
) -> Fact<SeenChecks> {
    let pulls = recent.as_ref().map(Vec::as_slice).unwrap_or_default();
    let mut seen = SeenChecks {
        heads: pulls.len(),
        seen: Vec::new(),
    };
    let heads = pulls.iter().map(|pull| pull.head.sha.clone());
    for commit in std::iter::once(segment(base.as_str())).chain(heads) {
        match of_commit(probe, repo, &commit).await {
            Ok(found) => seen.seen.extend(found),
            // The head of a deleted fork, or a missing base, which has a finding of its own.
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
    probe: &Probe,
    repo: &RepoName,
    commit: &str,
) -> Result<Vec<(String, Option<u64>)>, Failure> {
    let doing = format!("looking for checks on a commit of {repo}");
    let listing = |path: &str| (path.to_owned(), CHECK_PAGES_MAX);
    let (runs, pages_max) = listing(&format!("/repos/{repo}/commits/{commit}/check-runs"));
    let (statuses, _) = listing(&format!("/repos/{repo}/commits/{commit}/status"));
    let of = |path| Listing {
        repo,
        path,
        pages_max,
        doing: &doing,
    };
    let mut seen = Vec::new();
    for run in probe.client.list::<CheckRuns>(&of(&runs)).await? {
        seen.push((run.name, run.app.map(|app| app.id)));
    }
    for status in probe.client.list::<Statuses>(&of(&statuses)).await? {
        seen.push((status.context, None));
    }
    Ok(seen)
}

/// The workflows, and with a merge queue also whether any of their files speaks of it.
pub(super) async fn workflows(probe: &Probe, repo: &RepoName, queued: bool) -> Fact<Workflows> {
    let doing = format!("listing the workflows of {repo}");
    let listing = Listing {
        repo,
        path: &format!("/repos/{repo}/actions/workflows"),
        pages_max: WORKFLOW_PAGES_MAX,
        doing: &doing,
    };
    let read = probe.client.list::<wire::Workflows>(&listing).await;
    let active = match read {
        Ok(all) => all
            .iter()
            .filter(|workflow| workflow.state == "active")
            .count(),
        Err(failure) => return fact(Err(failure), "Actions: read", true),
    };
    let merge_group = if queued {
        speaks_of_queue(probe, repo).await.ok()
    } else {
        None
    };
    Fact::Known(Workflows {
        active: u64::try_from(active).unwrap_or(u64::MAX),
        merge_group,
    })
}

async fn speaks_of_queue(probe: &Probe, repo: &RepoName) -> Result<bool, Failure> {
    let doing = format!("reading the workflow files of {repo}");
    let path = format!("/repos/{repo}/contents/.github/workflows");
    let files: Vec<wire::Content> = match probe.client.get(repo, &path, &doing).await {
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
        let read: wire::Content = probe.client.get(repo, &path, &doing).await?;
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
