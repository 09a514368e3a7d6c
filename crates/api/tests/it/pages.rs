//! The dashboard: who gets in, what a form may do, and what is sent with each page.

use std::collections::BTreeSet;
use std::time::Duration;

use api::{Caller, Method, page_routes};
use axum::Router;
use axum::body::Body;
use axum::http::{self, Request};
use domain::delivery::Delivery;
use domain::job::{Job, JobPhase};
use domain::token::{Rights, Scope};
use engine::ports::Queue;
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::deliveries::wait_with_plan;
use crate::world::{Answer, TOKEN, World, send};

/// Where the browser believes Gaffer to be.
const HOST: &str = "gaffer.example";

/// A browser with at most one cookie.
pub(crate) struct Browser<'a> {
    router: &'a Router,
    host: &'static str,
    origin: Option<String>,
    cookie: Option<String>,
}

impl<'a> Browser<'a> {
    fn new(router: &'a Router) -> Self {
        Self {
            router,
            host: HOST,
            origin: Some(format!("https://{HOST}")),
            cookie: None,
        }
    }

    /// A browser in which a token was shown.
    pub(crate) async fn signed_in(router: &'a Router, token: &str) -> Self {
        let mut browser = Self::new(router);
        let answer = browser.show(token).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        browser
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(Request::builder().uri(path), "").await
    }

    async fn get_with(&mut self, path: &str, (name, value): (&str, &str)) -> Answer {
        self.send(Request::builder().uri(path).header(name, value), "")
            .await
    }

    pub(crate) async fn post(&mut self, path: &str, form: &str) -> Answer {
        let request = Request::builder()
            .method("POST")
            .uri(path)
            .header("content-type", "application/x-www-form-urlencoded");
        let request = match &self.origin {
            Some(origin) => request.header("origin", origin),
            None => request,
        };
        self.send(request, form).await
    }

    async fn show(&mut self, token: &str) -> Answer {
        self.post("/dashboard/sign-in", &format!("token={token}"))
            .await
    }

    async fn send(&mut self, request: http::request::Builder, body: &str) -> Answer {
        let mut request = request.header("host", self.host);
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", format!("other=1; {cookie}"));
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let answer = send(self.router, request).await;
        if let Some(set) = answer.headers.get("set-cookie") {
            let (cookie, _) = set.to_str().unwrap().split_once(';').unwrap();
            let is_kept = !cookie.ends_with('=');
            self.cookie = is_kept.then(|| cookie.to_owned());
        }
        answer
    }

    /// The token of the forms on a page.
    async fn form_token(&mut self) -> String {
        let page = self.get("/dashboard").await;
        between(&page.text, "name=\"form\" value=\"", "\"").to_owned()
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("{text}"));
    rest.split_once(end).unwrap().0
}

/// A page that says why nothing was done.
#[track_caller]
pub(crate) fn refused_with(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert!(
        answer.text.contains(&format!("<code>{code}</code>")),
        "{answer:?}"
    );
}

#[track_caller]
fn asks_to_sign_in(answer: &Answer) {
    assert_eq!(answer.status, 401, "{answer:?}");
    assert!(
        answer.text.contains("action=\"/dashboard/sign-in\""),
        "{answer:?}"
    );
}

async fn token(world: &World, name: &str, scope: Scope) -> String {
    world.token(name, Rights::new(scope, None)).await
}

