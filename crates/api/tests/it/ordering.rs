//! What can be ordered, in both spellings, and what repeating it does.

use axum::http::Method;
use domain::ids::SessionId;
use engine::work::Work;
use serde_json::{Value, json};

use crate::deliveries::wait_with_plan;
use crate::world::{SESSION, World};

fn order() -> Value {
    json!({"repo": "acme/shop", "prompt": "Tidy the shop.\nAll of it."})
}

#[tokio::test]
async fn a_job_is_created_and_told_where_it_is() {
    let world = World::new().await;
    let mut order = order();
    order["agent"] = json!("zai");
    let answer = world.post("/jobs", &order).await;
    let job = answer.ok(201);
    let id = job["job_id"].as_str().unwrap();
    assert_eq!(answer.header("location"), format!("/jobs/{id}"));
    assert_eq!(job["state"], "queued");
    assert_eq!(job["branch"], "main");
    assert_eq!(job["title"], "Tidy the shop.");
    assert_eq!(job["agent"], "zai");
    assert_eq!(world.get(answer.header("location")).await.ok(200), job);
    let id = id.parse().unwrap();
    assert_eq!(world.messages().await, [Work::Job { id }]);
}

#[tokio::test]
async fn the_same_order_under_the_same_name_is_one_job() {
    let world = World::new().await;
    let first = world.post_named("/jobs", &order(), "once").await.ok(201);
    let turned = r#"{ "prompt": "Tidy the shop.\nAll of it.",  "repo": "acme/shop" }"#;
    let headers = [("idempotency-key", "once")];
    let method = axum::http::Method::POST;
    let again = world.call(method, "/jobs", (&headers, turned)).await;
    assert_eq!(again.ok(201), first);
    let mut other = order();
    other["prompt"] = json!("Something else.");
    let answer = world.post_named("/jobs", &other, "once").await;
    assert_eq!(answer.code(422), "idempotency_key_reused");
    assert_eq!(answer.json()["field"], "idempotency-key");
    let second = world.post_named("/jobs", &other, "twice").await.ok(201);
    assert_ne!(second["job_id"], first["job_id"]);
    let nameless = world.post("/jobs", &order()).await.ok(201);
    assert_ne!(nameless["job_id"], first["job_id"]);
    let list = world.get("/jobs").await.ok(200);
    assert_eq!(list["jobs"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_burst_under_one_name_is_one_job() {
    let world = World::new().await;
    let order = order();
    let one = || world.post_named("/jobs", &order, "burst");
    let (a, b, c) = tokio::join!(one(), one(), one());
    let ids = [a, b, c].map(|answer| answer.ok(201)["job_id"].clone());
    assert!(ids[0] == ids[1] && ids[1] == ids[2], "{ids:?}");
    let list = world.get("/jobs").await.ok(200);
    assert_eq!(list["jobs"].as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn words_are_said_in_every_spelling_and_form() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let paths = [
        format!("/jobs/{id}/messages"),
        format!("/jobs/{id}:say"),
        format!("/jobs/{id}%3Asay"),
        format!("/jobs/{SESSION}/messages"),
    ];
    let bodies = [
        json!({"message": "Go on."}),
        json!({"message": {"content": "Go on."}}),
    ];
    for (path, body) in paths.iter().zip(bodies.iter().cycle()) {
        let (answer, effect) = tokio::join!(world.post(path, body), world.perform(&id, None));
        let said = answer.ok(200);
        assert_eq!(said["state"], "done");
        assert_eq!(said["action"], "say");
        assert_eq!(said["job_id"], id.to_string());
        assert_eq!(said["effect_id"], effect.id.to_string());
    }
    let effects = world
        .backend
        .store
        .effects(&engine::keys::job_pk(&id))
        .await;
    assert_eq!(effects.unwrap().len(), paths.len());
}

#[tokio::test(start_paused = true)]
async fn words_under_one_name_are_said_once() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let path = format!("/jobs/{id}/messages");
    let body = json!({"message": " Go on. "});
    let named = world.post_named(&path, &body, "m1");
    let (first, _) = tokio::join!(named, world.perform(&id, None));
    let again = world.post_named(&path, &body, "m1").await;
    assert_eq!(first.ok(200), again.ok(200));
    let other = world
        .post_named(&path, &json!({"message": "Stop."}), "m1")
        .await;
    assert_eq!(other.code(422), "idempotency_key_reused");
    let effects = world
        .backend
        .store
        .effects(&engine::keys::job_pk(&id))
        .await;
    assert_eq!(effects.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_approved_in_both_spellings_with_and_without_a_body() {
    let world = World::new().await;
    let id = world.watched(|watch| wait_with_plan(watch, None)).await;
    let colon = format!("/jobs/{id}:approve");
    let post = axum::http::Method::POST;
    let bare = world.call(post.clone(), &colon, (&[], ""));
    let (answer, _) = tokio::join!(bare, world.perform(&id, None));
    assert_eq!(answer.ok(200)["action"], "approve_plan");
    // The same plan again is the same wish, which is done.
    let again = world.post(&format!("/jobs/{id}/approve"), &json!({})).await;
    assert_eq!(again.ok(200), answer.ok(200));
}

#[tokio::test]
async fn what_cannot_be_done_now_is_a_conflict_with_its_reason() {
    let world = World::new().await;
    let queued = world.job("acme/shop").await;
    let watched = world.watched(|_| {}).await;
    let cases = [
        (
            format!("/jobs/{queued}:say"),
            json!({"message": "x"}),
            "no_session_yet",
        ),
        (
            format!("/jobs/{queued}/approve"),
            json!({}),
            "no_session_yet",
        ),
        (
            format!("/jobs/{queued}/merge"),
            json!({}),
            "no_pull_request",
        ),
        (format!("/jobs/{queued}/retry"), json!({}), "not_ended"),
        (
            format!("/jobs/{watched}:approve"),
            json!({}),
            "no_open_plan",
        ),
        (
            format!("/jobs/{watched}:merge"),
            json!({}),
            "no_pull_request",
        ),
        (format!("/jobs/{watched}:retry"), json!({}), "not_ended"),
    ];
    for (path, body, code) in cases {
        let answer = world.post(&path, &body).await;
        assert_eq!(answer.code(409), code, "{path}");
    }
}

#[tokio::test]
async fn a_job_is_called_off_and_tried_again_in_both_spellings() {
    let world = World::new().await;
    let id = world.job("acme/shop").await;
    for (spelling, attempt) in [(":", 2), ("/", 3)] {
        let cancelled = world.post(&format!("/jobs/{id}{spelling}cancel"), &json!({}));
        let ended = cancelled.await.ok(200)["ended"].clone();
        assert_eq!(ended["by"], "a caller over HTTP");
        assert_eq!(ended["reason"], "Canceled by user");
        let again = world.post(&format!("/jobs/{id}{spelling}cancel"), &json!({}));
        assert_eq!(again.await.code(409), "ended");
        let retried = world.post(&format!("/jobs/{id}{spelling}retry"), &json!({}));
        let retried = retried.await.ok(200);
        assert_eq!(retried["attempt"], attempt);
        assert_eq!(retried["state"], "queued");
    }
    world.post(&format!("/jobs/{id}/cancel"), &json!({})).await;
    let once_more = world.post(&format!("/jobs/{id}/retry"), &json!({})).await;
    assert_eq!(once_more.code(409), "attempts_used_up");
}

#[tokio::test]
async fn a_session_of_an_earlier_attempt_reads_fine_and_takes_no_orders() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let cancelled = world.post(&format!("/jobs/{SESSION}:cancel"), &json!({}));
    cancelled.await.ok(200);
    let retried = world.post(&format!("/jobs/{SESSION}:retry"), &json!({}));
    retried.await.ok(200);
    let shown = world.get(&format!("/jobs/{SESSION}")).await.ok(200);
    assert_eq!(shown["job_id"], id.to_string());
    assert_eq!(shown["session_id"], Value::Null);
    for (verb, body) in [
        ("say", json!({"message": "x"})),
        ("approve", json!({})),
        ("merge", json!({})),
        ("cancel", json!({})),
        ("retry", json!({})),
    ] {
        let answer = world.post(&format!("/jobs/{SESSION}:{verb}"), &body).await;
        assert_eq!(answer.code(409), "superseded", "{verb}");
    }
    let session: SessionId = SESSION.parse().unwrap();
    let job = world.backend.store.job(&id).await.unwrap().unwrap().value;
    assert_eq!(job.earlier, [session]);
}

#[tokio::test]
async fn constraints_are_obeyed_or_stand_below_the_prompt() {
    let world = World::new().await;
    let mut order = order();
    order["constraints"] = json!({
        "title": "Tidy", "priority": 9, "require_plan_approval": true,
        "automation_mode": "AUTOMATION_MODE_UNSPECIFIED", "style": "keep it plain",
    });
    let job = world.post("/jobs", &order).await.ok(201);
    assert_eq!(
        (&job["title"], &job["priority"]),
        (&json!("Tidy"), &json!(9))
    );
    assert_eq!(job["require_plan_approval"], true);
    assert_eq!(job["automation_mode"], "AUTOMATION_MODE_UNSPECIFIED");
    let id = job["job_id"].as_str().unwrap().parse().unwrap();
    let kept = world.backend.must_job(&id).await.unwrap().value;
    assert!(
        kept.prompt
            .ends_with("Constraints:\n- style: keep it plain")
    );

    let mut usual = self::order();
    usual["constraints"] = json!({ "automation_mode": "AUTO_CREATE_PR" });
    let job = world.post("/jobs", &usual).await.ok(201);
    let told = [&job["require_plan_approval"], &job["automation_mode"]];
    assert_eq!(told, [&Value::Null, &Value::Null]);
}

#[tokio::test]
async fn what_loosens_the_source_is_refused_and_nothing_is_stored() {
    let world = World::new().await;
    for (constraints, code, field) in [
        (
            json!({ "require_plan_approval": false }),
            "looser_than_source",
            "constraints.require_plan_approval",
        ),
        (
            json!({ "automation_mode": "MANUAL" }),
            "bad_field",
            "constraints.automation_mode",
        ),
        (json!({ "style": [] }), "bad_field", "constraints.style"),
        (json!(7), "bad_field", "constraints"),
    ] {
        let mut order = order();
        order["constraints"] = constraints;
        let answer = world.post("/jobs", &order).await;
        assert_eq!(answer.code(422), code, "{order}");
        assert_eq!(answer.json()["field"], field);
    }
    assert_eq!(world.get("/jobs").await.ok(200)["jobs"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn every_order_names_who_gave_it_and_through_what() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    for name in ["command-line", "mcp", "pigeon"] {
        let body = json!({ "message": format!("Go on, {name}.") }).to_string();
        let headers = [("gaffer-through", name)];
        let path = format!("/jobs/{id}/messages");
        let said = world.call(Method::POST, &path, (&headers, &body)).await;
        assert_eq!(said.status, 202, "{said:?}");
    }
    let orders = world.get(&format!("/jobs/{id}")).await.ok(200)["orders"].clone();
    let by: Vec<_> = orders
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["by"].clone())
        .collect();
    let expected = [
        "a person at the command line",
        "an agent over MCP",
        "a caller over HTTP",
    ];
    assert_eq!(by, expected);
}

#[tokio::test]
async fn a_new_job_names_who_created_it_and_through_what() {
    let world = World::new().await;
    let body = json!({ "repo": "acme/shop", "branch": "main", "prompt": "Tidy" }).to_string();
    let named = [("gaffer-through", "mcp"), ("idempotency-key", "k1")];
    for headers in [&named[..1], &named[..]] {
        let created = world.call(Method::POST, "/jobs", (headers, &body)).await;
        let orders = created.ok(201)["orders"].clone();
        assert_eq!(orders[0]["order"], "create", "{orders}");
        assert_eq!(orders[0]["by"], "an agent over MCP", "{orders}");
        assert_eq!(orders[1], json!(null), "{orders}");
    }
}
