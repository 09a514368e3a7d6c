//! What is made of sessions, activities, outputs and sources, also of strange ones.

use domain::failure::{CallEffect, FailureClass};
use domain::session::{Activity, ActivityKind, Originator, SessionState, SessionView};
use engine::ports::{Artifacts, SessionsRead};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::service::{Asked, ID, World, account, check, ids, ok, refusal, session};
use crate::PATCH_BYTES_MAX;

/// A session as the service shows it, with some fields of its own.
fn resource(more: Value) -> Value {
    let mut resource = json!({
        "name": format!("sessions/{ID}"), "id": ID, "title": "Add auth tests", "prompt": "Add unit tests for auth",
        "url": format!("https://jules.google.com/session/{ID}"), "createTime": "2026-11-20T10:00:00.441608052Z",
        "sourceContext": { "source": "sources/github/acme/shop", "githubRepoContext": { "startingBranch": "main" } },
    });
    for (name, value) in more.as_object().unwrap() {
        resource[name] = value.clone();
    }
    resource
}

async fn read(resource: Value) -> SessionView {
    let world = World::start(move |_| ok(resource.to_string())).await;
    let view = world.get().await.unwrap();
    assert_eq!(
        world.asked()[0].path,
        format!("/jules/v1alpha/sessions/{ID}")
    );
    view
}

async fn log(activities: Value) -> Vec<Activity> {
    let page = json!({ "activities": activities }).to_string();
    let world = World::start(move |_| ok(page.clone())).await;
    world.activities(None).await.unwrap()
}

fn time(text: &str) -> Option<Timestamp> {
    Some(text.parse().unwrap())
}

#[tokio::test]
async fn every_state_is_read_and_a_new_one_is_kept() {
    for (written, updated, state) in [
        ("QUEUED", "2026-11-20T10:00:00.9Z", SessionState::Queued),
        ("PLANNING", "2026-11-20T10:00:40Z", SessionState::Planning),
        (
            "AWAITING_PLAN_APPROVAL",
            "2026-11-20T10:02:11.120Z",
            SessionState::AwaitingPlanApproval,
        ),
        (
            "AWAITING_USER_FEEDBACK",
            "2026-11-20T10:05:02Z",
            SessionState::AwaitingUserFeedback,
        ),
        (
            "IN_PROGRESS",
            "2026-11-20T10:02:14Z",
            SessionState::InProgress,
        ),
        (
            "PAUSED",
            "2026-11-20T10:06:00.123456Z",
            SessionState::Paused,
        ),
        (
            "FAILED",
            "2026-11-20T10:20:00.123456789Z",
            SessionState::Failed,
        ),
        (
            "COMPLETED",
            "2026-11-20T11:20:00+01:00",
            SessionState::Completed,
        ),
        (
            "STATE_UNSPECIFIED",
            "2026-11-20T10:31:00Z",
            SessionState::Unspecified,
        ),
        (
            "CANCELLED",
            "2026-11-20T10:31:00Z",
            SessionState::Other("CANCELLED".to_owned()),
        ),
    ] {
        let view = read(resource(json!({ "state": written, "updateTime": updated }))).await;
        assert_eq!(view.state, state);
        assert_eq!(view.updated_at, time(updated));
    }
}

#[tokio::test]
async fn a_completed_session_is_read_whole() {
    let view = read(resource(json!({
        "state": "COMPLETED", "updateTime": "2026-11-20T10:31:20.277897Z", "archived": true,
        "outputs": [
            { "pullRequest": { "url": "https://github.com/acme/shop/pull/35", "title": "Add auth tests", "baseRef": "main" } },
            { "changeSet": { "source": "sources/github/acme/shop", "gitPatch": { "unidiffPatch": "diff --git a/t.js b/t.js\n" } } },
            { "pullRequest": { "url": "https://github.com/acme/shop/pull/35/files" } },
            { "pullRequest": { "url": "https://evil.example/acme/shop/pull/1" } }, { "novelty": 1 }, 7,
        ],
    })))
    .await;
    let expected = SessionView {
        id: session(),
        title: "Add auth tests".to_owned(),
        state: SessionState::Completed,
        url: Some(format!("https://jules.google.com/session/{ID}")),
        created_at: time("2026-11-20T10:00:00.441608052Z"),
        updated_at: time("2026-11-20T10:31:20.277897Z"),
        repo: Some("acme/shop".parse().unwrap()),
        branch: Some("main".parse().unwrap()),
        pulls: vec!["acme/shop#35".parse().unwrap()],
        archived: true,
    };
    assert_eq!(view, expected);
}

