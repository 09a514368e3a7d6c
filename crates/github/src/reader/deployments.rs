//! What deploys: dispatched workflows, deployments, and the checks of a merged commit.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use domain::delivery::ProviderReport;
use domain::facts::{Check, CheckOutcome};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, RepoName};
use engine::ports::AwaitedRun;
use jiff::{SignedDuration, Timestamp};

use super::branch::commit_sha;
use super::compare;
use crate::client::{Client, encoded, failure, segment};
use crate::facts::checks;
use crate::text::line;
use crate::wire::deployments as wire;

/// 500 runs of one workflow that were dispatched on one branch since the merge.
const RUN_PAGES_MAX: usize = 5;

/// The most commits of runs that are compared with one merge; further ones do not count. Those that do not hold it were
/// dispatched within the seconds before it, so there are few.
const HEADS_MAX: usize = 10;

/// 500 deployments of one commit to one environment, or statuses of one deployment.
const DEPLOYMENT_PAGES_MAX: usize = 5;

/// How much earlier than asked for a run may have begun: GitHub tells whole seconds, of its run and of its clock.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(2);

/// A clock that differs by more is not corrected for: a proxy's time is no clock of GitHub's.
const SKEW_MAX: SignedDuration = SignedDuration::from_mins(10);

/// What is told of a word or a name of GitHub's, in characters.
const WORD_CHARS_MAX: usize = 60;

/// The most names of failed checks that are told.
const NAMES_MAX: usize = 5;

/// How the runs go that may be the awaited one.
///
/// A dispatch answers no number, and another delivery may dispatch the same workflow within the same seconds: only the
/// commit of a run says whether it deploys this merge. One that succeeded is enough: whatever is dispatched later on this
/// branch deploys the merge, too.
pub(super) async fn workflow_run(
    client: &Client,
    repo: &RepoName,
    awaited: AwaitedRun<'_>,
) -> Result<ProviderReport, Failure> {
    let doing = format!("reading the runs of {repo}'s workflow `{}`", awaited.file);
    let mut heads = ComparedHeads {
        client,
        repo,
        merge: awaited.merge,
        compared: BTreeMap::new(),
    };
    let mut found = ProviderReport::Nothing;
    let runs = dispatched(client, repo, awaited, &doing).await?;
    for run in &runs {
        let report = report_of(run, awaited.file);
        // Only what would change the answer is worth a comparison.
        if weight(&report) > weight(&found) {
            let head = commit_sha(&run.head_sha, &doing)?;
            if heads.hold_merge(&head).await? {
                found = report;
            }
        }
    }
    Ok(found)
}

/// The runs that may be the awaited one, whatever their commits, the newest first.
async fn dispatched(
    client: &Client,
    repo: &RepoName,
    awaited: AwaitedRun<'_>,
    doing: &str,
) -> Result<Vec<wire::DispatchedRun>, Failure> {
    let AwaitedRun { file, branch, .. } = awaited;
    let since = by_its_clock(client, awaited.since);
    let since = since.checked_sub(CLOCK_TOLERANCE).unwrap_or(since);
    let path = format!(
        "/repos/{repo}/actions/workflows/{}/runs?branch={}&event=workflow_dispatch&created={}",
        segment(file),
        encoded(branch.as_str()),
        encoded(&format!(">={}", since.strftime("%Y-%m-%dT%H:%M:%SZ"))),
    );
    let mut runs = client
        .list::<wire::DispatchedRuns>(repo, &path, RUN_PAGES_MAX, doing)
        .await?;
    runs.retain(|run| {
        run.event == "workflow_dispatch"
            && run.head_branch.as_deref() == Some(branch.as_str())
            && run.created_at.as_second() >= since.as_second()
    });
    runs.sort_by_key(|run| Reverse(run.id));
    Ok(runs)
}

fn report_of(run: &wire::DispatchedRun, file: &str) -> ProviderReport {
    let ended = run.status.as_deref() == Some("completed");
    match run.conclusion.as_deref().filter(|_| ended) {
        None => ProviderReport::Running,
        Some("success") => ProviderReport::Good,
        Some(other) => {
            let word = line(other, WORD_CHARS_MAX);
            ProviderReport::Bad(format!("run {} of `{file}` ended as `{word}`", run.id))
        }
    }
}

/// Of several runs the one counts whose report weighs most, and of equal ones the newest.
fn weight(report: &ProviderReport) -> u8 {
    match report {
        ProviderReport::Nothing => 0,
        ProviderReport::Bad(_) => 1,
        ProviderReport::Running => 2,
        ProviderReport::Good => 3,
    }
}

/// The commits of runs, each compared with a merge once, and only when it is asked for.
struct ComparedHeads<'a> {
    client: &'a Client,
    repo: &'a RepoName,
    merge: Option<&'a CommitSha>,
    compared: BTreeMap<CommitSha, bool>,
}

