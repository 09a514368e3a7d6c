//! Check suites and workflow runs: their standing follows from their checks.

use jiff::Timestamp;

use super::checks::{Check, Conclusion, Phase, Standing, Suite};
use super::world::{GitHubWorld, Repo};

impl GitHubWorld {
    /// Derives the standing of a suite and sends webhooks about changes.
    pub(crate) fn settle_suite(&mut self, at: Timestamp, repo: &str, id: u64) {
        let Ok(found) = self.repo_mut(repo) else {
            return;
        };
        let Some(suite) = found.suites.iter().find(|suite| suite.id == id) else {
            return;
        };
        let Some(standing) = standing(found, suite) else {
            return;
        };
        let before = suite.told;
        if before == Some(standing) {
            return;
        }
        let mut told = None;
        for suite in found.suites.iter_mut().filter(|suite| suite.id == id) {
            suite.told = Some(standing);
            suite.updated_at = at;
            told = Some(suite.clone());
        }
        if let Some(suite) = told {
            self.tell_suite(at, repo, &suite, before);
        }
    }
}

/// The standing of a suite; `None` while nothing of it is visible.
pub(crate) fn standing(repo: &Repo, suite: &Suite) -> Option<Standing> {
    let checks: Vec<&Check> = repo
        .checks
        .iter()
        .filter(|check| check.suite == suite.id && !check.superseded)
        .collect();
    let visible = |check: &&&Check| check.phase != Phase::Planned;
    if !checks.iter().any(|check| visible(&check)) {
        return None;
    }
    // A workflow knows its jobs beforehand; another app's suite is complete when its written checks are.
    let counted = checks
        .iter()
        .filter(|check| suite.run.is_some() || visible(check));
    let phases: Vec<Phase> = counted.map(|check| check.phase).collect();
    let ended: Vec<Conclusion> = phases
        .iter()
        .filter_map(|phase| conclusion(*phase))
        .collect();
    if ended.len() == phases.len() {
        return Some(Standing::Completed(worst(&ended)));
    }
    let begun = phases
        .iter()
        .any(|phase| matches!(phase, Phase::InProgress | Phase::Completed(_)));
    Some(if begun {
        Standing::InProgress
    } else {
        Standing::Queued
    })
}

fn conclusion(phase: Phase) -> Option<Conclusion> {
    match phase {
        Phase::Completed(conclusion) => Some(conclusion),
        Phase::Planned | Phase::Queued | Phase::InProgress => None,
    }
}

/// The conclusion of the whole: the first of this order that any part has.
fn worst(parts: &[Conclusion]) -> Conclusion {
    let order = [
        Conclusion::ActionRequired,
        Conclusion::Failure,
        Conclusion::TimedOut,
        Conclusion::Cancelled,
        Conclusion::Success,
        Conclusion::Neutral,
    ];
    order
        .into_iter()
        .find(|conclusion| parts.contains(conclusion))
        .unwrap_or(Conclusion::Skipped)
}
