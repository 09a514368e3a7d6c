//! Obstacles between a pull request and its merge: conflicts, drafts, rules.

use jiff::Timestamp;

use crate::clock::plus;

use super::checks::{Check, Conclusion, Phase};
use super::records::{Pull, Review};
use super::setup::{CheckKind, Protection, RequiredCheck};
use super::world::{GitHubWorld, Repo};

/// State of one required check on a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Passed,
    Pending,
    Failed,
}

impl GitHubWorld {
    /// The tip of a pull request's base, frozen once it is closed.
    pub(crate) fn base_sha(&self, repo: &Repo, pull: &Pull) -> String {
        let open = repo
            .issues
            .get(&pull.number)
            .is_some_and(|issue| issue.closed_at.is_none());
        if open {
            repo.tip(&pull.base_ref).to_owned()
        } else {
            pull.closed_base_sha.clone()
        }
    }

    /// Whether the merge would conflict, as it really is.
    pub(crate) fn conflicts(&self, repo: &Repo, pull: &Pull) -> bool {
        pull.forced_conflict || self.overlap(repo.tip(&pull.base_ref), &pull.head_sha)
    }

    /// `mergeable` as the API shows it: null until GitHub has worked it out, and after the merge.
    pub(crate) fn mergeable(&self, now: Timestamp, repo: &Repo, pull: &Pull) -> Option<bool> {
        let open = repo
            .issues
            .get(&pull.number)
            .is_some_and(|issue| issue.closed_at.is_none());
        let known = open && plus(pull.changed_at, self.faults.lags().mergeable) <= now;
        known.then(|| !self.conflicts(repo, pull))
    }

    /// `mergeable_state` as the API shows it.
    pub(crate) fn mergeable_state(&self, now: Timestamp, repo: &Repo, pull: &Pull) -> &'static str {
        match self.mergeable(now, repo, pull) {
            None => "unknown",
            Some(false) => "dirty",
            Some(true) if pull.draft => "draft",
            Some(true) if self.rule_violation(repo, pull).is_some() => "blocked",
            Some(true) if repo.ci().strict && self.is_behind(repo, pull) => "behind",
            Some(true) if !self.all_green(repo, &pull.head_sha) => "unstable",
            Some(true) => "clean",
        }
    }

    /// Whether the base has commits that the head lacks.
    pub(crate) fn is_behind(&self, repo: &Repo, pull: &Pull) -> bool {
        !self
            .ancestors(&pull.head_sha)
            .contains(repo.tip(&pull.base_ref))
    }

    /// The first rule that a merge would break, in GitHub's words.
    pub(crate) fn rule_violation(&self, repo: &Repo, pull: &Pull) -> Option<String> {
        if repo.setup.protection == Protection::Off {
            return None;
        }
        if repo.setup.merge_queue {
            return Some("Changes must be made through the merge queue".to_owned());
        }
        review_violation(repo, pull).or_else(|| check_violation(repo, &pull.head_sha))
    }

    fn all_green(&self, repo: &Repo, sha: &str) -> bool {
        let checks = runs_on(repo, sha);
        let statuses = repo.latest_statuses(sha);
        checks
            .map(verdict)
            .all(|verdict| verdict == Verdict::Passed)
            && statuses.iter().all(|status| status.state == "success")
    }
}

/// The check runs of a commit that count: no later attempt took their place, nor were they cancelled for the sake of a newer one.
fn runs_on<'a>(repo: &'a Repo, sha: &'a str) -> impl Iterator<Item = &'a Check> {
    let is_there = move |check: &&Check| {
        check.sha == sha
            && check.kind == CheckKind::CheckRun
            && !check.superseded
            && check.phase != Phase::Planned
    };
    let all = repo.checks.iter().filter(is_there);
    all.clone().filter(move |check| {
        let newer = |other: &Check| {
            other.name == check.name && other.app == check.app && other.id > check.id
        };
        let cancelled = check.phase == Phase::Completed(Conclusion::Cancelled);
        !(cancelled && all.clone().any(newer))
    })
}

fn verdict(check: &Check) -> Verdict {
    match check.phase {
        Phase::Completed(conclusion) if conclusion.passed() => Verdict::Passed,
        Phase::Completed(_) => Verdict::Failed,
        Phase::Planned | Phase::Queued | Phase::InProgress => Verdict::Pending,
    }
}

fn review_violation(repo: &Repo, pull: &Pull) -> Option<String> {
    let needed = repo.setup.reviews_required;
    let latest = latest_reviews(repo, pull.number);
    let approvals = latest
        .iter()
        .filter(|review| review.state == "APPROVED")
        .count();
    if needed == 0 {
        return None;
    }
    if latest
        .iter()
        .any(|review| review.state == "CHANGES_REQUESTED")
    {
        return Some("Changes were requested by a reviewer with write access.".to_owned());
    }
    let short = approvals < usize::try_from(needed).unwrap_or(usize::MAX);
    short.then(|| {
        format!("At least {needed} approving review is required by reviewers with write access.")
    })
}

/// Whether a review counts: anyone may review, and only users with write access have a say.
fn may_write(repo: &Repo, review: &Review) -> bool {
    let granted = repo.setup.collaborators.get(&review.author.login);
    let writes = granted.is_some_and(|word| word == "admin" || word == "write");
    writes || repo.owner().eq_ignore_ascii_case(&review.author.login)
}

/// The last judging review of each person who may write; comments judge nothing.
fn latest_reviews(repo: &Repo, number: u64) -> Vec<&Review> {
    let mut latest: Vec<&Review> = Vec::new();
    let judging = |review: &&Review| {
        review.number == number && review.state != "COMMENTED" && may_write(repo, review)
    };
    for review in repo.reviews.iter().filter(judging) {
        latest.retain(|other| other.author != review.author);
        latest.push(review);
    }
    latest
}

fn check_violation(repo: &Repo, sha: &str) -> Option<String> {
    repo.ci().required.iter().find_map(|required| {
        let word = match required_verdict(repo, sha, required) {
            Some(Verdict::Passed) => return None,
            Some(Verdict::Failed) => "failing",
            Some(Verdict::Pending) => "in progress",
            None => "expected",
        };
        Some(format!(
            "Required status check \"{}\" is {word}.",
            required.context
        ))
    })
}

/// The worst result with the required name; `None` when there is none.
fn required_verdict(repo: &Repo, sha: &str, required: &RequiredCheck) -> Option<Verdict> {
    let from_runs = runs_on(repo, sha)
        .filter(|check| check.name == required.context)
        .filter(|check| required.app_id.is_none_or(|id| id == check.app.id))
        .map(verdict);
    let from_statuses = repo
        .latest_statuses(sha)
        .into_iter()
        .filter(|status| status.context == required.context)
        .map(|status| match status.state.as_str() {
            "success" => Verdict::Passed,
            "pending" => Verdict::Pending,
            _ => Verdict::Failed,
        });
    from_runs.chain(from_statuses).max()
}
