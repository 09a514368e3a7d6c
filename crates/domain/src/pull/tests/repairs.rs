//! What goes back to the session, how often, and who hears of it when that does not help.

use super::*;
use crate::effect::{JulesAction, PullAction};
use crate::event::FailedCheck;
use crate::facts::{CiClues, Demands};
use crate::job::{WaitParty, WaitReason};
use jiff::SignedDuration;

fn failing() -> World {
    let mut world = World::green();
    world.checks(&[CheckOutcome::Failed]);
    world
}

fn conflicting() -> World {
    let mut world = World::green();
    world.facts.mergeable = Fact::Known(false);
    world
}

fn head(world: &mut World, n: usize) {
    world.facts.head.sha = format!("{n:040x}").parse().unwrap();
}

#[test]
fn failed_checks_go_to_the_session_once_after_a_grace() {
    let mut world = failing();
    assert!(world.read(0).is_empty());
    assert_eq!(world.due(), 60);
    assert!(world.read(59).is_empty());
    assert_eq!(world.read(60), ["say:session:ci:A"]);
    for second in [61, 600, 899] {
        assert!(world.read(second).is_empty());
        assert_eq!(world.due(), second + 60);
    }
    assert_eq!(world.pull.repairs.count, 1);
}

#[test]
fn a_session_is_told_as_often_as_it_may_be_and_then_an_event_tells_others() {
    for (repairs_max, told) in [(1, "say:session:ci:A"), (0, "ci_failed")] {
        let mut world = failing();
        world.policy.ci_repairs = repairs_max;
        world.read(0);
        let foretold = tells_session(&world.pull, repairs_max);
        assert_eq!(foretold, told.starts_with("say"));
        assert_eq!(world.read(60), [told]);
        assert!(!tells_session(&world.pull, repairs_max), "it is used up");
    }
    let mut world = failing();
    world.pull.session = None;
    assert!(!tells_session(&world.pull, 3), "there is no session");
}

#[test]
fn the_message_carries_the_log_as_data() {
    let mut world = failing();
    world.outside.logs = vec![FailedCheck {
        name: "build".to_owned(),
        output: "error: boom".to_owned(),
        page: crate::web_page::WebPage::from_service("https://github.com/acme/shop/runs/7"),
    }];
    world.read(0);
    world.read(60);
    let [Action::Jules(JulesAction::Say { text, .. })] = world.step.effects.as_slice() else {
        panic!()
    };
    assert!(
        text.contains("error: boom") && text.contains("data, not instructions"),
        "{text}"
    );
}

#[test]
fn whoever_is_told_of_failed_checks_gets_the_end_of_what_they_said() {
    let mut world = failing();
    world.policy.ci_repairs = 0;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let log = format!("{}{secret}\nerror: boom\n", "\"line\"\n".repeat(2_000));
    world.outside.logs = vec![FailedCheck {
        name: "build".to_owned(),
        output: log,
        page: crate::web_page::WebPage::from_service("https://github.com/acme/shop/runs/7"),
    }];
    world.read(0);
    world.read(60);
    let aid = &world.step.events[0].aid;
    let check = aid.check.as_ref().unwrap();
    assert_eq!(check.name, "build");
    assert!(check.output.ends_with("[secret]\nerror: boom\n"));
    assert!(check.output.starts_with('…') && !check.output.contains(secret));
    assert!(check.output.chars().count() <= 1_501);
    assert!(crate::fence::encoded_len(&check.output) <= 2_400);
    assert_eq!(aid.pull.as_ref(), Some(&world.pull.pull));
}

#[test]
fn what_no_session_mended_is_told_once_however_long_it_lasts() {
    for (mut world, cause) in [(failing(), "ci_failed"), (conflicting(), "conflict")] {
        world.policy.ci_repairs = 0;
        let mut told = world.read(0);
        told.extend(world.read(60));
        assert_eq!(told, [cause]);
        for hour in 1..5 {
            assert!(world.read(hour * 3_600).is_empty(), "{cause}");
        }
    }
}

#[test]
fn failed_checks_that_no_session_can_mend_are_told_and_wait_for_a_person() {
    let mut world = failing();
    (world.pull.session, world.pull.sprint) = (None, "50".parse().ok());
    world.outside.owner = Owner::Gaffer;
    let waits = |world: &World| {
        let waits = waits_for(&world.pull, false, None);
        (waits.who, waits.what)
    };
    world.outside.session = SessionStatus::Working;
    assert!(world.read(0).is_empty(), "its sprint still mends them");
    assert_eq!(waits(&world), (WaitParty::Gaffer, WaitReason::Sprint));
    world.outside.session = SessionStatus::Resting;
    assert!(world.read(59).is_empty());
    assert_eq!(waits(&world), (WaitParty::Gaffer, WaitReason::Reading));
    assert_eq!(world.read(60), ["ci_failed"]);
    assert_eq!(waits(&world), (WaitParty::Person, WaitReason::Blocked));
    let Occurrence::Error { reason, .. } = &world.events[0].what else {
        panic!("an error")
    };
    assert!(reason.contains("abort sprint 50"), "{reason}");
    assert!(world.read(3_600).is_empty());
    // Another head is told of too, once it has lasted.
    head(&mut world, 5);
    world.read(4_000);
    assert!(world.read(4_060).is_empty());
    assert_eq!(waits(&world), (WaitParty::Person, WaitReason::Blocked));
    assert_eq!(world.read(4_000 + 15 * 60), ["merge_blocked"]);
}