#[tokio::test]
async fn an_id_is_found_wherever_it_stands() {
    for (resource, id) in [
        (
            json!({ "id": "18446744073709551615" }),
            "18446744073709551615",
        ),
        (
            json!({ "name": "sessions/18446744073709551615" }),
            "18446744073709551615",
        ),
        (json!({ "name": "1234567", "id": "abc123" }), "abc123"),
        (json!({ "name": "sessions/7", "id": "" }), "7"),
        (json!({ "name": "sessions/7", "id": "../x" }), "7"),
        (json!({ "id": 14_550_388_554_331_055_113_u64 }), ID),
    ] {
        assert_eq!(read(resource).await.id.as_str(), id);
    }
}

#[tokio::test]
async fn a_session_without_an_id_is_garbled() {
    for body in [
        "{}",
        r#"{"id":""}"#,
        r#"{"id":"a b","name":"sessions/"}"#,
        r#"{"id":1.5}"#,
    ] {
        let world = World::start(move |_| ok(body)).await;
        let failure = world.get().await.unwrap_err();
        check(&failure, FailureClass::Garbled, CallEffect::Maybe);
    }
}

#[tokio::test]
async fn missing_null_and_misshapen_fields_read_as_nothing() {
    let nothing = read(json!({ "id": "7" })).await;
    assert_eq!(nothing.state, SessionState::Unspecified);
    assert_eq!(
        (nothing.repo.clone(), nothing.created_at, nothing.archived),
        (None, None, false)
    );
    let fields = [
        "name",
        "title",
        "state",
        "url",
        "sourceContext",
        "createTime",
        "updateTime",
        "outputs",
        "archived",
        "new",
    ];
    for strange in [json!(null), json!([[1]]), json!({ "a": {} }), json!(-1.5)] {
        let mut resource = json!({ "id": "7" });
        for field in fields {
            resource[field] = strange.clone();
        }
        assert_eq!(read(resource).await, nothing, "{strange}");
    }
    for context in [
        json!({ "source": "sources/github-myorg-myrepo" }),
        json!({ "source": "sources/github/../x", "githubRepoContext": { "startingBranch": "a b" } }),
        json!({ "source": null, "githubRepoContext": [] }),
    ] {
        assert_eq!(
            read(json!({ "id": "7", "sourceContext": context })).await,
            nothing
        );
    }
}

#[tokio::test]
async fn a_huge_page_is_listed_without_its_patches() {
    let patch = "+\"line\" \\ \u{e9}\n".repeat(60_000);
    let sessions = (1..=12).map(|n| {
        json!({ "id": n.to_string(), "prompt": "p".repeat(20_000), "title": format!("T{n}"),
            "outputs": [{ "changeSet": { "gitPatch": { "unidiffPatch": patch } } }, { "pullRequest": { "url": format!("https://github.com/a/b/pull/{n}") } }] })
    });
    let body = json!({ "sessions": sessions.collect::<Vec<_>>() }).to_string();
    let bytes = u64::try_from(body.len()).unwrap();
    assert!(bytes > 10_000_000);
    let world = World::start(move |_| ok(body.clone())).await;
    let page = world.list(100, None).await.unwrap();
    assert_eq!(page.bytes, bytes);
    assert_eq!(page.sessions.len(), 12);
    assert_eq!(page.sessions[11].pulls, ["a/b#12".parse().unwrap()]);
}

