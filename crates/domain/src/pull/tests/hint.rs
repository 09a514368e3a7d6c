//! What wake-ups tell of checks: when they are a reason to look, and how long a pull request may be left alone.

use super::*;
use crate::facts::ReadDepth;

const ALL: [DeliveryHint; 6] = [
    DeliveryHint::Changed,
    DeliveryHint::Pushed,
    DeliveryHint::CheckBegan,
    DeliveryHint::CheckEnded,
    DeliveryHint::UnderWay,
    DeliveryHint::SuiteEnded,
];

impl World {
    /// A wake-up comes; returns whether it is a reason to look.
    fn hears(&mut self, second: i64, news: DeliveryHint) -> bool {
        self.hears_of(second, news, None)
    }

    /// The same of a commit that it names.
    fn hears_of(&mut self, second: i64, news: DeliveryHint, told: Option<&CommitSha>) -> bool {
        match weigh_hint(&self.pull, news, told, at(second)) {
            HintDecision::Look => true,
            HintDecision::Wait(hearsay) => {
                self.pull.hints = hearsay;
                false
            }
        }
    }

    fn only_seen() -> Self {
        let mut world = Self::green();
        world.facts.depth = ReadDepth::Outline;
        assert!(world.read(0).is_empty());
        world
    }
}

#[test]
fn what_was_only_seen_decides_nothing_and_is_read_whole_soon() {
    let mut world = World::only_seen();
    assert_eq!((world.due(), world.step.effects.len()), (60, 0));
    assert!(world.pull.verdict.is_none() && is_only_seen(&world.pull));
    assert!(world.read(1_000).is_empty() && world.pull.green.is_none());
    world.facts.depth = ReadDepth::Whole;
    world.read(2_000);
    assert!(!is_only_seen(&world.pull));
    assert_eq!(world.step.effects.len(), 1);
}

#[test]
fn the_last_of_the_checks_that_began_is_a_reason_to_look() {
    let mut world = World::only_seen();
    for (second, news) in [
        (1, DeliveryHint::Changed),
        (1, DeliveryHint::CheckBegan),
        (1, DeliveryHint::UnderWay),
        (2, DeliveryHint::CheckBegan),
        (30, DeliveryHint::CheckEnded),
        (30, DeliveryHint::SuiteEnded),
    ] {
        assert!(!world.hears(second, news), "{news:?}");
    }
    assert_eq!(world.pull.hints.running, Some(1));
    assert!(world.hears(90, DeliveryHint::CheckEnded));
}

#[test]
fn what_was_read_counts_more_than_what_was_told() {
    let mut world = World::green();
    world.hears(0, DeliveryHint::CheckBegan);
    world.checks(&[CheckOutcome::Pending, CheckOutcome::Pending]);
    world.read(1);
    assert_eq!(world.pull.hints.running, Some(2));
    assert!(world.hears(2, DeliveryHint::Changed));
    assert!(!world.hears(2, DeliveryHint::CheckEnded));
    assert!(world.hears(3, DeliveryHint::CheckEnded));
    world.facts.checks = Fact::Unknown { why: String::new() };
    world.read(4);
    assert_eq!(world.pull.hints.running, None);
}

#[test]
fn where_single_checks_are_not_told_of_the_end_of_a_suite_is_a_reason() {
    let mut world = World::only_seen();
    assert!(!world.hears(1, DeliveryHint::UnderWay));
    assert!(world.hears(90, DeliveryHint::SuiteEnded));
    assert!(world.hears(90, DeliveryHint::CheckEnded));
}

#[test]
fn whatever_does_not_wait_for_checks_is_looked_at() {
    let mut green = World::green();
    green.read(0);
    let mut red = World::green();
    red.checks(&[CheckOutcome::Failed]);
    red.read(0);
    let mut conflict = World::green();
    conflict.facts.mergeable = Fact::Known(false);
    conflict.read(0);
    let mut unread = World::green();
    let mut merging = World::green();
    merging.read(0);
    merging.read(60);
    for world in [
        &mut green,
        &mut red,
        &mut conflict,
        &mut unread,
        &mut merging,
    ] {
        for news in ALL {
            assert!(world.hears(61, news), "{news:?} {:?}", world.pull);
        }
    }
}

