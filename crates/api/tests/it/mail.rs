//! Mail between personas: who speaks, what is in a mailbox, and what the store holds of it.

use axum::http::Method;
use domain::ids::RepoName;
use domain::token::{Rights, Scope};
use serde_json::{Value, json};

use crate::world::{Answer, World};

mod speaking;
mod stored;

const MAIL: &str = "/api/mail/acme/shop";

fn shop() -> RepoName {
    "acme/shop".parse().unwrap()
}

fn letter(from: &str, to: &str) -> Value {
    json!({ "from": from, "to": to, "subject": "Hi", "body": "x" })
}

/// A token of this scope, bound to a persona or not.
async fn token(world: &World, name: &str, (scope, persona): (Scope, Option<&str>)) -> String {
    let rights = Rights {
        scope,
        agent: None,
        persona: persona.map(|name| name.parse().unwrap()),
    };
    world.token(name, rights).await
}

/// A call with another token than the installation's.
async fn with(token: &str, world: &World, (method, path, body): (Method, &str, &Value)) -> Answer {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    world.call_as(token, (method, path), (&[], &body)).await
}

/// Numbers of the messages in a mailbox.
async fn inbox(world: &World, persona: &str) -> Vec<i64> {
    let found = world.get(&format!("{MAIL}/{persona}")).await.ok(200);
    let messages = found["messages"].as_array().unwrap().iter();
    messages
        .map(|it| it["message_id"].as_i64().unwrap())
        .collect()
}

/// The whole log.
async fn lines(world: &World) -> Vec<String> {
    let (mut lines, mut page) = (Vec::new(), Some(0));
    while let Some(number) = page {
        let found = world
            .get(&format!("{MAIL}/log?page={number}"))
            .await
            .ok(200);
        let found_lines = found["lines"].as_array().unwrap().iter();
        lines.extend(found_lines.map(|line| line.as_str().unwrap().to_owned()));
        page = found["next_page"].as_u64();
    }
    lines
}

async fn send_to(world: &World, to: &str) -> i64 {
    let sent = world.post(MAIL, &letter("curator", to)).await.ok(201);
    sent["sent"][0]["message_id"].as_i64().unwrap()
}

/// Nothing is wrong with the mail of the shop.
async fn is_whole(world: &World) {
    let verified = world.backend.verify_mail(&shop()).await.unwrap();
    assert_eq!(verified.faults, [""; 0]);
}

#[tokio::test]
async fn mail_is_sent_listed_read_tagged_and_thrown_away() {
    let world = World::new().await;
    let link = "https://github.com/acme/shop/pull/102.patch";
    let conflict = json!({
        "from": "weaver", "to": "art", "subject": "Conflict in PR #102", "body": "See it.",
        "attachments": [link],
    });
    let answer = world.post(MAIL, &conflict).await;
    assert_eq!(answer.header("location"), "/api/mail/acme/shop/art/1");
    let sent = answer.ok(201);
    assert_eq!(
        sent,
        json!({ "sent": [{ "message_id": 1, "to_persona": "art" }] })
    );
    assert_eq!(send_to(&world, "artisan").await, 2);
    assert_eq!(send_to(&world, "art").await, 3);
    assert_eq!(
        inbox(&world, "art").await,
        [1, 3],
        "names are compared whole"
    );
    assert_eq!(inbox(&world, "artisan").await, [2]);
    assert_eq!(inbox(&world, "ar").await, [0; 0]);

    let shown = world.get(&format!("{MAIL}/art/1")).await.ok(200);
    assert_eq!(
        (&shown["subject"], &shown["read_at"]),
        (&conflict["subject"], &Value::Null)
    );
    assert_eq!(shown["attachments"], json!([link]));
    let read = world
        .post(&format!("{MAIL}/art/1/read"), &json!({}))
        .await
        .ok(200);
    assert_eq!(read["read_at"], "2026-03-01T12:00:00Z");
    let again = world
        .post(&format!("{MAIL}/art/1:read"), &json!({}))
        .await
        .ok(200);
    assert_eq!(again, read);
    let unread = world.get(&format!("{MAIL}/art?unread=1")).await.ok(200);
    assert_eq!(unread["messages"][0]["message_id"], 3);
    assert_eq!(unread["messages"].as_array().unwrap().len(), 1);

    let order = async |rest: &str, body: Value| {
        let path = format!("{MAIL}/art/3:{rest}");
        world.post(&path, &body).await.ok(200)
    };
    let unknown = world.post(&format!("{MAIL}/art/3:burn"), &json!({})).await;
    assert_eq!(unknown.code(404), "no_such_verb");
    let tagged = order("tag", json!({ "tag": "needs-action" })).await;
    assert_eq!(tagged["tags"], json!(["needs-action"]));
    let bare = order("tag", json!({ "tag": "needs-action", "remove": true })).await;
    assert_eq!(bare["tags"], json!([]));
    assert_eq!(order("trash", json!({})).await["trashed"], true);
    assert_eq!(inbox(&world, "art").await, [1]);
    assert_eq!(order("untrash", json!({})).await["trashed"], false);
    assert_eq!(inbox(&world, "art").await, [1, 3]);

    let stats = world.get(&format!("{MAIL}/stats")).await.ok(200);
    assert_eq!((&stats["events"], &stats["sealed"]), (&8.into(), &0.into()));
    let art = json!({ "messages": 2, "unread": 1, "sent": 0, "trashed": 0 });
    assert_eq!(stats["personas"]["art"], art);
    assert_eq!(world.get(MAIL).await.ok(200), stats);
    let kinds: Vec<String> = lines(&world).await.iter().map(|line| kind(line)).collect();
    let wanted = [
        "send", "send", "send", "read", "tag_add", "tag_rm", "trash", "untrash",
    ];
    assert_eq!(kinds, wanted);
    is_whole(&world).await;
}

