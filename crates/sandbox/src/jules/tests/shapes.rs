//! The wire shapes: proto3 JSON, empty bodies, and the switches on what is shown.

use serde_json::json;

use crate::jules::{EmptyBody, OriginatorCase, PatchScope, SessionUrl, WorkingBranch};
use crate::tests::stand::{Stand, body, read, scenario_of, steps, string};

#[tokio::test]
async fn a_new_session_shows_only_what_is_not_zero() {
    let stand = Stand::new(scenario_of(steps(json!([])))).await;
    let mut ask = body();
    ask["requirePlanApproval"] = json!(true);
    let shown = stand.post("/sessions", &ask).await.json();

    let id = string(&shown["id"]);
    assert_eq!(id.len(), 20);
    assert!(id.parse::<u64>().unwrap() > 1 << 63);
    assert_eq!(
        shown,
        json!({
            "name": format!("sessions/{id}"),
            "id": id,
            "prompt": ask["prompt"],
            "title": ask["title"],
            "state": "QUEUED",
            "url": format!("https://jules.google.com/session/{id}"),
            "createTime": "2026-11-20T10:00:00Z",
            "updateTime": "2026-11-20T10:00:00Z",
            "sourceContext": ask["sourceContext"],
        })
    );
    assert_eq!(stand.session(&id).await, shown);
}

#[tokio::test]
async fn ids_are_all_different() {
    let stand = Stand::new(scenario_of(steps(json!([])))).await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(stand.create().await);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 10);
}

#[tokio::test]
async fn a_title_is_made_up_when_there_is_none() {
    let stand = Stand::new(scenario_of(steps(json!([])))).await;
    let shown = stand
        .post("/sessions", &json!({ "prompt": "Write it\nnow" }))
        .await
        .json();
    assert_eq!(shown["title"], "Write it");
    assert_eq!(shown.get("sourceContext"), None);
}

#[tokio::test]
async fn empty_pages_are_empty_objects() {
    let stand = Stand::new(scenario_of(steps(json!([])))).await;
    assert_eq!(stand.get("/sessions").await.text, "{}");
    let id = stand.create().await;
    assert_eq!(
        stand.get(&format!("/sessions/{id}/activities")).await.text,
        "{}"
    );
}

#[tokio::test]
async fn answers_that_say_nothing_have_no_bytes_or_an_empty_object() {
    let stand = Stand::new(scenario_of(steps(json!([{ "plan": {} }, { "stall": {} }])))).await;
    for (switch, text) in [(EmptyBody::NoBytes, ""), (EmptyBody::EmptyObject, "{}")] {
        stand.switch(|it| it.empty_body = switch);
        let mut ask = body();
        ask["requirePlanApproval"] = json!(true);
        let id = stand.post("/sessions", &ask).await.id();
        stand.pass(1_000);
        let replies = [
            stand.approve(&id).await,
            stand.say(&id, "hello").await,
            stand
                .post(&format!("/sessions/{id}:archive"), &json!({}))
                .await,
            stand
                .post(&format!("/sessions/{id}:unarchive"), &json!({}))
                .await,
            stand.delete(&format!("/sessions/{id}")).await,
        ];
        for reply in replies {
            assert_eq!((reply.status, reply.text.as_str()), (200, text));
        }
    }
}

#[tokio::test]
async fn archive_may_answer_the_session() {
    let stand = Stand::new(scenario_of(steps(json!([])))).await;
    stand.switch(|it| it.archive_answers_session = true);
    let id = stand.create().await;
    let reply = stand
        .post(&format!("/sessions/{id}:archive"), &json!({}))
        .await;
    assert_eq!(reply.json()["archived"], true);
    let reply = stand
        .post(&format!("/sessions/{id}:unarchive"), &json!({}))
        .await;
    assert_eq!(reply.json().get("archived"), None);
}