#[tokio::test]
async fn every_token_of_ours_signs_in_and_nothing_else_does() {
    let world = World::new().await;
    let named = token(&world, "ada", Scope::Read).await;
    for good in [TOKEN, "gaf_second", &named] {
        let mut browser = Browser::new(&world.router);
        asks_to_sign_in(&browser.get("/dashboard").await);
        let answer = browser.show(good).await;
        assert_eq!(answer.status, 303);
        assert_eq!(answer.header("location"), "/dashboard");
        let set = answer.header("set-cookie");
        assert!(set.starts_with("__Host-gaffer="), "{set}");
        for part in [
            "HttpOnly",
            "SameSite=Strict",
            "Secure",
            "Path=/",
            "Max-Age=43200",
        ] {
            assert!(set.split("; ").any(|it| it == part), "{part}: {set}");
        }
        assert!(!set.contains(good));
        assert_eq!(browser.get("/dashboard").await.status, 200);
    }
    for wrong in [
        "",
        "gaf_secon",
        "gaf_second2",
        "gaf_second%2Cgaf_second",
        "%00",
    ] {
        let mut browser = Browser::new(&world.router);
        let answer = browser.show(wrong).await;
        asks_to_sign_in(&answer);
        assert!(answer.text.contains("is not one of Gaffer"), "{answer:?}");
        assert!(answer.headers.get("set-cookie").is_none());
    }
}

#[tokio::test]
async fn a_session_ends_with_its_token_its_time_or_its_seal() {
    let world = World::new().await;
    let shown = token(&world, "ada", Scope::Write).await;
    let mut browser = Browser::signed_in(&world.router, &shown).await;
    assert_eq!(browser.get("/dashboard").await.status, 200);
    let sealed = browser.cookie.clone().unwrap();
    for odd in [
        sealed.replace("ada.", "."),
        sealed.replace("ada.", "bob."),
        format!("{sealed}0"),
        sealed.replace("=ada", "=../ada"),
    ] {
        browser.cookie = Some(odd);
        asks_to_sign_in(&browser.get("/dashboard").await);
    }
    browser.cookie = Some(sealed);
    world
        .backend
        .revoke_token(&"ada".parse().unwrap())
        .await
        .unwrap();
    let answer = browser.get("/dashboard").await;
    asks_to_sign_in(&answer);
    assert!(answer.text.contains("was revoked"), "{answer:?}");

    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    world.clock.advance(SignedDuration::from_hours(12));
    asks_to_sign_in(&browser.get("/dashboard").await);

    // Another installation's token neither seals nor opens ours.
    let other = api::ApiState::new(world.backend.clone(), vec!["gaf_other".into()]);
    let other = api::router(other);
    let mut browser = Browser::signed_in(&other, "gaf_other").await;
    assert_eq!(browser.get("/dashboard").await.status, 200);
    browser.router = &world.router;
    asks_to_sign_in(&browser.get("/dashboard").await);
}

#[tokio::test]
async fn a_cookie_on_this_machine_needs_no_encryption() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.router);
    browser.host = "127.0.0.1:8080";
    browser.origin = Some("http://127.0.0.1:8080".to_owned());
    let set = browser.show(TOKEN).await;
    let set = set.header("set-cookie");
    assert!(
        set.starts_with("gaffer=") && !set.contains("Secure"),
        "{set}"
    );
    assert_eq!(browser.get("/dashboard").await.status, 200);
}

#[tokio::test]
async fn a_form_is_taken_from_our_own_pages_only() {
    let world = World::new().await;
    for origin in [
        None,
        Some("https://evil.example"),
        Some("null"),
        Some("https://gaffer.example:8443"),
    ] {
        let mut browser = Browser::new(&world.router);
        browser.origin = origin.map(str::to_owned);
        refused_with(&browser.show(TOKEN).await, 403, "foreign_origin");
        assert_eq!(browser.cookie, None);

        let mut browser = Browser::signed_in(&world.router, TOKEN).await;
        let form = format!("form={}", browser.form_token().await);
        browser.origin = origin.map(str::to_owned);
        let answer = browser.post("/dashboard/sign-out", &form).await;
        refused_with(&answer, 403, "foreign_origin");
        assert!(browser.cookie.is_some());
    }
    let mut other = Browser::signed_in(&world.router, "gaf_second").await;
    let others = other.form_token().await;
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let ours = browser.form_token().await;
    assert_ne!(ours, others);
    for form in [String::new(), "form=".to_owned(), format!("form={others}")] {
        for path in [
            "/dashboard/sign-out",
            "/dashboard/deliveries/0123456789ab/cancel",
        ] {
            refused_with(&browser.post(path, &form).await, 403, "wrong_form");
        }
    }
    let answer = browser
        .post("/dashboard/sign-out", &format!("form={ours}"))
        .await;
    assert_eq!(answer.header("location"), "/dashboard/sign-in");
    assert_eq!(browser.cookie, None);
    asks_to_sign_in(&browser.get("/dashboard").await);
}

