//! Bad input at every route: each answer is a refusal that names what is wrong, and nothing is stored by it.
//!
//! The inputs come from the table of routes and the OpenAPI document, so a new field or parameter is covered without
//! a change here. A new route needs its row in [`sound`].

mod tried;

use std::collections::BTreeSet;
use std::sync::Arc;

use api::{Caller, Method, RequestBody, Route, routes};
use axum::body::Body;
use axum::http::{self, Request};
use engine::ports::Record;
use local::{Database, LocalQueue, Store};
use serde_json::{Value, json};

use crate::world::{Answer, SHA, SetClock, TOKEN, World, send};
use tried::{Tried, bad_bodies, bad_headers, bad_paths, bad_queries};

/// More records than this world ever has.
const RECORDS_MAX: usize = 1_000;

/// What each route would take, by its name: an object to be spoilt, or nothing where it takes none.
fn sound(id: &str) -> Option<Value> {
    let event = json!({ "agent": "zai", "attempt": 1 });
    Some(match id {
        "create_job" => json!({ "repo": "acme/shop", "prompt": "Tidy the shop." }),
        "adopt_session" => json!({ "session_id": "4711", "repo": "acme/shop" }),
        "say" => json!({ "message": "Go on." }),
        "approve_plan" | "merge" | "cancel_job" | "retry_job" | "register" | "take_wakes" => {
            json!({})
        }
        "push_session" => json!({ "name": "sessions/4711" }),
        "mcp" => json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }),
        "acknowledge" => json!({ "agent": "zai" }),
        "extend" | "give_back" => event,
        "create_delivery" => json!({ "repo": "acme/shop", "summary": "Add search" }),
        "start_delivery" | "approve_delivery" | "retry_delivery" | "cancel_delivery"
        | "edit_delivery" => json!({}),
        "generate_plan" | "run_implement" | "run_review" | "run_fix" => json!({}),
        "create_source" => json!({ "repo": "acme/toys", "account": "default" }),
        "edit_source" => json!({}),
        "start_pipeline" => json!({ "repo": "acme/shop" }),
        "cancel_pipeline" | "start_requirement" => json!({}),
        "send_mail" => json!({ "from": "weaver", "to": "art", "subject": "Hi", "body": "x" }),
        "tag_mail" => json!({ "tag": "needs-action" }),
        "read_mail" | "trash_mail" | "untrash_mail" | "rebuild_mail" | "seal_mail" => json!({}),
        "import_mail" => json!({ "lines": [] }),
        "start_sprint" | "tick_sprint" | "integrate_sprint" | "abort_sprint" => json!({}),
        "collect_session" => json!({ "session_id": "4711" }),
        "analyse_run" => json!({ "analysis": "It forgot the tests." }),
        "reject_delivery" => json!({ "reason": "Keep the old route." }),
        "judge_delivery" => json!({ "verdict": "pass", "sha": SHA }),
        "plan_delivery" => json!({ "content": "1. Add the box." }),
        "split_delivery" => {
            json!({ "children": [{ "summary": "The box", "acceptance_criteria": [] }] })
        }
        "list_deliveries" | "show_delivery" | "why_delivery" | "show_run" | "run_transcript"
        | "run_log" | "delivery_events" | "list_jobs" | "list_pulls" | "show_job" | "why_job"
        | "job_events" | "job_artifacts" | "job_messages" | "show_effect" | "why_pull"
        | "list_events" | "status" | "metrics" | "openapi" | "dashboard_link" | "health"
        | "github_webhook" | "delivery_schema" | "worker_status" | "list_sources"
        | "list_pipelines" | "show_pipeline" | "why_pipeline" | "list_requirements"
        | "list_mailboxes" | "mail_log" | "mail_stats" | "show_mailbox" | "show_mail"
        | "list_sprints" | "show_sprint" | "why_sprint" | "verify_mail" | "show_requirement"
        | "show_source" | "remove_source" | "sync_source" => Value::Null,
        _ => return None,
    })
}

/// The API over a store that can be read whole.
struct Watched {
    world: World,
    store: Store,
    job: String,
    delivery: String,
}

impl Watched {
    async fn new() -> Self {
        let database = Database::in_memory().unwrap();
        let clock = SetClock::at("2026-03-01T12:00:00Z");
        let queue = Arc::new(LocalQueue::new(&database, "work", clock.clone()));
        let store = Store::new(&database);
        let records = Arc::new(store.clone());
        let world = World::over(records, queue.clone(), (clock, queue)).await;
        let job = world.watched(|_| {}).await.to_string();
        let order = json!({ "repo": "acme/shop", "summary": "Add a search box" });
        let made = world.post("/api/deliveries", &order).await.ok(201);
        let delivery = made["id"].as_str().unwrap().to_owned();
        world.messages().await;
        Self {
            world,
            store,
            job,
            delivery,
        }
    }

