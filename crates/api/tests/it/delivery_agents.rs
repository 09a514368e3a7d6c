//! What an agent may do with deliveries, and what it gets of them over MCP.

use domain::delivery::PlanBy;
use domain::event::{DeliveryAsk, Event, EventContext, Occurrence};
use domain::ids::EventId;
use domain::wake::{Channel, Wake};
use engine::backend::IndexEntry;
use engine::jobs::Order;
use engine::keys;
use serde_json::{Value, json};

use crate::deliveries::{as_caller, create, token, world};
use crate::mcp::call_of;
use crate::world::{SHA, World};

/// The wake of a delivery that wants a plan of its agent, in the agent's inbox.
async fn asks_for_a_plan(world: &World, delivery: &str) {
    let (zai, now) = ("zai".parse().unwrap(), world.backend.now());
    let event = Event {
        attempt: 1,
        status: "plan running".to_owned(),
        aid: EventContext {
            delivery: Some(delivery.parse().unwrap()),
            ..EventContext::default()
        },
        ..Event::new(
            EventId::from_name("plan"),
            "default".parse().unwrap(),
            now,
            Occurrence::Delivery {
                ask: DeliveryAsk::Plan,
                summary: "Add search".to_owned(),
            },
        )
    };
    let id = event.id.clone();
    let wake = Wake::new(event, zai, None, now).by(&[Channel::Inbox]);
    let zai = "zai".parse().unwrap();
    let place = IndexEntry {
        list: keys::listed(keys::inbox(&zai), format!("{}:{id}", now.as_nanosecond())),
        ..IndexEntry::default()
    };
    world.put_at(keys::wake(&zai, &id), &wake, place).await;
}