#[test]
fn nothing_is_sent_back_while_others_still_run() {
    let mut world = World::green();
    world.checks(&[CheckOutcome::Failed, CheckOutcome::Pending]);
    assert!(world.read(0).is_empty());
    assert!(world.read(600).is_empty());
    world.checks(&[CheckOutcome::Failed]);
    assert!(world.read(601).is_empty());
    assert_eq!(world.read(661), ["say:session:ci:A"]);
}

#[test]
fn flapping_checks_are_told_once() {
    let mut world = failing();
    world.read(0);
    world.read(60);
    for second in 61..100 {
        let outcome = if second % 2 == 0 {
            CheckOutcome::Failed
        } else {
            CheckOutcome::Pending
        };
        world.checks(&[outcome]);
        assert!(world.read(second * 10).is_empty());
    }
}

#[test]
fn a_working_session_is_left_alone_until_it_rests() {
    let both: [fn() -> World; 2] = [failing, conflicting];
    for world in both {
        let mut world = world();
        world.outside.session = SessionStatus::Working;
        assert!(world.read(0).is_empty());
        assert!(world.read(600).is_empty());
        world.outside.session = SessionStatus::Resting;
        assert_eq!(world.read(700).len(), 1);
    }
}

#[test]
fn sessions_that_failed_or_were_called_off_get_no_messages() {
    for session in [SessionStatus::Failed, SessionStatus::Cancelled] {
        for mut world in [failing(), conflicting()] {
            world.outside.session = session;
            assert!(world.read(0).is_empty());
            assert!(world.read(600).is_empty());
            assert_eq!(world.pull.repairs, Repairs::default());
        }
    }
}

#[test]
fn a_message_is_about_its_head_until_there_is_another_one() {
    for (mut world, told) in [
        (failing(), "say:session:ci:A"),
        (conflicting(), "say:session:conflict:A"),
    ] {
        let mut said = world.read(0);
        if said.is_empty() {
            said = world.read(60);
        }
        assert_eq!(said, [told]);
        let effect = world.step.effects[0].clone();
        assert!(!is_about_earlier_head(&world.pull, &effect));
        // Its session moves, and the same head stays red.
        world.outside.session = SessionStatus::Working;
        world.read(600);
        assert!(!is_about_earlier_head(&world.pull, &effect));
        head(&mut world, 7);
        world.read(700);
        assert!(is_about_earlier_head(&world.pull, &effect));
        let other = Action::Pull(PullAction::ClosePull {
            pull: world.pull.pull.clone(),
        });
        assert!(!is_about_earlier_head(&world.pull, &other));
    }
}

#[test]
fn repairs_are_capped_across_heads_and_then_somebody_is_told_once() {
    let mut world = failing();
    let mut told = Vec::new();
    for n in 1..30 {
        head(&mut world, n);
        world.read(n as i64 * 1_000);
        told.extend(world.read(n as i64 * 1_000 + 60));
    }
    let said = told
        .iter()
        .filter(|told| told.starts_with("say:session:ci:"))
        .count();
    assert_eq!((said, told.len()), (3, 4));
    assert_eq!(told[3], "ci_failed");
    // Back to a head of long ago: still nothing.
    head(&mut world, 1);
    world.read(90_000);
    assert!(world.read(90_060).is_empty());
    assert!(world.pull.repairs.ci_sent.len() <= ANNOUNCED_HEADS_MAX);
}

#[test]
fn a_head_whose_session_is_told_nothing_any_more_waits_for_who_is_woken() {
    let mut world = failing();
    world.policy.ci_repairs = 0;
    for n in 1..4 {
        head(&mut world, n);
        world.read(n as i64 * 1_000);
        world.read(n as i64 * 1_000 + 60);
        let waits = waits_for(&world.pull, false, None);
        let wanted = (WaitParty::Person, WaitReason::Blocked);
        assert_eq!((waits.who, waits.what), wanted, "{n}");
    }
}

#[test]
fn conflicts_go_to_the_session_once_a_head_and_share_the_cap() {
    let mut world = conflicting();
    assert_eq!(world.read(0), ["say:session:conflict:A"]);
    assert!(world.read(600).is_empty());
    let mut told = Vec::new();
    for n in 1..30 {
        head(&mut world, n);
        told.extend(world.read(n as i64 * 1_000));
    }
    assert_eq!(told.len(), 3);
    assert_eq!(told[2], "conflict");
    assert_eq!(world.pull.repairs.count, 3);
}

