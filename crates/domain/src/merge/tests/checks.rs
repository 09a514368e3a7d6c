//! Checks: those that ran, those that never started, those that must have passed.

use super::*;
use crate::facts::fixture::{ACTIONS_APP, check};
use crate::facts::{
    ACTIONS_BOT_ID, Check, CheckOutcome, CiClues, Pass, RequiredCheck, UnreadReason,
};

fn checks(checks: &[Check]) -> String {
    verdict(|case| case.facts.checks = Fact::Known(checks.to_vec()))
}

#[test]
fn checks_that_ran() {
    use CheckOutcome::{ActionRequired, Failed, Passed, Pending};
    let build = passed("build");
    let and = |outcome| checks(&[build.clone(), check("lint", outcome)]);
    assert_eq!(and(Pending), "wait checks_pending");
    assert_eq!(and(Failed), "refuse checks_failed");
    assert_eq!(and(ActionRequired), "refuse action_required");
    assert_eq!(and(Passed(Pass::Skipped)), "merge aaaa squash");
    assert_eq!(and(Passed(Pass::Neutral)), "merge aaaa squash");
    let both = checks(&[check("a", Failed), check("b", Pending), build.clone()]);
    assert_eq!(both, "refuse checks_failed checks_pending");
    assert_eq!(
        verdict(|case| case.facts.checks = unknown()),
        "wait unknown"
    );
    assert_eq!(
        verdict(|case| case.facts.checks = forbidden()),
        "refuse forbidden"
    );
}

#[test]
fn skipped_and_neutral_checks_do_not_count() {
    let skipped = check("build", CheckOutcome::Passed(Pass::Skipped));
    let neutral = check("lint", CheckOutcome::Passed(Pass::Neutral));
    assert_eq!(checks(&[skipped, neutral]), "wait too_few_checks");
    assert_eq!(
        verdict(|case| case.policy.min_checks = 2),
        "wait too_few_checks"
    );
    // Checks of our own are none, unless they are what is asked for.
    let own = |required: &[&str]| {
        verdict(|case| {
            case.policy.required_checks = required.iter().map(|&name| name.to_owned()).collect();
            case.facts.checks = Fact::Known(vec![passed("jules/scope")]);
        })
    };
    assert_eq!(own(&[]), "refuse ci_never_started");
    assert_eq!(own(&["jules/scope"]), "merge aaaa squash");
}

/// The doctor says so, and a repository without a workflow has no other way to merge.
#[test]
fn a_minimum_of_no_check_is_reached_once_ci_had_time_to_start() {
    let none = |since, required: &[&str]| {
        verdict(|case| {
            case.policy.min_checks = 0;
            case.policy.required_checks = required.iter().map(|&name| name.to_owned()).collect();
            case.context.head_since = at(since);
            case.facts.checks = Fact::Known(vec![]);
        })
    };
    assert_eq!(none(-299, &[]), "wait no_checks_yet");
    assert_eq!(none(-300, &[]), "merge aaaa squash");
    assert_eq!(none(-300, &["build"]), "wait required_missing");
    // Where there is CI that a person has to let run, none is not enough.
    let held_up = verdict(|case| {
        case.policy.min_checks = 0;
        case.context.head_since = at(-300);
        case.facts.checks = Fact::Known(vec![]);
        case.facts.ci = Some(CiClues {
            approval_pending: true,
            workflows: Some(3),
        });
    });
    assert_eq!(held_up, "refuse ci_never_started");
    // What has appeared still has to pass.
    let failed = check("build", CheckOutcome::Failed);
    let failed = verdict(|case| {
        case.policy.min_checks = 0;
        case.facts.checks = Fact::Known(vec![failed.clone()]);
    });
    assert_eq!(failed, "refuse checks_failed");
}

