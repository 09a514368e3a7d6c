//! Checks moved by a test instead of the clock: set, finished, run again.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::checks::{Check, Conclusion, Head, Phase};
use super::ci::conclusion_of;
use super::setup::{CheckSetup, Outcome};
use super::world::{GitHubWorld, Repo};
use crate::clock::plus;

impl GitHubWorld {
    /// Sets a check by hand; the clock no longer moves it. Creates it when the commit has none of this name.
    pub(crate) fn set_check(
        &mut self,
        now: Timestamp,
        repo: &str,
        (sha, name): (&str, &str),
        phase: Phase,
    ) {
        let setup = CheckSetup::new(name, Outcome::Hangs);
        let known = |repo: &Repo| {
            let of_name = |check: &&Check| check.sha == sha && check.name == name;
            repo.checks.iter().rev().find(of_name).map(|check| check.id)
        };
        let branch = self
            .repo(repo)
            .ok()
            .and_then(|repo| branch_of(repo, sha))
            .unwrap_or_default();
        if self.repo(repo).ok().and_then(known).is_none() {
            let head = Head {
                branch: &branch,
                sha,
            };
            self.plan_check(now, repo, head, &setup);
        }
        let Some(id) = self.repo(repo).ok().and_then(known) else {
            return;
        };
        if let Ok(check) = self.check_mut(repo, id) {
            check.by_hand = true;
        }
        self.set_phase(now, repo, id, phase);
    }

    /// Ends every unfinished check of a commit with one conclusion.
    pub(crate) fn finish_checks(
        &mut self,
        now: Timestamp,
        repo: &str,
        sha: &str,
        conclusion: Conclusion,
    ) {
        let open = |check: &&Check| check.sha == sha && !matches!(check.phase, Phase::Completed(_));
        let Ok(found) = self.repo(repo) else { return };
        let ids: Vec<u64> = found
            .checks
            .iter()
            .filter(open)
            .map(|check| check.id)
            .collect();
        for id in ids {
            self.set_phase(now, repo, id, Phase::Completed(conclusion));
        }
    }

    /// Runs checks again: new check runs take the place of the old ones. Returns how many.
    pub(crate) fn rerun(
        &mut self,
        now: Timestamp,
        repo: &str,
        wanted: impl Fn(&Check) -> bool,
    ) -> usize {
        let Ok(found) = self.repo(repo) else { return 0 };
        let done = |check: &&Check| !check.superseded && matches!(check.phase, Phase::Completed(_));
        let again: Vec<Check> = found
            .checks
            .iter()
            .filter(done)
            .filter(|check| wanted(check))
            .cloned()
            .collect();
        for old in &again {
            self.again(now, repo, old);
        }
        again.len()
    }

    fn again(&mut self, now: Timestamp, repo: &str, old: &Check) {
        let id = self.next_id();
        let Ok(found) = self.repo_mut(repo) else {
            return;
        };
        let setup = found
            .ci()
            .checks
            .iter()
            .find(|setup| setup.name == old.name)
            .cloned();
        let setup = setup.unwrap_or_else(|| CheckSetup::new(&old.name, old.outcome));
        // What waited for approval runs as an ordinary check once a person has approved it.
        let waited = old.outcome == Outcome::ApprovalPending;
        let outcome = if waited {
            Outcome::Success
        } else {
            old.outcome
        };
        let attempt = old.attempt + 1;
        let seen = found
            .heads_seen
            .get(&(old.branch.clone(), old.name.clone()))
            .map_or(1, BTreeSet::len);
        let ends_as = conclusion_of(outcome, seen.saturating_sub(1), attempt);
        let begins_at = plus(now, setup.queued_for);
        let ends_at = (outcome != Outcome::Hangs).then(|| plus(begins_at, setup.takes));
        let fresh = Check {
            id,
            outcome,
            attempt,
            ends_as,
            begins_at,
            ends_at,
            phase: Phase::Planned,
            appears_at: now,
            by_hand: false,
            ..old.clone()
        };
        for check in found.checks.iter_mut().filter(|check| check.id == old.id) {
            check.superseded = true;
        }
        found.checks.push(fresh);
        for run in found
            .suites
            .iter_mut()
            .filter(|suite| suite.id == old.suite)
            .filter_map(|suite| suite.run.as_mut())
        {
            run.attempt = attempt;
        }
    }
}

/// The branch whose pull request has, or whose tip is, this commit.
fn branch_of(repo: &Repo, sha: &str) -> Option<String> {
    let of_pull = repo.pulls.values().find(|pull| pull.head_sha == sha);
    let of_pull = of_pull.map(|pull| pull.head_ref.clone());
    let tip = || {
        repo.branches
            .iter()
            .find(|(_, tip)| *tip == sha)
            .map(|(name, _)| name.clone())
    };
    of_pull.or_else(tip)
}
