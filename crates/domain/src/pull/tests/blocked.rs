//! Reasons that neither time nor the session removes, and pull requests that are closed and reopened.

use super::*;
use crate::delivery::Phase;
use crate::effect::PullAction;
use crate::facts::{Demands, PullState, RequiredCheck, Review, ReviewVerdict as Said};
use crate::job::{WaitParty, WaitReason};
use crate::merge::{Gate, SprintGate};
use crate::pull::REOPEN_WAIT;

/// Changes one thing about a green pull request.
type Change = fn(&mut World);

const MINUTES: i64 = 60;

#[test]
fn what_only_a_person_can_change_is_told_at_once_and_once() {
    let cases: [(&str, Change); 7] = [
        ("stacked", |world| world.facts.stack = Some(2)),
        ("wrong_base", |world| {
            world.facts.base.branch = "other".parse().unwrap();
        }),
        ("protected_path", |world| {
            world.facts.files = Fact::Known(vec![".github/workflows/ci.yml".to_owned()]);
        }),
        ("action_required", |world| {
            world.checks(&[CheckOutcome::ActionRequired]);
        }),
        ("merge_queue", |world| {
            let merge_queue = true;
            world.facts.demands = Fact::Known(Demands {
                merge_queue,
                ..Demands::default()
            });
        }),
        ("forbidden", |world| {
            let permission = "Checks: read".to_owned();
            world.facts.checks = Fact::Forbidden { permission };
        }),
        ("mail_unreadable", |world| {
            world.outside.sprint_gate = Some(SprintGate::Unreadable);
        }),
    ];
    for (code, change) in cases {
        let mut world = World::green();
        change(&mut world);
        assert_eq!(world.read(0), ["merge_blocked"], "{code}");
        assert!(world.verdict().contains(&code));
        assert!(world.read(90 * MINUTES).is_empty(), "{code}");
    }
}

/// Nothing but a person on GitHub moves it: no session is told what failed, and no approval is asked for.
#[test]
fn what_a_delivery_collected_is_left_to_people_and_read_as_seldom() {
    let changes: [Change; 6] = [
        |_| {},
        |world| world.checks(&[CheckOutcome::Failed]),
        |world| world.facts.mergeable = Fact::Known(false),
        |world| world.facts.draft = true,
        |world| world.outside.owner = Owner::Adopted,
        |world| world.policy.merge = MergePolicy::Human,
    ];
    for change in changes {
        let mut world = World::green();
        let delivery = "0123456789ab".parse().unwrap();
        world.outside.gate = Some(Gate::Collected { delivery });
        change(&mut world);
        assert!(world.read(0).is_empty());
        assert!(world.read(90 * MINUTES).is_empty());
        assert_eq!(world.verdict(), ["collected"]);
        let waits = waits_for(&world.pull, false, None);
        let person = (WaitParty::Person, WaitReason::Collected);
        assert_eq!((waits.who, waits.what), person);
        assert!(world.pull.green.is_none());
        let seldom = world.timing.pull_poll.saturating_mul(5);
        assert_eq!(world.step.due, Some(at(90 * MINUTES) + seldom));
    }
}

fn changes_requested() -> Fact<Vec<Review>> {
    Fact::Known(vec![Review {
        reviewer: 3,
        person: None,
        commit: None,
        verdict: Said::ChangesRequested,
    }])
}

