//! Functions ask for what their roles grant, and roles grant what their functions ask for.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::http::request::Builder;
use domain::ids::JobId;
use engine::keys;
use engine::ports::{Expect, Record, Write};
use lambda_runtime::{Context, LambdaEvent};
use serde_json::{Value, json};
use tests::cloud::{Asked, Gate, LAMBDA, Storm};
use tests::grants::granted;
use tests::infra::template;
use tests::world::{Demo, REPO, World};
use tower::ServiceExt;
use ulid::Ulid;

/// Lambda's own calls with the function's role: reading the queue that is mapped to it, and its logs.
///
/// Source: AWS Lambda, "Creating and configuring an Amazon SQS event source mapping", "Execution role permissions";
/// "Sending Lambda function logs to CloudWatch Logs".
const BY_LAMBDA: [(&str, &str, &str); 14] = [
    ("poller", "sqs:ReceiveMessage", "ticks"),
    ("poller", "sqs:DeleteMessage", "ticks"),
    ("poller", "sqs:GetQueueAttributes", "ticks"),
    ("dispatcher", "sqs:ReceiveMessage", "work"),
    ("dispatcher", "sqs:DeleteMessage", "work"),
    ("dispatcher", "sqs:GetQueueAttributes", "work"),
    ("poller", "logs:CreateLogStream", "logs"),
    ("poller", "logs:PutLogEvents", "logs"),
    ("dispatcher", "logs:CreateLogStream", "logs"),
    ("dispatcher", "logs:PutLogEvents", "logs"),
    ("webhook", "logs:CreateLogStream", "logs"),
    ("webhook", "logs:PutLogEvents", "logs"),
    ("api", "logs:CreateLogStream", "logs"),
    ("api", "logs:PutLogEvents", "logs"),
];

/// A call that no story makes: an outbox row that does not fit into its aggregate's item is an item of its own, and the
/// process that sends its message deletes it. `tests/aws/homes.rs` has such rows.
const OF_LARGE_AGGREGATES: [(&str, &str, &str); 1] = [("api", "dynamodb:DeleteItem", "table")];

fn asking(who: &str, action: &str, on: &str) -> Asked {
    Asked {
        who: who.to_owned(),
        action: action.to_owned(),
        on: on.to_owned(),
    }
}

/// Accounts and agents are called as people like; a role is for all of them.
fn by_kind(asked: Asked) -> Asked {
    let kinds = ["parameter/jules/", "parameter/agents/"];
    match kinds.iter().find(|kind| asked.on.starts_with(**kind)) {
        Some(kind) => Asked {
            on: format!("{kind}*"),
            ..asked
        },
        None => asked,
    }
}

/// Has each function begin as on Lambda, with the machine's time, and called once.
async fn begin_all(world: &World, job: &JobId) {
    let dispatcher = dispatcher::Function::from_environment(&world.place("dispatcher").await)
        .await
        .expect("a dispatcher");
    // There is no time to begin with it, so it is shown again.
    let late = json!({ "Records": [{ "messageId": "1", "receiptHandle": "none", "body": "{}" }] });
    let late = LambdaEvent::new(
        serde_json::from_value(late).expect("a batch"),
        Context::default(),
    );
    assert_eq!(dispatcher.handle(late).await.batch_item_failures.len(), 1);
    let _webhook = webhook::router(&world.place("webhook").await).await;
    let api = api_function::router(&world.place("api").await)
        .await
        .expect("an API");
    let events = format!("/jobs/{job}/events");
    for path in ["/healthz", "/status", "/jobs", "/metrics", &events] {
        ask(&api, Request::get(path), Body::empty()).await;
    }
    look_at(job, world).await;
    let order = json!({ "repo": REPO, "prompt": "Add a test" });
    let ordered = ask(&api, Request::post("/jobs"), Body::from(order.to_string())).await;
    // Leaves a due row for the next tick.
    let poller = poller::Function::from_environment(&world.place("poller").await)
        .await
        .expect("a poller");
    leave_message(world).await;
    let tick = LambdaEvent::new(json!({}), in_time());
    poller.handle(tick).await.expect("a tick");
    let id = ordered["job_id"].as_str().expect("a job");
    let path = format!("/jobs/{id}/cancel");
    ask(&api, Request::post(path), Body::from("{}")).await;
}

