//! Sources over HTTP: listed, shown, removed, and their issues read.

use axum::http::Method;
use domain::delivery::IntakeLabel;
use domain::ids::RepoName;
use domain::intake::{Intake, IntakeReading};
use domain::token::{Rights, Scope};
use domain::webhook_activity::WebhookActivity;
use engine::keys;
use engine::ports::Clock;
use engine::work::Work;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::mcp::call_of;
use crate::metrics::add_account;
use crate::pages::Browser;
use crate::world::{Answer, TOKEN, World};

const PATH: &str = "/api/sources/acme/shop";

const SYNC: &str = "/api/sources/acme/shop/sync";

fn repo() -> RepoName {
    "acme/shop".parse().unwrap()
}

async fn labelled() -> World {
    let world = World::new().await;
    world
        .change_source(|source| {
            source.deliveries.label = Some("gaffer".parse().unwrap());
        })
        .await;
    world.messages().await;
    world
}

async fn save(world: &World, next: impl Fn(&Intake) -> Intake) {
    let found = world.backend.store.get_or_initial::<Intake>(&repo()).await;
    world.save(&repo(), &next(&found.unwrap().value)).await;
}

/// A reading of all issues with a label, without webhooks.
fn reading(label: &IntakeLabel, created: u32, closed: u32) -> IntakeReading<'_> {
    IntakeReading {
        label,
        read_to: None,
        created,
        closed,
        has_webhooks: false,
    }
}

async fn remove(world: &World, token: &str) -> Answer {
    world
        .call_as(token, (Method::DELETE, PATH), (&[], ""))
        .await
}

#[tokio::test]
async fn sources_are_listed_and_shown_with_their_settings() {
    let world = labelled().await;
    let listed = world.get("/api/sources").await.ok(200);
    let shown = world.get(PATH).await.ok(200);
    assert_eq!(listed["sources"][1], shown);
    assert_eq!(shown["repo"], "acme/shop");
    assert_eq!(shown["policy"]["merge"], "human");
    assert_eq!(shown["deliveries"]["label"], "gaffer");
    let missing = world.get("/api/sources/acme/none").await;
    assert_eq!(missing.code(404), "no_such_source");
    assert_eq!(missing.json()["next"][0]["route"], "POST /api/sources");
    assert_eq!(
        world.get("/api/sources/a%20b/c").await.code(400),
        "bad_repo"
    );
}