/// The seven kinds, out of order, as in the description of the API.
fn examples() -> Value {
    json!([
        { "name": format!("sessions/{ID}/activities/02200cce44f746308651037e4a18caed"), "id": "02200cce44f746308651037e4a18caed",
          "createTime": "2026-11-20T10:02:11.801654Z", "originator": "agent",
          "planGenerated": { "plan": { "id": "5103d604240042cd9f59a4cb2355643a", "steps": [
            { "id": "705a61fc8ec24a98abc9296a3956fb6b", "title": "Look at src/auth" },
            { "id": "bb5276efad354794a4527e9ad7c0cd42", "title": "Write tests", "index": 1 } ] } } },
        { "name": ".../2918fac8bc54450a9cbda423b7688413", "id": "2918fac8bc54450a9cbda423b7688413", "createTime": "2026-11-20T10:02:14.954030Z",
          "originator": "user", "planApproved": { "planId": "5103d604240042cd9f59a4cb2355643a" } },
        { "name": ".../5b3acd1b3ca2439f9cbaefaccf7f709a", "createTime": "2026-11-20T10:03:16Z", "originator": "AGENT",
          "progressUpdated": { "title": "Ran bash command", "description": "npm test" },
          "artifacts": [ { "bashOutput": { "command": "npm test", "output": "ok" } } ] },
        { "id": "aa01", "createTime": "2026-11-20T10:05:02Z", "originator": "agent", "agentMessaged": { "agentMessage": "Should I also cover the refresh flow?" } },
        { "id": "aa02", "createTime": "2026-11-20T10:06:00Z", "originator": "User", "userMessaged": { "userMessage": "Yes" } },
        { "id": "aa03", "createTime": "2026-11-20T10:30:50Z", "originator": "agent", "sessionCompleted": {},
          "artifacts": [ { "changeSet": { "gitPatch": { "unidiffPatch": "diff --git ...", "baseCommitId": "36ead0a4", "suggestedCommitMessage": "test: auth" } } },
            { "media": { "mimeType": "image/png", "data": "iVBORw0" } } ] },
        { "id": "aa04", "createTime": "2026-11-20T10:30:51Z", "originator": "system", "sessionFailed": { "reason": "Unable to install dependencies" } },
        { "id": "aa05", "createTime": "2026-11-20T10:00:01Z", "originator": "system", "description": "Session started" },
    ])
}

#[tokio::test]
async fn every_kind_of_activity_is_read_in_order_of_time() {
    let activities = log(examples()).await;
    let expected = [
        "aa05",
        "02200cce44f746308651037e4a18caed",
        "2918fac8bc54450a9cbda423b7688413",
        "5b3acd1b3ca2439f9cbaefaccf7f709a",
        "aa01",
        "aa02",
        "aa03",
        "aa04",
    ];
    assert_eq!(ids(&activities), expected);
    let originators: Vec<Originator> = activities
        .iter()
        .map(|activity| activity.originator)
        .collect();
    use Originator::{Agent, System, User};
    assert_eq!(
        originators,
        [System, Agent, User, Agent, Agent, User, Agent, System]
    );
    let kinds: Vec<String> = activities
        .into_iter()
        .map(|activity| serde_json::to_string(&activity.kind).unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            r#"{"other":{"label":"Session started"}}"#,
            r#"{"plan_generated":{"id":"5103d604240042cd9f59a4cb2355643a","steps":[{"title":"Look at src/auth","description":""},{"title":"Write tests","description":""}]}}"#,
            r#"{"plan_approved":{"plan":"5103d604240042cd9f59a4cb2355643a"}}"#,
            r#"{"progressed":{"title":"Ran bash command","description":"npm test"}}"#,
            r#"{"agent_messaged":{"text":"Should I also cover the refresh flow?"}}"#,
            r#"{"user_messaged":{"text":"Yes"}}"#,
            r#""completed""#,
            r#"{"failed":{"reason":"Unable to install dependencies"}}"#,
        ]
    );
}

#[tokio::test]
async fn bare_and_unknown_activities_are_kept() {
    let activities = log(json!([
        { "id": "a", "createTime": "2026-11-20T10:00:00Z", "agentMessaged": {} },
        { "id": "b", "createTime": "2026-11-20T10:00:01Z", "planGenerated": {} },
        { "id": "c", "createTime": "2026-11-20T10:00:02Z", "planApproved": { "planId": "" } },
        { "id": "d", "createTime": "2026-11-20T10:00:03Z", "progressUpdated": {} },
        { "id": "e", "createTime": "2026-11-20T10:00:04Z", "sessionFailed": {}, "originator": 7 },
        { "id": "f", "createTime": "2026-11-20T10:00:05Z", "ciFixed": { "run": 1 }, "description": "Fixed CI" },
        { "id": "g", "createTime": "2026-11-20T10:00:06Z", "agentMessaged": "not an object" },
        { "id": "h", "createTime": "2026-11-20T10:00:07Z" },
        { "createTime": "2026-11-20T10:00:08Z", "agentMessaged": { "agentMessage": "no id" } },
        null, 7, "x", [],
    ]))
    .await;
    let kinds: Vec<ActivityKind> = activities
        .iter()
        .map(|activity| activity.kind.clone())
        .collect();
    let other = |label: &str| ActivityKind::Other {
        label: label.to_owned(),
    };
    assert_eq!(kinds.len(), 8);
    assert_eq!(
        kinds[0],
        ActivityKind::AgentMessaged {
            text: String::new()
        }
    );
    let ActivityKind::PlanGenerated(plan) = &kinds[1] else {
        panic!("{:?}", kinds[1])
    };
    assert_eq!((plan.id.as_str(), plan.steps.len()), ("b", 0));
    assert_eq!(kinds[2], ActivityKind::PlanApproved { plan: None });
    assert_eq!(
        kinds[3],
        ActivityKind::Progressed {
            title: String::new(),
            description: String::new()
        }
    );
    assert_eq!(
        kinds[4],
        ActivityKind::Failed {
            reason: String::new()
        }
    );
    assert_eq!(
        kinds[5..],
        [other("ciFixed"), other("agentMessaged"), other("")]
    );
    assert!(
        activities
            .iter()
            .all(|activity| activity.originator == Originator::System)
    );
}

