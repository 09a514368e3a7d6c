//! Every reason of a judgement: a case where it holds, and the green case where none does.

mod checks;
mod reasons;

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::facts::fixture::{at, green_facts, passed, sha};
use crate::facts::{Demands, Review, ReviewVerdict};
use crate::ids::RepoId;

fn review(reviewer: u64, verdict: ReviewVerdict) -> Review {
    Review {
        reviewer,
        person: None,
        commit: None,
        verdict,
    }
}

fn known_demands(facts: &mut PullFacts) -> &mut Demands {
    match &mut facts.demands {
        Fact::Known(demands) => demands,
        Fact::Forbidden { .. } | Fact::Unknown { .. } => panic!("not known"),
    }
}

/// A pull request that is merged at second 0, and whatever a case changes about it.
struct Case {
    facts: PullFacts,
    context: MergeContext,
    policy: Policy,
    timing: Timing,
    now: Timestamp,
}

impl Case {
    fn green() -> Self {
        let facts = green_facts();
        let context = MergeContext {
            owner: Owner::Created,
            session: SessionStatus::Resting,
            wanted_base: "main".parse().unwrap(),
            approved: None,
            gate: None,
            sprint_gate: None,
            plan_unreviewed: false,
            unexpected: None,
            head_since: at(-600),
            refused: None,
            merges_today: 0,
            merge_day_ends: None,
            hold: None,
        };
        let policy = Policy {
            merge: MergePolicy::OnGreen,
            ..Policy::default()
        };
        Self {
            facts,
            context,
            policy,
            timing: Timing::default(),
            now: at(0),
        }
    }

    fn judge(&self) -> Judgement {
        judge(
            &self.facts,
            &self.context,
            &self.policy,
            &self.timing,
            self.now,
        )
    }
}

/// The judgement of a changed green case in a few words: what, and the codes.
fn verdict(change: impl FnOnce(&mut Case)) -> String {
    let mut case = Case::green();
    change(&mut case);
    words(&case.judge())
}

fn words(judgement: &Judgement) -> String {
    let codes = |reasons: &[Reason]| {
        reasons
            .iter()
            .map(Reason::code)
            .collect::<Vec<_>>()
            .join(" ")
    };
    match judgement {
        Judgement::Merge { sha, method } => {
            format!("merge {} {}", &sha.as_str()[..4], method.as_str())
        }
        Judgement::Wait { reasons, .. } => format!("wait {}", codes(reasons)),
        Judgement::Refuse { reasons } => format!("refuse {}", codes(reasons)),
        Judgement::Conflict { sha } => format!("conflict {}", &sha.as_str()[..4]),
    }
}

fn unknown<T>() -> Fact<T> {
    Fact::Unknown {
        why: "page 2 answered 502".to_owned(),
    }
}

fn forbidden<T>() -> Fact<T> {
    Fact::Forbidden {
        permission: "Checks: read".to_owned(),
    }
}

#[test]
fn green_is_merged_at_its_sha_by_the_method_of_the_source() {
    assert_eq!(verdict(|_| {}), "merge aaaa squash");
    assert_eq!(
        verdict(|case| case.policy.merge_method = MergeMethod::Rebase),
        "merge aaaa rebase"
    );
}

#[test]
fn by_default_a_person_decides_and_only_for_the_head_they_saw() {
    assert_eq!(
        verdict(|case| case.policy = Policy::default()),
        "refuse needs_approval"
    );
    let by_person = |approved| {
        verdict(|case| {
            case.policy = Policy::default();
            case.context.approved = Some(approved);
        })
    };
    assert_eq!(by_person(sha('a')), "merge aaaa squash");
    assert_eq!(by_person(sha('c')), "refuse needs_approval");
}

#[test]
fn only_ours_are_merged() {
    assert_eq!(
        verdict(|case| case.context.owner = Owner::Foreign),
        "refuse not_ours"
    );
    assert_eq!(
        verdict(|case| case.context.owner = Owner::Adopted),
        "refuse adopted_may_not_merge"
    );
    let allowed = verdict(|case| {
        case.context.owner = Owner::Adopted;
        case.policy.adopted_may_merge = true;
    });
    assert_eq!(allowed, "merge aaaa squash");
    assert_eq!(
        verdict(|case| case.facts.head.repo = Some("evil/shop".parse().unwrap())),
        "refuse fork"
    );
    assert_eq!(verdict(|case| case.facts.head.repo = None), "refuse fork");
    // A fork that bears the name of the repository, and one whose number did not come.
    for number in [Some(RepoId(6)), None] {
        assert_eq!(
            verdict(|case| case.facts.head.repo_id = number),
            "refuse fork"
        );
    }
    assert_eq!(
        verdict(|case| case.facts.head.repo = Some("Acme/Shop".parse().unwrap())),
        "merge aaaa squash"
    );
}