/// Leaves a message of an account for the next tick to send: its outbox row is an item of its own.
async fn leave_message(world: &World) {
    let account = "default".parse().expect("a name");
    let key = keys::out(&keys::account_pk(&account), &Ulid::generate());
    let work = json!({ "schema": 1, "it": { "look_at": "slots", "account": account } });
    let record = Record {
        key,
        version: 0,
        body: work.to_string(),
        due: Some(world.backend.now()),
        list: None,
        forget: None,
    };
    let expect = Expect::Absent;
    let records = world.backend.store.records();
    let left = records.commit(vec![Write::Put { record, expect }]).await;
    left.expect("a row");
}

/// Requests a fresh read of a job without waiting: a message goes out, and its row is deleted.
async fn look_at(job: &JobId, world: &World) {
    let place = world.place("api").await;
    let backend = place.backend().await.expect("a backend");
    let mut api = api::ApiState::with_stored_token(backend, place.secrets());
    api.answer_within = Duration::ZERO;
    let path = format!("/jobs/{job}?fresh=1");
    let later = ask(&api::router(api), Request::get(path), Body::empty()).await;
    assert!(later["ask_again"].is_string(), "{later}");
}

async fn ask(api: &Router, request: Builder, body: Body) -> Value {
    let request = request
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("content-type", "application/json")
        .body(body)
        .expect("a request");
    let uri = request.uri().clone();
    let answer = api.clone().oneshot(request).await.expect("an answer");
    assert!(answer.status().is_success(), "{uri}: {}", answer.status());
    let body = to_bytes(answer.into_body(), usize::MAX).await;
    // Not all that is answered is JSON.
    serde_json::from_slice(&body.expect("a body")).unwrap_or_default()
}

/// The API's token.
const TOKEN: &str = "the-token-of-the-tests";

#[expect(
    clippy::disallowed_methods,
    reason = "Lambda's limit counts by the machine's clock"
)]
fn in_time() -> Context {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut context = Context::default();
    context.deadline =
        u64::try_from(now.expect("our time").as_millis()).expect("our time") + 90_000;
    context
}

/// What the functions ask for in a story with everything in it, from their beginning on.
async fn asked() -> BTreeSet<Asked> {
    let gate = Arc::new(Gate::open().await);
    let storm = Storm {
        gate: gate.clone(),
        crews: 1,
        seed: None,
    };
    let demo = Demo::begin(true, Some(storm)).await;
    demo.world.secrets.put("token", TOKEN);
    demo.merged().await;
    Box::pin(begin_all(&demo.world, &demo.jobs[0])).await;
    let functions = |asked: &Asked| asked.who != LAMBDA;
    let asked = demo.world.asked(&gate).into_iter().filter(functions);
    let others = BY_LAMBDA.iter().chain(&OF_LARGE_AGGREGATES);
    let others = others.map(|(who, action, on)| asking(who, action, on));
    asked.map(by_kind).chain(others).collect()
}

/// What is asked for and not granted, and what is granted and not asked for.
fn apart<'a>(asked: &'a BTreeSet<Asked>, granted: &'a BTreeSet<Asked>) -> [Vec<&'a Asked>; 2] {
    [
        asked.difference(granted).collect(),
        granted.difference(asked).collect(),
    ]
}

#[tokio::test]
async fn roles_grant_what_functions_ask_for_and_nothing_else() {
    let (asked, granted) = (asked().await, granted(&template("foundation.yaml")));
    let [missing, extra] = apart(&asked, &granted);
    assert!(
        missing.is_empty() && extra.is_empty(),
        "missing: {missing:#?}\nextra: {extra:#?}"
    );

    let mut planted = granted.clone();
    let theirs = asking("webhook", "dynamodb:PutItem", "table");
    planted.insert(theirs.clone());
    assert_eq!(apart(&asked, &planted), [vec![], vec![&theirs]]);
    let needed = asking("webhook", "sqs:SendMessage", "work");
    planted = granted.clone();
    assert!(planted.remove(&needed));
    assert_eq!(apart(&asked, &planted), [vec![&needed], vec![]]);
}

#[test]
fn the_docs_list_every_permission_with_its_reason() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/permissions.md");
    let page = std::fs::read_to_string(page).expect("docs/permissions.md");
    let mut listed = BTreeSet::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, who, action, on, why, _] = cells.as_slice() else {
            panic!("{line} has not four cells");
        };
        assert!(!why.is_empty(), "{line} gives no reason");
        let bare = |cell: &str| cell.trim_matches('`').to_owned();
        listed.insert(asking(&bare(who), &bare(action), &bare(on)));
    }
    assert_eq!(listed, granted(&template("foundation.yaml")));
}