fn kind(line: &str) -> String {
    let event: Value = serde_json::from_str(line).unwrap();
    event["event_type"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_mailbox_comes_in_parts() {
    let world = World::new().await;
    for _ in 0..5 {
        send_to(&world, "art").await;
    }
    let part = async |query: &str| {
        let found = world.get(&format!("{MAIL}/art?{query}")).await.ok(200);
        let ids = found["messages"].as_array().unwrap().iter();
        let ids: Vec<i64> = ids.map(|it| it["message_id"].as_i64().unwrap()).collect();
        (ids, found["more"].as_bool().unwrap())
    };
    assert_eq!(part("limit=2").await, (vec![1, 2], true));
    assert_eq!(part("limit=2&after=2").await, (vec![3, 4], true));
    assert_eq!(part("limit=2&after=4").await, (vec![5], false));
    assert_eq!(part("limit=5").await, (vec![1, 2, 3, 4, 5], false));
}

#[tokio::test]
async fn one_that_is_not_there_and_one_of_another_persona_answer_alike() {
    let world = World::new().await;
    send_to(&world, "artisan").await;
    let orders = [
        ("read", json!({})),
        ("tag", json!({ "tag": "x" })),
        ("trash", json!({})),
        ("untrash", json!({})),
    ];
    for (rest, body) in orders {
        let refused = async |id: &str| {
            let answer = world.post(&format!("{MAIL}/art/{id}/{rest}"), &body).await;
            assert_eq!(answer.code(404), "no_such_message");
            answer.text.replace(id, "N")
        };
        assert_eq!(refused("1").await, refused("7").await, "{rest}");
    }
    let shown = async |id: &str| {
        let answer = world.get(&format!("{MAIL}/art/{id}")).await;
        assert_eq!(answer.code(404), "no_such_message");
        answer.text.replace(id, "N")
    };
    assert_eq!(shown("1").await, shown("7").await);
    assert_eq!(lines(&world).await.len(), 1);
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_by_field_and_nothing_is_stored() {
    let world = World::new().await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let link = "https://github.com/acme/shop/pull/1.patch";
    for (field, value) in [
        ("from", json!("A")),
        ("from", json!("log")),
        ("to", json!("a b")),
        ("to", json!("stats")),
        ("to", json!("art@crew")),
        ("subject", json!(" ")),
        ("subject", json!("x".repeat(201))),
        ("subject", json!(secret)),
        ("body", json!("x".repeat(16_001))),
        ("body", json!("\n".repeat(8_001))),
        ("body", json!(format!("key {secret}"))),
        ("attachments", json!([link.replace("https", "http")])),
        ("attachments", json!(vec![link; 11])),
        ("to", json!("all@team")),
    ] {
        let mut mail = letter("curator", "art");
        mail[field] = value;
        let answer = world.post(MAIL, &mail).await;
        let code = answer.code(422);
        let told = answer.json()["field"].as_str().unwrap().to_owned();
        assert!(told.starts_with(field), "{field}: {code} {answer:?}");
        assert!(!answer.text.contains("ghp_"), "{answer:?}");
    }
    let unknown = world
        .post("/api/mail/acme/none", &letter("curator", "art"))
        .await;
    assert_eq!(unknown.code(404), "no_such_source");
    assert_eq!(lines(&world).await, [""; 0]);
    assert_eq!(world.get(MAIL).await.ok(200)["personas"], json!({}));
}
