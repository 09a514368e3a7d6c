//! Decides from a payload's shape what to read again.

use domain::ids::{CommitSha, RepoId, RepoName};
use domain::pull::DeliveryHint;
use jiff::Timestamp;

use super::shape::{Checked, Payload, PayloadPull, PayloadRepository, Word};
use super::wakeup::{Wakeup, WebhookKind};

/// A check that names more pull requests than this is resolved by its commit instead.
pub const WAKEUPS_MAX: usize = 10;

/// The reference of a branch starts with this; tags do not.
const BRANCH_PREFIX: &str = "refs/heads/";

/// What a verified payload is to us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Classified {
    /// Read these again: at least one, at most [`WAKEUPS_MAX`], all of the same kind and repository.
    Look(Vec<Wakeup>),
    /// Understood, and nothing that we follow.
    Ignored {
        /// Why, for people.
        why: &'static str,
    },
    /// Not JSON, or not in GitHub's form.
    Unreadable,
}

/// Classifies the body of a delivery whose signature was verified.
///
/// The kind comes from the payload alone. Nesting and size cost no more than the bytes that were received: fields that
/// are not needed are skipped without being kept, and those that are needed are shallow.
pub fn classify(raw: &[u8], received_at: Timestamp) -> Classified {
    // Without this, a list would be read as the fields in their order.
    if !raw.trim_ascii_start().starts_with(b"{") {
        return Classified::Unreadable;
    }
    let Ok(payload) = serde_json::from_slice::<Payload<'_>>(raw) else {
        return Classified::Unreadable;
    };
    let Some(repository) = &payload.repository else {
        return Classified::Ignored {
            why: "it is about no repository",
        };
    };
    let Ok(repo) = repository.full_name.parse::<RepoName>() else {
        return Classified::Unreadable;
    };
    match subject(&payload, repository) {
        Ok(subject) => {
            let id = repository.id.map(RepoId);
            Classified::Look(subject.wakeups(&repo, id, received_at))
        }
        Err(why) => Classified::Ignored { why },
    }
}

/// What a payload is about.
struct Subject {
    kind: WebhookKind,
    numbers: Vec<u64>,
    sha: Option<CommitSha>,
    news: DeliveryHint,
    is_pull: bool,
}

impl Subject {
    fn wakeups(
        self,
        repo: &RepoName,
        repo_id: Option<RepoId>,
        received_at: Timestamp,
    ) -> Vec<Wakeup> {
        let Self {
            kind,
            mut numbers,
            sha,
            news,
            is_pull,
        } = self;
        numbers.sort_unstable();
        numbers.dedup();
        let one = |number| Wakeup {
            kind,
            repo: repo.clone(),
            repo_id,
            number,
            sha: sha.clone(),
            is_pull,
            received_at,
            news,
        };
        if numbers.is_empty() || numbers.len() > WAKEUPS_MAX {
            vec![one(None)]
        } else {
            numbers
                .into_iter()
                .map(|number| one(Some(number)))
                .collect()
        }
    }
}

fn subject(
    payload: &Payload<'_>,
    repository: &PayloadRepository<'_>,
) -> Result<Subject, &'static str> {
    // Deployments may carry the check run and the workflow run they came from.
    if payload.deployment {
        return Err("deployments are not followed");
    }
    let checks = [
        (WebhookKind::CheckRun, &payload.check_run),
        (WebhookKind::CheckSuite, &payload.check_suite),
        (WebhookKind::WorkflowRun, &payload.workflow_run),
    ];
    for (kind, checked) in checks {
        if let Some(checked) = checked {
            let news = of_action(kind, payload.action.as_deref());
            return of_check(kind, news, checked, repository);
        }
    }
    if let Some(pull) = &payload.pull_request {
        return Ok(of_pull(payload, pull));
    }
    if let Some(issue) = &payload.issue {
        let kind = if payload.comment {
            WebhookKind::IssueComment
        } else {
            WebhookKind::Issue
        };
        return Ok(Subject {
            kind,
            numbers: number(issue.number),
            sha: None,
            news: DeliveryHint::Changed,
            is_pull: issue.pull_request,
        });
    }
    of_commit(payload)
}