#[tokio::test]
async fn every_page_is_guarded_and_only_the_way_in_is_for_everybody() {
    let world = World::new().await;
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
        form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let open: BTreeSet<&str> = [
        "/",
        "/dashboard/",
        "/dashboard/sign-in",
        "/dashboard/enter",
        "/dashboard/static/{file}",
    ]
    .into();
    for route in page_routes() {
        let path = route.path.replace("{*rest}", "no/where");
        let path = path
            .replace("{delivery}", "0123456789ab")
            .replace("{file}", "x");
        let path = path.replace(['{', '}'], "");
        let mut browser = Browser::new(&world.router);
        let answer = match route.method {
            Method::Get => browser.get(&path).await,
            Method::Post | Method::Patch | Method::Delete => browser.post(&path, "").await,
        };
        assert_eq!(answer.header("content-security-policy"), policy, "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        let is_open = !matches!(route.caller, Caller::Viewer(_));
        assert_eq!(is_open, open.contains(route.path), "{path}");
        if !is_open {
            asks_to_sign_in(&answer);
        }
    }
}

#[tokio::test]
async fn a_link_signs_in_for_a_minute() {
    let world = World::new().await;
    let shown = token(&world, "ada", Scope::Read).await;
    let router = &world.router;
    let made = async |token: &str| {
        let link = (http::Method::GET, "/api/dashboard/link");
        let answer = world.call_as(token, link, (&[], "")).await;
        answer.ok(200)["path"].as_str().unwrap().to_owned()
    };
    for token in [TOKEN, &shown] {
        let path = made(token).await;
        assert!(!path.contains(token));
        let mut browser = Browser::new(router);
        let answer = browser.get(&path).await;
        assert_eq!(answer.status, 200);
        assert!(answer.text.contains("http-equiv=\"refresh\""), "{answer:?}");
        assert_eq!(browser.get("/dashboard").await.status, 200);
        // A link is no cookie, and a cookie no link.
        let (_, link) = path.split_once('=').unwrap();
        browser.cookie = Some(format!("__Host-gaffer={link}"));
        asks_to_sign_in(&browser.get("/dashboard").await);
        world.clock.advance(SignedDuration::from_mins(1));
        let answer = browser.get(&path).await;
        asks_to_sign_in(&answer);
        assert!(answer.text.contains("gaffer dashboard"), "{answer:?}");
    }
    let path = made(&shown).await;
    world
        .backend
        .revoke_token(&"ada".parse().unwrap())
        .await
        .unwrap();
    let mut browser = Browser::new(router);
    browser.get(&path).await;
    asks_to_sign_in(&browser.get("/dashboard").await);
}

#[tokio::test]
async fn static_files_are_kept_for_ever_under_the_name_of_their_content() {
    let world = World::new().await;
    let mut browser = Browser::new(&world.router);
    let page = browser.get("/dashboard/sign-in").await;
    let path = between(&page.text, "<link rel=\"stylesheet\" href=\"", "\"");
    let answer = browser.get(path).await;
    assert_eq!(answer.header("content-type"), "text/css; charset=utf-8");
    assert!(answer.header("cache-control").contains("immutable"));
    assert_eq!(browser.get("/dashboard/static/style.css").await.status, 404);
}

#[tokio::test]
async fn a_page_that_is_known_already_is_not_sent_again() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let page = browser.get("/dashboard").await;
    let etag = page.header("etag").to_owned();
    assert!(page.text.contains(&format!("data-etag={}", etag)), "{etag}");
    world.clock.advance(SignedDuration::from_mins(5));
    let bare = etag.trim_matches('"');
    for known in [&etag, &format!("W/{etag}"), &format!("\"x\", {etag}"), bare] {
        let again = browser
            .get_with("/dashboard", ("if-none-match", known))
            .await;
        assert_eq!(
            (again.status.as_u16(), again.text.as_str()),
            (304, ""),
            "{known}"
        );
        assert_eq!(again.header("etag"), etag);
    }
    world.job("acme/shop").await;
    let again = browser
        .get_with("/dashboard", ("if-none-match", &etag))
        .await;
    assert_eq!(again.status, 200);
}