    async fn stored(&self) -> Vec<Record> {
        let all = self.store.scan(None, RECORDS_MAX).await.unwrap();
        assert!(all.len() < RECORDS_MAX);
        all
    }

    /// A path with everything in place that varies.
    fn path(&self, path: &str) -> String {
        let parts = [
            ("{job}", self.job.as_str()),
            ("{delivery}", self.delivery.as_str()),
            ("{run}", "latest"),
            ("{effect}", "00000000000000000000000000000000"),
            ("{event}", "evt_00000000000000000000000000000000"),
            ("{agent}", "zai"),
            ("{owner}", "acme"),
            ("{name}", "shop"),
            ("{number}", "7"),
            ("{pipeline}", "01k0000000000000000000000p"),
            ("{requirement}", "ab12cd"),
            ("{persona}", "art"),
            ("{message}", "1"),
            ("{sprint}", "1"),
        ];
        parts.iter().fold(path.to_owned(), |path, (part, value)| {
            path.replace(part, value)
        })
    }

    async fn ask(&self, route: &Route, tried: &Tried) -> Answer {
        let mut request = Request::builder()
            .method(method(route))
            .uri(&tried.path)
            .header("authorization", format!("Bearer {TOKEN}"));
        for (name, value) in &tried.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Body::from(tried.body.clone())).unwrap();
        send(&self.world.router, request).await
    }

    /// A refusal that names what is wrong, after which everything is as it was.
    async fn refuses(&self, route: &Route, tried: &Tried) {
        let before = self.stored().await;
        let answer = self.ask(route, tried).await;
        let what = format!("{} {tried:?}: {answer:?}", route.id);
        assert!(answer.status.is_client_error(), "{what}");
        if let Some(code) = tried.protocol() {
            assert_eq!(answer.ok(400)["error"]["code"], code, "{what}");
        } else {
            let code = answer.code(answer.status.as_u16());
            let field = answer.json()["field"].as_str().map(str::to_owned);
            assert!(tried.named(&code, field.as_deref()), "{what}");
        }
        assert!(answer.text.len() < 3_000, "{what}");
        assert_eq!(self.stored().await, before, "{what}");
        assert_eq!(self.world.messages().await, [], "{what}");
    }
}

pub(crate) fn method(route: &Route) -> http::Method {
    match route.method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
    }
}

/// The routes for callers with a token; GitHub's has its own tests, since it answers without a text.
fn answering() -> impl Iterator<Item = &'static Route> {
    routes().filter(|route| route.caller != Caller::GitHub)
}

#[test]
fn every_route_has_its_row() {
    let missing: BTreeSet<&str> = routes()
        .map(|route| route.id)
        .filter(|id| sound(id).is_none())
        .collect();
    assert_eq!(missing, BTreeSet::new(), "give it its row in `sound`");
    for route in routes() {
        let takes = !matches!(route.sends, RequestBody::Nothing | RequestBody::Delivery);
        assert_eq!(sound(route.id).unwrap().is_object(), takes, "{}", route.id);
    }
}

#[tokio::test]
async fn bad_paths_are_refused_at_every_route() {
    let watched = Watched::new().await;
    for route in answering() {
        for path in [Some(route.path), route.colon].into_iter().flatten() {
            for tried in bad_paths(path, &|path| watched.path(path), &sound(route.id).unwrap()) {
                watched.refuses(route, &tried).await;
            }
        }
    }
}

#[tokio::test]
async fn bad_queries_are_refused_at_every_route() {
    let watched = Watched::new().await;
    for route in answering() {
        for tried in bad_queries(route, &watched.path(route.path)) {
            watched.refuses(route, &tried).await;
        }
    }
}

#[tokio::test]
async fn bad_headers_are_refused_at_every_route() {
    let watched = Watched::new().await;
    for route in answering() {
        let body = sound(route.id).unwrap();
        for tried in bad_headers(route, &watched.path(route.path), &body) {
            watched.refuses(route, &tried).await;
        }
    }
}

#[tokio::test]
async fn bad_bodies_are_refused_at_every_route() {
    let watched = Watched::new().await;
    let mut fields = 0;
    for route in answering() {
        let body = sound(route.id).unwrap();
        for path in [Some(route.path), route.colon].into_iter().flatten() {
            for tried in bad_bodies(route, &watched.path(path), &body) {
                fields += usize::from(tried.is_about_a_field());
                watched.refuses(route, &tried).await;
            }
        }
    }
    // Without the fields of the document the test would try nothing.
    assert!(fields > 100, "{fields}");
}
