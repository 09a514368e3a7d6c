//! Whether one pull request may be merged now, at which SHA, and if not, exactly why.
//!
//! It fails closed: what is missing, cut short, null, forbidden, unknown or zero never counts as green.

mod reason;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use reason::{NeverStarted, Reason, Thing, Weight};

use crate::facts::{
    ACTIONS_BOT_ID, Check, CheckOutcome, CiClues, Fact, Pass, PullFacts, PullState, Review, Verdict,
};
use crate::ids::{BranchName, CommitSha};
use crate::policy::{MergeMethod, MergePolicy, Policy, Timing};

/// Facts older than this are read again before a merge: the invariant's ten seconds.
pub const FACTS_AGE_MAX: SignedDuration = SignedDuration::from_secs(10);

/// What a judgement looks at besides GitHub's facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Whose pull request it is.
    pub owner: Owner,
    /// What its session does.
    pub session: SessionRest,
    /// The base branch that its job asked for.
    pub wanted_base: BranchName,
    /// The head that a person approved.
    pub approved: Option<CommitSha>,
    /// When this head was first seen.
    pub head_since: Timestamp,
    /// Since when this head on this base has been green without a break.
    pub green_since: Option<Timestamp>,
    /// Merges of this source in the last 24 hours.
    pub merges_today: u32,
    /// Whether writing is switched off.
    pub hold: Option<Hold>,
}

/// Whose pull request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A job that this installation created.
    Created,
    /// A job that a person handed over.
    Adopted,
    /// Nobody we know.
    Foreign,
}

/// What the session of a pull request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionRest {
    /// It has finished, or been silent for a whole window.
    Resting,
    /// It may push at any moment.
    Working,
    /// It failed.
    Failed,
    /// Its job was called off or is gone.
    CalledOff,
}

/// Why nothing may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// A person paused everything, or this source.
    Paused,
    /// `gaffer up --observe-only`.
    ObserveOnly,
}

/// The outcome of a judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "judgement")]
pub enum Judgement {
    /// Merge exactly this head.
    Merge {
        /// The head that is green.
        sha: CommitSha,
        /// How.
        method: MergeMethod,
    },
    /// Not yet; it can change by itself.
    Wait {
        /// When to look again at the latest, if that is known.
        until: Option<Timestamp>,
        /// Why.
        reasons: Vec<Reason>,
    },
    /// No; somebody has to do something.
    Refuse {
        /// Why.
        reasons: Vec<Reason>,
    },
    /// It cannot be merged into its base.
    Conflict {
        /// The head that conflicts.
        sha: CommitSha,
    },
}

/// Judges one pull request. All reasons are given, not just the first.
pub fn judge(
    facts: &PullFacts,
    standing: &Standing,
    (policy, timing): (&Policy, &Timing),
    now: Timestamp,
) -> Judgement {
    let mut reasons = Vec::new();
    ownership(&mut reasons, facts, standing, policy);
    switches(&mut reasons, standing, policy);
    shape(&mut reasons, facts, standing, policy);
    let conflict = mergeable(&mut reasons, facts);
    people(&mut reasons, facts);
    checks(&mut reasons, facts, standing, (policy, timing), now);
    demands(&mut reasons, facts, policy);
    if now.duration_since(facts.read_at).abs() > FACTS_AGE_MAX {
        reasons.push(Reason::FactsStale);
    }
    let acceptable = |reason: &Reason| matches!(reason.weight(), Weight::Wait);
    if conflict && reasons.iter().all(acceptable) && facts.state == PullState::Open {
        return Judgement::Conflict {
            sha: facts.head.sha.clone(),
        };
    }
    if conflict {
        reasons.push(Reason::Conflict);
    }
    if reasons.iter().any(|reason| !acceptable(reason)) {
        return Judgement::Refuse { reasons };
    }
    settle(&mut reasons, standing, timing, now);
    if reasons.is_empty() {
        return Judgement::Merge {
            sha: facts.head.sha.clone(),
            method: policy.merge_method,
        };
    }
    let until = reasons.iter().filter_map(Reason::until).min();
    Judgement::Wait { until, reasons }
}

fn ownership(reasons: &mut Vec<Reason>, facts: &PullFacts, standing: &Standing, policy: &Policy) {
    match standing.owner {
        Owner::Created => {}
        Owner::Adopted if policy.adopted_may_merge => {}
        Owner::Adopted => reasons.push(Reason::AdoptedMayNotMerge),
        Owner::Foreign => reasons.push(Reason::NotOurs),
    }
    if facts.head.repo.as_ref() != Some(&facts.pull.repo) {
        reasons.push(Reason::Fork);
    }
    match facts.state {
        PullState::Open => {}
        PullState::Closed => reasons.push(Reason::Closed),
        PullState::Merged { .. } => reasons.push(Reason::AlreadyMerged),
    }
    let approved = standing.approved.as_ref() == Some(&facts.head.sha);
    match policy.merge {
        MergePolicy::OnGreen => {}
        MergePolicy::Human if approved => {}
        MergePolicy::Human => reasons.push(Reason::NeedsApproval),
    }
}

