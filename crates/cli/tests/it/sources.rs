//! `gaffer source`.

use serde_json::json;

use crate::world::{Fields, Told, World, words};

const REPO: &str = "acme/shop";

#[test]
fn a_new_source_is_safe() {
    let world = World::with_account();
    let source = world.json(&["source", "add", REPO])["source"].clone();
    let policy = &source["policy"];
    policy.holds(&json!({
        "merge": "human", "plan_approval": "human", "min_checks": 1, "adopted_may_merge": false,
        "protected_paths": [".github/"],
    }));
    source.holds(&json!({ "account": "default", "branch": "main", "paused": false }));
    assert_eq!(world.json(&["source", "list"])["sources"], json!([source]));
    let listed = world.run(&["source", "list"]).ok();
    assert!(listed.says(REPO) && listed.says("human"), "{listed:?}");
}

/// Every option of the policy with another value than the default.
const POLICY: &str = "--merge on-green --plan-approval agent --merge-method rebase --other-merge-method squash --min-checks 2 --required-check build --required-check lint \
    --protected-path infra/ --blocking-label wait --merges-per-day 5 --adopted-may-merge --keep-branch --ci-repairs 0 \
    --comment-when-blocked --blocked-label needs-somebody --answer nudge:20m --answer agent:2h --answer human";

/// Every option of deliveries with another value than the default.
const DELIVERIES: &str = "--label gaffer --endpoint observe --checkpoint review --checkpoint plan --checkpoints-by anyone \
    --plan-by human --review-by nobody --review-rounds 0 --attempts 1 --deploy workflow:deploy.yml@main --observe soak:30m --issue-comment=false";

/// Every option of the timing, its value and its seconds.
const TIMING: [(&str, &str, i64); 10] = [
    ("stuck_after", "30m", 1_800),
    ("stuck_after_queued", "2h", 7_200),
    ("text_wait", "0s", 0),
    ("not_found_grace", "3m", 180),
    ("quiet", "4m", 240),
    ("watch_completed", "2d", 172_800),
    ("settle", "90s", 90),
    ("ci_start", "6m", 360),
    ("ci_repair_after", "7m", 420),
    ("pull_poll", "45s", 45),
];

#[test]
fn every_option_of_the_policy_is_kept() {
    let world = World::with_account();
    world.done(&words("agent add bot --url https://bot.example.com/wake"));
    let options = words(POLICY);
    let add = [
        "source",
        "add",
        "Acme/Shop",
        "--agent",
        "bot",
        "--branch",
        "develop",
    ];
    let source = world.json(&[&add[..], &options].concat())["source"].clone();
    source.holds(&json!({ "agent": "bot", "branch": "develop" }));
    let policy = json!({
        "merge": "on-green", "merge_method": "rebase", "other_merge_methods": ["squash"], "min_checks": 2, "required_checks": ["build", "lint"], "protected_paths": ["infra/"],
        "blocking_labels": ["wait"], "merges_per_day": 5, "adopted_may_merge": true, "delete_branch": false, "plan_approval": "agent", "ci_repairs": 0, "comment_when_blocked": true, "blocked_label": "needs-somebody",
        "answers": ["nudge:20m", "agent:2h", "human"],
    });
    assert_eq!(source["policy"], policy);
}

#[test]
fn every_option_of_the_timing_is_kept() {
    let world = World::with_account();
    world.run(&["source", "add", REPO]).ok();
    let options: Vec<String> = TIMING
        .iter()
        .flat_map(|(name, value, _)| [format!("--{}", name.replace('_', "-")), (*value).to_owned()])
        .collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let timing =
        world.json(&[&["source", "set", REPO][..], &options].concat())["source"]["timing"].clone();
    assert_eq!(timing.as_object().unwrap().len(), TIMING.len());
    for (name, _, seconds) in TIMING {
        let stored: jiff::SignedDuration = timing[name].as_str().unwrap().parse().unwrap();
        assert_eq!(stored.as_secs(), seconds, "{name}");
    }
}

#[test]
fn every_option_of_deliveries_is_kept() {
    let world = World::with_account();
    let source = world.json(&["source", "add", REPO])["source"].clone();
    let defaults = json!({
        "endpoint": "deploy", "checkpoints": ["plan", "implement", "review"], "checkpoints_by": "people", "plan_by": "jules",
        "review_rounds": 3, "attempts": 3, "deploy": "none", "observe": "none", "comment": true,
    });
    assert_eq!(source["deliveries"], defaults);
    let options = words(DELIVERIES);
    let set = world.json(&[&["source", "set", REPO][..], &options].concat());
    let wanted = json!({
        "label": "gaffer", "endpoint": "observe", "checkpoints": ["plan", "review"], "checkpoints_by": "anyone", "plan_by": "human",
        "review_by": "nobody", "review_rounds": 0, "attempts": 1, "deploy": "workflow:deploy.yml@main", "observe": "soak:30m", "comment": false,
    });
    assert_eq!(set["source"]["deliveries"], wanted);
    let shown = world.run(&["source", "show", REPO]).ok();
    shown.tells(&[
        "label gaffer",
        "end with observe",
        "plan, review, for people and agents",
        "not reviewed",
    ]);
    assert!(world.run(&["source", "list"]).ok().says("gaffer"));
    world.done(&["source", "set", REPO, "--ci-repairs", "1"]);
    let shown = world.run(&["source", "show", REPO]).ok();
    assert!(shown.says("go back to the session once"), "{shown:?}");
    let freed = ["source", "set", REPO, "--no-label", "--no-checkpoints"];
    let freed = world.json(&freed)["source"]["deliveries"].clone();
    freed.holds(&json!({ "label": null, "checkpoints": [] }));
}