/// What happened to a check, a suite or a run of a workflow. An unknown action causes a reading.
fn of_action(kind: WebhookKind, action: Option<&str>) -> DeliveryHint {
    match (kind, action) {
        (_, None) => DeliveryHint::Changed,
        (WebhookKind::CheckRun, Some("created")) => DeliveryHint::CheckBegan,
        (WebhookKind::CheckRun, Some("completed")) => DeliveryHint::CheckEnded,
        (WebhookKind::CheckSuite | WebhookKind::WorkflowRun, Some("completed")) => {
            DeliveryHint::SuiteEnded
        }
        (WebhookKind::CheckRun, Some("rerequested"))
        | (WebhookKind::CheckSuite, Some("requested" | "rerequested"))
        | (WebhookKind::WorkflowRun, Some("requested" | "in_progress")) => DeliveryHint::UnderWay,
        (_, Some(_)) => DeliveryHint::Changed,
    }
}

fn of_check(
    kind: WebhookKind,
    news: DeliveryHint,
    checked: &Checked<'_>,
    repository: &PayloadRepository<'_>,
) -> Result<Subject, &'static str> {
    let named = checked.pull_requests.iter().flatten().flatten();
    let numbers: Vec<u64> = named
        .filter(|pull| {
            let elsewhere = pull
                .base
                .as_ref()
                .and_then(|base| base.repo.as_ref())
                .and_then(|repo| repo.id);
            // A check in a fork names the pull request of the repository it was forked from, which has another id.
            elsewhere.is_none() || repository.id.is_none() || elsewhere == repository.id
        })
        .flat_map(|pull| number(pull.number))
        .collect();
    let sha = commit(checked.head_sha.as_ref());
    if numbers.is_empty() && sha.is_none() {
        return Err("it names neither a pull request nor a commit");
    }
    Ok(Subject {
        kind,
        numbers,
        sha,
        news,
        is_pull: false,
    })
}

fn of_pull(payload: &Payload<'_>, pull: &PayloadPull<'_>) -> Subject {
    let reviewed = payload.review || payload.comment || payload.thread;
    let kind = if reviewed {
        WebhookKind::Review
    } else {
        WebhookKind::PullRequest
    };
    let sha = commit(pull.head.as_ref().and_then(|head| head.sha.as_ref()));
    Subject {
        kind,
        numbers: number(pull.number),
        sha,
        news: match (kind, payload.action.as_deref()) {
            (WebhookKind::PullRequest, Some("synchronize")) => DeliveryHint::Pushed,
            (_, _) => DeliveryHint::Changed,
        },
        is_pull: false,
    }
}

fn of_commit(payload: &Payload<'_>) -> Result<Subject, &'static str> {
    if let (Some(state), true) = (&payload.state, payload.context) {
        let sha = commit(payload.sha.as_ref()).ok_or("the status names no commit")?;
        return Ok(Subject {
            kind: WebhookKind::Status,
            numbers: Vec::new(),
            sha: Some(sha),
            // A context may be pending many times before it ends once.
            news: match state.as_ref() {
                "pending" => DeliveryHint::UnderWay,
                _ended_or_unknown => DeliveryHint::CheckEnded,
            },
            is_pull: false,
        });
    }
    match (&payload.reference, payload.before, &payload.after) {
        (Some(reference), true, Some(after)) if reference.0.starts_with(BRANCH_PREFIX) => {
            Ok(Subject {
                kind: WebhookKind::Push,
                numbers: Vec::new(),
                sha: commit(Some(after)),
                // For a pull request that has this head already it is no news.
                news: DeliveryHint::UnderWay,
                is_pull: false,
            })
        }
        (Some(_), true, Some(_)) => Err("only pushes to branches are followed"),
        (_, _, _) => Err("this kind of event is not followed"),
    }
}

/// Numbers start at 1; anything else names nothing.
fn number(number: u64) -> Vec<u64> {
    if number == 0 {
        Vec::new()
    } else {
        vec![number]
    }
}

/// A commit; `None` for anything else, and for the zeros of a deleted branch.
fn commit(word: Option<&Word<'_>>) -> Option<CommitSha> {
    let sha: CommitSha = word?.0.parse().ok()?;
    (!sha.as_str().bytes().all(|digit| digit == b'0')).then_some(sha)
}

#[cfg(test)]
mod tests;
