//! Reads all facts that a merge depends on, for one head: an unreadable one says so, and is never omitted.

pub(crate) mod base;
pub(crate) mod checks;
mod demands;
mod pull;
mod reviews;

use domain::facts::{CiClues, Fact, PullFacts, PullState, ReadDepth, Review};
use domain::failure::{Failure, FailureClass};
use domain::ids::PullRef;
use engine::ports::PullGlance;
use jiff::Timestamp;

use crate::client::{Client, failure, is_missing_permission};
use crate::wire;
use pull::PullAnswer;

/// GitHub lists no more than this many files of a pull request, without a hint at the rest.
const FILES_MAX: usize = 3_000;

/// As many pages as `FILES_MAX` needs.
const FILE_PAGES_MAX: usize = 30;

/// 500 workflow runs of one commit.
const RUN_PAGES_MAX: usize = 5;

/// The permission to read reviews and changed files, in GitHub's words.
const PULLS_READ: &str = "Pull requests: read";

/// Reads a pull request to this depth. `Conflict` when it changed during the read: try again.
pub(crate) async fn read(
    client: &Client,
    pull: &PullRef,
    depth: ReadDepth,
    now: Timestamp,
) -> Result<PullFacts, Failure> {
    let seen = pull::read(client, pull).await?;
    if seen.state != PullState::Open {
        let parts = Parts::unread("the pull request is not open");
        return Ok(seen.into_facts(pull, now, parts, depth));
    }
    if depth == ReadDepth::Outline {
        let parts = Parts::unread("only the pull request itself was read");
        return Ok(seen.into_facts(pull, now, parts, depth));
    }
    let mut parts = Parts::read(client, pull, depth, &seen).await?;
    // Conditional: nearly always "not modified", which costs nothing. Its answer is newer, so it counts.
    let again = pull::read(client, pull).await?;
    still_the_same(pull, &seen, &again)?;
    if seen.is_clean && !again.is_clean {
        // The requirements may come from a cached answer that is no longer valid.
        parts.demands = demands::read(client, pull, &again).await?;
    }
    Ok(again.into_facts(pull, now, parts, depth))
}

/// Reads just enough to find a pull request's possible job.
pub(crate) async fn glance(client: &Client, pull: &PullRef) -> Result<PullGlance, Failure> {
    let seen = pull::read(client, pull).await?;
    Ok(seen.into_glance())
}

/// Whether the readings belong to one head and one base branch.
fn still_the_same(pull: &PullRef, before: &PullAnswer, after: &PullAnswer) -> Result<(), Failure> {
    let moved = |what: &str, from: &str, to: &str| {
        let message = format!(
            "reading {pull}: {what} moved while reading, from {from} to {to}; read it again"
        );
        Err(failure(FailureClass::Conflict, &message))
    };
    if before.head.sha != after.head.sha {
        return moved("head", before.head.sha.as_str(), after.head.sha.as_str());
    }
    if before.base.branch != after.base.branch {
        return moved(
            "base",
            before.base.branch.as_str(),
            after.base.branch.as_str(),
        );
    }
    Ok(())
}

/// What is read in addition to the pull request itself.
struct Parts {
    checks: Fact<Vec<domain::facts::Check>>,
    reviews: Fact<Vec<Review>>,
    files: Fact<Vec<String>>,
    demands: Fact<domain::facts::Demands>,
    ci: Option<CiClues>,
}

impl Parts {
    async fn read(
        client: &Client,
        pull: &PullRef,
        depth: ReadDepth,
        seen: &PullAnswer,
    ) -> Result<Self, Failure> {
        let (checks, reviews, files, demands) = tokio::join!(
            checks::read(client, pull, &seen.head.sha),
            reviews::read(client, pull),
            files(client, pull, seen.changed_files),
            demands::read(client, pull, seen),
        );
        let checks = checks?;
        let ci = match &checks {
            Fact::Known(list) if list.is_empty() && depth == ReadDepth::WithClues => {
                Some(clues(client, pull, seen).await)
            }
            Fact::Known(_) | Fact::Forbidden { .. } | Fact::Unknown { .. } => None,
        };
        Ok(Self {
            checks,
            reviews: settle(reviews, PULLS_READ)?,
            files: settle(files, PULLS_READ)?,
            demands: demands?,
            ci,
        })
    }

    /// Nothing: a pull request that is not open cannot be merged, whatever these are, and an outline is not judged.
    fn unread(why: &str) -> Self {
        let why = || why.to_owned();
        Self {
            checks: Fact::Unknown { why: why() },
            reviews: Fact::Unknown { why: why() },
            files: Fact::Unknown { why: why() },
            demands: Fact::Unknown { why: why() },
            ci: None,
        }
    }
}

/// Turns the reading of one part into a fact. What concerns every call alike fails the whole reading instead.
fn settle<T>(read: Result<T, Failure>, permission: &str) -> Result<Fact<T>, Failure> {
    let failure = match read {
        Ok(value) => return Ok(Fact::Known(value)),
        Err(failure) => failure,
    };
    match failure.class {
        FailureClass::Unauthorized | FailureClass::Throttled | FailureClass::Network => {
            Err(failure)
        }
        FailureClass::Forbidden if is_missing_permission(&failure) => Ok(Fact::Forbidden {
            permission: permission.to_owned(),
        }),
        FailureClass::Forbidden
        | FailureClass::NotFound
        | FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid
        | FailureClass::Unavailable
        | FailureClass::Garbled => Ok(Fact::Unknown {
            why: failure.message,
        }),
    }
}

async fn files(client: &Client, pull: &PullRef, changed: u64) -> Result<Vec<String>, Failure> {
    let doing = format!("reading the changed files of {pull}");
    let path = format!("/repos/{}/pulls/{}/files", pull.repo, pull.number);
    let files = client
        .list::<Vec<wire::File>>(&pull.repo, &path, FILE_PAGES_MAX, &doing)
        .await?;
    let garbled = |what: String| Err(failure(FailureClass::Garbled, &format!("{doing}: {what}")));
    if files.len() >= FILES_MAX {
        return garbled(format!(
            "GitHub lists no more than {FILES_MAX}, there may be more; a person has to merge it"
        ));
    }
    if files.len() as u64 != changed {
        return garbled(format!("{} of {changed} came", files.len()));
    }
    // A renamed file is missing at its old path, which may be a protected one.
    Ok(files
        .into_iter()
        .flat_map(|file| [Some(file.filename), file.previous_filename])
        .flatten()
        .collect())
}

/// Why there are no checks. These are only clues for people, so what cannot be read is left open.
async fn clues(client: &Client, pull: &PullRef, seen: &PullAnswer) -> CiClues {
    let doing = format!("looking why {pull} has no checks");
    let runs_path = format!(
        "/repos/{}/actions/runs?head_sha={}",
        pull.repo, seen.head.sha
    );
    let workflows_path = format!("/repos/{}/actions/workflows?per_page=1", pull.repo);
    let (runs, workflows) = tokio::join!(
        client.list::<wire::WorkflowRuns>(&pull.repo, &runs_path, RUN_PAGES_MAX, &doing),
        client.get::<wire::Workflows>(&pull.repo, &workflows_path, &doing),
    );
    let waits = |run: &wire::WorkflowRun| run.conclusion.as_deref() == Some("action_required");
    CiClues {
        approval_pending: runs.is_ok_and(|runs| runs.iter().any(waits)),
        workflows: workflows.ok().map(|workflows| workflows.total_count),
    }
}
