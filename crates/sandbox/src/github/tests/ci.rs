//! The CI engine: checks appear, move with the clock, and end as declared.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};

use super::Stand;
use super::stand::{Got, REPO, new_pull};
use crate::faults::Lags;
use crate::github::{
    CheckKind, CheckSetup, CheckState, CiSetup, Conclusion, NewPull, Outcome, TokenKind, TokenSetup,
};

fn ci(checks: Vec<CheckSetup>) -> CiSetup {
    CiSetup {
        checks,
        ..CiSetup::default()
    }
}

fn secs(secs: i64) -> SignedDuration {
    SignedDuration::from_secs(secs)
}

async fn runs(stand: &Stand, n: u64) -> Got {
    stand
        .repo(&format!("/commits/{}/check-runs", stand.head(n)))
        .await
}

/// Name and conclusion of every check run, oldest first.
async fn conclusions(stand: &Stand, n: u64) -> Vec<(String, Value)> {
    let got = runs(stand, n).await;
    let list = got.body["check_runs"].as_array().unwrap();
    list.iter()
        .rev()
        .map(|run| {
            (
                run["name"].as_str().unwrap().to_owned(),
                run["conclusion"].clone(),
            )
        })
        .collect()
}

#[tokio::test]
async fn a_check_appears_waits_runs_and_ends_with_the_clock() {
    let slow = CheckSetup {
        starts_after: secs(5),
        queued_for: secs(3),
        takes: secs(10),
        ..CheckSetup::new("build", Outcome::Success)
    };
    let stand = Stand::with_ci(ci(vec![slow])).await;
    let n = stand.open("a", "a.rs");
    assert_eq!(
        runs(&stand, n).await.body["total_count"],
        0,
        "nothing is there before it starts"
    );

    let mut seen = Vec::new();
    for step in [5, 3, 10] {
        stand.clock.advance(secs(step));
        let run = runs(&stand, n).await.body["check_runs"][0].clone();
        seen.push((run["status"].clone(), run["conclusion"].clone()));
    }
    assert_eq!(
        seen,
        [
            (json!("queued"), Value::Null),
            (json!("in_progress"), Value::Null),
            (json!("completed"), json!("success")),
        ]
    );
    let run = runs(&stand, n).await.body["check_runs"][0].clone();
    assert_eq!(run["head_sha"], stand.head(n));
    assert_eq!(run["app"]["id"], 15_368);
    assert_eq!(run["app"]["slug"], "github-actions");
    assert_eq!(run["started_at"], "2026-11-21T10:00:08Z");
    assert_eq!(run["completed_at"], "2026-11-21T10:00:18Z");
    assert_eq!(run["pull_requests"][0]["number"], n);
}

#[tokio::test]
async fn a_late_look_finds_the_times_at_which_things_were_due() {
    let stand = Stand::with_ci(ci(vec![CheckSetup::new("build", Outcome::Success)])).await;
    let n = stand.open("a", "a.rs");
    assert_eq!(stand.github.next_due(), Some(stand.now()));
    stand.clock.advance(secs(3600));
    let run = runs(&stand, n).await.body["check_runs"][0].clone();
    assert_eq!(run["completed_at"], "2026-11-21T10:00:02Z");
    assert_eq!(stand.github.next_due(), None);
}

#[tokio::test]
async fn every_outcome_ends_as_declared() {
    let endings = [
        (Outcome::Success, json!("success")),
        (Outcome::Failure, json!("failure")),
        (Outcome::Neutral, json!("neutral")),
        (Outcome::Skipped, json!("skipped")),
        (Outcome::Cancelled, json!("cancelled")),
        (Outcome::TimedOut, json!("timed_out")),
        (Outcome::Hangs, Value::Null),
    ];
    let name = |index: usize| format!("check-{index}");
    let checks = endings
        .iter()
        .enumerate()
        .map(|(index, (outcome, _))| CheckSetup::new(&name(index), *outcome));
    let mut checks: Vec<CheckSetup> = checks.collect();
    checks.push(CheckSetup::new("never", Outcome::Never));
    let stand = Stand::with_ci(ci(checks)).await;
    let n = stand.open("a", "a.rs");
    stand.pass(1_000);
    let expected: Vec<_> = endings
        .into_iter()
        .enumerate()
        .map(|(index, (_, end))| (name(index), end))
        .collect();
    assert_eq!(conclusions(&stand, n).await, expected);
}