#[test]
fn what_moves_by_itself_is_waited_for_before_people_and_an_approval_comes_last() {
    let plan = Gate::NotInVerify { phase: Phase::Plan };
    let cases: [(Change, WaitParty, WaitReason); 4] = [
        (
            |world| {
                world.outside.session = SessionStatus::Resting;
                world.facts.draft = true;
                world.checks(&[CheckOutcome::Pending]);
            },
            WaitParty::GitHub,
            WaitReason::Checks,
        ),
        (
            |world| world.outside.gate = Some(Gate::OtherHead),
            WaitParty::Jules,
            WaitReason::Work,
        ),
        (
            |world| world.outside.merges_today = world.policy.merges_per_day,
            WaitParty::Gaffer,
            WaitReason::MergeCap,
        ),
        (
            |world| {
                world.outside.session = SessionStatus::Resting;
                world.policy.merge = MergePolicy::Human;
                world.facts.reviews = changes_requested();
            },
            WaitParty::Person,
            WaitReason::Review,
        ),
    ];
    for (change, who, what) in cases {
        let mut world = World::green();
        world.outside.session = SessionStatus::Working;
        change(&mut world);
        world.read(0);
        let waits = waits_for(&world.pull, false, None);
        let verdict = world.verdict();
        assert_eq!((waits.who, waits.what), (who, what), "{verdict:?}");
    }
    let mut world = World::green();
    world.outside.gate = Some(plan);
    world.facts.draft = true;
    world.read(0);
    assert_eq!(world.verdict(), ["delivery_not_in_verify", "draft"]);
}

#[test]
fn a_conflict_of_what_is_woven_is_left_to_its_sprint() {
    let sprint = "50".parse().unwrap();
    for (gate, is_sent) in [
        (SprintGate::Woven { sprint }, false),
        (SprintGate::Mail, true),
    ] {
        let mut world = World::green();
        world.outside.sprint_gate = Some(gate);
        world.facts.mergeable = Fact::Known(false);
        assert_eq!(!world.read(0).is_empty(), is_sent, "{gate:?}");
    }
}

#[test]
fn what_a_sprint_left_to_people_asks_for_no_approval() {
    let mut world = World::green();
    world.facts.files = Fact::Known(vec![".github/workflows/ci.yml".to_owned()]);
    world.outside.sprint_gate = Some(SprintGate::Over);
    assert!(world.read(0).is_empty());
    assert!(world.verdict().contains(&"protected_path"));
    assert!(world.read(90 * MINUTES).is_empty());
}

#[test]
fn what_may_still_come_is_told_when_it_has_not_come_for_long() {
    let cases: [(&str, Change); 6] = [
        ("required_missing", |world| {
            let rule = RequiredCheck {
                name: "e2e".to_owned(),
                app: None,
            };
            world.facts.demands = Fact::Known(Demands {
                checks: vec![rule],
                ..Demands::default()
            });
        }),
        ("too_few_checks", |world| world.policy.min_checks = 2),
        ("unknown", |world| {
            let why = "502".to_owned();
            world.facts.reviews = Fact::Unknown { why };
        }),
        ("mergeable_unknown", |world| {
            let why = "null".to_owned();
            world.facts.mergeable = Fact::Unknown { why };
        }),
        ("approvals_missing", |world| {
            world.facts.demands = Fact::Known(Demands {
                approvals: 1,
                ..Demands::default()
            });
        }),
        ("changes_requested", |world| {
            world.facts.reviews = changes_requested();
        }),
    ];
    for (code, change) in cases {
        let mut world = World::green();
        change(&mut world);
        assert!(world.read(0).is_empty(), "{code}");
        assert_eq!(world.verdict(), [code]);
        assert!(world.read(15 * MINUTES - 1).is_empty(), "{code}");
        assert_eq!(world.read(15 * MINUTES), ["merge_blocked"], "{code}");
        assert!(world.read(40 * MINUTES).is_empty(), "{code}");
    }
}

#[test]
fn nobody_is_told_while_something_moves() {
    let cases: [Change; 3] = [
        |world| world.outside.session = SessionStatus::Working,
        |world| world.outside.merges_today = world.policy.merges_per_day,
        |world| {
            world.checks(&[
                CheckOutcome::Passed(crate::facts::Pass::Success),
                CheckOutcome::Pending,
            ]);
        },
    ];
    for change in cases {
        let mut world = World::green();
        world.facts.files = Fact::Known(vec![".github/workflows/ci.yml".to_owned()]);
        change(&mut world);
        for second in [0, 15 * MINUTES, 300 * MINUTES] {
            assert!(world.read(second).is_empty());
        }
    }
}

