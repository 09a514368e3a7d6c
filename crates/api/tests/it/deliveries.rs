//! Deliveries over HTTP: created, listed, shown, ordered about, and refused.

use axum::http::Method;
use domain::delivery::{Checkpoints, IssueRef, Rules};
use domain::failure::{Failure, FailureClass};
use domain::ids::EventId;
use domain::job::{Attention, JobPhase, Watch};
use domain::session::{Plan, PlanStep, SessionState};
use domain::token::{Rights, Scope};
use engine::keys;
use engine::ports::{Clock, IssueFacts};
use engine::readings::ReadIssue;
use engine::work::Work;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::merging::in_review;
use crate::world::{Answer, SHA, World};

const REPO: &str = "acme/shop";

/// A world whose source waits for a person only at its plan.
pub(crate) async fn world(change: impl Fn(&mut Rules)) -> World {
    let world = World::new().await;
    world
        .change_source(|source| change(&mut source.deliveries))
        .await;
    world
}

pub(crate) async fn create(world: &World, summary: &str) -> String {
    let order = json!({ "repo": REPO, "summary": summary });
    let made = world.post("/api/deliveries", &order).await;
    let id = made.ok(201)["id"].as_str().unwrap().to_owned();
    assert_eq!(made.header("location"), format!("/api/deliveries/{id}"));
    id
}

/// The text of a token, of an agent if one is named.
pub(crate) async fn token(world: &World, name: &str, agent: Option<&str>) -> String {
    let agent = agent.map(|agent| agent.parse().unwrap());
    let rights = Rights::new(Scope::Write, agent.as_ref());
    world.token(name, rights).await
}

pub(crate) async fn as_caller(world: &World, path: &str, (token, body): (&str, &Value)) -> Answer {
    let body = body.to_string();
    world
        .call_as(token, (Method::POST, path), (&[], &body))
        .await
}

#[tokio::test]
async fn a_delivery_is_created_shown_and_started() {
    let world = world(|_| {}).await;
    keep_issue(
        &world,
        ReadIssue::from_facts(&facts(true, false), world.clock.now()),
    )
    .await;
    let order = json!({
        "repo": REPO, "issue": 12, "summary": "Add search", "description": "A box.",
        "acceptance_criteria": ["finds by name"], "priority": 7,
        "refs": [{ "role": "trigger", "type": "jira", "label": "SHOP-7" }],
    });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    assert_eq!(
        (&made["phase"], &made["run_status"], &made["kind"]),
        (&json!("plan"), &json!("pending"), &json!("issue"))
    );
    assert_eq!(made["issue"]["number"], 12);
    assert_eq!(made["waits_for"]["who"], "person");
    assert_eq!(made["why"]["code"], "awaits_start");
    assert_eq!(made["acceptance_criteria"], json!(["finds by name"]));
    assert_eq!(made["priority"], 7);
    let labels = [0_usize, 1].map(|at| made["refs"][at]["label"].clone());
    assert_eq!(labels, [json!("#12"), json!("SHOP-7")]);
    assert_eq!(made["legal"], json!(["start", "split", "edit", "collect"]));
    let id = made["id"].as_str().unwrap();
    for name in [id, "acme%2Fshop%2312", "ACME%2Fshop%2312", "latest"] {
        let shown = world.get(&format!("/api/deliveries/{name}")).await.ok(200);
        assert_eq!(shown, made, "{name}");
    }
    let start = world.post(&format!("/api/deliveries/{id}/start"), &json!({}));
    let started = start.await.ok(200);
    assert_eq!(
        (&started["phase"], &started["run_status"]),
        (&json!("plan"), &json!("running"))
    );
    let spans = started["phase_runs"].as_array().unwrap();
    assert_eq!(spans.last().unwrap()["actor"], "person over HTTP");
    let why = world
        .get(&format!("/api/deliveries/{id}/why"))
        .await
        .ok(200);
    assert_eq!(why["because"][0]["code"], "planning");
    assert_eq!(why["legal"], started["legal"]);
}