#[test]
fn checks_that_never_started_and_why() {
    let cause = |reason| {
        if let Reason::CiNeverStarted { cause } = reason {
            Some(cause)
        } else {
            None
        }
    };
    let none = |change: &dyn Fn(&mut Case)| {
        let mut case = Case::green();
        case.facts.checks = Fact::Known(vec![]);
        change(&mut case);
        match case.judge() {
            Judgement::Refuse { reasons } => reasons.into_iter().find_map(cause),
            Judgement::Wait { until, reasons } => {
                let until = until.unwrap();
                assert_eq!(reasons, [Reason::NoChecksYet { until }]);
                None
            }
            judgement @ (Judgement::Merge { .. } | Judgement::Conflict { .. }) => {
                panic!("{judgement:?}")
            }
        }
    };
    let clues = |approval_pending, workflows| {
        Some(CiClues {
            approval_pending,
            workflows,
        })
    };
    assert_eq!(none(&|case| case.context.head_since = at(-299)), None);
    assert_eq!(
        none(&|case| case.context.head_since = at(-300)),
        Some(MissingChecksCause::Unknown)
    );
    assert_eq!(
        none(&|case| case.facts.mergeable = Fact::Known(false)),
        Some(MissingChecksCause::Conflict)
    );
    assert_eq!(
        none(&|case| case.facts.author.id = ACTIONS_BOT_ID),
        Some(MissingChecksCause::ActionsToken)
    );
    assert_eq!(
        none(&|case| case.facts.ci = clues(true, Some(3))),
        Some(MissingChecksCause::ApprovalPending)
    );
    assert_eq!(
        none(&|case| case.facts.ci = clues(false, Some(0))),
        Some(MissingChecksCause::NoWorkflow)
    );
    assert_eq!(
        none(&|case| case.facts.ci = clues(false, Some(3))),
        Some(MissingChecksCause::Unknown)
    );
    assert_eq!(
        none(&|case| case.facts.ci = clues(false, None)),
        Some(MissingChecksCause::Unknown)
    );
}

#[test]
fn required_checks_count_only_from_the_app_that_the_rule_names() {
    let required = |app, checks: &[Check]| {
        verdict(|case| {
            let rule = RequiredCheck {
                name: "build".to_owned(),
                app,
            };
            known_demands(&mut case.facts).checks.push(rule);
            case.facts.checks = Fact::Known(checks.to_vec());
        })
    };
    let forged = Check {
        app: Some(666),
        ..passed("build")
    };
    let status = Check {
        app: None,
        id: None,
        ..passed("build")
    };
    assert_eq!(
        required(Some(ACTIONS_APP), &[passed("build")]),
        "merge aaaa squash"
    );
    assert_eq!(
        required(Some(ACTIONS_APP), std::slice::from_ref(&forged)),
        "wait required_missing"
    );
    assert_eq!(
        required(Some(ACTIONS_APP), std::slice::from_ref(&status)),
        "wait required_missing"
    );
    assert_eq!(required(None, &[status]), "merge aaaa squash");
    assert_eq!(
        required(Some(ACTIONS_APP), &[passed("lint")]),
        "wait required_missing"
    );
    let pending = check("build", CheckOutcome::Pending);
    assert_eq!(
        required(Some(ACTIONS_APP), &[forged, pending]),
        "wait checks_pending required_missing"
    );
}

#[test]
fn checks_that_the_source_lists_stand_in_for_unreadable_rules() {
    assert_eq!(
        verdict(|case| case.facts.demands = forbidden()),
        "refuse forbidden"
    );
    assert_eq!(
        verdict(|case| case.facts.demands = unknown()),
        "wait unknown"
    );
    let listed = |names: &[&str]| {
        verdict(|case| {
            case.facts.demands = forbidden();
            case.policy.required_checks = names.iter().map(|name| (*name).to_owned()).collect();
        })
    };
    assert_eq!(listed(&["build"]), "merge aaaa squash");
    assert_eq!(listed(&["build", "deploy"]), "wait required_missing");
}

/// Rulesets that name a check do not stand in for classic protection that may not be read: it may demand more.
#[test]
fn rules_that_could_be_read_do_not_stand_in_for_those_that_could_not() {
    let listed = |names: &[&str]| {
        verdict(|case| {
            let demands = known_demands(&mut case.facts);
            demands.checks = vec![RequiredCheck {
                name: "build".to_owned(),
                app: None,
            }];
            demands.unread = Some(UnreadReason::Forbidden {
                permission: "Administration: read".to_owned(),
            });
            case.policy.required_checks = names.iter().map(|name| (*name).to_owned()).collect();
        })
    };
    assert_eq!(listed(&[]), "refuse forbidden");
    assert_eq!(listed(&["build"]), "merge aaaa squash");
}

#[test]
fn distance_and_merge_queue() {
    let demands = |up_to_date, behind_by, merge_queue| {
        verdict(|case| {
            let demands = known_demands(&mut case.facts);
            (demands.up_to_date, demands.behind_by, demands.merge_queue) =
                (up_to_date, behind_by, merge_queue);
        })
    };
    assert_eq!(demands(true, Some(0), false), "merge aaaa squash");
    assert_eq!(demands(true, Some(3), false), "wait behind");
    assert_eq!(demands(true, None, false), "wait unknown");
    assert_eq!(demands(false, Some(3), false), "merge aaaa squash");
    assert_eq!(demands(false, None, true), "refuse merge_queue");
}