#[test]
fn a_check_that_hangs_is_told_after_six_hours() {
    let mut world = World::green();
    world.checks(&[CheckOutcome::Pending]);
    assert!(world.read(0).is_empty());
    assert!(world.read(360 * MINUTES - 1).is_empty());
    assert_eq!(world.read(360 * MINUTES), ["merge_blocked"]);
}

#[test]
fn a_repair_that_is_never_answered_is_told() {
    let mut red = World::green();
    red.checks(&[CheckOutcome::Failed]);
    red.read(0);
    assert_eq!(red.read(60), ["say:session:ci:A"]);
    let mut conflicting = World::green();
    conflicting.facts.mergeable = Fact::Known(false);
    assert_eq!(conflicting.read(0), ["say:session:conflict:A"]);
    // The wait begins with the message to the session, however long its checks had been red.
    for (mut world, told) in [(red, 60), (conflicting, 0)] {
        assert!(world.read(told + 15 * MINUTES - 1).is_empty());
        assert_eq!(world.read(told + 15 * MINUTES), ["merge_blocked"]);
        // An answer begins a new wait.
        world.facts.head.sha = sha('d');
        assert!(
            !world
                .read(22 * MINUTES)
                .contains(&"merge_blocked".to_owned())
        );
    }
}

#[test]
fn what_nobody_was_asked_to_repair_is_no_unanswered_repair() {
    let mut world = World::green();
    world.checks(&[CheckOutcome::Failed]);
    world.outside.session = SessionStatus::Failed;
    for second in [0, 60, 15 * MINUTES, 40 * MINUTES] {
        assert!(world.read(second).is_empty());
    }
}

#[test]
fn only_a_few_heads_are_told() {
    let mut world = World::green();
    world.facts.files = Fact::Known(vec![".github/workflows/ci.yml".to_owned()]);
    let mut told = Vec::new();
    for n in 1..20_u8 {
        world.facts.head.sha = format!("{n:040x}").parse().unwrap();
        told.extend(world.read(i64::from(n) * MINUTES));
    }
    assert_eq!(told, ["merge_blocked"; 3]);
}

#[test]
fn a_source_may_want_a_comment_and_a_label() {
    let mut world = World::green();
    world.policy.comment_when_blocked = true;
    world.policy.blocked_label = Some("needs-somebody".to_owned());
    world.checks(&[CheckOutcome::ActionRequired]);
    let comment = "comment:#7:merge_blocked@A";
    let wanted = [comment, "label:#7:needs-somebody", "merge_blocked"];
    assert_eq!(world.read(0), wanted);
    let Some(Action::Pull(PullAction::Comment { text, .. })) = world.step.effects.first() else {
        panic!()
    };
    assert!(text.contains("wait for approval on GitHub"), "{text}");
    assert!(world.read(60).is_empty());
}

#[test]
fn closing_and_reopening_begins_again() {
    let mut world = World::green();
    world.checks(&[CheckOutcome::Pending]);
    world.read(0);
    world.facts.state = PullState::Closed;
    assert!(world.read(10).is_empty());
    assert_eq!(world.verdict(), ["closed"]);
    // It is looked at again long before it counts as given up.
    assert_eq!(world.due(), 10 + 120);
    assert!(world.read(600).is_empty());
    assert_eq!(world.due(), 10 + REOPEN_WAIT.as_secs());
    world.facts.state = PullState::Open;
    world.checks(&[CheckOutcome::Passed(crate::facts::Pass::Success)]);
    assert!(world.read(605).is_empty());
    assert_eq!(world.read(665).len(), 1);
}

#[test]
fn what_stays_closed_ends_and_tells_the_job() {
    let mut world = World::green();
    world.read(0);
    world.facts.state = PullState::Closed;
    world.read(10);
    assert!(!world.pull.is_settled());
    world.read(10 + REOPEN_WAIT.as_secs() - 1);
    assert!(!world.pull.is_settled());
    world.read(10 + REOPEN_WAIT.as_secs());
    assert!(world.pull.is_settled());
    assert_eq!(world.step.follow_ups.len(), 1);
}

