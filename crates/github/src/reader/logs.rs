//! The end of failed checks' logs, as plain text.

use domain::facts::{Check, CheckOutcome, Fact, PullFacts};
use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use domain::redact::redact;
use domain::web_page::WebPage;
use engine::ports::CheckLog;

use crate::client::Client;
use crate::text::tail;
use crate::wire;

/// Maximum number of failed checks whose logs are read: more rarely say anything new, and all go into one message.
const LOGS_MAX: usize = 5;

/// Most characters of one log.
const TAIL_CHARS_MAX: usize = 4_000;

/// Reads the logs of failed check runs; what cannot be had is left out.
pub(super) async fn read(client: &Client, facts: &PullFacts) -> Result<Vec<CheckLog>, Failure> {
    let failed = match &facts.checks {
        Fact::Known(checks) => checks
            .iter()
            .filter(|check| check.outcome == CheckOutcome::Failed),
        Fact::Forbidden { .. } | Fact::Unknown { .. } => return Ok(Vec::new()),
    };
    let mut logs = Vec::new();
    for check in failed.filter(|check| check.id.is_some()).take(LOGS_MAX) {
        if let Some(text) = log_of(client, &facts.pull.repo, check).await? {
            logs.push(CheckLog {
                name: check.name.clone(),
                // A key whose first line is cut off would no longer be recognised as a secret.
                tail: tail(&redact(&text), TAIL_CHARS_MAX),
                page: page(&facts.pull.repo, check),
            });
        }
    }
    Ok(logs)
}

/// The page that GitHub has for every check run.
fn page(repo: &RepoName, check: &Check) -> Option<WebPage> {
    let id = check.id?;
    WebPage::from_service(&format!("https://github.com/{repo}/runs/{id}"))
}

/// The log of the job, which has the same id as its check run; else what the check run says of itself.
async fn log_of(
    client: &Client,
    repo: &RepoName,
    check: &Check,
) -> Result<Option<String>, Failure> {
    let Some(id) = check.id else { return Ok(None) };
    let doing = format!("reading the log of {repo}'s check {}", check.name);
    let job = format!("/repos/{repo}/actions/jobs/{id}/logs");
    if let Some(log) = optional(client.log(repo, &job, &doing).await)?.flatten() {
        return Ok(Some(String::from_utf8_lossy(&log).into_owned()));
    }
    let run = client
        .get::<wire::CheckRunDetail>(repo, &format!("/repos/{repo}/check-runs/{id}"), &doing)
        .await;
    let Some(wire::CheckRunDetail { output }) = optional(run)? else {
        return Ok(None);
    };
    let words: Vec<String> = [output.title, output.summary, output.text]
        .into_iter()
        .flatten()
        .filter(|words| !words.trim().is_empty())
        .collect();
    Ok((!words.is_empty()).then(|| words.join("\n\n")))
}

/// A log that cannot be had is no failure, but a limit or a refused credential concerns every call.
fn optional<T>(read: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(failure)
            if matches!(
                failure.class,
                FailureClass::Throttled | FailureClass::Unauthorized
            ) =>
        {
            Err(failure)
        }
        Err(_) => Ok(None),
    }
}