#[tokio::test]
async fn an_issue_has_one_delivery_and_a_name_creates_one() {
    let world = world(|_| {}).await;
    keep_issue(
        &world,
        ReadIssue::from_facts(&facts(true, false), world.clock.now()),
    )
    .await;
    let order = json!({ "repo": REPO, "issue": 12, "summary": "Add search" });
    let first = world.post("/api/deliveries", &order).await.ok(201);
    for again in [false, true] {
        let order = json!({ "repo": "ACME/Shop", "issue": 12, "summary": "x", "again": again });
        let refused = world.post("/api/deliveries", &order).await;
        assert_eq!(refused.code(409), "exists");
        assert_eq!(refused.json()["existing"], first["id"]);
    }
    let order = json!({ "repo": REPO, "summary": "Tidy" });
    let named = world.post_named("/api/deliveries", &order, "one").await;
    let same = world.post_named("/api/deliveries", &order, "one").await;
    assert_eq!(named.ok(201)["id"], same.ok(201)["id"]);
    let other = world.post_named("/api/deliveries", &order, "two").await;
    assert_ne!(named.json()["id"], other.ok(201)["id"]);
    let listed = world.get("/api/deliveries").await.ok(200);
    assert_eq!(listed["deliveries"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_closed_issue_is_refused_also_with_a_summary() {
    let world = world(|_| {}).await;
    keep_issue(
        &world,
        ReadIssue::from_facts(&facts(false, false), world.clock.now()),
    )
    .await;
    let order = json!({ "repo": REPO, "issue": 12, "summary": "x" });
    let refused = world.post("/api/deliveries", &order).await;
    assert_eq!(refused.code(422), "issue_closed");
    assert_eq!(world.messages().await, []);

    // It may have been opened since: no order is refused by what was read before it.
    world.clock.advance(SignedDuration::from_secs(1));
    world.post("/api/deliveries", &order).await.code(422);
    let issue = "acme/shop#12".parse().unwrap();
    assert_eq!(world.messages().await, [Work::Issue { issue }]);
    let open = ReadIssue::from_facts(&facts(true, false), world.clock.now());
    keep_issue(&world, open).await;
    world.post("/api/deliveries", &order).await.ok(201);
}

#[tokio::test]
async fn lists_are_the_newest_first_filtered_and_in_pages() {
    let world = world(|_| {}).await;
    let mut ids = Vec::new();
    for summary in ["one", "two", "three"] {
        ids.push(create(&world, summary).await);
        world.clock.advance(SignedDuration::from_secs(1));
    }
    let start = format!("/api/deliveries/{}/start", ids[1]);
    world.post(&start, &json!({})).await.ok(200);
    // A job that belongs to no delivery is one, too.
    let job = world.job(REPO).await.to_string();
    ids.push(job);
    ids.reverse();
    let listed = async |query: &str| {
        let page = world.get(&format!("/api/deliveries{query}")).await.ok(200);
        let cards = page["deliveries"].as_array().unwrap().clone();
        let ids = cards
            .iter()
            .map(|card| card["id"].as_str().unwrap().to_owned());
        (
            ids.collect::<Vec<_>>(),
            page["next"].as_str().map(str::to_owned),
        )
    };
    assert_eq!(listed("").await, (ids.clone(), None));
    assert_eq!(listed("?phase=implement").await.0, ids[..1]);
    assert_eq!(
        listed("?needs=person").await.0,
        [ids[1].clone(), ids[3].clone()]
    );
    assert_eq!(listed("?needs=agent").await.0, Vec::<String>::new());
    assert_eq!(listed("?phase=plan&open=true").await.0, ids[1..]);
    assert_eq!(listed("?repo=acme%2Fother").await.0, Vec::<String>::new());
    let (first, next) = listed("?limit=3").await;
    assert_eq!(first, ids[..3]);
    let (rest, end) = listed(&format!("?limit=3&after={}", next.unwrap())).await;
    assert_eq!((rest.as_slice(), end), (&ids[3..], None));
}

#[tokio::test]
async fn what_is_not_legal_is_refused_with_what_is() {
    let world = world(|_| {}).await;
    keep_issue(
        &world,
        ReadIssue::from_facts(&facts(true, false), world.clock.now()),
    )
    .await;
    let order = json!({ "repo": REPO, "issue": 12, "summary": "Add search" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let id = made["id"].as_str().unwrap();
    for (verb, body, code) in [
        ("approve", json!({}), "nothing_to_approve"),
        ("reject", json!({ "reason": "no" }), "nothing_to_reject"),
        ("retry", json!({}), "not_failed"),
        ("cancel", json!({}), "not_running"),
        (
            "verdict",
            json!({ "verdict": "pass", "sha": SHA }),
            "not_in_review",
        ),
        ("plan", json!({ "content": "1. Do it." }), "not_planning"),
    ] {
        let before = world.get(&format!("/api/deliveries/{id}")).await.ok(200);
        let path = format!("/api/deliveries/{id}/{verb}");
        let refused = world.post(&path, &body).await;
        assert_eq!(refused.code(409), code, "{verb}");
        assert_eq!(refused.json()["legal"], before["legal"], "{verb}");
        let after = world.get(&format!("/api/deliveries/{id}")).await.ok(200);
        assert_eq!(after, before);
    }
}

#[tokio::test]
async fn the_same_name_starts_and_cancels_once() {
    let world = world(|_| {}).await;
    let id = create(&world, "Add search").await;
    let order = async |verb: &str, key: &str| {
        let path = format!("/api/deliveries/{id}/{verb}");
        world.post_named(&path, &json!({}), key).await
    };
    let started = order("start", "a").await.ok(200);
    assert_eq!(order("start", "a").await.ok(200), started);
    assert_eq!(order("start", "b").await.code(409), "not_awaiting_start");
    let cancelled = order("cancel", "a").await.ok(200);
    assert_eq!(
        (&cancelled["phase"], &cancelled["run_status"]),
        (&json!("plan"), &json!("failed"))
    );
    assert_eq!(cancelled["error"]["sentence"], "Canceled by user");
    assert_eq!(order("cancel", "a").await.ok(200), cancelled);
}

#[tokio::test]
async fn an_agents_token_is_an_agent_and_checkpoints_are_for_people() {
    let world = world(|rules| {
        rules.checkpoints = Checkpoints::default();
    })
    .await;
    world.has_agent().await;
    let bot = token(&world, "reviewer", Some("zai")).await;
    let person = token(&world, "mona", None).await;
    let id = create(&world, "Add search").await;
    let start = format!("/api/deliveries/{id}/start");
    let refused = as_caller(&world, &start, (&bot, &json!({}))).await;
    assert_eq!(refused.code(409), "people_only");
    let legal = refused.json()["legal"].clone();
    assert_eq!(legal, json!(["edit", "collect"]));
    let started = as_caller(&world, &start, (&person, &json!({})))
        .await
        .ok(200);
    let spans = started["phase_runs"].as_array().unwrap();
    assert_eq!(spans.last().unwrap()["actor"], "person mona");
    let cancel = format!("/api/deliveries/{id}/cancel");
    let cancelled = as_caller(&world, &cancel, (&bot, &json!({}))).await.ok(200);
    let spans = cancelled["phase_runs"].as_array().unwrap();
    assert_eq!(spans.last().unwrap()["actor"], "agent zai");
}

#[tokio::test]
async fn a_plan_is_sent_where_a_person_plans_and_a_delivery_is_edited_and_split() {
    let world = world(|rules| {
        rules.plan_by = domain::delivery::PlanBy::Human;
    })
    .await;
    let id = create(&world, "Add search").await;
    let path = |verb: &str| format!("/api/deliveries/{id}/{verb}");
    world.post(&path("start"), &json!({})).await.ok(200);
    let plan = json!({ "content": "1. Add the box.", "target_files": ["src/box.rs"] });
    let planned = world.post(&path("plan"), &plan).await.ok(200);
    assert_eq!(planned["plan"]["content"], "1. Add the box.");
    assert_eq!(planned["run_status"], "succeeded");
    assert_eq!(planned["why"]["code"], "awaits_approval");
    let edit = json!({
        "summary": "Add a search box", "priority": 9,
        "refs": [{ "role": "trigger", "type": "jira", "label": "SHOP-7", "url": "https://jira.example.com/SHOP-7" }],
    });
    let path_of_it = format!("/api/deliveries/{id}");
    let edited = world
        .call(Method::PATCH, &path_of_it, (&[], &edit.to_string()))
        .await
        .ok(200);
    assert_eq!(
        (
            &edited["summary"],
            &edited["priority"],
            &edited["refs"][0]["label"]
        ),
        (&json!("Add a search box"), &json!(9), &json!("SHOP-7"))
    );
    let children = json!({ "children": [
        { "summary": "The box", "acceptance_criteria": ["it is there"] },
        { "summary": "The index" },
    ] });
    let split = world.post(&path("split"), &children).await.ok(200);
    assert_eq!(split["children"].as_array().unwrap().len(), 2);
    assert_eq!(split["why"]["code"], "parts_open");
    // Its parts are created after the answer, and wait to be started.
    let person = json!("person");
    assert_eq!(split["waits_for"]["who"], person);
    world.post(&path("cancel"), &json!({})).await.ok(200);
    let again = world.post(&path("retry"), &json!({})).await.ok(200);
    assert_eq!(again["waits_for"]["who"], person);
    assert_eq!(again["waits_for"]["for"], "parts");
}

/// Creations with odd words, and how each is refused: a code and a field.
fn odd_creations(secret: &str) -> Vec<(String, Value, &'static str, &'static str)> {
    let reference = |label: &str| json!({ "role": "trigger", "type": "jira", "label": label });
    vec![
        (
            "/api/deliveries".to_owned(),
            json!({ "repo": "acme/none", "summary": "x" }),
            "unknown_name",
            "repo",
        ),
        (
            "/api/deliveries".to_owned(),
            json!({ "repo": "acme/other", "summary": "x" }),
            "branch_missing",
            "repo",
        ),
        (
            "/api/deliveries".to_owned(),
            json!({ "repo": REPO }),
            "missing_field",
            "summary",
        ),
        (
            "/api/deliveries".to_owned(),
            json!({ "repo": REPO, "summary": " " }),
            "summary_empty",
            "summary",
        ),
        (
            "/api/deliveries".to_owned(),
            json!({ "repo": REPO, "summary": secret }),
            "secret_in_text",
            "summary",
        ),
        (
            "/api/deliveries".to_owned(),
            json!({ "repo": REPO, "summary": "x", "issue": 0 }),
            "bad_field",
            "issue",
        ),
        (
            "/api/deliveries".to_owned(),
            json!({ "repo": REPO, "summary": "x", "refs": vec![reference("SHOP-7"); 20] }),
            "too_many_refs",
            "refs",
        ),
        (
            "/api/deliveries".to_owned(),
            json!({ "repo": REPO, "summary": "x", "refs": [reference(" ")] }),
            "odd_label",
            "refs",
        ),
    ]
}

/// The same for orders about a delivery.
fn odd_orders(id: &str) -> Vec<(String, Value, &'static str, &'static str)> {
    let path = |verb: &str| format!("/api/deliveries/{id}/{verb}");
    let many: Vec<Value> = (0..21)
        .map(|_| json!({ "summary": "x", "acceptance_criteria": [] }))
        .collect();
    vec![
        (
            path("reject"),
            json!({ "reason": "\n" }),
            "reason_empty",
            "reason",
        ),
        (
            path("verdict"),
            json!({ "verdict": "not_pass", "sha": SHA }),
            "feedback_empty",
            "feedback",
        ),
        (
            path("plan"),
            json!({ "content": "  " }),
            "plan_empty",
            "content",
        ),
        (
            path("split"),
            json!({ "children": [] }),
            "odd_number_of_children",
            "children",
        ),
        (
            path("split"),
            json!({ "children": many }),
            "odd_number_of_children",
            "children",
        ),
        (
            path("split"),
            json!({ "children": [{ "summary": "", "acceptance_criteria": [] }] }),
            "summary_empty",
            "children",
        ),
    ]
}

#[tokio::test]
async fn odd_words_are_refused_by_field_and_nothing_is_stored() {
    let world = world(|_| {}).await;
    let id = create(&world, "Add search").await;
    let secret = "use ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let before = world.get("/api/deliveries").await.ok(200);
    let odd = odd_creations(secret).into_iter().chain(odd_orders(&id));
    for (at, body, code, field) in odd {
        let refused = world.post(&at, &body).await;
        assert_eq!(refused.code(422), code, "{body}: {refused:?}");
        assert_eq!(refused.json()["field"], field, "{body}: {refused:?}");
        assert!(!refused.text.contains(secret), "{refused:?}");
    }
    assert_eq!(world.get("/api/deliveries").await.ok(200), before);
}

#[tokio::test]
async fn a_job_that_belongs_to_no_delivery_takes_its_own_orders() {
    let world = world(|_| {}).await;
    let job = world.watched(|_| {}).await;
    let shown = world.get(&format!("/api/deliveries/{job}")).await.ok(200);
    assert_eq!(
        (&shown["kind"], &shown["phase"], &shown["seq"]),
        (&json!("adhoc"), &json!("implement"), &json!(0))
    );
    assert_eq!(shown["legal"], json!(["cancel"]));
    let start = format!("/api/deliveries/{job}/start");
    let refused = world.post(&start, &json!({})).await;
    assert_eq!(refused.code(409), "no_delivery");
    assert_eq!(refused.json()["legal"], json!(["cancel"]));
    let cancel = format!("/api/deliveries/{job}/cancel");
    let cancelled = world.post(&cancel, &json!({})).await.ok(200);
    assert_eq!(cancelled["run_status"], "failed");
    let shown = world.get(&format!("/jobs/{job}")).await.ok(200);
    assert_eq!(shown["state"], "cancelled");
}

/// The session waits with a plan of one step, or with one whose steps are not known.
pub(crate) fn wait_with_plan(watch: &mut Watch, plan: Option<&str>) {
    watch.state = SessionState::AwaitingPlanApproval;
    watch.attention = Attention::Plan {
        event: EventId::from_name("p"),
        since: watch.since,
        plan: plan.map(|id| Plan {
            id: id.parse().unwrap(),
            steps: vec![PlanStep {
                title: format!("Sweep by {id}"),
                description: String::new(),
            }],
        }),
    };
}

#[tokio::test]
async fn a_job_that_waits_with_a_plan_says_the_same_wherever_it_is_shown() {
    let world = world(|_| {}).await;
    let job = world
        .watched(|watch| wait_with_plan(watch, Some("p1")))
        .await;
    let shown = world.get(&format!("/api/deliveries/{job}")).await.ok(200);
    assert_eq!(
        (&shown["phase"], &shown["run_status"]),
        (&json!("plan"), &json!("blocked"))
    );
    assert_eq!(shown["plan"]["id"], "p1");
    assert_eq!(shown["plan"]["content"], "1. Sweep by p1");
    let open = async |path: String| {
        let why = world.get(&path).await.ok(200);
        let because = why["because"].as_array().unwrap().clone();
        let open = because.into_iter().filter(|it| it["code"] == "plan_open");
        open.collect::<Vec<_>>()
    };
    let told = [shown["why"].clone()];
    assert_eq!(open(format!("/jobs/{job}/why")).await, told);
    assert_eq!(open(format!("/api/deliveries/{job}/why")).await, told);
    let listed = world.get("/api/deliveries").await.ok(200);
    assert_eq!(listed["deliveries"][0]["why"], told[0]);
    let moved = json!({ "plan_id": "p0" });
    let approve = format!("/api/deliveries/{job}/approve");
    assert_eq!(world.post(&approve, &moved).await.code(409), "plan_moved");
}

#[tokio::test]
async fn what_stands_against_the_merge_is_said_in_the_list_and_in_the_answer() {
    let world = world(|_| {}).await;
    let job = in_review(&world).await;
    world
        .change(&job, |job| {
            if let JobPhase::Watching(watch) = &mut job.phase {
                watch.state = SessionState::Completed;
            }
        })
        .await;
    let shown = world.get(&format!("/api/deliveries/{job}")).await.ok(200);
    assert_eq!(
        (&shown["phase"], &shown["why"]["code"]),
        (&json!("verify"), &json!("needs_approval"))
    );
    let listed = world.get("/api/deliveries").await.ok(200);
    assert_eq!(listed["deliveries"][0]["why"], shown["why"]);
    let path = format!("/api/deliveries/{job}/why");
    let why = world.get(&path).await.ok(200);
    let because = why["because"].as_array().unwrap();
    assert_eq!(because[0], shown["why"]);
    let times = because.iter().filter(|it| **it == shown["why"]).count();
    assert_eq!(times, 1, "{because:?}");
}

#[tokio::test]
async fn unknown_deliveries_are_not_found_and_a_reader_may_order_nothing() {
    let world = world(|_| {}).await;
    let id = create(&world, "Add search").await;
    for name in ["0123456789ab", "acme%2Fshop%2399", "nothing"] {
        let refused = world.get(&format!("/api/deliveries/{name}")).await;
        assert_eq!(refused.code(404), "no_such_delivery", "{name}");
    }
    let reader = world.token("looker", Rights::new(Scope::Read, None)).await;
    let start = format!("/api/deliveries/{id}/start");
    let refused = as_caller(&world, &start, (&reader, &json!({}))).await;
    assert_eq!(refused.code(403), "scope_too_small");
}

/// Plays the dispatcher that reads an issue.
async fn reads(world: &World, read: ReadIssue) {
    let issue: IssueRef = "acme/shop#12".parse().unwrap();
    let mut again = tokio::time::interval(std::time::Duration::from_millis(10));
    let wanted = Work::Issue {
        issue: issue.clone(),
    };
    while !world.messages().await.contains(&wanted) {
        again.tick().await;
    }
    keep_issue(world, read).await;
}

/// Keeps what was read of issue 12.
async fn keep_issue(world: &World, read: ReadIssue) {
    let issue: IssueRef = "acme/shop#12".parse().unwrap();
    world.put(keys::issue_read(&issue), &read).await;
}

/// Issue 12.
fn facts(is_open: bool, is_pull: bool) -> IssueFacts {
    IssueFacts {
        number: 12,
        title: "Add search".to_owned(),
        body: Some("A box.\n- [ ] finds by name".to_owned()),
        labels: Vec::new(),
        is_open,
        closed_by: None,
        is_pull,
        updated_at: "2026-03-01T12:00:00Z".parse().unwrap(),
    }
}

#[tokio::test]
async fn an_issue_is_read_where_nothing_says_what_is_wanted() {
    let order = json!({ "repo": REPO, "issue": 12, "acceptance_criteria": ["mine"] });
    let cases = [
        (Some(facts(true, false)), ""),
        (Some(facts(false, false)), "issue_closed"),
        (Some(facts(true, true)), "issue_is_pull"),
        (None, "issue_unreadable"),
    ];
    for (facts, code) in cases {
        let world = world(|_| {}).await;
        let now = world.clock.now();
        let gone = Failure::new(FailureClass::NotFound, "there is no such issue");
        let read = match &facts {
            Some(facts) => ReadIssue::from_facts(facts, now),
            None => ReadIssue::failed(&gone, now),
        };
        let (answer, ()) = tokio::join!(world.post("/api/deliveries", &order), reads(&world, read));
        if code.is_empty() {
            let made = answer.ok(201);
            assert_eq!(made["summary"], "GitHub Issue #12: Add search");
            assert_eq!(made["description"], "A box.\n- [ ] finds by name");
            assert_eq!(made["acceptance_criteria"], json!(["mine"]));
            continue;
        }
        assert_eq!(answer.code(422), code);
        assert_eq!(answer.json()["field"], "issue");
        let listed = world.get("/api/deliveries").await.ok(200);
        assert_eq!(listed["deliveries"], json!([]));
    }
}
