//! Stories: what sessions do by themselves, and what that does on GitHub.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::github::{ChangedFile, CheckSetup, CiSetup, Outcome, RepoSetup};
use crate::story::Story;
use crate::tests::stand::{Stand, body, scenario_of, steps, string};
use crate::{Author, DEFAULT_REPO, Scenario};

#[tokio::test]
async fn the_default_story_goes_from_the_queue_to_a_pull_request() {
    let stand = Stand::new(Scenario::default()).await;
    let id = stand.create().await;
    assert_eq!(stand.state(&id).await, "QUEUED");
    stand.pass(500);
    assert_eq!(stand.state(&id).await, "PLANNING");
    stand.pass(1_500);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
    stand.pass(8_000);
    let shown = stand.session(&id).await;
    assert_eq!(shown["state"], "COMPLETED");
    assert_eq!(
        shown["updateTime"], "2026-11-20T10:00:07Z",
        "within six to ten seconds"
    );
    assert_eq!(
        stand.kinds(&id).await,
        [
            "-",
            "planGenerated",
            "planApproved",
            "progressUpdated",
            "progressUpdated",
            "sessionCompleted"
        ]
    );
}

#[tokio::test]
async fn its_pull_request_is_tied_to_the_session() {
    let stand = Stand::new(Scenario::default()).await;
    let id = stand.create().await;
    stand.pass(10_000);

    let pull = stand.pull();
    assert_eq!(pull.head_ref, format!("add-cart-tests-{id}"));
    assert_eq!(pull.author, "google-labs-jules[bot]");
    assert_eq!(pull.title, "Add cart tests");
    let link = format!(
        "*PR created automatically by Jules for task [{id}](https://jules.google.com/task/{id}) started by @octo-owner*"
    );
    assert!(pull.body.ends_with(&link), "{}", pull.body);

    let outputs = stand.session(&id).await["outputs"].clone();
    assert_eq!(
        outputs[0]["pullRequest"]["url"],
        "https://github.com/acme/shop/pull/1"
    );
    assert_eq!(outputs[0]["pullRequest"]["baseRef"], "main");
    assert_eq!(outputs[0]["pullRequest"]["headRef"], pull.head_ref);
    assert_eq!(
        outputs[1]["changeSet"]["source"],
        "sources/github/acme/shop"
    );
    assert_eq!(
        string(&outputs[1]["changeSet"]["gitPatch"]["baseCommitId"]).len(),
        40
    );
    stand.switch(|it| it.pull_refs = false);
    let outputs = stand.session(&id).await["outputs"].clone();
    assert_eq!(outputs[0]["pullRequest"].get("headRef"), None);
    assert_eq!(outputs[0]["pullRequest"].get("baseRef"), None);
}

#[tokio::test]
async fn the_pull_request_may_be_the_persons_own() {
    let author = Author::User {
        login: "ada".to_owned(),
        id: 7,
    };
    let stand = Stand::new(Scenario {
        author,
        ..Scenario::default()
    })
    .await;
    stand.create().await;
    stand.pass(10_000);
    assert_eq!(stand.pull().author, "ada");
}

#[tokio::test]
async fn no_pull_request_is_opened_without_the_mode_or_without_a_source() {
    let stand = Stand::new(Scenario::default()).await;
    let mut ask = body();
    ask["automationMode"] = json!("AUTOMATION_MODE_UNSPECIFIED");
    let plain = stand.post("/sessions", &ask).await.id();
    let ask = json!({ "prompt": "Answer", "automationMode": "AUTO_CREATE_PR" });
    let repoless = stand.post("/sessions", &ask).await.id();
    stand.pass(10_000);

    assert_eq!(
        stand.sandbox.github().pulls(DEFAULT_REPO),
        Vec::<u64>::new()
    );
    for (id, source) in [
        (plain, json!("sources/github/acme/shop")),
        (repoless, json!(null)),
    ] {
        let outputs = stand.session(&id).await["outputs"].clone();
        assert_eq!(outputs.as_array().unwrap().len(), 1);
        assert_eq!(outputs[0]["changeSet"]["source"], source);
    }
}