impl ComparedHeads<'_> {
    /// Whether a commit holds the merge. Without a merge that is known, every commit counts.
    async fn hold_merge(&mut self, head: &CommitSha) -> Result<bool, Failure> {
        let Some(merge) = self.merge.filter(|merge| *merge != head) else {
            return Ok(true);
        };
        if let Some(holds) = self.compared.get(head) {
            return Ok(*holds);
        }
        if self.compared.len() >= HEADS_MAX {
            return Ok(false);
        }
        let is_older =
            compare::is_older_or_gone(self.client, self.repo, merge, head.as_str()).await?;
        self.compared.insert(head.clone(), !is_older);
        Ok(!is_older)
    }
}

/// A time of ours by GitHub's clock.
fn by_its_clock(client: &Client, ours: Timestamp) -> Timestamp {
    let ahead = client.ahead().filter(|ahead| ahead.abs() <= SKEW_MAX);
    ours.checked_add(ahead.unwrap_or_default()).unwrap_or(ours)
}

/// How the newest deployment of a commit to an environment goes: nothing is known of one that had failed by a time.
pub(super) async fn deployment(
    client: &Client,
    repo: &RepoName,
    sha: &CommitSha,
    environment: &str,
    failed_at: Option<Timestamp>,
) -> Result<ProviderReport, Failure> {
    let doing = format!("reading the deployments of {repo} to `{environment}`");
    let path = format!(
        "/repos/{repo}/deployments?sha={sha}&environment={}",
        encoded(environment)
    );
    let found = client
        .list::<Vec<wire::Deployment>>(repo, &path, DEPLOYMENT_PAGES_MAX, &doing)
        .await?;
    if found.iter().any(|one| one.sha != sha.as_str()) {
        let message = format!("{doing}: one belongs to another commit");
        return Err(failure(FailureClass::Garbled, &message));
    }
    let Some(id) = found.iter().map(|one| one.id).max() else {
        return Ok(ProviderReport::Nothing);
    };
    let path = format!("/repos/{repo}/deployments/{id}/statuses");
    let statuses = client
        .list::<Vec<wire::DeploymentStatus>>(repo, &path, DEPLOYMENT_PAGES_MAX, &doing)
        .await?;
    let failed_at = failed_at.map(|at| by_its_clock(client, at));
    Ok(report(&statuses, id, environment, failed_at))
}

fn report(
    statuses: &[wire::DeploymentStatus],
    id: u64,
    environment: &str,
    failed_at: Option<Timestamp>,
) -> ProviderReport {
    let newest = statuses.iter().max_by_key(|status| status.id);
    let is_old = newest.is_some_and(|status| failed_at.is_some_and(|at| status.created_at <= at));
    match newest.map(|status| status.state.as_str()) {
        Some("success") => ProviderReport::Good,
        // A later deployment to the same environment takes the place of one that succeeded.
        Some("inactive") if statuses.iter().any(|status| status.state == "success") => {
            ProviderReport::Good
        }
        Some("failure" | "error" | "inactive") if is_old => ProviderReport::Nothing,
        Some(ended @ ("failure" | "error" | "inactive")) => ProviderReport::Bad(format!(
            "deployment {id} to `{environment}` ended as `{ended}`"
        )),
        Some(_pending_or_unknown) => ProviderReport::Running,
        None => ProviderReport::Running,
    }
}

/// Whether any check of a commit has failed, or still runs. What ended before a time of ours is left out, if one is given.
pub(super) async fn commit_checks(
    client: &Client,
    repo: &RepoName,
    sha: &CommitSha,
    since: Option<Timestamp>,
) -> Result<ProviderReport, Failure> {
    let doing = |what: &str| format!("reading the {what} of {repo}'s commit {sha}");
    let (of_runs, of_statuses) = (doing("check runs"), doing("commit statuses"));
    let (runs, statuses) = tokio::join!(
        checks::runs(client, repo, sha, &of_runs),
        checks::statuses(client, repo, sha, &of_statuses)
    );
    let (runs, statuses) = (runs?, statuses?);
    let since = since.map(|at| by_its_clock(client, at));
    // GitHub tells whole seconds.
    let is_old = |at: Timestamp| since.is_some_and(|since| at.as_second() < since.as_second());
    let all = runs.into_iter().chain(statuses);
    let all = all.filter(|(_, ended_at)| !ended_at.is_some_and(is_old));
    let all: Vec<Check> = all.map(|(check, _)| check).collect();
    let failed: Vec<&Check> = all
        .iter()
        .filter(|check| check.outcome == CheckOutcome::Failed)
        .collect();
    if !failed.is_empty() {
        let names = failed.iter().take(NAMES_MAX);
        let names = names.map(|check| format!("`{}`", line(&check.name, WORD_CHARS_MAX)));
        let names = names.collect::<Vec<_>>().join(", ");
        let more = failed.len().saturating_sub(NAMES_MAX);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        return Ok(ProviderReport::Bad(format!("{names}{more} failed")));
    }
    let passed = |check: &Check| matches!(check.outcome, CheckOutcome::Passed(_));
    Ok(if all.iter().all(passed) {
        ProviderReport::Good
    } else {
        ProviderReport::Running
    })
}