#[tokio::test]
async fn what_is_nowhere_is_refused_with_a_page() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let answer = browser.get("/dashboard/deliveries/0123456789ab/approve");
    refused_with(&answer.await, 404, "no_such_page");
    for path in [
        "/dashboard/no/where",
        "/dashboard/deliveries/x",
        "/dashboard/deliveries/..%2F..%2Fjobs",
    ] {
        refused_with(&browser.get(path).await, 404, "no_such_page");
    }
    let answer = browser.get("/dashboard/deliveries/0123456789ab").await;
    refused_with(&answer, 404, "no_such_delivery");
    let form = format!("form={}", browser.form_token().await);
    let answer = browser
        .post("/dashboard/deliveries/0123456789ab/approve", &form)
        .await;
    refused_with(&answer, 404, "no_such_delivery");
    let home = browser.get("/").await;
    assert_eq!(
        (home.status.as_u16(), home.header("location")),
        (303, "/dashboard")
    );
}

#[tokio::test]
async fn a_token_that_may_only_look_sees_no_button_and_orders_nothing() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let shown = token(&world, "ada", Scope::Read).await;
    let mut reader = Browser::signed_in(&world.router, &shown).await;
    let mut writer = Browser::signed_in(&world.router, TOKEN).await;
    let path = format!("/dashboard/deliveries/{id}");
    let (looked, acted) = (reader.get(&path).await, writer.get(&path).await);
    assert!(acted.text.contains(&format!("{path}/cancel")), "{acted:?}");
    assert!(
        !looked.text.contains(&format!("{path}/cancel")),
        "{looked:?}"
    );
    assert!(looked.text.contains("may only look"));
    let form = |page: &Answer| {
        let field =
            |name: &str| between(&page.text, &format!("name=\"{name}\" value=\""), "\"").to_owned();
        format!(
            "form={}&standing={}",
            field("form"),
            "implement%2Frunning%2F1%2F1"
        )
    };
    let answer = reader.post(&format!("{path}/cancel"), &form(&looked)).await;
    refused_with(&answer, 403, "scope_too_small");
    let shown = world.get(&format!("/jobs/{id}")).await.ok(200);
    assert_eq!(shown["ended"], json!(null));
}

/// What the form of an order on a page sends along.
pub(crate) fn hidden(page: &str, order: &str) -> String {
    let form = between(page, &format!("/{order}\">"), "</form>");
    let value = |name: &str| between(form, &format!("name=\"{name}\" value=\""), "\"");
    let standing = value("standing").replace('/', "%2F");
    format!(
        "form={}&version={}&standing={standing}",
        value("form"),
        value("version")
    )
}