#[tokio::test]
async fn the_first_story_that_fits_title_or_prompt_is_played() {
    let story = |matches: &str, reason: &str| Story {
        matches: matches.to_owned(),
        steps: steps(json!([{ "fail": { "reason": reason } }])),
        ..Story::default()
    };
    let stories = vec![
        story("cart tests", "by title"),
        story("unit tests", "by prompt"),
    ];
    let stand = Stand::new(Scenario {
        stories,
        ..Scenario::default()
    })
    .await;
    let by_title = stand.create().await;
    let mut ask = body();
    ask["title"] = json!("Else");
    let by_prompt = stand.post("/sessions", &ask).await.id();
    ask["prompt"] = json!("Else");
    let default = stand.post("/sessions", &ask).await.id();
    stand.pass(10_000);
    for (id, reason) in [(by_title, "by title"), (by_prompt, "by prompt")] {
        let last = stand.activities(&id).await.pop().unwrap();
        assert_eq!(last["sessionFailed"]["reason"], reason);
        assert_eq!(stand.state(&id).await, "FAILED");
    }
    assert_eq!(stand.state(&default).await, "COMPLETED");
}

#[tokio::test]
async fn a_story_that_matches_nothing_is_never_played() {
    let story = Story {
        steps: steps(json!([{ "fail": {} }])),
        ..Story::default()
    };
    let stand = Stand::new(Scenario {
        stories: vec![story],
        ..Scenario::default()
    })
    .await;
    let id = stand.create().await;
    stand.pass(10_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
}

#[tokio::test]
async fn pace_multiplies_the_checks_too() {
    let scenario = Scenario {
        pace: 10.0,
        ..scenario_of(steps(json!([{ "open_pull": {} }])))
    };
    let stand = Stand::new(scenario).await;
    stand.create().await;
    stand.pass(100_000);
    let head = stand.pull().head_sha;
    let runs = stand.check_runs(&head).await;
    let build = runs.iter().find(|it| it["name"] == "build").unwrap();
    assert_eq!(build["started_at"], "2026-11-20T10:00:10Z");
    assert_eq!(build["completed_at"], "2026-11-20T10:00:30Z");
}

#[tokio::test]
async fn pace_multiplies_all_delays() {
    let stand = Stand::new(Scenario {
        pace: 10.0,
        ..Scenario::default()
    })
    .await;
    let id = stand.create().await;
    stand.pass(10_000);
    assert_eq!(stand.state(&id).await, "PLANNING");
    stand.pass(60_000);
    assert_eq!(
        stand.session(&id).await["updateTime"],
        "2026-11-20T10:01:10Z"
    );
}

#[tokio::test]
async fn update_time_is_no_heartbeat() {
    let progress = json!({ "progress": { "after": "10s" } });
    let stand = Stand::playing(steps(json!([progress, progress, progress]))).await;
    let id = stand.create().await;
    stand.pass(11_000);
    let entered = stand.session(&id).await["updateTime"].clone();
    assert_eq!(entered, "2026-11-20T10:00:11Z");
    stand.pass(20_000);
    assert_eq!(stand.kinds(&id).await.len(), 4);
    assert_eq!(stand.session(&id).await["updateTime"], entered);
}

#[tokio::test]
async fn outputs_vanish_and_come_late() {
    let stand = Stand::playing(steps(
        json!([{ "complete": {} }, { "drop_outputs": { "after": "1m" } }]),
    ))
    .await;
    stand.switch(|it| it.outputs_late = SignedDuration::from_secs(5));
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.session(&id).await.get("outputs"), None);
    assert_eq!(stand.state(&id).await, "COMPLETED");
    stand.pass(5_000);
    assert!(stand.session(&id).await.get("outputs").is_some());
    stand.pass(60_000);
    assert_eq!(stand.session(&id).await.get("outputs"), None);
    assert_eq!(stand.state(&id).await, "COMPLETED");
}