#[tokio::test]
async fn plan_steps_are_put_in_order() {
    let steps = json!([{ "index": 2, "title": "c" }, { "title": "a" }, { "index": 1, "title": "b", "description": "B" }, 7]);
    let activities =
        log(json!([{ "id": "a", "planGenerated": { "plan": { "steps": steps } } }])).await;
    let ActivityKind::PlanGenerated(plan) = &activities[0].kind else {
        panic!("{activities:?}")
    };
    let titles: Vec<&str> = plan.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(titles, ["a", "b", "c"]);
    assert_eq!(plan.steps[1].description, "B");
}

#[tokio::test]
async fn activities_without_a_time_stay_with_their_neighbour_and_doubles_count_once() {
    let activities = log(json!([
        { "id": "d", "createTime": "2026-11-20T10:00:02Z" },
        { "id": "z", "createTime": "2026-11-20T10:00:01Z" },
        { "id": "b" },
        { "id": "c", "createTime": "soon" },
        { "id": "d", "createTime": "2026-11-20T10:00:02Z" },
        { "id": "a", "createTime": "2026-11-20T10:00:01.0Z" },
    ]))
    .await;
    assert_eq!(ids(&activities), ["a", "b", "c", "z", "d"]);
}

#[tokio::test]
async fn activities_of_all_pages_come_together_whatever_the_order() {
    let world = World::start(|asked| {
        ok(match asked.query("pageToken") {
            None => r#"{"activities":[{"id":"c","createTime":"2026-11-20T10:00:03Z"}],"nextPageToken":"1795169451000000000"}"#,
            Some("1795169451000000000") => r#"{"nextPageToken":"x"}"#,
            Some(_) => r#"{"activities":[{"id":"a","createTime":"2026-11-20T10:00:01Z"},{"id":"c","createTime":"2026-11-20T10:00:03Z"}]}"#,
        })
    })
    .await;
    let activities = world.activities(None).await.unwrap();
    assert_eq!(ids(&activities), ["a", "c"]);
}

#[tokio::test]
async fn a_fresh_session_may_not_be_there_yet() {
    let world =
        World::start(|_| refusal(404, "NOT_FOUND", "Requested entity was not found.")).await;
    for failure in [
        world.get().await.unwrap_err(),
        world.activities(None).await.unwrap_err(),
        world
            .reader()
            .artifacts(&account(), &session())
            .await
            .unwrap_err(),
    ] {
        check(&failure, FailureClass::NotFound, CallEffect::No);
    }
}

fn change_set(patch: &str, base: &str) -> Value {
    json!({ "changeSet": { "gitPatch": { "unidiffPatch": patch, "baseCommitId": base, "suggestedCommitMessage": format!("for {base}") } } })
}

/// The artifacts of a session with these outputs and activities, and how many calls they took.
async fn artifacts(outputs: Value, activities: Option<Value>) -> (Artifacts, usize) {
    let world = World::start(move |asked: &Asked| {
        match (asked.path.ends_with("/activities"), &activities) {
            (false, _) => ok(resource(json!({ "outputs": outputs })).to_string()),
            (true, Some(activities)) => ok(json!({ "activities": activities }).to_string()),
            (true, None) => refusal(404, "NOT_FOUND", "Requested entity was not found."),
        }
    })
    .await;
    let artifacts = world
        .reader()
        .artifacts(&account(), &session())
        .await
        .unwrap();
    (artifacts, world.asked().len())
}