#[tokio::test]
async fn a_check_can_fail_on_the_first_heads_of_each_branch() {
    let stand = Stand::with_ci(ci(vec![CheckSetup::new("build", Outcome::FailsFirst(2))])).await;
    let n = stand.open("a", "a.rs");
    let mut ends = Vec::new();
    for _ in 0..3 {
        stand.pass(2);
        ends.push(conclusions(&stand, n).await[0].1.clone());
        stand
            .github
            .push(stand.now(), REPO, "a", "try again", "ada");
    }
    assert_eq!(ends, ["failure", "failure", "success"]);
    let other = stand.open("b", "b.rs");
    stand.pass(2);
    assert_eq!(
        conclusions(&stand, other).await[0].1,
        "failure",
        "another branch counts for itself"
    );
}

#[tokio::test]
async fn a_flaky_check_passes_when_it_is_run_again() {
    let stand = Stand::with_ci(ci(vec![
        CheckSetup::new("build", Outcome::Flaky),
        CheckSetup::new("lint", Outcome::Success),
    ]))
    .await;
    let n = stand.open("a", "a.rs");
    stand.pass(2);
    let failed = runs(&stand, n).await.body["check_runs"][1].clone();
    assert_eq!(
        (&failed["name"], &failed["conclusion"]),
        (&json!("build"), &json!("failure"))
    );
    let run = stand
        .repo(&format!("/actions/runs?head_sha={}", stand.head(n)))
        .await
        .body["workflow_runs"][0]
        .clone();
    assert_eq!(
        (&run["status"], &run["conclusion"]),
        (&json!("completed"), &json!("failure"))
    );

    let got = stand
        .post(
            &format!("/actions/runs/{}/rerun-failed-jobs", run["id"]),
            json!({}),
        )
        .await;
    assert_eq!(got.status, 201);
    stand.pass(2);
    let after = runs(&stand, n).await;
    assert_eq!(
        after.body["total_count"], 2,
        "the new run took the place of the old one"
    );
    assert_eq!(
        after.each("check_runs", "conclusion"),
        ["success", "success"]
    );
    let all = stand
        .repo(&format!("/commits/{}/check-runs?filter=all", stand.head(n)))
        .await;
    assert_eq!(all.body["total_count"], 3);
    let run = stand
        .repo(&format!("/actions/runs/{}", run["id"]))
        .await
        .body;
    assert_eq!(
        (&run["conclusion"], &run["run_attempt"]),
        (&json!("success"), &json!(2))
    );
}

#[tokio::test]
async fn an_unapproved_workflow_shows_no_check_runs() {
    let stand = Stand::with_ci(ci(vec![CheckSetup::new("build", Outcome::ApprovalPending)])).await;
    let n = stand.open("a", "a.rs");
    stand.pass(60);
    assert_eq!(runs(&stand, n).await.body["total_count"], 0);
    let path = format!("/actions/runs?head_sha={}", stand.head(n));
    let run = stand.repo(&path).await.body["workflow_runs"][0].clone();
    assert_eq!(
        (&run["status"], &run["conclusion"]),
        (&json!("completed"), &json!("action_required"))
    );
    assert_eq!(
        stand
            .repo("/actions/runs?status=action_required")
            .await
            .body["total_count"],
        1
    );

    stand
        .post(&format!("/actions/runs/{}/approve", run["id"]), json!({}))
        .await;
    stand.pass(2);
    assert_eq!(
        conclusions(&stand, n).await,
        [("build".to_owned(), json!("success"))]
    );
}

#[tokio::test]
async fn statuses_are_posts_of_which_the_newest_counts() {
    let stand = Stand::with_ci(ci(vec![
        CheckSetup::status("ci/deploy", Outcome::Failure),
        CheckSetup::status("ci/docs", Outcome::Success),
    ]))
    .await;
    let n = stand.open("a", "a.rs");
    let path = |tail: &str| format!("/commits/{}/{tail}", stand.head(n));
    assert_eq!(stand.repo(&path("status")).await.body["state"], "pending");
    stand.pass(2);
    let combined = stand.repo(&path("status")).await;
    assert_eq!(combined.body["state"], "failure");
    assert_eq!(combined.body["total_count"], 2);
    assert_eq!(combined.each("statuses", "state"), ["failure", "success"]);
    let posts = stand.repo(&path("statuses")).await;
    assert_eq!(
        posts.each("", "state"),
        ["success", "failure", "pending", "pending"],
        "newest first"
    );
    assert_eq!(runs(&stand, n).await.body["total_count"], 0);

    let head = stand.head(n);
    let posted = stand
        .post(
            &format!("/statuses/{head}"),
            json!({ "state": "success", "context": "ci/deploy" }),
        )
        .await;
    assert_eq!(posted.status, 201);
    assert_eq!(stand.repo(&path("status")).await.body["state"], "success");
}