#[test]
fn odd_settings_of_deliveries_are_refused_by_name_and_nothing_is_stored() {
    let world = World::with_account();
    let before = world.json(&["source", "add", REPO])["source"].clone();
    for (option, wrong, says) in [
        ("--label", "Jules", "starts Jules by itself"),
        ("--label", "a\u{7}b", "visible characters"),
        ("--endpoint", "intake", "an endpoint is"),
        ("--endpoint", "close", "an endpoint is"),
        ("--checkpoint", "verify", "a checkpoint is"),
        ("--checkpoint", "none", "a checkpoint is"),
        ("--endpoint", "verfy", "did you mean `verify`?"),
        ("--checkpoint", "reveiw", "did you mean `review`?"),
        ("--answer", "humna", "did you mean `human`?"),
        ("--checkpoints-by", "me", "people"),
        ("--plan-by", "nobody", "jules"),
        ("--plan-by", "agent", "without an agent"),
        ("--label", "a,b", "no comma"),
        ("--review-by", "me", "nobody"),
        ("--review-rounds", "21", "20"),
        ("--attempts", "0", "1"),
        ("--deploy", "workflow:../x.yml@main", "deploy is `none`"),
        ("--observe", "soak:0s", "observe is `none`"),
        ("--issue-comment", "perhaps", "true"),
    ] {
        let given = format!("{option}={wrong}");
        let told = world.refused(&["source", "set", REPO, &given]);
        assert_eq!(told.exit, 2, "{given}: {told:?}");
        let words = format!("{} {}", told.error, told.next);
        assert!(words.contains(option) && words.contains(says), "{told:?}");
    }
    assert_eq!(world.json(&["source", "list"])["sources"], json!([before]));
}

#[test]
fn set_changes_only_what_is_given() {
    let world = World::with_account();
    world.json(&words(&format!(
        "source add {REPO} --keep-branch --required-check build --settle 90s"
    )));
    let before = world.json(&["source", "list"])["sources"][0].clone();
    // Repositories are compared as GitHub does: without regard to case.
    let mut after = world.json(&words(
        "source set ACME/shop --merge on-green --stuck-after 1h",
    ))["source"]
        .clone();
    assert_eq!(
        (&after["policy"]["merge"], &after["timing"]["stuck_after"]),
        (&json!("on-green"), &json!("1h"))
    );
    after["policy"]["merge"] = json!("human");
    after["timing"]["stuck_after"] = before["timing"]["stuck_after"].clone();
    assert_eq!(after, before);
    let freed = world.json(&words(&format!(
        "source set {REPO} --no-required-checks --keep-branch=false"
    )))["source"]
        .clone();
    freed["policy"].holds(&json!({ "required_checks": [], "delete_branch": true }));
}

#[test]
fn what_is_not_there_is_named_with_the_command_that_adds_it() {
    let world = World::new();
    let told = world.refused(&["source", "add", REPO]);
    told.is(1, "no_such");
    told.tells("account `default`", "gaffer account add default");
    let world = World::with_account();
    let told = world.refused(&["source", "add", REPO, "--agent", "bot"]);
    told.tells("agent `bot`", "gaffer agent add bot --url");
    for command in [
        &["source", "set", REPO, "--min-checks", "2"][..],
        &["source", "pause", REPO],
        &["pause", "--source", REPO],
    ] {
        let told = world.refused(command);
        told.is(1, "no_such");
        told.tells(REPO, "gaffer source add acme/shop");
    }
    let told = world.json(&["source", "list"]);
    assert_eq!(told, json!({ "sources": [], "unread_issues": [] }));
}

#[test]
fn a_source_is_added_once() {
    let world = World::with_account();
    world.run(&["source", "add", REPO]).ok();
    let told = world.refused(&["source", "add", "Acme/Shop", "--merge", "on-green"]);
    told.is(1, "exists");
    told.tells("", "gaffer source set");
    let told = world.json(&["source", "list"]);
    assert_eq!(told["sources"][0]["policy"]["merge"], "human");
}

#[test]
fn settings_that_cannot_be_meant_are_bad_usage() {
    let world = World::with_account();
    let unchecked = world.refused(&words(&format!(
        "source add {REPO} --merge on-green --min-checks 0"
    )));
    unchecked.is(2, "usage");
    world.done(&["source", "add", REPO, "--min-checks", "0"]);
    let told = world.refused(&["source", "set", REPO, "--merge", "on-green"]);
    assert_eq!(told.exit, 2);
    world.refused(&["source", "set", REPO]).is(2, "usage");
    let told = world.json(&["source", "list"]);
    assert_eq!(told["sources"][0]["policy"]["merge"], "human");
}

#[test]
fn a_source_that_is_not_there_is_refused_with_the_nearest() {
    let world = World::with_account();
    world.run(&["source", "add", REPO]).ok();
    for command in [
        &["source", "show", "acme/shpo"][..],
        &["source", "set", "acme/shpo", "--branch", "x"],
        &["source", "remove", "acme/shpo"],
        &["pause", "--source", "acme/shpo"],
        &["pipeline", "on", "acme/shpo"],
    ] {
        let told = world.refused(command);
        told.is(1, "no_such");
        let near = "there is no source `acme/shpo` (did you mean `acme/shop`?)";
        assert!(told.error.contains(near), "{told:?}");
        assert_eq!(told.next, "add it with `gaffer source add acme/shpo`");
    }
}