#[test]
fn closed_and_merged_ones_are_left() {
    assert_eq!(
        verdict(|case| case.facts.state = PullState::Closed),
        "refuse closed"
    );
    assert_eq!(
        verdict(|case| case.facts.state = PullState::Merged { commit: None }),
        "refuse already_merged"
    );
}

#[test]
fn switches_and_caps() {
    assert_eq!(
        verdict(|case| case.context.hold = Some(Hold::Paused)),
        "refuse paused"
    );
    assert_eq!(
        verdict(|case| case.context.hold = Some(Hold::ObserveOnly)),
        "refuse observe_only"
    );
    assert_eq!(
        verdict(|case| case.context.merges_today = 19),
        "merge aaaa squash"
    );
    assert_eq!(
        verdict(|case| case.context.merges_today = 20),
        "wait daily_cap"
    );
}

#[test]
fn the_session_must_rest() {
    let session = |rest| verdict(|case| case.context.session = rest);
    assert_eq!(session(SessionStatus::Working), "wait session_working");
    assert_eq!(session(SessionStatus::Failed), "refuse session_failed");
    assert_eq!(session(SessionStatus::Cancelled), "refuse job_cancelled");
}

#[test]
fn drafts_bases_and_labels() {
    assert_eq!(verdict(|case| case.facts.draft = true), "wait draft");
    assert_eq!(
        verdict(|case| case.facts.base.branch = "develop".parse().unwrap()),
        "refuse wrong_base"
    );
    assert_eq!(
        verdict(|case| case.facts.labels.push("Do-Not-Merge".to_owned())),
        "refuse blocking_label"
    );
}

#[test]
fn a_plan_that_nobody_approved_is_approved_before_its_work_is_merged() {
    assert_eq!(
        verdict(|case| case.context.plan_unreviewed = true),
        "refuse plan_unreviewed"
    );
}

#[test]
fn what_nobody_expected_is_merged_only_at_the_head_that_somebody_approved() {
    let unexpected = |approved| {
        verdict(|case| {
            case.context.unexpected = Some(vec!["x.rs".to_owned()]);
            case.context.approved = approved;
        })
    };
    assert_eq!(unexpected(None), "refuse unexpected_push");
    assert_eq!(unexpected(Some(sha('c'))), "refuse unexpected_push");
    assert_eq!(unexpected(Some(sha('a'))), "merge aaaa squash");
}

#[test]
fn only_the_bottom_of_a_stack_is_merged() {
    let stack = |position| verdict(|case| case.facts.stack = position);
    assert_eq!(stack(Some(1)), "merge aaaa squash");
    assert_eq!(stack(Some(2)), "refuse stacked");
}

#[test]
fn protected_paths_need_a_person() {
    let files = |files: &[&str]| {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        verdict(|case| case.facts.files = Fact::Known(files))
    };
    assert_eq!(
        files(&["src/a.rs", ".github/workflows/ci.yml"]),
        "refuse protected_path"
    );
    assert_eq!(
        files(&[".GitHub/workflows/ci.yml"]),
        "refuse protected_path"
    );
    assert_eq!(files(&["docs/.github/x"]), "merge aaaa squash");
    assert_eq!(files(&[]), "wait unknown");
    let approved = verdict(|case| {
        case.facts.files = Fact::Known(vec![".github/x".to_owned()]);
        case.context.approved = Some(sha('a'));
    });
    assert_eq!(approved, "merge aaaa squash");
    let one_file = verdict(|case| {
        case.policy.protected_paths = vec!["Cargo.lock".to_owned()];
        case.facts.files = Fact::Known(vec!["Cargo.lock".to_owned()]);
    });
    assert_eq!(one_file, "refuse protected_path");
}

#[test]
fn conflicts() {
    assert_eq!(
        verdict(|case| case.facts.mergeable = unknown()),
        "wait mergeable_unknown"
    );
    assert_eq!(
        verdict(|case| case.facts.mergeable = forbidden()),
        "refuse forbidden"
    );
    assert_eq!(
        verdict(|case| case.facts.mergeable = Fact::Known(false)),
        "conflict aaaa"
    );
    let refused = verdict(|case| {
        case.facts.mergeable = Fact::Known(false);
        case.context.hold = Some(Hold::Paused);
    });
    assert_eq!(refused, "refuse paused conflict");
}