#[tokio::test]
async fn activities_omit_zeros_and_have_hex_ids() {
    let stand = Stand::playing(steps(json!([
        { "plan": { "steps": ["First", "Second"] } },
        { "progress": { "command": "npm test" } },
    ])))
    .await;
    stand.switch(|it| it.bash_output = true);
    let id = stand.create().await;
    stand.pass(2_000);

    let all = stand.activities(&id).await;
    let plan = &all[1]["planGenerated"]["plan"]["steps"];
    assert_eq!(plan[0].get("index"), None);
    assert_eq!(plan[1]["index"], 1);
    assert_eq!(all[3]["progressUpdated"], json!({}));
    assert_eq!(
        all[3]["artifacts"][0]["bashOutput"],
        json!({ "command": "npm test", "output": "ok" })
    );
    for activity in &all {
        let aid = string(&activity["id"]);
        assert!(
            aid.len() == 32 && aid.chars().all(|it| it.is_ascii_hexdigit()),
            "{aid}"
        );
        assert_eq!(activity["name"], format!("sessions/{id}/activities/{aid}"));
        assert_eq!(
            &stand
                .get(&format!("/sessions/{id}/activities/{aid}"))
                .await
                .json(),
            activity
        );
    }
    assert_eq!(all[0]["description"], "Session started");
    assert_eq!(all[0]["originator"], "system");
    assert_eq!(all[2]["originator"], "user");
}

