//! The judgement of a head and its checks, as they are kept for people.

use jiff::Timestamp;

use super::{OwnOutcome, Pull, PullVerdict};
use crate::facts::{Check, CheckOutcome, PullFacts};
use crate::ids::CommitSha;
use crate::merge::Judgement;
use crate::redact::presentable;

/// Maximum number of checks that are kept of a head: its record has other things to hold.
const CHECKS_KEPT_MAX: usize = 20;

/// Longest name that is kept, in characters.
const NAME_CHARS_MAX: usize = 100;

/// Longest account of what a check of our own found, in characters.
const FOUND_CHARS_MAX: usize = 300;

impl Pull {
    /// What checks of our own found wrong with a head, each after its name.
    pub fn own_findings(&self, head: &CommitSha) -> Vec<String> {
        let kept = self.own_checks.iter().filter(|kept| kept.head == *head);
        let results = kept.flat_map(|kept| &kept.results);
        let failed = results.filter(|result| result.outcome == OwnOutcome::Failed);
        failed
            .map(|result| {
                let found: Vec<&str> = result.output.lines().collect();
                let found = presentable(&found.join("; "), FOUND_CHARS_MAX);
                format!("{}: {}", result.name, found.trim_end_matches('.'))
            })
            .collect()
    }
}

/// An unchanged verdict keeps its time, so that an identical reading writes nothing new.
pub(super) fn keep_verdict(
    pull: &mut Pull,
    facts: &PullFacts,
    judgement: Judgement,
    now: Timestamp,
) {
    let sha = facts.head.sha.clone();
    let same = |last: &PullVerdict| last.judgement == judgement && last.sha == sha;
    if !pull.verdict.as_ref().is_some_and(same) {
        pull.verdict = Some(PullVerdict {
            at: now,
            sha,
            judgement,
            checks: checks_of(facts),
        });
    }
}

/// The checks of the head; those that stand in the way come first.
fn checks_of(facts: &PullFacts) -> Vec<Check> {
    let mut checks = facts.checks.known().cloned().unwrap_or_default();
    checks.sort_by_key(|check| place(check.outcome));
    checks.truncate(CHECKS_KEPT_MAX);
    for check in &mut checks {
        check.name = presentable(&check.name, NAME_CHARS_MAX);
    }
    checks
}

fn place(outcome: CheckOutcome) -> u8 {
    match outcome {
        CheckOutcome::Failed => 0,
        CheckOutcome::ActionRequired => 1,
        CheckOutcome::Pending => 2,
        CheckOutcome::Passed(_) => 3,
    }
}