#[tokio::test]
async fn an_empty_commit_is_pending_never_green() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    let got = stand
        .repo(&format!("/commits/{}/status", stand.head(n)))
        .await;
    assert_eq!(
        (&got.body["state"], &got.body["total_count"]),
        (&json!("pending"), &json!(0))
    );
}

#[tokio::test]
async fn check_runs_come_in_pages_and_appear_late_when_told_to() {
    let checks = (0..5)
        .map(|n| CheckSetup::new(&format!("check-{n}"), Outcome::Success))
        .collect();
    let stand = Stand::with_ci(ci(checks)).await;
    let n = stand.open("a", "a.rs");
    stand.pass(2);
    let path = format!("/commits/{}/check-runs?per_page=2", stand.head(n));
    let page = stand.repo(&path).await;
    assert_eq!(page.body["total_count"], 5);
    assert_eq!(page.each("check_runs", "name"), ["check-4", "check-3"]);
    assert!(
        page.header("link")
            .contains("per_page=2&page=3>; rel=\"last\""),
        "{}",
        page.header("link")
    );

    stand.faults.set_lags(Lags {
        checks: secs(30),
        ..Lags::default()
    });
    assert_eq!(runs(&stand, n).await.body["total_count"], 0);
    stand.pass(28);
    assert_eq!(runs(&stand, n).await.body["total_count"], 5);
}

#[tokio::test]
async fn the_actions_token_starts_no_checks() {
    let stand = Stand::with_ci(ci(vec![CheckSetup::new("build", Outcome::Success)])).await;
    let pull = NewPull {
        by_actions_token: true,
        ..new_pull("a", "a.rs")
    };
    let n = stand.github.open_pull(stand.now(), REPO, pull);
    stand.pass(60);
    assert_eq!(runs(&stand, n).await.body["total_count"], 0);
    stand
        .github
        .push(stand.now(), REPO, "a", "by a person", "ada");
    stand.pass(60);
    assert_eq!(runs(&stand, n).await.body["total_count"], 1);
}

#[tokio::test]
async fn what_the_actions_token_merges_into_a_branch_starts_no_checks() {
    let stand = Stand::with_ci(ci(vec![CheckSetup::new("build", Outcome::Success)])).await;
    let token = TokenSetup {
        token: "ghs_run".to_owned(),
        kind: TokenKind::Actions,
        ..TokenSetup::default()
    };
    stand.github.add_token(token);
    let (one, other) = (stand.open("a", "a.rs"), stand.open("b", "b.rs"));
    stand.merge(one).await;
    let path = format!("/repos/{REPO}/pulls/{other}/update-branch");
    let got = stand
        .send_as("ghs_run", (Method::PUT, &path), (json!({}), &[]))
        .await;
    assert_eq!(got.status, 202);
    stand.pass(60);
    assert_eq!(runs(&stand, other).await.body["total_count"], 0);
}

#[tokio::test]
async fn checks_set_by_hand_stay_where_they_are() {
    let stand = Stand::with_ci(ci(vec![CheckSetup::new("build", Outcome::Success)])).await;
    let n = stand.open("a", "a.rs");
    let head = stand.head(n);
    stand.pass(1);
    stand
        .github
        .set_check(stand.now(), REPO, (&head, "build"), CheckState::InProgress);
    stand.pass(100);
    assert_eq!(
        conclusions(&stand, n).await,
        [("build".to_owned(), Value::Null)]
    );
    stand
        .github
        .finish_checks(stand.now(), REPO, &head, Conclusion::Failure);
    assert_eq!(
        conclusions(&stand, n).await,
        [("build".to_owned(), json!("failure"))]
    );
}

