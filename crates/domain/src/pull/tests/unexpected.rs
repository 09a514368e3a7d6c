//! Unexpected pushes: compared, announced once, and merged only at an approved head.

use super::*;
use crate::merge::Reason;

/// A green pull request that was accepted at head `a`, with one path, and whose head then moved to `c`.
fn moved(paths: &[&str]) -> World {
    let mut world = World::green();
    world.policy.merge = MergePolicy::Human;
    world.facts.files = listed(&["a.rs"]);
    world.read(0);
    world.facts.head.sha = sha('c');
    world.facts.files = listed(paths);
    world.outside.unexpected = None;
    world
}

fn listed(paths: &[&str]) -> Fact<Vec<String>> {
    Fact::Known(texts(paths))
}

fn texts(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

fn doubted(world: &World) -> Option<HeadComparison> {
    needed_comparison(&world.pull, &world.facts, world.outside.session)
}

#[test]
fn a_head_that_moved_at_rest_is_compared_if_it_changes_other_paths() {
    let before = sha('a');
    let differs = HeadComparison {
        before,
        differs: true,
        own: None,
    };
    assert_eq!(doubted(&moved(&["a.rs"])), None);
    assert_eq!(doubted(&moved(&["a.rs", "x.rs"])), Some(differs));
    let mut world = moved(&["a.rs", "x.rs"]);
    world.outside.session = SessionStatus::Working;
    assert_eq!(doubted(&world), None, "its pushes are its work");
    world.read(10);
    world.outside.session = SessionStatus::Resting;
    assert_eq!(doubted(&world), None, "and what it pushed is accepted");
}

#[test]
fn after_our_own_update_every_head_is_compared() {
    let mut world = moved(&["a.rs"]);
    world.pull.repairs.updated = vec![sha('a')];
    let update = HeadComparison {
        before: sha('a'),
        differs: false,
        own: Some(sha('a')),
    };
    assert_eq!(doubted(&world), Some(update.clone()));
    // Also what is pushed while the session works.
    world.outside.session = SessionStatus::Working;
    world.read(10);
    world.outside.session = SessionStatus::Resting;
    assert_eq!(doubted(&world), Some(update));
    world.outside.unexpected = Some(Some(Vec::new()));
    assert!(world.read(20).is_empty());
    assert_eq!(doubted(&world), None);
    assert_eq!(world.pull.accepted.as_ref().unwrap().sha, sha('c'));
}

#[test]
fn somebody_is_asked_once_and_their_word_for_that_head_lets_it_go_on() {
    let mut world = moved(&["a.rs", "x.rs"]);
    world.policy.merge = MergePolicy::OnGreen;
    world.outside.unexpected = Some(Some(texts(&["x.rs"])));
    assert_eq!(world.read(100), ["unexpected_push x.rs"]);
    assert_eq!(world.verdict(), ["unexpected_push"]);
    world.outside.unexpected = None;
    assert!(world.read(4_000).is_empty());
    assert_eq!(world.verdict(), ["unexpected_push"]);

    let step = approve(&world.pull, Some(&sha('c')), &ME, at(4_100)).unwrap();
    world.pull = step.aggregate;
    let news = world.read(4_200);
    assert_eq!(news.len(), 1, "{news:?}");
    assert!(news[0].starts_with("merge:"), "{news:?}");
    assert_eq!(world.pull.accepted.as_ref().unwrap().sha, sha('c'));
}

#[test]
fn a_head_that_was_approved_before_it_could_be_compared_is_not_asked_about_and_the_next_one_is() {
    let mut world = moved(&["a.rs", "x.rs"]);
    world.pull.repairs.updated = vec![sha('a')];
    world.outside.session = SessionStatus::Working;
    world.read(10);
    world.pull = approve(&world.pull, Some(&sha('c')), &ME, at(20))
        .unwrap()
        .aggregate;
    world.outside.session = SessionStatus::Resting;
    assert_eq!(doubted(&world), None);
    world.facts.head.sha = sha('d');
    assert!(doubted(&world).is_some());
    world.outside.unexpected = Some(Some(texts(&["x.rs"])));
    assert_eq!(world.read(30), ["unexpected_push x.rs"]);
    assert!(world.verdict().contains(&"unexpected_push"));
}

#[test]
fn a_head_that_has_to_be_compared_and_was_not_is_not_merged() {
    let mut world = moved(&["a.rs", "x.rs"]);
    world.policy.merge = MergePolicy::OnGreen;
    assert!(world.read(4_000).is_empty());
    assert_eq!(world.verdict(), ["unexpected_push"]);
    world.outside.unexpected = Some(Some(Vec::new()));
    let news = world.read(4_100);
    assert!(news[0].starts_with("merge:"), "{news:?}");
}

#[test]
fn another_head_is_compared_with_the_last_accepted_one() {
    let mut world = moved(&["a.rs", "x.rs"]);
    world.outside.unexpected = Some(Some(texts(&["x.rs"])));
    world.read(100);
    world.facts.head.sha = sha('d');
    assert_eq!(doubted(&world).unwrap().before, sha('a'));
    // What cannot be compared is asked about too.
    world.outside.unexpected = Some(None);
    assert_eq!(world.read(200), ["unexpected_push "]);
    let verdict = &world.pull.verdict.as_ref().unwrap().judgement;
    let unknown = Reason::UnexpectedPush { paths: Vec::new() };
    assert!(verdict.reasons().contains(&unknown));
    // Back at the accepted head everything is as it was.
    world.facts.head.sha = sha('a');
    world.facts.files = listed(&["a.rs"]);
    world.outside.unexpected = None;
    world.read(300);
    assert_eq!(world.verdict(), ["needs_approval"]);
}

#[test]
fn a_session_that_goes_on_pushing_wakes_nobody_for_ever() {
    let mut world = moved(&["a.rs", "x.rs"]);
    world.outside.unexpected = Some(Some(texts(&["x.rs"])));
    let mut told = 0;
    for n in 0..15_u64 {
        world.facts.head.sha = format!("{n:040x}").parse().unwrap();
        told += world.read(100 + i64::try_from(n).unwrap() * 100).len();
        assert!(world.verdict().contains(&"unexpected_push"));
    }
    assert_eq!(told, 10);
}

#[test]
fn what_a_head_takes_back() {
    let (paths, base) = (texts(&["a.rs", "b.rs", "c.rs"]), texts(&["b.rs", "c.rs"]));
    // `b.rs` was changed in the base and is as it was before; `c.rs` has both changes.
    let since = texts(&["c.rs", "d.rs"]);
    assert_eq!(reverted_paths(&paths, &base, Some(&since)), ["b.rs"]);
    assert_eq!(reverted_paths(&paths, &base, None), ["b.rs", "c.rs"]);
    assert!(reverted_paths(&paths, &[], None).is_empty());
}

#[test]
fn the_paths_of_a_patch() {
    let patch = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-x\n+y\ndiff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n--- /dev/null\n+++ b/new.rs\n";
    assert_eq!(paths_of_patch(patch), ["a.rs", "a.rs", "o", "n", "new.rs"]);
}

#[test]
fn work_on_top_of_an_unexpected_head_accepts_nothing_of_it() {
    let mut world = moved(&["a.rs", "x.rs"]);
    world.outside.unexpected = Some(Some(texts(&["x.rs"])));
    assert_eq!(world.read(100), ["unexpected_push x.rs"]);
    // The session gets another message and goes on from there.
    world.outside.session = SessionStatus::Working;
    world.outside.unexpected = None;
    world.read(200);
    world.facts.head.sha = sha('d');
    world.outside.session = SessionStatus::Resting;
    assert_eq!(doubted(&world).unwrap().before, sha('a'));
    // Without those paths it is what was accepted, and from then on its work is its own again.
    world.facts.files = listed(&["a.rs"]);
    assert!(world.read(300).is_empty());
    world.outside.session = SessionStatus::Working;
    world.read(400);
    world.facts.head.sha = sha('e');
    world.facts.files = listed(&["a.rs", "y.rs"]);
    world.outside.session = SessionStatus::Resting;
    assert_eq!(doubted(&world), None);
}

#[test]
fn an_approval_of_what_is_woven_is_taken_where_the_weave_waits_for_it() {
    let mut world = moved(&["a.rs", "x.rs"]);
    let sprint = "50".parse().unwrap();
    world.outside.sprint_gate = Some(crate::merge::SprintGate::Woven { sprint });
    world.outside.unexpected = Some(Some(texts(&["x.rs"])));
    world.read(100);
    assert!(world.verdict().contains(&"unexpected_push"));
    assert!(approve(&world.pull, None, &ME, at(101)).is_ok());
}