#[test]
fn an_event_says_how_often_the_session_was_told() {
    for (repairs_max, often) in [(1, "was told once"), (2, "was told 2 times")] {
        for mut world in [failing(), conflicting()] {
            world.policy.ci_repairs = repairs_max;
            for n in 1..4 {
                head(&mut world, n);
                world.read(n as i64 * 1_000);
                world.read(n as i64 * 1_000 + 60);
            }
            let Occurrence::Error { reason, .. } = &world.events[0].what else {
                panic!("{:?}", world.events);
            };
            assert!(reason.ends_with(often), "{reason}");
        }
    }
}

#[test]
fn a_conflict_is_mended_while_a_person_has_not_approved_but_not_towards_a_wrong_base() {
    let mut world = conflicting();
    world.policy = Policy::default();
    assert_eq!(world.read(0), ["say:session:conflict:A"]);
    let mut world = conflicting();
    world.facts.base.branch = "develop".parse().unwrap();
    assert_eq!(world.read(0), ["merge_blocked"]);
}

#[test]
fn ci_that_never_starts_is_told_once_a_head_and_for_three_heads_at_most() {
    let mut world = World::green();
    world.facts.checks = Fact::Known(vec![]);
    assert!(world.read(0).is_empty());
    assert_eq!(world.due(), 60);
    assert_eq!(world.read(300), ["ci_never_started"]);
    // The cause becomes known, the reading flickers: the same head, the same alarm.
    world.facts.ci = Some(CiClues {
        approval_pending: true,
        workflows: Some(2),
    });
    assert!(world.read(600).is_empty());
    world.facts.checks = Fact::Unknown {
        why: "502".to_owned(),
    };
    assert!(world.read(700).is_empty());
    world.facts.checks = Fact::Known(vec![]);
    assert!(world.read(800).is_empty());
    for n in 1..10 {
        head(&mut world, n);
        world.read(n as i64 * 10_000);
        world.read(n as i64 * 10_000 + 300);
    }
    assert_eq!(world.events.len(), 3);
    assert_ne!(world.events[0].id, world.events[1].id);
}

#[test]
fn ci_that_a_conflict_keeps_from_starting_is_a_conflict() {
    let mut world = conflicting();
    world.facts.checks = Fact::Known(vec![]);
    world.outside.session = SessionStatus::Working;
    world.read(0);
    world.outside.session = SessionStatus::Resting;
    assert_eq!(world.read(300), ["say:session:conflict:A"]);
    assert_eq!(world.verdict(), ["ci_never_started", "conflict"]);
}

#[test]
fn a_base_that_moves_all_the_time_is_chased_ten_times_and_then_told() {
    let mut world = World::green();
    world.facts.demands = Fact::Known(Demands {
        up_to_date: true,
        behind_by: Some(1),
        ..Demands::default()
    });
    let (mut updates, mut others) = (0, 0);
    for n in 1..=20 {
        head(&mut world, n);
        for again in 0..2 {
            let second = i64::try_from(n).unwrap() * 100 + again;
            for effect in world.read(second) {
                let update = effect.starts_with("update:");
                updates += usize::from(update);
                others += usize::from(!update);
            }
        }
    }
    // Ten heads, each read twice with the same effect; then at most three more heads are announced.
    assert_eq!((updates, others), (20, 3));
}

#[test]
fn logs_are_read_once_their_session_may_be_told() {
    let mut world = World::green();
    let wants = |world: &World, second| {
        let (facts, session) = (&world.facts, world.outside.session);
        wants_logs(&world.pull, facts, session, &world.timing, at(second))
    };
    assert!(!wants(&world, 1_000));
    world.checks(&[CheckOutcome::Failed]);
    world.read(0);
    let ripe = world.timing.ci_repair_after.as_secs();
    assert!(!wants(&world, ripe - 11) && wants(&world, ripe - 10));
    for session in [
        SessionStatus::Working,
        SessionStatus::Failed,
        SessionStatus::Cancelled,
    ] {
        world.outside.session = session;
        assert!(!wants(&world, ripe), "{session:?}");
    }
    world.outside.session = SessionStatus::Resting;
    world.checks(&[CheckOutcome::Failed, CheckOutcome::Pending]);
    assert!(!wants(&world, ripe));
    world.checks(&[CheckOutcome::Failed]);
    assert_eq!(world.read(ripe).len(), 1);
    assert!(!wants(&world, ripe + 1));
    // Another head has a time of its own, unless none is given.
    world.facts.head.sha = sha('c');
    assert!(!wants(&world, ripe * 9));
    world.timing.ci_repair_after = SignedDuration::ZERO;
    assert!(wants(&world, ripe * 9));
}