#[tokio::test]
async fn a_failed_job_has_a_log_and_an_annotation() {
    let failing = CheckSetup {
        log: "boom at line 3".to_owned(),
        ..CheckSetup::new("build", Outcome::Failure)
    };
    let foreign = CheckSetup {
        app_id: 7,
        app_slug: "circle".to_owned(),
        ..CheckSetup::new("circle", Outcome::Failure)
    };
    let stand = Stand::with_ci(ci(vec![failing, foreign])).await;
    let n = stand.open("a", "a.rs");
    stand.pass(2);
    let list = runs(&stand, n).await.body["check_runs"].clone();
    let (circle, build) = (&list[0], &list[1]);
    let notes = stand
        .repo(&format!("/check-runs/{}/annotations", build["id"]))
        .await;
    assert_eq!(notes.each("", "annotation_level"), ["failure"]);
    assert_eq!(build["output"]["annotations_count"], 1);
    assert_eq!(
        build["output"]["summary"],
        Value::Null,
        "Actions leaves the output empty"
    );
    assert_eq!(circle["output"]["summary"], "circle: failure");

    let log = stand
        .repo(&format!("/actions/jobs/{}/logs", build["id"]))
        .await;
    assert_eq!((log.status, log.text.as_str()), (200, "boom at line 3"));
    assert!(
        build["details_url"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/job/{}", build["id"]))
    );
    assert_eq!(
        stand
            .repo(&format!("/actions/jobs/{}/logs", circle["id"]))
            .await
            .status,
        404
    );
    let workflows = stand.repo("/actions/workflows").await;
    assert_eq!(workflows.each("workflows", "name"), ["CI"]);
    assert_eq!(
        stand
            .repo(&format!("/check-runs/{}", build["id"]))
            .await
            .body["name"],
        "build"
    );
}

#[tokio::test]
async fn commits_that_reach_the_base_can_start_checks_too() {
    let setup = CiSetup {
        on_base: true,
        ..ci(vec![CheckSetup {
            kind: CheckKind::CheckRun,
            ..CheckSetup::new("deploy", Outcome::Success)
        }])
    };
    let stand = Stand::with_ci(setup).await;
    let n = stand.open("a", "a.rs");
    stand.pass(2);
    let sha = stand.merge(n).await.body["sha"]
        .as_str()
        .unwrap()
        .to_owned();
    stand.pass(2);
    let got = stand.repo(&format!("/commits/{sha}/check-runs")).await;
    assert_eq!(got.each("check_runs", "conclusion"), ["success"]);
    assert_eq!(
        stand.repo("/commits/main/check-runs").await.body["total_count"],
        1
    );
}

#[tokio::test]
async fn two_check_runs_of_one_name_are_two() {
    let check = |outcome, takes| CheckSetup {
        takes: secs(takes),
        ..CheckSetup::new("build", outcome)
    };
    let stand = Stand::with_ci(ci(vec![
        check(Outcome::Cancelled, 1),
        check(Outcome::Success, 3),
    ]))
    .await;
    let n = stand.open("a", "a.rs");
    stand.clock.advance(secs(3));
    let named = |word: &str| ("build".to_owned(), json!(word));
    assert_eq!(
        conclusions(&stand, n).await,
        [named("cancelled"), named("success")]
    );
    let list = runs(&stand, n).await.body["check_runs"].clone();
    assert_ne!(
        list[0]["check_suite"]["id"], list[1]["check_suite"]["id"],
        "each has a suite of its own"
    );
    let pull = stand.repo(&format!("/pulls/{n}")).await;
    assert_eq!(pull.body["mergeable_state"], "clean");
}

#[tokio::test]
async fn marking_a_draft_as_ready_may_cancel_its_checks_and_run_them_again() {
    let slow = CheckSetup {
        takes: secs(10),
        ..CheckSetup::new("build", Outcome::Success)
    };
    let stand = Stand::with_ci(CiSetup {
        again_on_ready: true,
        ..ci(vec![slow])
    })
    .await;
    let n = stand.open("a", "a.rs");
    stand.github.set_draft(REPO, n, true);
    stand.clock.advance(secs(5));
    runs(&stand, n).await;
    let now = stand.clock.now();
    stand
        .github
        .world()
        .mark_ready(now, REPO, n)
        .expect("a draft");
    stand.clock.advance(secs(10));
    let words: Vec<Value> = conclusions(&stand, n)
        .await
        .into_iter()
        .map(|it| it.1)
        .collect();
    assert_eq!(words, [json!("cancelled"), json!("success")]);
}