/// What a tool answers for programs.
async fn tool(world: &World, name: &str, arguments: Value) -> Value {
    let told = call_of(world, name, arguments).await;
    assert_eq!(told["result"]["isError"], false, "{told}");
    told["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn an_agent_starts_and_plans_what_its_wake_names() {
    let world = world(|rules| rules.plan_by = PlanBy::Agent).await;
    world.has_agent().await;
    let id = create(&world, "Add search").await;
    let started = tool(&world, "delivery_start", json!({ "id": id })).await;
    assert_eq!(started["state"], "plan running");
    asks_for_a_plan(&world, &id).await;
    let taken = tool(&world, "jules_take_wakes", json!({ "agent": "zai" })).await;
    let wake = &taken["wakes"][0];
    assert_eq!(
        (&wake["kind"], &wake["delivery_id"]),
        (&json!("plan"), &json!(id))
    );
    let plan = json!({
        "id": wake["delivery_id"], "content": "1. Add the box.", "target_files": ["src/box.rs"],
    });
    let planned = tool(&world, "delivery_plan", plan).await;
    assert_eq!(planned["state"], "plan succeeded");
    let shown = world.get(&format!("/api/deliveries/{id}")).await.ok(200);
    assert_eq!(shown["plan"]["content"], "1. Add the box.");
    assert_eq!(shown["plan"]["target_files"], json!(["src/box.rs"]));
    let parts = json!({ "id": id, "children": [{ "summary": "The box" }] });
    let split = tool(&world, "delivery_split", parts).await;
    assert_eq!(split["state"], "plan running");
}

#[tokio::test]
async fn an_agent_is_shown_what_a_delivery_refers_to() {
    let world = world(|_| {}).await;
    let page = "https://jira.example.com/SHOP-7";
    let refs = json!([
        { "role": "trigger", "type": "jira", "label": "SHOP-7", "url": page },
        { "role": "output", "type": "commit", "label": "abc" },
    ]);
    let wanted = json!({ "repo": "acme/shop", "summary": "Add search", "refs": refs });
    let made = tool(&world, "delivery_create", wanted).await;
    let shown = tool(&world, "delivery_get", json!({ "id": made["id"] })).await;
    let told = [
        format!("trigger:jira:SHOP-7 {page}"),
        "output:commit:abc".to_owned(),
    ];
    assert_eq!(shown["refs"], json!(told));
}

/// A job in a repository, of an agent of its own if one is named.
async fn job_in(world: &World, repo: &str, agent: Option<&str>) -> String {
    let order = Order {
        repo: repo.parse().unwrap(),
        branch: Some("main".parse().unwrap()),
        prompt: "Tidy up.".to_owned(),
        title: None,
        agent: agent.map(|agent| agent.parse().unwrap()),
        resume: None,
        priority: None,
        terms: domain::policy::Terms::default(),
    };
    let made = world.backend.create_job_by(order, None).await.unwrap();
    made.id.to_string()
}

/// Whether an order is refused because its sender is not the agent there.
async fn is_out_of_reach(world: &World, path: &str, (token, body): (&str, &Value)) -> bool {
    let answer = as_caller(world, path, (token, body)).await;
    answer.status == 403 && answer.code(403) == "not_its_source"
}

/// Wakes are those of one agent, whatever agent a request names.
#[tokio::test]
async fn an_agent_takes_and_ends_only_its_own_wakes() {
    let world = world(|_| {}).await;
    let bot = token(&world, "bot", Some("zai")).await;
    let person = token(&world, "mona", None).await;
    let event = "/events/evt_00000000000000000000000000000000";
    for (path, body) in [
        ("/agents/other/take".to_owned(), json!({})),
        (
            format!("{event}/extend"),
            json!({ "agent": "other", "attempt": 1 }),
        ),
        (
            format!("{event}/return"),
            json!({ "agent": "other", "attempt": 1 }),
        ),
        (format!("{event}/ack"), json!({ "agent": "other" })),
    ] {
        let refused = async |caller: &str| {
            let answer = as_caller(&world, &path, (caller, &body)).await;
            answer.status == 403 && answer.code(403) == "not_its_wakes"
        };
        assert!(refused(&bot).await, "{path}");
        assert!(!refused(&person).await, "{path}");
    }
    let own = as_caller(&world, "/agents/zai/take", (&bot, &json!({}))).await;
    assert_ne!(own.status, 403);
}

#[tokio::test]
async fn an_agent_orders_only_where_it_works() {
    let world = world(|_| {}).await;
    let bot = token(&world, "bot", Some("zai")).await;
    let person = token(&world, "mona", None).await;
    let delivery = create(&world, "Add search").await;
    let at = format!("/api/deliveries/{delivery}");
    let foreign = job_in(&world, "acme/shop", None).await;
    let feedback = json!({ "verdict": "pass", "sha": SHA });
    let children = json!({ "children": [{ "summary": "A", "acceptance_criteria": [] }] });
    let none = json!({});
    let orders = [
        (format!("{at}/start"), &none),
        (format!("{at}/approve"), &none),
        (format!("{at}/cancel"), &none),
        (format!("{at}/retry"), &none),
        (format!("{at}/verdict"), &feedback),
        (format!("{at}/split"), &children),
        (format!("{at}/run-implement"), &none),
        (format!("/api/deliveries/{foreign}/cancel"), &none),
        (format!("/jobs/{foreign}/cancel"), &none),
        (format!("/jobs/{foreign}:approve"), &none),
        (format!("/jobs/{foreign}/merge"), &none),
        (format!("/jobs/{foreign}/retry"), &none),
    ];
    for (path, body) in &orders {
        assert!(is_out_of_reach(&world, path, (&bot, body)).await, "{path}");
        assert!(
            !is_out_of_reach(&world, path, (&person, body)).await,
            "{path}"
        );
    }
    for (path, wanted) in [
        (
            "/api/deliveries",
            json!({ "repo": "acme/shop", "summary": "Mine" }),
        ),
        (
            "/jobs",
            json!({ "repo": "acme/shop", "prompt": "Mine.", "agent": "zai" }),
        ),
        (
            "/jobs/adopt",
            json!({ "repo": "acme/shop", "session_id": "154", "agent": "zai" }),
        ),
        ("/api/pipelines", json!({ "repo": "acme/shop" })),
        ("/api/sources/acme/shop/sync", json!({})),
    ] {
        assert!(
            is_out_of_reach(&world, path, (&bot, &wanted)).await,
            "{path}"
        );
    }
    // A person may make it the agent of one job, or of the source.
    let own = job_in(&world, "acme/shop", Some("zai")).await;
    let cancel = format!("/jobs/{own}/cancel");
    as_caller(&world, &cancel, (&bot, &none)).await.ok(200);
    world.has_agent().await;
    for (path, body) in &orders {
        assert!(!is_out_of_reach(&world, path, (&bot, body)).await, "{path}");
    }
}