#[tokio::test]
async fn outputs_with_a_patch_are_enough() {
    let outputs = json!([
        { "pullRequest": { "url": "https://github.com/acme/shop/pull/35" } },
        change_set("old", "1"), change_set("new", "2"), change_set("", "3"),
        { "pullRequest": { "url": "https://github.com/acme/shop/pull/35" } },
        { "pullRequest": { "url": "javascript:alert(1)" } },
    ]);
    let (artifacts, calls) = artifacts(outputs, None).await;
    let expected = Artifacts {
        pull_urls: vec!["https://github.com/acme/shop/pull/35".to_owned()],
        patch: Some("new".to_owned()),
        patch_cut: false,
        base_commit: Some("2".to_owned()),
        suggested_message: Some("for 2".to_owned()),
    };
    assert_eq!((artifacts, calls), (expected, 1));
}

#[tokio::test]
async fn without_one_the_newest_activity_with_a_patch_counts() {
    let activities = json!([
        { "id": "c", "createTime": "2026-11-20T10:00:03Z", "artifacts": [change_set("", "3"), { "media": { "data": "AA" } }] },
        { "id": "b", "createTime": "2026-11-20T10:00:02Z", "artifacts": [change_set("one", "2"), change_set("two", "2"), 7] },
        { "id": "a", "createTime": "2026-11-20T10:00:01Z", "artifacts": [change_set("old", "1")] },
    ]);
    let outputs = json!([{ "pullRequest": { "url": "https://github.com/acme/shop/pull/35" } }]);
    let (artifacts, calls) = artifacts(outputs, Some(activities)).await;
    assert_eq!(
        (artifacts.patch.as_deref(), artifacts.base_commit.as_deref()),
        (Some("two"), Some("2"))
    );
    assert_eq!((artifacts.pull_urls.len(), calls), (1, 2));
    // No pull request is needed for that.
    let only = json!([{ "id": "a", "createTime": "2026-11-20T10:00:01Z", "artifacts": [change_set("one", "1")] }]);
    let (artifacts, _) = self::artifacts(json!([]), Some(only)).await;
    assert_eq!(
        (artifacts.patch.as_deref(), artifacts.pull_urls),
        (Some("one"), Vec::new())
    );
}

#[tokio::test]
async fn a_session_may_have_produced_nothing() {
    for activities in [
        None,
        Some(json!([])),
        Some(examples().as_array().unwrap()[..5].into()),
    ] {
        assert_eq!(
            artifacts(json!([]), activities).await.0,
            Artifacts::default()
        );
    }
}

#[tokio::test]
async fn a_patch_is_cut_at_a_character() {
    let exact = "x".repeat(PATCH_BYTES_MAX);
    let (whole, _) = artifacts(json!([change_set(&exact, "1")]), None).await;
    assert_eq!(
        (whole.patch.unwrap().len(), whole.patch_cut),
        (PATCH_BYTES_MAX, false)
    );
    let long = format!("{}é", "x".repeat(PATCH_BYTES_MAX - 1));
    let (cut, _) = artifacts(json!([change_set(&long, "1")]), None).await;
    assert_eq!(
        (cut.patch.unwrap().len(), cut.patch_cut),
        (PATCH_BYTES_MAX - 1, true)
    );
}

#[tokio::test]
async fn one_source_and_one_activity_can_be_read() {
    let world = World::start(|asked| match asked.path.as_str() {
        "/jules/v1alpha/sources/github/acme/shop.js" => ok(r#"{"githubRepo":{"owner":"acme","repo":"shop.js","defaultBranch":{"displayName":"trunk"}}}"#),
        path if path.ends_with("/activities/aa01") => ok(r#"{"id":"aa01","createTime":"2026-11-20T10:05:02Z","sessionCompleted":{}}"#),
        _ => ok("{}"),
    })
    .await;
    let reader = world.reader();
    let source = reader
        .source(&account(), &"acme/shop.js".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(source.default_branch, Some("trunk".parse().unwrap()));
    let activity = reader
        .activity(&account(), &session(), &"aa01".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(activity.kind, ActivityKind::Completed);
    reader
        .source(&account(), &"acme/other".parse().unwrap())
        .await
        .unwrap_err();
    reader
        .activity(&account(), &session(), &"aa02".parse().unwrap())
        .await
        .unwrap_err();
}