fn switches(reasons: &mut Vec<Reason>, standing: &Standing, policy: &Policy) {
    match standing.hold {
        None => {}
        Some(Hold::Paused) => reasons.push(Reason::Paused),
        Some(Hold::ObserveOnly) => reasons.push(Reason::ObserveOnly),
    }
    if standing.merges_today >= policy.merges_per_day {
        reasons.push(Reason::DailyCap {
            cap: policy.merges_per_day,
        });
    }
    match standing.session {
        SessionRest::Resting => {}
        SessionRest::Working => reasons.push(Reason::SessionWorking),
        SessionRest::Failed => reasons.push(Reason::SessionFailed),
        SessionRest::CalledOff => reasons.push(Reason::CalledOff),
    }
}

fn shape(reasons: &mut Vec<Reason>, facts: &PullFacts, standing: &Standing, policy: &Policy) {
    if facts.draft {
        reasons.push(Reason::Draft);
    }
    if facts.base.branch != standing.wanted_base {
        reasons.push(Reason::WrongBase {
            is: facts.base.branch.clone(),
            wanted: standing.wanted_base.clone(),
        });
    }
    let blocks = |label: &&String| {
        policy
            .blocking_labels
            .iter()
            .any(|blocking| blocking.eq_ignore_ascii_case(label))
    };
    reasons.extend(
        facts
            .labels
            .iter()
            .find(blocks)
            .map(|label| Reason::BlockingLabel {
                label: label.clone(),
            }),
    );
    let approved = standing.approved.as_ref() == Some(&facts.head.sha);
    match &facts.files {
        Fact::Known(files) if files.is_empty() => reasons.push(Reason::Unknown {
            what: Thing::ChangedFiles,
            why: "GitHub lists none".to_owned(),
        }),
        Fact::Known(files) => {
            let protected = files
                .iter()
                .find(|file| policy.protected_paths.iter().any(|path| covers(path, file)));
            reasons.extend(
                protected
                    .filter(|_| !approved)
                    .map(|path| Reason::ProtectedPath { path: path.clone() }),
            );
        }
        Fact::Forbidden { permission } => reasons.push(Reason::Forbidden {
            what: Thing::ChangedFiles,
            permission: permission.clone(),
        }),
        Fact::Unknown { why } => reasons.push(Reason::Unknown {
            what: Thing::ChangedFiles,
            why: why.clone(),
        }),
    }
}

/// `dir/` covers everything below it, anything else exactly itself; case does not count, since some file systems ignore it.
fn covers(path: &str, file: &str) -> bool {
    let (path, file) = (path.to_lowercase(), file.to_lowercase());
    if path.ends_with('/') {
        file.starts_with(&path)
    } else {
        file == path
    }
}

/// Answers whether GitHub says that it conflicts.
fn mergeable(reasons: &mut Vec<Reason>, facts: &PullFacts) -> bool {
    match &facts.mergeable {
        Fact::Known(mergeable) => return !mergeable,
        Fact::Forbidden { permission } => reasons.push(Reason::Forbidden {
            what: Thing::Mergeability,
            permission: permission.clone(),
        }),
        Fact::Unknown { .. } => reasons.push(Reason::MergeableUnknown),
    }
    false
}

fn people(reasons: &mut Vec<Reason>, facts: &PullFacts) {
    match &facts.reviews {
        Fact::Known(reviews) => {
            if standing_verdicts(reviews).any(|verdict| verdict == Verdict::ChangesRequested) {
                reasons.push(Reason::ChangesRequested);
            }
            let have = standing_verdicts(reviews)
                .filter(|verdict| *verdict == Verdict::Approved)
                .count();
            let need = facts.demands.known().map_or(0, |demands| demands.approvals);
            if (have as u64) < u64::from(need) {
                reasons.push(Reason::ApprovalsMissing {
                    have: have as u64,
                    need,
                });
            }
        }
        Fact::Forbidden { permission } => reasons.push(Reason::Forbidden {
            what: Thing::Reviews,
            permission: permission.clone(),
        }),
        Fact::Unknown { why } => reasons.push(Reason::Unknown {
            what: Thing::Reviews,
            why: why.clone(),
        }),
    }
}

/// Each reviewer's last word; comments do not take a verdict back.
fn standing_verdicts(reviews: &[Review]) -> impl Iterator<Item = Verdict> {
    let mut last: Vec<(u64, Verdict)> = Vec::new();
    for review in reviews
        .iter()
        .filter(|review| review.verdict != Verdict::Comment)
    {
        last.retain(|(reviewer, _)| *reviewer != review.reviewer);
        last.push((review.reviewer, review.verdict));
    }
    last.into_iter().map(|(_, verdict)| verdict)
}