#[tokio::test]
async fn no_change_has_no_outputs() {
    let stand = Stand::playing(steps(json!([{ "complete": { "no_change": true } }]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.session(&id).await.get("outputs"), None);
    assert_eq!(stand.kinds(&id).await, ["-", "sessionCompleted"]);
}

#[tokio::test]
async fn unknown_states_and_kinds_go_out_as_written() {
    let stand = Stand::playing(steps(json!([
        { "state": { "state": "BAKING" } },
        { "activity": { "activity": { "soupServed": { "spoons": 0 }, "originator": "cook" } } },
    ])))
    .await;
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "BAKING");
    let activity = stand.activities(&id).await.pop().unwrap();
    assert_eq!(activity["soupServed"], json!({ "spoons": 0 }));
    assert_eq!(activity["originator"], "cook");
    assert_eq!(string(&activity["id"]).len(), 32);
}

#[tokio::test]
async fn a_session_hangs_in_progress_for_ever_whatever_is_said() {
    let stand = Stand::playing(steps(json!([{ "hang": {} }]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.kinds(&id).await, ["-", "sessionCompleted"]);
    stand.say(&id, "are you there?").await;
    stand.pass(86_400_000);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
    assert_eq!(
        stand.kinds(&id).await,
        ["-", "sessionCompleted", "userMessaged"]
    );
    assert!(stand.session(&id).await.get("outputs").is_some());
}

#[tokio::test]
async fn a_question_may_hide_in_a_completed_session() {
    let stand = Stand::playing(steps(
        json!([{ "complete": {} }, { "say": { "text": "Which one?" } }]),
    ))
    .await;
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
    let last = stand.activities(&id).await.pop().unwrap();
    assert_eq!(last["agentMessaged"]["agentMessage"], "Which one?");
}

#[tokio::test]
async fn a_missing_starting_branch_fails_the_session() {
    let stand = Stand::new(Scenario::default()).await;
    let mut ask = body();
    ask["sourceContext"]["githubRepoContext"]["startingBranch"] = json!("never-pushed");
    let id = stand.post("/sessions", &ask).await.id();
    stand.pass(500);
    assert_eq!(stand.state(&id).await, "FAILED");
    assert_eq!(stand.kinds(&id).await, ["-", "sessionFailed"]);
}

#[tokio::test]
async fn a_push_moves_the_head_and_drafts_open_as_drafts() {
    let stand = Stand::playing(steps(json!([
        { "open_pull": { "draft": true, "files": [{ "filename": "cart.rs" }] } },
        { "push": { "after": "5s", "message": "More" } },
    ])))
    .await;
    let id = stand.create().await;
    stand.pass(1_000);
    let before = stand.pull();
    assert!(before.draft);
    stand.pass(5_000);
    let after = stand.pull();
    assert_ne!(after.head_sha, before.head_sha);
    let view = stand.sandbox.jules().session(&id).unwrap();
    assert_eq!(view.pull, Some((DEFAULT_REPO.to_owned(), 1)));
    assert_eq!(view.branch, Some(after.head_ref));
}

#[tokio::test]
async fn finished_sessions_are_as_heavy_as_told() {
    let scenario = Scenario {
        patch_bytes: 500_000,
        ..scenario_of(steps(json!([{ "complete": {} }])))
    };
    let stand = Stand::new(scenario).await;
    for _ in 0..3 {
        stand.create().await;
    }
    stand.pass(1_000);
    assert!(stand.get("/sessions").await.text.len() > 1_500_000);
    let masked = stand.get("/sessions?fields=sessions(id,state)").await;
    assert!(masked.text.len() < 1_000);
    stand.sandbox.jules().set_patch_bytes(0);
    assert!(stand.get("/sessions").await.text.len() < 10_000);
}

/// A repository whose only check ends like this two seconds after each push.
fn with_check(outcome: Outcome, script: Value) -> Scenario {
    let checks = vec![CheckSetup::new("build", outcome)];
    let ci = CiSetup {
        checks,
        ..CiSetup::default()
    };
    let repos = vec![RepoSetup::new(DEFAULT_REPO).with_ci(ci)];
    Scenario {
        repos,
        ..scenario_of(steps(script))
    }
}

#[tokio::test]
async fn the_ci_fixer_pushes_by_itself_at_most_so_often() {
    for (cap, outcome, completions) in [
        (0, Outcome::Failure, 1),
        (2, Outcome::Failure, 3),
        (2, Outcome::FailsFirst(1), 2),
        (2, Outcome::Success, 1),
    ] {
        let script = json!([{ "open_pull": {} }, { "complete": {} }]);
        let stand = Stand::new(with_check(outcome, script)).await;
        stand.switch(|it| it.ci_fixer_cap = cap);
        let id = stand.create().await;
        stand.pass(1_000);
        let before = stand.pull().head_sha;
        for _ in 0..20 {
            stand.pass(1_000);
        }
        let after = stand.pull().head_sha;
        let kinds = stand.kinds(&id).await;
        let counted = kinds.iter().filter(|it| *it == "sessionCompleted").count();
        assert_eq!(counted, completions, "cap {cap}, {outcome:?}");
        assert_eq!(after != before, completions > 1);
        assert_eq!(stand.sandbox.counters().messages, 0);
    }
}

#[tokio::test]
async fn the_ci_fixer_leaves_a_working_session_and_a_closed_pull_request_alone() {
    let script = json!([{ "open_pull": {} }, { "complete": { "after": "1m" } }]);
    let stand = Stand::new(with_check(Outcome::Failure, script)).await;
    stand.switch(|it| it.ci_fixer_cap = 1);
    let id = stand.create().await;
    for _ in 0..30 {
        stand.pass(1_000);
    }
    assert_eq!(stand.kinds(&id).await, ["-"], "the checks failed long ago");
    stand
        .sandbox
        .github()
        .close(stand.clock.now(), DEFAULT_REPO, 1);
    for _ in 0..40 {
        stand.pass(1_000);
    }
    assert_eq!(stand.kinds(&id).await, ["-", "sessionCompleted"]);
}

#[tokio::test]
async fn a_session_opens_one_pull_request() {
    let open = steps(json!([{ "open_pull": {} }]));
    let stand = Stand::playing(open.clone()).await;
    let id = stand.create().await;
    assert!(stand.sandbox.jules().append_steps(&id, open));
    stand.pass(1_000);
    assert_eq!(stand.sandbox.github().pulls(DEFAULT_REPO), [1]);
}

#[tokio::test]
async fn appended_steps_wait_for_their_turn() {
    let script = steps(json!([{ "complete": { "after": "10s" } }]));
    let stand = Stand::playing(script).await;
    let id = stand.create().await;
    stand.pass(1_500);
    let more = steps(json!([{ "say": { "after": "5s", "text": "By the way" } }]));
    assert!(stand.sandbox.jules().append_steps(&id, more));
    stand.pass(10_500);
    assert_eq!(stand.kinds(&id).await, ["-", "sessionCompleted"]);
    stand.pass(4_000);
    assert_eq!(
        stand.kinds(&id).await,
        ["-", "sessionCompleted", "agentMessaged"]
    );
}

#[tokio::test]
async fn a_comment_on_the_pull_request_wakes_only_where_switched() {
    for (switch, woken) in [(false, false), (true, true)] {
        let stand = Stand::playing(steps(json!([{ "open_pull": {} }, { "complete": {} }]))).await;
        stand.switch(|it| {
            it.comments_wake = switch;
            it.ci_fixer_cap = 1;
        });
        let id = stand.create().await;
        stand.pass(1_000);
        let now = stand.clock.now();
        stand
            .sandbox
            .github()
            .comment(now, DEFAULT_REPO, 1, ("ada", "please rename it"));
        stand.pass(1);
        stand.pass(2_100);
        assert_eq!(
            stand.state(&id).await == "IN_PROGRESS",
            woken,
            "switch {switch}"
        );
    }
}

#[test]
fn a_changed_file_may_be_written_short() {
    let file: ChangedFile = serde_json::from_value(json!({ "filename": "a.rs" })).unwrap();
    assert_eq!(file.status, "modified");
}