#[tokio::test]
async fn a_form_gives_the_order_that_its_page_shows_and_only_once() {
    let world = World::new().await;
    let order = json!({ "repo": "acme/shop", "summary": "Add <b>search</b>" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let id = made["id"].as_str().unwrap();
    let path = format!("/dashboard/deliveries/{id}");
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let board = browser.get("/dashboard").await;
    assert!(board.text.contains("Add &#60;b&#62;search") && board.text.contains("● your turn"));
    let page = browser.get(&path).await;
    for button in ["approve", "reject", "retry", "verdict"] {
        assert!(
            !page.text.contains(&format!("{path}/{button}\"")),
            "{button}"
        );
    }
    let form = hidden(&page.text, "start");
    let answer = browser.post(&format!("{path}/start"), &form).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    assert_eq!(answer.header("location"), path);
    let started = world.get(&format!("/api/deliveries/{id}")).await.ok(200);
    assert_eq!(started["run_status"], "running");
    let last = started["phase_runs"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(last["actor"], "person on the dashboard");
    // The second click, and a page that was left open.
    for order in ["start", "approve"] {
        let answer = browser.post(&format!("{path}/{order}"), &form).await;
        assert_eq!(answer.header("location"), format!("{path}?moved=1"));
    }
    let moved = browser.get(&format!("{path}?moved=1")).await;
    assert!(moved.text.contains("had moved on"), "{moved:?}");
    let still = world.get(&format!("/api/deliveries/{id}")).await.ok(200);
    assert_eq!(still, started);
    // What the API refuses is refused here, with its sentence.
    let form = hidden(&moved.text, "cancel");
    let answer = browser.post(&format!("{path}/approve"), &form).await;
    refused_with(&answer, 409, "nothing_to_approve");
    let answer = browser.post(&format!("{path}/verdict"), &form).await;
    refused_with(&answer, 422, "bad_field");
    let answer = browser.post(&format!("{path}/split"), &form).await;
    refused_with(&answer, 422, "odd_number_of_children");
    let answer = browser.post(&format!("{path}/collect"), &form).await;
    refused_with(&answer, 404, "no_such_page");
    let answer = browser.post(&format!("{path}/cancel"), &form).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    let cancelled = world.get(&format!("/api/deliveries/{id}")).await.ok(200);
    assert_eq!(cancelled["error"]["sentence"], "Canceled by user");
    let page = browser.get(&path).await;
    assert!(page.text.contains("✕ failed") && page.text.contains(&format!("{path}/retry\"")));
}

/// A job that belongs to no delivery is approved by the plan that its page shows.
#[tokio::test]
async fn a_plan_that_came_after_a_page_is_not_approved_by_it() {
    let world = World::new().await;
    let watched = world.watched(|watch| wait_with_plan(watch, Some("p1")));
    let job = watched.await;
    let becomes = async |plan: Option<&str>| {
        let replace = |job: &mut Job| {
            let JobPhase::Watching(watch) = &mut job.phase else {
                panic!("watched");
            };
            wait_with_plan(watch, plan);
        };
        world.change(&job, replace).await;
    };
    let path = format!("/dashboard/deliveries/{job}");
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let page = browser.get(&path).await;
    assert!(page.text.contains("1. Sweep by p1"), "{page:?}");
    assert!(page.text.contains("<code class=\"soft\">plan_open</code>"));
    let form = between(&page.text, "/approve\">", "</form>");
    let shown = between(form, "name=\"plan_id\" value=\"", "\"");
    let form = format!("{}&plan_id={shown}", hidden(&page.text, "approve"));
    becomes(Some("p2")).await;
    let answer = browser.post(&format!("{path}/approve"), &form).await;
    refused_with(&answer, 409, "plan_moved");
    becomes(None).await;
    let page = browser.get(&path).await;
    assert!(!page.text.contains(&format!("{path}/approve\"")));
}

#[tokio::test]
async fn the_board_has_what_is_open_behind_more_than_it_shows_of_what_is_over() {
    let world = World::new().await;
    let order = json!({ "repo": "acme/shop", "summary": "Add search" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let at = format!("/api/deliveries/{}", made["id"].as_str().unwrap());
    let started = world.post(&format!("{at}/start"), &json!({})).await.ok(200);
    assert_eq!(started["waits_for"]["who"], "jules");
    world.clock.advance(SignedDuration::from_secs(1));
    for _ in 0..=100 {
        let job = world.job("acme/shop").await;
        let cancelled = world.post(&format!("/jobs/{job}/cancel"), &json!({}));
        cancelled.await.ok(200);
    }
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let board = browser.get("/dashboard").await;
    assert!(board.text.contains("Add search"), "{board:?}");
    assert_eq!(board.text.matches("Tidy the shop").count(), 20);
}

#[tokio::test]
async fn a_delivery_is_edited_and_split_on_its_page() {
    let world = World::new().await;
    let order = json!({ "repo": "acme/shop", "summary": "Add search" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let id = made["id"].as_str().unwrap();
    let path = format!("/dashboard/deliveries/{id}");
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let page = browser.get(&path).await;
    let form = hidden(&page.text, "edit");
    let odd = format!("{form}&summary=Find+%3Cb%3E&criteria=&priority=soon");
    let answer = browser.post(&format!("{path}/edit"), &odd).await;
    refused_with(&answer, 422, "bad_field");
    // The browser forgets what was typed, so the refusal shows it.
    assert!(
        answer.text.contains("readonly>Find &#60;b&#62;</textarea>"),
        "{answer:?}"
    );
    assert!(
        answer.text.contains("readonly>soon</textarea>"),
        "{answer:?}"
    );
    assert!(!answer.text.contains("typed-criteria"), "{answer:?}");
    let back = format!("<a href=\"{path}\">Back</a>");
    assert!(answer.text.contains(&back), "{answer:?}");
    let changes = format!("{form}&summary=&criteria=It+finds%0D%0A%0D%0AIt+is+quick&priority=7");
    let answer = browser.post(&format!("{path}/edit"), &changes).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    let edited = world.get(&format!("/api/deliveries/{id}")).await.ok(200);
    assert_eq!(edited["summary"], "Add search");
    assert_eq!(
        edited["acceptance_criteria"],
        json!(["It finds", "It is quick"])
    );
    assert_eq!(edited["priority"], 7);
    let page = browser.get(&path).await;
    assert!(page.text.contains("<code>- [ ]</code> below a part"));
    let form = hidden(&page.text, "split");
    let odd = format!("{form}&parts=-+[+]+It+is+there%0D%0AThe+box");
    let answer = browser.post(&format!("{path}/split"), &odd).await;
    refused_with(&answer, 422, "bad_field");
    let parts = format!("{form}&parts=The+box%0D%0A-+[+]+It+is+there%0D%0A%0D%0AThe+list%0D%0A");
    let answer = browser.post(&format!("{path}/split"), &parts).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    let split = world.get(&format!("/api/deliveries/{id}")).await.ok(200);
    let parts: Vec<&Value> = split["children"].as_array().unwrap().iter().collect();
    let summaries: Vec<&str> = parts
        .iter()
        .map(|it| it["summary"].as_str().unwrap())
        .collect();
    assert_eq!(summaries, ["The box", "The list"]);
    let stored = world.backend.must::<Delivery>(&id.parse().unwrap()).await;
    let criteria = stored.unwrap().value.children;
    let criteria = criteria.into_iter().map(|it| it.acceptance_criteria);
    let criteria: Vec<Vec<String>> = criteria.collect();
    assert_eq!(criteria, [vec!["It is there".to_owned()], Vec::new()]);
}

#[tokio::test]
async fn every_place_of_the_navigation_has_its_page() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    for (path, words) in [
        ("/dashboard", "None waits for a person"),
        ("/dashboard/pipelines", "No source has a pipeline"),
        ("/dashboard/sources", "acme/shop"),
        ("/dashboard/accounts", "Budgets of GitHub"),
        ("/dashboard/workers", "Last poll"),
        ("/dashboard/wakes", "No dead letters"),
    ] {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{page:?}");
        assert!(page.text.contains(words), "{path}: {page:?}");
        assert!(
            page.text
                .contains(&format!("<a href=\"{path}\" aria-current=\"page\">"))
        );
        assert!(page.text.contains("data-live=\"poll\""), "{path}");
    }
}

#[tokio::test]
async fn dead_letters_are_listed_where_a_look_takes_them_from_no_one() {
    let world = World::new().await;
    let none = SignedDuration::ZERO;
    world
        .queue
        .send("{\"no\":\"message\"}", none)
        .await
        .unwrap();
    // Received so often in vain that it is given up.
    for _ in 0..10 {
        world.queue.receive(10, none).await.unwrap();
    }
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let counted = browser.get("/dashboard/wakes").await;
    assert!(counted.text.contains("✕ 1 dead letters"), "{counted:?}");
    assert!(!counted.text.contains("malformed"), "{counted:?}");
    let state = api::ApiState::new(world.backend.clone(), vec![TOKEN.into()]);
    let router = api::router(state.showing(Some(world.queue.clone())));
    let mut browser = Browser::signed_in(&router, TOKEN).await;
    for _ in 0..2 {
        let listed = browser.get("/dashboard/wakes").await;
        assert!(listed.text.contains("✕ malformed"), "{listed:?}");
    }
}

/// A router that holds answers open.
fn holding(world: &World) -> (watch::Sender<bool>, Router) {
    let (stop, stopped) = watch::channel(false);
    let state = api::ApiState::new(world.backend.clone(), vec![TOKEN.into()]);
    (stop, api::router(state.holding(stopped)))
}

#[tokio::test(start_paused = true)]
#[expect(clippy::disallowed_methods, reason = "time is paused: nothing waits")]
async fn a_known_page_is_held_until_something_changes_or_the_time_is_over() {
    let world = World::new().await;
    let (stop, router) = holding(&world);
    let mut browser = Browser::signed_in(&router, TOKEN).await;
    let page = browser.get("/dashboard").await;
    assert!(page.text.contains("data-live=\"hold\""));
    let etag = page.header("etag").to_owned();
    let known = ("if-none-match", etag.as_str());

    let began = Instant::now();
    let answer = browser.get_with("/dashboard?wait=600", known).await;
    assert_eq!(answer.status, 304);
    let held = began.elapsed();
    assert!((20..22).contains(&held.as_secs()), "{held:?}");

    let began = Instant::now();
    let changes = async {
        sleep(Duration::from_secs(3)).await;
        world.job("acme/shop").await;
    };
    let (answer, ()) = tokio::join!(browser.get_with("/dashboard?wait=20", known), changes);
    assert_eq!(answer.status, 200);
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );

    // Without a wish to wait, and where nothing is held, the answer comes at once.
    let etag = answer.header("etag").to_owned();
    let known = ("if-none-match", etag.as_str());
    let began = Instant::now();
    assert_eq!(browser.get_with("/dashboard", known).await.status, 304);
    let mut elsewhere = Browser::signed_in(&world.router, TOKEN).await;
    let polled = elsewhere.get("/dashboard").await;
    let polled = polled.header("etag").to_owned();
    let answer = elsewhere
        .get_with("/dashboard?wait=20", ("if-none-match", &polled))
        .await;
    assert_eq!(answer.status, 304);
    assert!(began.elapsed() < Duration::from_secs(1));

    // A process that is to stop lets go of what it holds.
    let stopping = async {
        sleep(Duration::from_secs(1)).await;
        stop.send(true).unwrap();
    };
    let began = Instant::now();
    let (answer, ()) = tokio::join!(browser.get_with("/dashboard?wait=20", known), stopping);
    assert_eq!(answer.status, 304);
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
#[expect(clippy::disallowed_methods, reason = "time is paused: nothing waits")]
async fn a_held_page_ends_with_its_token() {
    let world = World::new().await;
    let (_stop, router) = holding(&world);
    let shown = token(&world, "ada", Scope::Read).await;
    let mut browser = Browser::signed_in(&router, &shown).await;
    let page = browser.get("/dashboard").await;
    let known = ("if-none-match", page.header("etag"));
    let revoked = async {
        sleep(Duration::from_secs(2)).await;
        let name = "ada".parse().unwrap();
        world.backend.revoke_token(&name).await.unwrap();
    };
    let (answer, ()) = tokio::join!(browser.get_with("/dashboard?wait=20", known), revoked);
    asks_to_sign_in(&answer);
}