#[test]
fn a_full_day_says_when_it_ends() {
    let mut world = World::green();
    world.outside.merges_today = world.policy.merges_per_day;
    world.outside.merge_day_ends = Some(at(3_600));
    assert!(world.read(0).is_empty());
    assert_eq!(world.verdict(), ["daily_cap"]);
    let sentence = world.pull.verdict.as_ref().unwrap().judgement.reasons()[0].sentence();
    assert!(sentence.contains(&at(3_600).to_string()), "{sentence}");
    // The next merge may be tomorrow: none is about to be made.
    let waits = crate::pull::waits_for(&world.pull, false, None);
    let told = (waits.who, waits.what);
    assert_eq!(
        told,
        (
            crate::job::WaitParty::Gaffer,
            crate::job::WaitReason::MergeCap
        )
    );
}

#[test]
fn another_head_has_as_long_as_the_first() {
    let mut world = World::green();
    world.policy.min_checks = 2;
    assert!(world.read(0).is_empty());
    world.facts.head.sha = sha('c');
    assert!(world.read(15 * MINUTES).is_empty());
    assert!(world.read(30 * MINUTES - 1).is_empty());
    assert_eq!(world.read(30 * MINUTES), ["merge_blocked"]);
}

#[test]
fn a_pull_request_is_closed_once_and_stays_open_when_it_is_reopened() {
    let mut world = World::green();
    world.outside.session = SessionStatus::Cancelled;
    world.read(0);
    let step = close(&world.pull, "a person", at(1)).unwrap();
    assert_eq!(step.due, Some(at(1)));
    world.pull = step.aggregate;
    world.outside.hold = Some(Hold::Paused);
    assert!(world.read(2).is_empty());
    world.outside.hold = None;
    assert_eq!(world.read(3), ["close:#7"]);
    world.facts.state = crate::facts::PullState::Closed;
    assert!(world.read(4).is_empty());
    world.facts.state = crate::facts::PullState::Open;
    assert!(world.read(5).is_empty());
}

#[test]
fn the_checks_of_a_judged_head_are_kept_and_those_that_failed_come_first() {
    let mut world = World::green();
    let names = |world: &World| {
        let verdict = world.pull.verdict.as_ref().unwrap();
        let names = verdict.checks.iter().map(|check| check.name.clone());
        names.collect::<Vec<_>>()
    };
    world.facts.checks = Fact::Known(vec![
        passed("build"),
        check("deploy", CheckOutcome::Pending),
        check("lint", CheckOutcome::Failed),
    ]);
    world.read(0);
    assert_eq!(names(&world), ["lint", "deploy", "build"]);
    let many = (0..30).map(|n| passed(&format!("build {n}")));
    world.facts.checks = Fact::Known(many.collect());
    world.read(60);
    assert_eq!(names(&world).len(), 20);
    world.facts.checks = Fact::Unknown {
        why: "502".to_owned(),
    };
    world.read(120);
    assert_eq!(names(&world), [""; 0]);
}

#[test]
fn what_is_left_to_people_is_read_less_and_less_often() {
    for outcome in [CheckOutcome::Failed, CheckOutcome::Pending] {
        let mut world = World::green();
        world.outside.session = SessionStatus::Cancelled;
        world.checks(&[outcome]);
        let (mut now, mut readings) = (0, 0);
        while now < 30 * 24 * 60 * MINUTES {
            world.read(now);
            assert!(world.due() - now <= 24 * 60 * MINUTES, "{now}");
            now = world.due();
            readings += 1;
        }
        assert!(readings < 60, "{readings}");
        // A person who closes it is noticed.
        world.facts.state = PullState::Closed;
        world.read(now);
        assert_eq!(world.verdict(), ["closed"]);
    }
}
