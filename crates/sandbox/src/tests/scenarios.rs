//! Tests of scenario files and of what was there before.

use serde_json::json;

use crate::tests::stand::{Stand, string};
use crate::{DEFAULT_REPO, Error, NAMED, Named, Scenario};

/// The field and the problem that reading this scenario names.
fn problem(text: &str) -> (String, String) {
    match Scenario::from_json(text) {
        Err(Error::Scenario { field, problem }) => (field, problem),
        other => panic!("{other:?}"),
    }
}

/// Each line is a field and a scenario in which it is wrong.
fn fields_are_named(cases: &str) {
    for case in cases.lines() {
        let (field, text) = case.split_once(' ').unwrap();
        assert_eq!(problem(text).0, field, "{text}");
    }
}

#[test]
fn a_wrong_field_is_named() {
    fields_are_named(
        r#"pace { "pace": "fast" }
pace { "pace": -1 }
accounts { "accounts": [] }
accounts[0].key { "accounts": [{ "key": 7 }] }
accounts[1] { "accounts": [{ "name": "a" }, { "name": "a", "key": "k" }] }
repos[0].full_name { "repos": [{ "full_name": "shop" }] }
stories[0].steps[0].ask { "stories": [{ "steps": [{ "ask": {} }] }] }
stories[0].steps[0].plan.after { "stories": [{ "steps": [{ "plan": { "after": "soon" } }] }] }
foreign[0].session.account { "foreign": [{ "session": { "account": "x" } }] }
foreign[0].pull.repo { "foreign": [{ "pull": { "repo": "x/y" } }] }
switches.delete { "switches": { "delete": "maybe" } }"#,
    );
    let (field, problem) = problem(r#"{ "stories": [{ "stepz": [] }] }"#);
    assert!(field.starts_with("stories[0]"), "{field}: {problem}");
    assert!(problem.contains("stepz"), "{field}: {problem}");
}

/// What would be left out or overwritten in silence.
#[test]
fn what_cannot_be_played_is_refused() {
    fields_are_named(
        r#"repos[1].full_name { "repos": [{ "full_name": "a/b" }, { "full_name": "A/b" }] }
repos[1].id { "repos": [{ "full_name": "a/b", "id": 3 }, { "full_name": "a/c", "id": 3 }] }
repos[0].merge_methods { "repos": [{ "full_name": "a/b", "merge_methods": [] }] }
repos[0].ci.checks[0].name { "repos": [{ "full_name": "a/b", "ci": { "checks": [{ "name": "" }] } }] }
repos[0].ci.checks[2].name { "repos": [{ "full_name": "a/b", "ci": { "checks": [{ "name": "ci", "kind": "status" }, { "name": "ci" }, { "name": "ci", "kind": "status" }] } }] }
repos[0].ci.checks[0].outcome { "repos": [{ "full_name": "a/b", "ci": { "checks": [{ "kind": "status", "outcome": "approval_pending" }] } }] }
tokens[1].token { "tokens": [{ "token": "t" }, { "token": "t" }] }
agents[1].name { "agents": [{ "name": "a" }, { "name": "a" }] }
stories[1].match { "stories": [{ "match": "a" }, { "match": "a" }] }
stories[0].steps[1].open_pull { "stories": [{ "match": "a", "steps": [{ "open_pull": {} }, { "open_pull": {} }] }] }
default_story.steps[0].push { "default_story": { "steps": [{ "push": {} }, { "open_pull": {} }] } }
foreign[0].session.id { "foreign": [{ "session": { "count": 2, "id": "7" } }] }
foreign[0].pull.pull.head_branch { "foreign": [{ "pull": { "count": 2, "pull": { "head_branch": "a" } } }] }
foreign[1].pull.pull.head_branch { "foreign": [{ "pull": { "pull": { "head_branch": "a" } } }, { "pull": { "pull": { "head_branch": "a" } } }] }
foreign[0].pull.pull.base_branch { "foreign": [{ "pull": { "pull": { "head_branch": "a", "base_branch": "b" } } }] }"#,
    );
}

#[test]
fn a_scenario_goes_to_json_and_back() {
    let text = serde_json::to_string(&Scenario::default()).unwrap();
    let back = Scenario::from_json(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
}

#[test]
fn a_missing_file_is_named() {
    let error = Scenario::load(std::path::Path::new("no-such-scenario.json")).unwrap_err();
    assert!(error.to_string().contains("no-such-scenario.json"));
}

#[tokio::test]
async fn a_file_says_everything() {
    let scenario = json!({
        "accounts": [{ "name": "a", "key": "ka" }, { "name": "b", "key": "kb", "concurrent": 3, "per_24h": 15 }],
        "repos": [{ "full_name": "acme/api", "private": true, "ci": { "checks": [{ "name": "lint", "takes": "2s" }] } }],
        "stories": [{ "match": "boom", "queued_for": "1s", "steps": [{ "fail": { "after": "2s", "reason": "no" } }] }],
        "pace": 0.5,
        "switches": { "quota_refusal": { "exhausted": { "retry_after_secs": 5 } }, "wake_after": "95s" },
        "lags": { "create": "3s" },
        "webhook_faults": { "drop_every": 3 },
        "faults": [{ "service": "github", "path_contains": "/merge", "kind": { "status": { "code": 500 } }, "times": { "next": 1 } }],
        "author": { "user": { "login": "ada", "id": 7 } },
        "agents": [{ "name": "ada", "statuses": [503, 204] }],
    });
    let mut stand = Stand::new(Scenario::from_json(&scenario.to_string()).unwrap()).await;
    stand.key = "ka".to_owned();
    let told = stand.get("/sources/github/acme/api").await.json();
    assert_eq!(told["githubRepo"]["isPrivate"], true);
    let id = stand
        .post("/sessions", &json!({ "prompt": "boom" }))
        .await
        .id();
    stand.pass(1_499);
    assert_eq!(stand.get(&format!("/sessions/{id}")).await.status, 404);
    stand.pass(1_501);
    assert_eq!(stand.state(&id).await, "FAILED");
    assert_eq!(stand.sandbox.faults().list().len(), 1);
    assert_eq!(stand.sandbox.github().webhook_faults().drop_every, Some(3));
}

#[tokio::test]
async fn foreign_things_are_there_from_the_start() {
    let scenario = json!({ "foreign": [
        { "session": { "count": 20, "title": "[gaffer other/job{n}#1] Look-alike {n}", "state": "COMPLETED", "age": "2h" } },
        { "session": { "id": "7365771234567890", "state": "AWAITING_USER_FEEDBACK", "pull_url": "https://github.com/acme/shop/pull/1" } },
        { "pull": { "count": 30 } },
        { "pull": { "pull": { "title": "From a fork", "head_branch": "patch-1", "author_login": "eve", "fork": "eve/shop" } } },
    ] });
    let stand = Stand::new(Scenario::from_json(&scenario.to_string()).unwrap()).await;
    let page = stand.get("/sessions?pageSize=100").await.json();
    let sessions = page["sessions"].as_array().unwrap().clone();
    assert_eq!(sessions.len(), 21);
    assert_eq!(sessions[0]["id"], "7365771234567890");
    assert_eq!(
        sessions[0]["outputs"][0]["pullRequest"]["url"],
        "https://github.com/acme/shop/pull/1"
    );
    assert!(
        sessions
            .iter()
            .any(|it| it["title"] == "[gaffer other/job20#1] Look-alike 20")
    );
    assert_eq!(sessions[20]["createTime"], "2026-11-20T08:00:00Z");

    let github = stand.sandbox.github();
    assert_eq!(github.pulls(DEFAULT_REPO).len(), 31);
    let told = github.pull(DEFAULT_REPO, 30).unwrap();
    assert_eq!(told.head_ref, "foreign-30");
    assert_eq!(github.pull(DEFAULT_REPO, 31).unwrap().head_repo, "eve/shop");
    assert_eq!(stand.sandbox.counters().creates, 0);
}

#[tokio::test]
async fn a_foreign_session_plays_its_steps() {
    let scenario = json!({ "foreign": [{ "session": {
        "state": "IN_PROGRESS",
        "steps": [{ "open_pull": { "after": "1s" } }, { "complete": { "after": "1s" } }],
    } }] });
    let stand = Stand::new(Scenario::from_json(&scenario.to_string()).unwrap()).await;
    stand.pass(2_000);
    let page = stand.get("/sessions").await.json();
    assert_eq!(page["sessions"][0]["state"], "COMPLETED");
    let id = string(&page["sessions"][0]["id"]);
    let pull = stand.pull();
    assert!(pull.head_ref.ends_with(&id));
}

#[tokio::test]
async fn a_foreign_plan_can_be_approved() {
    let scenario = json!({ "foreign": [{ "session": {
        "state": "AWAITING_PLAN_APPROVAL",
        "steps": [{ "complete": { "after": "1s" } }],
    } }] });
    let stand = Stand::new(Scenario::from_json(&scenario.to_string()).unwrap()).await;
    stand.pass(60_000);
    let id = string(&stand.get("/sessions").await.json()["sessions"][0]["id"]);
    assert_eq!(stand.state(&id).await, "AWAITING_PLAN_APPROVAL");
    assert_eq!(stand.approve(&id).await.status, 200);
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
}

#[tokio::test]
async fn a_foreign_session_may_be_archived() {
    let scenario =
        json!({ "foreign": [{ "session": { "archived": true, "state": "COMPLETED" } }] });
    let stand = Stand::new(Scenario::from_json(&scenario.to_string()).unwrap()).await;
    assert_eq!(stand.get("/sessions").await.text, "{}");
    let archived = stand
        .get_filtered("/sessions", "archived = true")
        .await
        .json();
    assert_eq!(archived["sessions"][0]["archived"], true);
}

#[test]
fn every_named_scenario_can_be_played_and_stands_in_the_page() {
    let page = include_str!("../../../../docs/sandbox.md");
    for named in NAMED {
        assert!(named.scenario().is_ok(), "{}", named.name);
        assert!(Named::parse(named.name).is_some());
        assert!(
            page.contains(&format!("| `{}` | {} |\n", named.name, named.shows)),
            "{}",
            named.name
        );
    }
    assert!(Named::parse("nothing").is_none());
}

#[test]
fn the_pages_have_files_that_can_be_played() {
    let page = concat!(
        include_str!("../../../../docs/sandbox.md"),
        include_str!("../../../../docs/pipeline.md"),
    );
    let files: Vec<&str> = page
        .split("```json\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(files.len() >= 2);
    for file in files {
        assert!(Scenario::from_json(file).is_ok(), "{file}");
    }
}