#[tokio::test]
async fn the_originator_may_be_upper_case_or_absent() {
    let stand = Stand::playing(steps(json!([]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    stand.switch(|it| it.originator = OriginatorCase::Upper);
    assert_eq!(stand.activities(&id).await[0]["originator"], "SYSTEM");
    stand.switch(|it| it.originator = OriginatorCase::Absent);
    assert_eq!(stand.activities(&id).await[0].get("originator"), None);
}

#[tokio::test]
async fn bash_output_is_absent_by_default() {
    let stand = Stand::playing(steps(json!([{ "progress": { "command": "ls" } }]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.activities(&id).await[1].get("artifacts"), None);
}

#[tokio::test]
async fn a_screenshot_is_as_heavy_as_told() {
    let stand = Stand::playing(steps(json!([{ "progress": { "media_bytes": 300_000 } }]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    let media = stand.activities(&id).await[1]["artifacts"][0]["media"].clone();
    assert_eq!(media["mimeType"], "image/png");
    assert_eq!(string(&media["data"]).len(), 400_000);
}

#[tokio::test]
async fn activity_patches_are_whole_or_deltas() {
    let work = |name: &str| json!({ "progress": { "files": [{ "filename": name }] } });
    let stand = Stand::playing(steps(json!([work("one.rs"), work("two.rs")]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    let patch = async || {
        let all = stand.activities(&id).await;
        string(&all[2]["artifacts"][0]["changeSet"]["gitPatch"]["unidiffPatch"])
    };
    let full = patch().await;
    assert!(full.contains("b/one.rs") && full.contains("b/two.rs"));
    stand.switch(|it| it.activity_patches = PatchScope::Delta);
    let delta = patch().await;
    assert!(!delta.contains("b/one.rs") && delta.contains("b/two.rs"));
}

#[tokio::test]
async fn inputs_are_echoed_only_when_switched() {
    let stand = Stand::playing(steps(json!([]))).await;
    let mut ask = body();
    ask["requirePlanApproval"] = json!(true);
    let id = stand.post("/sessions", &ask).await.id();
    let shown = stand.session(&id).await;
    assert_eq!(
        (
            shown.get("requirePlanApproval"),
            shown.get("automationMode")
        ),
        (None, None)
    );
    stand.switch(|it| it.echo_inputs = true);
    let shown = stand.session(&id).await;
    assert_eq!(shown["requirePlanApproval"], true);
    assert_eq!(shown["automationMode"], "AUTO_CREATE_PR");
}

#[tokio::test]
async fn the_answer_to_create_may_lack_the_state() {
    let stand = Stand::playing(steps(json!([]))).await;
    stand.switch(|it| it.state_on_create = false);
    let shown = stand.post("/sessions", &body()).await.json();
    assert_eq!(shown.get("state"), None);
    assert_eq!(stand.state(&string(&shown["id"])).await, "QUEUED");
}

#[tokio::test]
async fn the_web_address_has_two_forms() {
    let stand = Stand::playing(steps(json!([]))).await;
    let id = stand.create().await;
    stand.switch(|it| it.session_url = SessionUrl::Task);
    assert_eq!(
        stand.session(&id).await["url"],
        format!("https://jules.google.com/task/{id}")
    );
}

#[tokio::test]
async fn generated_files_are_shown_only_when_switched() {
    let stand = Stand::playing(steps(json!([
        { "open_pull": { "files": [{ "filename": "a.rs", "status": "added", "additions": 3 }] } },
        { "complete": {} },
    ])))
    .await;
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.session(&id).await.get("generatedFiles"), None);
    stand.switch(|it| it.generated_files = true);
    let files = stand.session(&id).await["generatedFiles"].clone();
    assert_eq!(
        files,
        json!([{ "path": "a.rs", "changeType": "added", "additions": 3 }])
    );
}

#[tokio::test]
async fn environment_variables_on_create_are_taken_or_refused() {
    let stand = Stand::playing(steps(json!([]))).await;
    let mut ask = body();
    ask["sourceContext"]["environmentVariablesEnabled"] = json!(true);
    let shown = stand.post("/sessions", &ask).await.json();
    assert_eq!(shown["sourceContext"]["environmentVariablesEnabled"], true);
    stand.switch(|it| it.env_variables_on_create = false);
    assert_eq!(stand.post("/sessions", &ask).await.status, 400);
}

#[tokio::test]
async fn a_working_branch_is_taken_in_one_place_or_none() {
    let stand = Stand::playing(steps(json!([]))).await;
    let (mut outer, mut inner) = (body(), body());
    outer["sourceContext"]["workingBranch"] = json!("work");
    inner["sourceContext"]["githubRepoContext"]["workingBranch"] = json!("work");
    for (switch, wanted) in [
        (WorkingBranch::Refused, (400, 400)),
        (WorkingBranch::InSourceContext, (200, 400)),
        (WorkingBranch::InGithubRepoContext, (400, 200)),
    ] {
        stand.switch(|it| it.working_branch = switch);
        let outer_reply = stand.post("/sessions", &outer).await;
        let inner_reply = stand.post("/sessions", &inner).await;
        assert_eq!(
            (outer_reply.status, inner_reply.status),
            wanted,
            "{switch:?}"
        );
        for (reply, ask) in [(outer_reply, &outer), (inner_reply, &inner)] {
            if reply.status == 200 {
                assert_eq!(reply.json()["sourceContext"], ask["sourceContext"]);
            }
        }
    }
}

#[tokio::test]
async fn sources_have_their_true_shape() {
    let stand = Stand::playing(steps(json!([]))).await;
    let source = json!({
        "name": "sources/github/acme/shop",
        "id": "github/acme/shop",
        "githubRepo": {
            "owner": "acme",
            "repo": "shop",
            "defaultBranch": { "displayName": "main" },
            "branches": [{ "displayName": "main" }],
        },
    });
    assert_eq!(
        stand.get("/sources").await.json(),
        json!({ "sources": [source] })
    );
    assert_eq!(stand.get("/sources/github/acme/shop").await.json(), source);
    assert_eq!(stand.get("/sources/github/acme/else").await.status, 404);
}

#[tokio::test]
async fn the_content_type_is_json() {
    let stand = Stand::playing(steps(json!([]))).await;
    let response = stand.request("GET", "/sessions").send().await.unwrap();
    assert_eq!(
        response.headers()["content-type"],
        "application/json; charset=UTF-8"
    );
    let reply = read(
        stand
            .http
            .get(format!("http://{}/jules/v1/sessions", stand.sandbox.addr())),
    )
    .await;
    assert_eq!(reply.status, 404, "only v1alpha exists");
}