#[test]
fn a_merge_is_held_where_nothing_but_a_pause_wants_a_person() {
    let held = |change: &dyn Fn(&mut Case)| {
        let mut case = Case::green();
        change(&mut case);
        case.judge().is_held()
    };
    let paused = |case: &mut Case| case.context.hold = Some(Hold::Paused);
    assert!(held(&paused));
    assert!(held(&|case| case.context.hold = Some(Hold::ObserveOnly)));
    assert!(held(&|case| {
        paused(case);
        case.facts.mergeable = unknown();
    }));
    assert!(!held(&|_| {}));
    assert!(!held(&|case| case.facts.mergeable = unknown()));
    for change in [
        |case: &mut Case| case.facts.mergeable = Fact::Known(false),
        |case: &mut Case| case.facts.state = PullState::Closed,
    ] {
        assert!(!held(&change));
        assert!(!held(&|case| {
            paused(case);
            change(case);
        }));
    }
}

#[test]
fn reviews() {
    use ReviewVerdict::{Approved, ChangesRequested, Comment, Dismissed};
    let reviews = |need, reviews: &[Review]| {
        verdict(|case| {
            known_demands(&mut case.facts).approvals = need;
            case.facts.reviews = Fact::Known(reviews.to_vec());
        })
    };
    assert_eq!(
        reviews(0, &[review(1, ChangesRequested)]),
        "wait changes_requested"
    );
    assert_eq!(
        reviews(0, &[review(1, ChangesRequested), review(1, Comment)]),
        "wait changes_requested"
    );
    assert_eq!(
        reviews(0, &[review(1, ChangesRequested), review(1, Approved)]),
        "merge aaaa squash"
    );
    assert_eq!(
        reviews(0, &[review(1, ChangesRequested), review(1, Dismissed)]),
        "merge aaaa squash"
    );
    assert_eq!(reviews(1, &[]), "wait approvals_missing");
    assert_eq!(reviews(1, &[review(1, Approved)]), "merge aaaa squash");
    assert_eq!(
        reviews(2, &[review(1, Approved), review(1, Approved)]),
        "wait approvals_missing"
    );
    assert_eq!(
        reviews(1, &[review(1, Approved), review(1, Dismissed)]),
        "wait approvals_missing"
    );
    assert_eq!(
        verdict(|case| case.facts.reviews = unknown()),
        "wait unknown"
    );
}

#[test]
fn stale_facts_are_read_again() {
    assert_eq!(verdict(|case| case.now = at(10)), "merge aaaa squash");
    assert_eq!(verdict(|case| case.now = at(11)), "wait facts_stale");
    assert_eq!(
        verdict(|case| case.facts.read_at = at(11)),
        "wait facts_stale"
    );
}

#[test]
fn a_head_settles_for_as_long_as_another_check_may_appear() {
    let since = |head_since| verdict(|case| case.context.head_since = at(head_since));
    assert_eq!(since(-59), "wait settling");
    assert_eq!(since(-60), "merge aaaa squash");
    // Seen by a clock that ran an hour ahead.
    assert_eq!(since(3_600), "wait settling");
    let at_once = verdict(|case| {
        case.context.head_since = at(0);
        case.timing.settle = SignedDuration::ZERO;
    });
    assert_eq!(at_once, "merge aaaa squash");
}

#[test]
fn what_github_refused_is_tried_again_later_and_not_for_ever() {
    let refused = |attempts, again_at| {
        let why = "405 Base branch was modified".to_owned();
        verdict(|case| {
            case.context.refused = Some(MergeRefusals {
                why,
                attempts,
                again_at: at(again_at),
            })
        })
    };
    assert_eq!(refused(1, 1), "wait merge_refused");
    assert_eq!(refused(1, 0), "merge aaaa squash");
    assert_eq!(refused(MAX_ATTEMPTS, 0), "refuse merge_refused");
}

#[test]
fn what_the_budget_did_not_allow_waits_until_it_does() {
    let throttled = |again_at| {
        let why = "writes to GitHub are a second apart".to_owned();
        verdict(|case| {
            case.context.refused = Some(MergeRefusals {
                why,
                attempts: 0,
                again_at: at(again_at),
            })
        })
    };
    assert_eq!(throttled(1), "wait merge_throttled");
    assert_eq!(throttled(0), "merge aaaa squash");
}