fn checks(
    reasons: &mut Vec<Reason>,
    facts: &PullFacts,
    standing: &Standing,
    (policy, timing): (&Policy, &Timing),
    now: Timestamp,
) {
    let checks = match &facts.checks {
        Fact::Known(checks) => checks,
        Fact::Forbidden { permission } => {
            return reasons.push(Reason::Forbidden {
                what: Thing::Checks,
                permission: permission.clone(),
            });
        }
        Fact::Unknown { why } => {
            return reasons.push(Reason::Unknown {
                what: Thing::Checks,
                why: why.clone(),
            });
        }
    };
    if checks.is_empty() {
        let until = standing.head_since + timing.ci_start;
        let reason = if now < until {
            Reason::NoChecksYet { until }
        } else {
            Reason::CiNeverStarted {
                cause: never_started(facts),
            }
        };
        return reasons.push(reason);
    }
    let names = |wanted: fn(&CheckOutcome) -> bool| -> Vec<String> {
        checks
            .iter()
            .filter(|check| wanted(&check.outcome))
            .map(|check| check.name.clone())
            .collect()
    };
    let pending = names(|outcome| matches!(outcome, CheckOutcome::Pending));
    let failed = names(|outcome| matches!(outcome, CheckOutcome::Failed));
    let approval = names(|outcome| matches!(outcome, CheckOutcome::ActionRequired));
    let passed = checks
        .iter()
        .filter(|check| check.outcome == CheckOutcome::Passed(Pass::Success))
        .count() as u64;
    if !failed.is_empty() {
        reasons.push(Reason::ChecksFailed {
            names: failed,
            others_pending: !pending.is_empty(),
        });
    }
    if !approval.is_empty() {
        reasons.push(Reason::ActionRequired { names: approval });
    }
    if !pending.is_empty() {
        reasons.push(Reason::ChecksPending { names: pending });
    }
    if passed < u64::from(policy.min_checks) {
        reasons.push(Reason::TooFewChecks {
            have: passed,
            need: policy.min_checks,
        });
    }
}

/// Why no check has appeared, from what GitHub shows.
fn never_started(facts: &PullFacts) -> NeverStarted {
    let clues = facts.ci.clone().unwrap_or_default();
    match (&facts.mergeable, clues) {
        (Fact::Known(false), _) => NeverStarted::Conflict,
        (
            _,
            CiClues {
                approval_pending: true,
                ..
            },
        ) => NeverStarted::ApprovalPending,
        (
            _,
            CiClues {
                workflows: Some(0), ..
            },
        ) => NeverStarted::NoWorkflow,
        _ if facts.author.id == ACTIONS_BOT_ID => NeverStarted::ActionsToken,
        _ => NeverStarted::Unknown,
    }
}

fn demands(reasons: &mut Vec<Reason>, facts: &PullFacts, policy: &Policy) {
    let known = match &facts.demands {
        Fact::Known(demands) => {
            if demands.merge_queue {
                reasons.push(Reason::MergeQueue);
            }
            match demands.behind_by {
                Some(0) => {}
                _ if !demands.up_to_date => {}
                Some(by) => reasons.push(Reason::Behind { by }),
                None => reasons.push(Reason::Unknown {
                    what: Thing::Distance,
                    why: "GitHub did not compare them".to_owned(),
                }),
            }
            demands.checks.as_slice()
        }
        // A source that lists its checks stands in for rules that may not be read.
        Fact::Forbidden { .. } | Fact::Unknown { .. } if !policy.required_checks.is_empty() => &[],
        Fact::Forbidden { permission } => {
            return reasons.push(Reason::Forbidden {
                what: Thing::BranchRules,
                permission: permission.clone(),
            });
        }
        Fact::Unknown { why } => {
            return reasons.push(Reason::Unknown {
                what: Thing::BranchRules,
                why: why.clone(),
            });
        }
    };
    let checks: &[Check] = facts.checks.known().map_or(&[], Vec::as_slice);
    let passed = |name: &str, app: Option<u64>| {
        let mut named = checks
            .iter()
            .filter(|check| check.name == name && (app.is_none() || check.app == app))
            .peekable();
        named.peek().is_some()
            && named.all(|check| matches!(check.outcome, CheckOutcome::Passed(_)))
    };
    let ruled = known
        .iter()
        .filter(|required| !passed(&required.name, required.app))
        .map(|required| required.name.clone());
    let listed = policy
        .required_checks
        .iter()
        .filter(|name| !passed(name, None))
        .cloned();
    let mut missing: Vec<String> = ruled.chain(listed).collect();
    missing.sort();
    missing.dedup();
    if !missing.is_empty() {
        reasons.push(Reason::RequiredMissing { names: missing });
    }
}

/// A green that has just appeared may still be followed by a check that has not been created yet.
fn settle(reasons: &mut Vec<Reason>, standing: &Standing, timing: &Timing, now: Timestamp) {
    let until = standing.green_since.unwrap_or(now) + timing.settle;
    if reasons.is_empty()
        && (standing.green_since.is_none() && !timing.settle.is_zero() || now < until)
    {
        reasons.push(Reason::Settling { until });
    }
}
