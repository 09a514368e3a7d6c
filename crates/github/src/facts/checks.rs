//! Check runs and commit statuses of one commit, as one list.

use std::collections::{BTreeMap, BTreeSet};

use domain::facts::{Check, CheckOutcome, Fact, Pass};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, PullRef, RepoName};
use jiff::Timestamp;

use super::settle;
use crate::client::{Client, failure};
use crate::wire;

/// 2,000 check runs: GitHub considers no more than the last 1,000 check suites.
const CHECK_PAGES_MAX: usize = 20;

/// 1,000 contexts, as many as GitHub accepts for one commit.
const STATUS_PAGES_MAX: usize = 10;

const CHECKS_READ: &str = "Checks: read";
const STATUSES_READ: &str = "Commit statuses: read";

/// A check, and when it ended by GitHub's clock, if it has and that is told.
pub(crate) type DatedCheck = (Check, Option<Timestamp>);

/// Reads both; unless both can be read, neither counts.
pub(super) async fn read(
    client: &Client,
    pull: &PullRef,
    sha: &CommitSha,
) -> Result<Fact<Vec<Check>>, Failure> {
    let repo = &pull.repo;
    let doing = |what: &str| format!("reading the {what} of {pull}");
    let (of_runs, of_statuses) = (doing("check runs"), doing("commit statuses"));
    let (runs, statuses) = tokio::join!(
        runs(client, repo, sha, &of_runs),
        statuses(client, repo, sha, &of_statuses)
    );
    let (runs, statuses) = (runs.map(undated), statuses.map(undated));
    Ok(
        match (settle(runs, CHECKS_READ)?, settle(statuses, STATUSES_READ)?) {
            (Fact::Known(mut checks), Fact::Known(statuses)) => {
                checks.extend(statuses);
                Fact::Known(checks)
            }
            (Fact::Known(_), other) | (other, _) => other,
        },
    )
}

fn undated(all: Vec<DatedCheck>) -> Vec<Check> {
    all.into_iter().map(|(check, _)| check).collect()
}

/// The check runs of a commit that count: the newest of each name, App and suite.
pub(crate) async fn runs(
    client: &Client,
    repo: &RepoName,
    sha: &CommitSha,
    doing: &str,
) -> Result<Vec<DatedCheck>, Failure> {
    let path = format!("/repos/{repo}/commits/{sha}/check-runs?filter=latest");
    let mut latest = BTreeMap::new();
    let mut newest: BTreeMap<(String, u64), u64> = BTreeMap::new();
    let mut cancelled = BTreeSet::new();
    for run in client
        .list::<wire::CheckRuns>(repo, &path, CHECK_PAGES_MAX, doing)
        .await?
    {
        if run.head_sha != sha.as_str() {
            return Err(failure(
                FailureClass::Garbled,
                &format!("{doing}: one belongs to the commit {}", run.head_sha),
            ));
        }
        let app = run.app.as_ref().map(|app| app.id);
        // The same name in two suites, for example of `push` and of `pull_request`, is two checks: a red one must not
        // hide behind a younger green one.
        let suite = run.check_suite.as_ref().map(|suite| suite.id);
        let is_ours = app.is_some() && app == client.app_id();
        let outcome = outcome(&run, doing)?;
        if run.conclusion.as_deref() == Some("cancelled") {
            cancelled.insert(run.id);
        }
        if let Some(app) = app {
            let known = newest.entry((run.name.clone(), app)).or_default();
            *known = run.id.max(*known);
        }
        let check = Check {
            name: run.name,
            app,
            outcome,
            id: Some(run.id),
        };
        if !is_ours {
            let key = (check.name.clone(), app, suite);
            let dated = dated(check, run.completed_at.as_deref());
            keep_newest(&mut latest, key, run.id, dated);
        }
    }
    // `cancel-in-progress` cancels a run for the sake of a newer one of the same head, which is what then counts.
    let replaced = |id: u64, check: &Check| {
        let app = check.app.map(|app| (check.name.clone(), app));
        cancelled.contains(&id) && app.is_some_and(|key| newest.get(&key) > Some(&id))
    };
    Ok(latest
        .into_values()
        .filter(|(id, (check, _))| !replaced(*id, check))
        .map(|(_, dated)| dated)
        .collect())
}

/// The newest commit status of each context.
pub(crate) async fn statuses(
    client: &Client,
    repo: &RepoName,
    sha: &CommitSha,
    doing: &str,
) -> Result<Vec<DatedCheck>, Failure> {
    let path = format!("/repos/{repo}/commits/{sha}/status");
    let mut latest = BTreeMap::new();
    for status in client
        .list::<wire::Statuses>(repo, &path, STATUS_PAGES_MAX, doing)
        .await?
    {
        let outcome = match status.state.as_str() {
            "success" => CheckOutcome::Passed(Pass::Success),
            "pending" => CheckOutcome::Pending,
            _failure_error_or_unknown => CheckOutcome::Failed,
        };
        let check = Check {
            name: status.context.clone(),
            app: None,
            outcome,
            id: None,
        };
        let dated = dated(check, status.created_at.as_deref());
        keep_newest(&mut latest, status.context, status.id, dated);
    }
    Ok(latest.into_values().map(|(_, dated)| dated).collect())
}

/// A check with the time that is told of its end, which one that runs has not come to.
fn dated(check: Check, at: Option<&str>) -> DatedCheck {
    let told = at.filter(|_| check.outcome != CheckOutcome::Pending);
    let ended_at = told.and_then(|at| at.parse().ok());
    (check, ended_at)
}

/// Ids grow with time, also where times are missing or equal.
fn keep_newest<K: Ord>(
    latest: &mut BTreeMap<K, (u64, DatedCheck)>,
    key: K,
    id: u64,
    dated: DatedCheck,
) {
    let known = latest.get(&key).map(|(id, _)| *id);
    if known.is_none_or(|known| known < id) {
        latest.insert(key, (id, dated));
    }
}

fn outcome(run: &wire::CheckRun, doing: &str) -> Result<CheckOutcome, Failure> {
    if run.status != "completed" {
        return Ok(CheckOutcome::Pending);
    }
    Ok(match run.conclusion.as_deref() {
        Some("success") => CheckOutcome::Passed(Pass::Success),
        Some("neutral") => CheckOutcome::Passed(Pass::Neutral),
        Some("skipped") => CheckOutcome::Passed(Pass::Skipped),
        Some("action_required") => CheckOutcome::ActionRequired,
        Some(_failed_or_unknown) => CheckOutcome::Failed,
        None => {
            return Err(failure(
                FailureClass::Garbled,
                &format!("{doing}: `{}` is completed without a conclusion", run.name),
            ));
        }
    })
}
