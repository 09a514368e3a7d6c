//! `gaffer source`.

use serde_json::json;

use crate::world::World;

const REPO: &str = "acme/shop";

#[test]
fn a_new_source_is_safe() {
    let world = World::with_account();
    let source = world.json(&["source", "add", REPO])["source"].clone();
    let policy = &source["policy"];
    assert_eq!((&policy["merge"], &policy["plan_approval"], &policy["min_checks"]), (&json!("human"), &json!("human"), &json!(1)));
    assert_eq!((&policy["adopted_may_merge"], &policy["protected_paths"]), (&json!(false), &json!([".github/"])));
    assert_eq!((&source["account"], &source["branch"], &source["paused"]), (&json!("default"), &json!("main"), &json!(false)));
    assert_eq!(world.json(&["source", "list"])["sources"], json!([source]));
    let listed = world.run(&["source", "list"]).ok();
    assert!(listed.says(REPO) && listed.says("human"), "{listed:?}");
}

#[test]
fn everything_that_can_be_set_is_kept() {
    let world = World::with_account();
    world.run(&["agent", "add", "bot", "--url", "https://bot.example.com/wake"]).ok();
    let source = world.json(&[
        "source", "add", "Acme/Shop", "--agent", "bot", "--branch", "develop", "--merge", "on-green", "--plan-approval", "agent",
        "--merge-method", "rebase", "--min-checks", "2", "--required-check", "build", "--required-check", "test / unit",
        "--protected-path", "infra/", "--blocking-label", "wait", "--merges-per-day", "5", "--adopted-may-merge", "--keep-branch", "--ci-repairs", "0",
        "--stuck-after", "30m", "--stuck-after-queued", "2h", "--text-wait", "0s", "--not-found-grace", "3m", "--quiet", "4m",
        "--watch-completed", "2d", "--settle", "90s", "--ci-start", "6m", "--ci-repair-after", "7m", "--pull-poll", "45s",
    ])["source"].clone();
    assert_eq!((&source["agent"], &source["branch"]), (&json!("bot"), &json!("develop")));
    let policy = json!({
        "merge": "on-green", "merge_method": "rebase", "min_checks": 2, "required_checks": ["build", "test / unit"], "protected_paths": ["infra/"],
        "blocking_labels": ["wait"], "merges_per_day": 5, "adopted_may_merge": true, "delete_branch": false, "plan_approval": "agent", "ci_repairs": 0,
    });
    assert_eq!(source["policy"], policy);
    let timing = ["stuck_after", "stuck_after_queued", "text_wait", "not_found_grace", "quiet", "watch_completed", "settle", "ci_start", "ci_repair_after", "pull_poll"];
    let seconds: Vec<i64> = timing.iter().map(|name| source["timing"][name].as_str().unwrap().parse::<jiff::SignedDuration>().unwrap().as_secs()).collect();
    assert_eq!(seconds, [1800, 7200, 0, 180, 240, 172_800, 90, 360, 420, 45]);
}

#[test]
fn set_changes_only_what_is_given() {
    let world = World::with_account();
    world.json(&["source", "add", REPO, "--keep-branch", "--required-check", "build", "--settle", "90s"]);
    let before = world.json(&["source", "list"])["sources"][0].clone();
    // Repositories are compared as GitHub does: without regard to case.
    let mut after = world.json(&["source", "set", "ACME/shop", "--merge", "on-green", "--stuck-after", "1h"])["source"].clone();
    assert_eq!((&after["policy"]["merge"], &after["timing"]["stuck_after"]), (&json!("on-green"), &json!("1h")));
    after["policy"]["merge"] = json!("human");
    after["timing"]["stuck_after"] = before["timing"]["stuck_after"].clone();
    assert_eq!(after, before);
    let freed = world.json(&["source", "set", REPO, "--no-required-checks", "--keep-branch=false"])["source"].clone();
    assert_eq!((&freed["policy"]["required_checks"], &freed["policy"]["delete_branch"]), (&json!([]), &json!(true)));
}

#[test]
fn what_is_not_there_is_named_with_the_command_that_adds_it() {
    let world = World::new();
    let told = world.refused(&["source", "add", REPO]);
    assert_eq!((told.exit, told.code.as_str()), (1, "no_such"));
    assert!(told.error.contains("account `default`") && told.next.contains("gaffer account add default"), "{told:?}");
    let world = World::with_account();
    let told = world.refused(&["source", "add", REPO, "--agent", "bot"]);
    assert!(told.error.contains("agent `bot`") && told.next.contains("gaffer agent add bot --url"), "{told:?}");
    for command in [&["source", "set", REPO, "--min-checks", "2"][..], &["source", "pause", REPO], &["pause", "--source", REPO]] {
        let told = world.refused(command);
        assert_eq!((told.exit, told.code.as_str()), (1, "no_such"));
        assert!(told.error.contains(REPO) && told.next.contains("gaffer source add acme/shop"), "{told:?}");
    }
    assert_eq!(world.json(&["source", "list"]), json!({ "sources": [] }));
}

#[test]
fn a_source_is_added_once() {
    let world = World::with_account();
    world.run(&["source", "add", REPO]).ok();
    let told = world.refused(&["source", "add", "Acme/Shop", "--merge", "on-green"]);
    assert_eq!((told.exit, told.code.as_str()), (1, "exists"));
    assert!(told.next.contains("gaffer source set"), "{told:?}");
    assert_eq!(world.json(&["source", "list"])["sources"][0]["policy"]["merge"], "human");
}

#[test]
fn settings_that_cannot_be_meant_are_bad_usage() {
    let world = World::with_account();
    let unchecked = world.refused(&["source", "add", REPO, "--merge", "on-green", "--min-checks", "0"]);
    assert_eq!((unchecked.exit, unchecked.code.as_str()), (2, "usage"));
    world.run(&["source", "add", REPO, "--min-checks", "0"]).ok();
    assert_eq!(world.refused(&["source", "set", REPO, "--merge", "on-green"]).exit, 2);
    let nothing = world.refused(&["source", "set", REPO]);
    assert_eq!((nothing.exit, nothing.code.as_str()), (2, "usage"));
    assert_eq!(world.json(&["source", "list"])["sources"][0]["policy"]["merge"], "human");
}