#[tokio::test]
async fn a_source_in_use_is_not_removed_and_an_agent_removes_none() {
    let world = labelled().await;
    let (now, label) = (world.clock.now(), "gaffer".parse().unwrap());
    save(&world, |it| it.read(reading(&label, 2, 1), now)).await;
    let order = json!({ "repo": "acme/shop", "summary": "Add search" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let refused = remove(&world, TOKEN).await;
    assert_eq!(refused.code(409), "in_use");
    let intake = world.backend.store.get::<Intake>(&repo()).await.unwrap();
    assert!(intake.unwrap().value.last.is_some(), "it was never gone");
    assert_eq!(refused.json()["existing"], made["id"]);

    let world = World::new().await;
    let token = world.agent_token(Scope::Admin).await;
    assert_eq!(remove(&world, &token).await.code(403), "people_only");
    let token = world.token("look", Rights::new(Scope::Read, None)).await;
    let refused = remove(&world, &token).await;
    assert_eq!(refused.code(403), "scope_too_small");
    assert_eq!(
        remove(&world, TOKEN).await.ok(200),
        json!({ "removed": "acme/shop" })
    );
    assert_eq!(remove(&world, TOKEN).await.code(404), "no_such_source");
}

async fn edit(world: &World, token: &str, changes: &Value) -> Answer {
    let changes = changes.to_string();
    world
        .call_as(token, (Method::PATCH, PATH), (&[], &changes))
        .await
}

#[tokio::test]
async fn a_source_is_added_once_and_with_settings_that_go_together() {
    let world = World::new().await;
    add_account(&world).await;
    let wanted = json!({
        "repo": "acme/toys", "account": "default",
        "deliveries": { "label": "gaffer", "endpoint": "verify", "checkpoints": ["plan"] },
    });
    let answer = world.post("/api/sources", &wanted).await;
    assert_eq!(answer.header("location"), "/api/sources/acme/toys");
    let made = answer.ok(201);
    assert_eq!(made["deliveries"]["checkpoints"], json!(["plan"]));
    assert_eq!(made["policy"]["merge"], "human");
    assert_eq!(made["branch"], "main", "its deliveries start from one");
    assert_eq!(world.get("/api/sources/acme/toys").await.ok(200), made);
    let again = world.post("/api/sources", &wanted).await;
    assert_eq!(again.code(409), "exists");
    assert_eq!(again.json()["existing"], "acme/toys");

    let refused = async |changes: &Value| {
        let mut wanted = json!({ "repo": "acme/games", "account": "default" });
        let wanted_fields = wanted.as_object_mut().unwrap();
        wanted_fields.extend(changes.as_object().unwrap().clone());
        let answer = world.post("/api/sources", &wanted).await;
        assert!(!answer.text.contains("ghp_secret"), "{}", answer.text);
        let stored = world.get("/api/sources/acme/games").await;
        assert_eq!(stored.code(404), "no_such_source");
        (answer.status.as_u16(), answer.json()["code"].clone())
    };
    for (changes, wanted) in [
        (json!({ "token": "ghp_secret" }), (422, "unknown_field")),
        (json!({ "account": "none" }), (404, "no_such_account")),
        (json!({ "agent": "none" }), (404, "no_such_agent")),
        (
            json!({ "deliveries": { "plan_by": "agent" } }),
            (400, "odd_settings"),
        ),
        (
            json!({ "deliveries": { "attempts": 0 } }),
            (400, "odd_settings"),
        ),
    ] {
        let (status, code) = refused(&changes).await;
        assert_eq!((status, code.as_str().unwrap()), wanted, "{changes}");
    }
    for deliveries in [
        json!({ "label": "Jules" }),
        json!({ "endpoint": "close" }),
        json!({ "checkpoints": ["verify"] }),
    ] {
        let (status, code) = refused(&json!({ "deliveries": deliveries })).await;
        assert_eq!(status, 422, "{deliveries}: {code}");
    }
}

#[tokio::test]
async fn a_refused_setting_is_named_with_its_value_and_without_a_secret() {
    let world = labelled().await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let long = "x".repeat(500);
    for (field, value, shown) in [
        ("review_rounds", json!(99), "99"),
        ("attempts", json!(0), "0 does not fit"),
        ("label", json!("a,b"), "`a,b`"),
        ("label", json!(long), "`xxx"),
        ("label", json!(format!("{secret},")), "[secret]"),
        ("deploy", json!("ship it"), "`ship it`"),
        ("observe", json!("soak:30m"), "endpoint"),
        ("observe", json!("soak:0s"), "`soak:0s`"),
    ] {
        let answer = edit(&world, TOKEN, &json!({ "deliveries": { field: value } })).await;
        let told = answer.json();
        assert_eq!(told["field"], format!("deliveries.{field}"), "{told}");
        let detail = told["detail"].as_str().unwrap();
        assert!(detail.contains(field) && detail.contains(shown), "{told}");
        assert!(
            detail.len() < 300 && !answer.text.contains(secret),
            "{told}"
        );
    }
}

#[tokio::test]
async fn what_is_not_given_stays_and_null_takes_away() {
    let world = labelled().await;
    let label = json!({ "deliveries": { "review_rounds": 1 } });
    let changed = edit(&world, TOKEN, &label).await.ok(200);
    assert_eq!(changed["deliveries"]["label"], "gaffer");
    assert_eq!(changed["deliveries"]["review_rounds"], 1);
    let none = json!({ "paused": true, "deliveries": { "label": null } });
    let changed = edit(&world, TOKEN, &none).await.ok(200);
    assert_eq!(changed["paused"], true);
    assert_eq!(changed["deliveries"].get("label"), None);
    assert_eq!(changed["deliveries"]["review_rounds"], 1);
    let token = world.agent_token(Scope::Admin).await;
    let refused = edit(&world, &token, &json!({ "paused": false })).await;
    assert_eq!(refused.code(403), "people_only");
    let wanted = json!({ "repo": "acme/toys", "account": "default" }).to_string();
    let add = (Method::POST, "/api/sources");
    let refused = world.call_as(&token, add, (&[], &wanted)).await;
    assert_eq!(refused.code(403), "people_only");
    assert_eq!(world.get(PATH).await.ok(200)["paused"], true);

    // What a pause has held is done at once, not when it is due.
    add_account(&world).await;
    world.messages().await;
    edit(&world, TOKEN, &json!({ "paused": false }))
        .await
        .ok(200);
    let account = "default".parse().unwrap();
    let slots = Work::Slots { account };
    assert!(world.messages().await.contains(&slots));
}

#[tokio::test]
async fn a_sync_asks_for_the_reading_that_the_due_row_asks_for() {
    let world = labelled().await;
    let later = world.post(SYNC, &Value::Null).await;
    later.ok(202);
    assert_eq!(later.header("location"), "/api/worker/status");
    let asked = Work::Intake {
        repo: repo(),
        number: None,
        webhook: None,
    };
    assert_eq!(world.messages().await, [asked]);

    let now = world.clock.now();
    let label = "gaffer".parse().unwrap();
    save(&world, |it| it.read(reading(&label, 2, 1), now)).await;
    assert_eq!(
        world.post(SYNC, &Value::Null).await.ok(200),
        json!({ "created": 2, "closed": 1 })
    );

    // What was read just now says nothing of what was labelled since.
    world.messages().await;
    world.clock.advance(SignedDuration::from_secs(1));
    world.post(SYNC, &Value::Null).await.ok(202);
    assert_eq!(world.messages().await.len(), 1);

    let now = world.clock.now();
    save(&world, |it| it.failed("GitHub answers 502", now, None)).await;
    assert_eq!(
        world.post(SYNC, &Value::Null).await.code(502),
        "issues_unread"
    );
}

#[tokio::test]
async fn a_source_whose_issues_are_not_read_is_not_synced() {
    let world = World::new().await;
    let refused = world.post(SYNC, &Value::Null).await;
    assert_eq!(refused.code(409), "no_intake_label");
    let world = labelled().await;
    world.change_source(|source| source.paused = true).await;
    world.messages().await;
    let refused = world.post(SYNC, &Value::Null).await;
    assert_eq!(refused.code(409), "source_paused");
    assert_eq!(world.messages().await, []);
}

#[tokio::test]
async fn workers_tell_their_last_result_or_their_last_error() {
    let world = labelled().await;
    let worker = async || {
        let told = world.get("/api/worker/status").await.ok(200);
        told["workers"][1].clone()
    };
    let now = world.clock.now();
    let label = "gaffer".parse().unwrap();
    save(&world, |it| it.read(reading(&label, 2, 1), now)).await;
    let read = worker().await;
    assert_eq!(read["name"], "intake:acme/shop");
    assert_eq!(read["enabled"], true);
    assert_eq!(read["interval_seconds"], 60);
    assert_eq!(read["last_result"], json!({ "created": 2, "closed": 1 }));
    assert_eq!(read["last_error"], Value::Null);
    save(&world, |it| it.failed("GitHub answers 502", now, None)).await;
    let failed = worker().await;
    assert_eq!(failed["last_result"], Value::Null);
    assert_eq!(failed["last_error"], "GitHub answers 502");
    assert_eq!(failed["interval_seconds"], 60);
    save(&world, |it| it.skipped(now)).await;
    assert_eq!(worker().await["interval_seconds"], 600);
    // With webhooks, a reading that failed is tried again as soon as ever.
    let heard = WebhookActivity { webhook_at: now };
    let key = keys::webhook_activity(&repo());
    world.put(key, &heard).await;
    let with_webhooks = IntakeReading {
        has_webhooks: true,
        ..reading(&label, 0, 0)
    };
    save(&world, |it| it.read(with_webhooks, now)).await;
    assert_eq!(worker().await["interval_seconds"], 600);
    save(&world, |it| it.failed("GitHub answers 502", now, None)).await;
    assert_eq!(worker().await["interval_seconds"], 60);
}

#[tokio::test]
async fn a_reading_that_failed_is_told_by_status_metrics_and_board_until_one_succeeds() {
    let world = labelled().await;
    let why = "the issues of acme/shop could not be read: GitHub answers 502";
    let sample = "gaffer_issues_unread{repo=\"acme/shop\"} 1\n";
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let now = world.clock.now();
    save(&world, |it| it.failed("GitHub answers 502", now, None)).await;
    let unread = world.get("/status").await.ok(200)["unread_issues"].clone();
    assert_eq!(
        unread,
        json!([{ "repo": "acme/shop", "at": now, "sentence": why }])
    );
    assert!(world.get("/metrics").await.text.contains(sample));
    assert!(browser.get("/dashboard").await.text.contains(why));
    let told = call_of(&world, "jules_status", json!({})).await;
    assert!(told["result"].to_string().contains(why), "{told}");

    // An answer is shared for a second.
    world.clock.advance(SignedDuration::from_secs(2));
    let (now, label) = (world.clock.now(), "gaffer".parse().unwrap());
    save(&world, |it| it.read(reading(&label, 0, 0), now)).await;
    let status = world.get("/status").await.ok(200);
    assert_eq!(status["unread_issues"], json!([]));
    assert!(!world.get("/metrics").await.text.contains(sample));
    assert!(!browser.get("/dashboard").await.text.contains(why));
}

#[tokio::test]
async fn how_sprints_go_is_edited_field_by_field() {
    let world = labelled().await;
    let edited = async |sprints: Value| {
        let changes = json!({ "sprints": sprints });
        edit(&world, TOKEN, &changes).await.ok(200)["sprints"].clone()
    };
    let first = edited(json!({ "parallel": "except=7,9", "at_once": 4 })).await;
    assert_eq!(
        first,
        json!({
            "parallel": "except=7,9", "at_once": 4, "member_timeout": "30m",
            "next": "by-hand", "integration": "consolidated",
        })
    );
    let others = json!({
        "at_once": null, "integration": "individual", "member_timeout": "1h 30m",
    });
    let second = edited(others).await;
    assert_eq!(
        second,
        json!({
            "parallel": "except=7,9", "at_once": null, "member_timeout": "1h 30m",
            "next": "by-hand", "integration": "individual",
        })
    );
    for (sprints, code) in [
        (json!({ "parallel": "sometimes" }), 422),
        (json!({ "next": "never" }), 422),
        (json!({ "at_once": 61 }), 400),
        (json!({ "member_timeout": "30" }), 422),
        (json!({ "member_timeout": 30 }), 422),
        (json!({ "member_timeout": "25h" }), 400),
    ] {
        let answer = edit(&world, TOKEN, &json!({ "sprints": sprints })).await;
        assert_eq!(answer.status.as_u16(), code, "{sprints}");
    }
}