#[test]
fn while_checks_are_told_of_it_is_read_less_often() {
    let mut world = World::green();
    world.checks(&[CheckOutcome::Pending, CheckOutcome::Pending]);
    world.read(0);
    assert_eq!(world.due(), 60);
    world.hears(10, DeliveryHint::UnderWay);
    world.read(20);
    assert_eq!(world.due(), 200);
    // Wake-ups that stopped coming are not waited for.
    world.read(611);
    assert_eq!(world.due(), 671);
    world.checks(&[CheckOutcome::Failed]);
    world.hears(612, DeliveryHint::UnderWay);
    world.read(613);
    assert!(world.due() <= 673);
}

#[test]
fn a_look_that_was_brought_forward_is_not_put_off() {
    let timing = Timing::default();
    let put_off = |due| {
        unhurried(at(due), at(0), &timing)
            .duration_since(at(0))
            .as_secs()
    };
    assert_eq!([2, 59].map(put_off), [2, 59]);
    assert_eq!([60, 61, 180, 200].map(put_off), [180, 180, 180, 200]);
}

#[test]
fn clues_are_wanted_once_checks_are_late() {
    let mut world = World::green();
    let wants = |world: &World, second| wants_clues(&world.pull, &world.timing, at(second));
    assert!(!wants(&world, 10_000));
    world.read(0);
    assert!(!wants(&world, 269) && wants(&world, 270));
    assert!(is_young(at(0), at(14)) && !is_young(at(0), at(15)));
}

#[test]
fn a_push_is_a_reason_to_look_unless_its_head_is_known() {
    let mut world = World::only_seen();
    assert!(!world.hears_of(1, DeliveryHint::Pushed, Some(&sha('a'))));
    assert!(world.hears_of(1, DeliveryHint::Pushed, Some(&sha('c'))));
    assert!(world.hears(1, DeliveryHint::Pushed));
    world.facts.depth = ReadDepth::Whole;
    world.checks(&[CheckOutcome::Pending]);
    world.read(2);
    assert!(!world.hears_of(3, DeliveryHint::Pushed, Some(&sha('a'))));
    assert!(world.hears_of(3, DeliveryHint::Pushed, Some(&sha('c'))));
}

#[test]
fn of_a_head_that_was_just_pushed_an_outline_is_enough() {
    let mut world = World::green();
    let just = |world: &World, (news, told), second| {
        is_just_pushed(&world.pull, news, told, at(100), at(second))
    };
    let (other, same) = (&sha('c'), &sha('a'));
    assert!(!just(&world, (DeliveryHint::Pushed, Some(other)), 100));
    world.read(0);
    assert!(just(&world, (DeliveryHint::Pushed, Some(other)), 114));
    assert!(just(&world, (DeliveryHint::Pushed, None), 114));
    assert!(!just(&world, (DeliveryHint::Pushed, Some(other)), 115));
    assert!(!just(&world, (DeliveryHint::Pushed, Some(same)), 100));
    for news in ALL.into_iter().filter(|news| *news != DeliveryHint::Pushed) {
        assert!(!just(&world, (news, Some(other)), 100), "{news:?}");
    }
    assert_eq!(world.read(60), ["merge:#7@A"]);
    assert!(!just(&world, (DeliveryHint::Pushed, Some(other)), 100));
}

#[test]
fn a_head_that_was_only_seen_takes_the_place_of_the_one_that_was_judged() {
    let mut world = World::green();
    world.checks(&[CheckOutcome::Failed, CheckOutcome::Pending]);
    world.read(0);
    assert_eq!(world.pull.hints.running, Some(1));
    world.facts.head.sha = sha('c');
    world.facts.depth = ReadDepth::Outline;
    assert!(world.read(10).is_empty());
    assert!(is_only_seen(&world.pull) && is_at(&world.pull, &sha('c')));
    assert_eq!((world.due(), world.pull.hints.running), (70, None));
    assert!(!world.hears(11, DeliveryHint::CheckBegan) && !world.hears(11, DeliveryHint::Changed));
    assert!(world.hears(30, DeliveryHint::CheckEnded));
    // The same head again is no new one.
    world.facts.depth = ReadDepth::Whole;
    world.checks(&[CheckOutcome::Pending]);
    world.read(31);
    world.facts.depth = ReadDepth::Outline;
    world.read(32);
    assert!(!is_only_seen(&world.pull));
}

#[test]
fn the_end_of_a_suite_is_a_reason_to_look_when_nothing_else_runs() {
    for (running, looks) in [(None, true), (Some(0), true), (Some(1), false)] {
        let mut world = World::only_seen();
        world.pull.hints.running = running;
        assert_eq!(
            world.hears(1, DeliveryHint::SuiteEnded),
            looks,
            "{running:?}"
        );
    }
}
