//! The commits that a narrator sums up: how many are looked at, which of them are new, and how they stand in its prompt.

#[cfg(test)]
mod tests;

use domain::ids::CommitSha;
use domain::redact::presentable;
use jiff::Timestamp;

/// How many commits the first summary covers.
const FIRST_COMMITS: usize = 20;

/// How many commits a later summary covers at most: their subjects have to fit into a prompt.
const COMMITS_MAX: usize = 100;

/// How much of the subject of a commit is shown, in characters.
const SUBJECT_CHARS_MAX: usize = 120;

/// How much of a prompt its list of commits takes at most, in bytes: half of what a prompt may have.
const RANGE_BYTES_MAX: usize = 16_000;

/// Digits by which a commit is named in a summary.
const SHORT_SHA: usize = 7;

/// A commit as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitLine {
    /// Which commit.
    pub sha: CommitSha,
    /// The first line of its message, untrusted.
    pub subject: String,
    /// When it was committed.
    pub at: Timestamp,
}

/// How many of the last commits are looked at, by when the last summary was made.
pub fn wanted(since: Option<Timestamp>) -> usize {
    match since {
        Some(_) => COMMITS_MAX,
        None => FIRST_COMMITS,
    }
}

/// The commits that no summary covers, of the last ones with the newest first. Without a summary all of them are.
///
/// A summary says on which day it was made; `summed_up`, the last commit that a narrator looked at, is exact where it is among them.
pub fn uncovered<'a>(
    log: &'a [CommitLine],
    since: Option<Timestamp>,
    summed_up: Option<&CommitSha>,
) -> &'a [CommitLine] {
    let Some(since) = since else { return log };
    let by_sha = log.iter().position(|line| Some(&line.sha) == summed_up);
    let by_time = || log.iter().take_while(|line| line.at > since).count();
    &log[..by_sha.unwrap_or_else(by_time)]
}

/// Commits as a narrator gets them, the newest first: as many whole lines as fit.
pub fn described(log: &[CommitLine]) -> String {
    let mut text = String::new();
    for line in log {
        let subject = presentable(&line.subject, SUBJECT_CHARS_MAX);
        let line = format!("{} {subject}\n", short(&line.sha));
        if text.len() + line.len() > RANGE_BYTES_MAX {
            break;
        }
        text.push_str(&line);
    }
    text.truncate(text.trim_end().len());
    text
}

fn short(sha: &CommitSha) -> &str {
    sha.as_str().get(..SHORT_SHA).unwrap_or(sha.as_str())
}
