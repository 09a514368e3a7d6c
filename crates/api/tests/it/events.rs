//! Events after the caller's cursor.

use std::time::Duration;

use api::ApiState;
use domain::delivery::{Delivery, open_events};
use domain::event::{Audience, DeliveryAsk, Event, EventContext, Occurrence};
use domain::ids::{DeliveryId, EventId, JobId};
use domain::job::{Announcement, Attention, Job, JobPhase, Reply, SentAnswer, Turn, Watch};
use domain::policy::Answerer;
use domain::wake::Wake;
use engine::backend::IndexEntry;
use engine::keys;
use engine::ports::Key;
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::watch;
use ulid::Ulid;

use crate::metrics::add_account;
use crate::world::{SESSION, TOKEN, World};

/// A completion that was seen so many seconds from now.
pub(crate) async fn seen(world: &World, job: &JobId, name: &str, seconds: i64) -> String {
    let event = event(world, job, name, seconds);
    put(world, &event).await;
    event.id.to_string()
}

fn event(world: &World, job: &JobId, name: &str, seconds: i64) -> Event {
    Event {
        job: Some(job.clone()),
        attempt: 1,
        status: "COMPLETED".to_owned(),
        ..Event::new(
            EventId::from_name(name),
            "default".parse().unwrap(),
            world.backend.now() + SignedDuration::from_secs(seconds),
            Occurrence::Completed { pulls: Vec::new() },
        )
    }
}

/// The question whether a delivery is to be started, which was seen so many seconds from now, before it has a job.
pub(crate) async fn start_asked(
    world: &World,
    delivery: &DeliveryId,
    (id, seconds): (EventId, i64),
) -> String {
    let key = keys::delivery_event(delivery, &id);
    let start = Event {
        id,
        job: None,
        what: Occurrence::Delivery {
            ask: DeliveryAsk::Start,
            summary: "Add search".to_owned(),
        },
        aid: EventContext {
            delivery: Some(delivery.clone()),
            ..EventContext::default()
        },
        ..event(world, &JobId::from_ulid(Ulid(1)), "start", seconds)
    };
    put_at(world, key, &start).await;
    start.id.to_string()
}

async fn put(world: &World, event: &Event) {
    let job = event.job.as_ref().unwrap();
    put_at(world, keys::event(job, &event.id), event).await;
}

async fn put_at(world: &World, key: Key, event: &Event) {
    let sort = format!("{:020}:{}", event.observed_at.as_nanosecond(), event.id);
    let place = IndexEntry {
        list: keys::listed(keys::EVENTS, sort),
        ..IndexEntry::default()
    };
    world.put_at(key, event, place).await;
}

/// Puts a wake of an agent, in place of the one that there is.
async fn wake_of(world: &World, wake: &Wake) {
    let key = keys::wake(&wake.agent, &wake.event.id);
    world.put(key, wake).await;
}

async fn ask(world: &World, query: &str) -> (Vec<String>, String) {
    let page = world.get(&format!("/events{query}")).await.ok(200);
    let id = |event: &Value| event["event_id"].as_str().unwrap().to_owned();
    let ids = page["events"].as_array().unwrap().iter().map(id).collect();
    (ids, page["cursor"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn each_event_is_told_once_in_order_and_none_is_passed_over() {
    let world = World::new().await;
    let job = world.job("acme/shop").await;
    let (none, begin) = ask(&world, "").await;
    assert!(none.is_empty());
    let (none, same) = ask(&world, &format!("?after={begin}")).await;
    assert_eq!((none.len(), same.as_str()), (0, begin.as_str()));
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(seen(&world, &job, &n.to_string(), n).await);
    }
    let (mut told, mut cursor) = (Vec::new(), begin);
    loop {
        let (page, next) = ask(&world, &format!("?limit=2&after={cursor}")).await;
        cursor = next;
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 2);
        told.extend(page);
    }
    assert_eq!(told, ids);
    // Another hand saw it before, and wrote it after the others.
    let late = seen(&world, &job, "late", 1).await;
    let (page, cursor) = ask(&world, &format!("?after={cursor}")).await;
    assert_eq!(page, [late]);
    assert!(ask(&world, &format!("?after={cursor}")).await.0.is_empty());
    // A reader without a cursor gets the newest.
    let (newest, _) = ask(&world, "?limit=2").await;
    assert_eq!(newest, ids[3..]);
    let (none, here) = ask(&world, "?limit=0").await;
    assert!(none.is_empty());
    assert!(ask(&world, &format!("?after={here}")).await.0.is_empty());
}

#[tokio::test]
async fn a_burst_is_told_to_its_end() {
    let world = World::new().await;
    let job = world.job("acme/shop").await;
    for n in 0..150 {
        seen(&world, &job, &n.to_string(), n / 100).await;
    }
    // A reader that begins in the middle gets what comes then.
    let (_, here) = ask(&world, "?limit=0").await;
    let next = seen(&world, &job, "next", 2).await;
    assert_eq!(ask(&world, &format!("?after={here}")).await.0, [next]);
    let (mut told, mut cursor) = (Vec::new(), "e1.0.".to_owned());
    loop {
        let (page, next) = ask(&world, &format!("?limit=20&after={cursor}")).await;
        if page.is_empty() {
            break;
        }
        told.extend(page);
        cursor = next;
    }
    assert_eq!(told.len(), 151);
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 151);
}

#[tokio::test]
async fn events_of_one_job_are_told_alone() {
    let world = World::new().await;
    let job = world.job("acme/shop").await;
    let other = world.job("acme/other").await;
    let mine = seen(&world, &job, "mine", 0).await;
    seen(&world, &other, "other", 1).await;
    let (told, cursor) = ask(&world, &format!("?job={job}")).await;
    assert_eq!(told, [mine]);
    let next = seen(&world, &job, "next", 2).await;
    let (told, _) = ask(&world, &format!("?job={job}&after={cursor}")).await;
    assert_eq!(told, [next]);
    let page = world.get("/events").await.ok(200);
    assert_eq!(page["events"][1]["repo"], "acme/other");
    for missing in ["01j00000000000000000000000", "15400000000000000009"] {
        let missing = world.get(&format!("/events?job={missing}")).await;
        assert_eq!(missing.code(404), "no_such_job");
    }
}

#[tokio::test]
async fn events_of_a_job_are_told_by_its_session_too() {
    let world = World::new().await;
    let job = world.watched(|_| ()).await;
    let mine = seen(&world, &job, "mine", 0).await;
    let (told, _) = ask(&world, &format!("?job={SESSION}")).await;
    assert_eq!(told, [mine]);
}

#[tokio::test]
async fn open_events_are_what_nobody_acknowledged_or_answered() {
    let world = World::new().await;
    let asked = EventId::from_name("asked");
    let question = asked.clone();
    let job = world.watched(|watch| ask_in(watch, &question)).await;
    let old = event(&world, &job, "old", -9);
    let what = Occurrence::Question { text: None };
    put(
        &world,
        &Event {
            what: what.clone(),
            ..old
        },
    )
    .await;
    let now = event(&world, &job, "asked", 0);
    put(&world, &Event { what, ..now }).await;
    let (mut done, mut woken) = (Vec::new(), Vec::new());
    for n in 1..=3 {
        let event = event(&world, &job, &n.to_string(), n);
        put(&world, &event).await;
        let wake = Wake::new(event, "zai".parse().unwrap(), None, world.backend.now());
        woken.push(wake.event.id.to_string());
        wake_of(&world, &wake.acknowledged(world.backend.now())).await;
        done.push(wake);
    }
    let asked = asked.to_string();
    // Acknowledged events are not open, nor is a question that is not asked any more.
    let (open, _) = ask(&world, "?open=1").await;
    assert_eq!(open, std::slice::from_ref(&asked));
    for wake in &done {
        wake_of(&world, wake).await;
    }
    let (first, cursor) = ask(&world, "?open=1&limit=2").await;
    assert_eq!(first, [asked.clone(), woken[0].clone()]);
    let (rest, cursor) = ask(&world, &format!("?open=1&limit=2&after={cursor}")).await;
    assert_eq!(rest, woken[1..]);
    let last = format!("?open=1&after={cursor}");
    assert!(ask(&world, &last).await.0.is_empty());
    // An answer that is on its way answers it.
    world.change(&job, answered_in).await;
    assert_eq!(ask(&world, "?open=1").await.0, woken);
    assert_eq!(ask(&world, &format!("?open=1&job={job}")).await.0, woken);
}

#[tokio::test]
async fn an_open_event_is_listed_however_many_came_after_it() {
    let world = World::new().await;
    add_account(&world).await;
    let (job, other) = (world.job("acme/shop").await, world.job("acme/shop").await);
    let of_job = seen(&world, &job, "waits", -300).await;
    let order = json!({ "repo": "acme/shop", "summary": "Add search" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let id: DeliveryId = made["id"].as_str().unwrap().parse().unwrap();
    let found = world.backend.must::<Delivery>(&id).await.unwrap();
    let asked = open_events(&found.value).remove(0);
    let of_delivery = start_asked(&world, &id, (asked, -299)).await;
    for n in 0..120 {
        let recorded = Event {
            audience: Audience::Nobody,
            ..event(&world, &other, &n.to_string(), n - 200)
        };
        put(&world, &recorded).await;
    }
    assert_eq!(ask(&world, "?open=1").await.0, [of_job, of_delivery]);
}

fn ask_in(watch: &mut Watch, event: &EventId) {
    let at = watch.since;
    watch.attention = Attention::Question {
        event: event.clone(),
        since: at,
        text: None,
    };
    watch.announced.question = Some(Announcement {
        key: String::new(),
        event: event.clone(),
        at,
        without_text: true,
        shown: true,
        after: None,
        through: None,
        to: Some(Audience::Agent),
        later: Vec::new(),
        turn: Some(Turn {
            who: Answerer::Agent,
            place: 0,
            until: None,
        }),
        suppressed: false,
        sent: Vec::new(),
    });
}

fn answered_in(job: &mut Job) {
    if let JobPhase::Watching(watch) = &mut job.phase {
        let told = watch.announced.question.as_mut().unwrap();
        told.sent.push(SentAnswer {
            at: watch.since,
            reply: Reply::Approval {
                plan: "p1".parse().unwrap(),
            },
        });
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_named() {
    let world = World::new().await;
    for (query, field) in [
        ("after=x", "after"),
        ("after=e1.1..zz", "after"),
        ("job=..%2Fx", "job"),
        ("limit=101", "limit"),
        ("limit=-1", "limit"),
        ("wait_seconds=21", "wait_seconds"),
        ("open=yes", "open"),
        ("wait=1", "wait"),
    ] {
        let refused = world.get(&format!("/events?{query}")).await;
        assert_eq!(refused.code(400), "bad_parameter", "{query}");
        assert_eq!(refused.json()["field"], field, "{query}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_held_open_for_a_while() {
    let mut world = World::new().await;
    let job = world.job("acme/shop").await;
    let (_, cursor) = ask(&world, "").await;
    let query = format!("?after={cursor}&wait_seconds=20");
    let began = tokio::time::Instant::now();
    ask(&world, &query).await;
    assert_eq!(
        began.elapsed(),
        Duration::ZERO,
        "a function answers at once"
    );
    let (_stop, stopped) = watch::channel(false);
    let state = ApiState::new(world.backend.clone(), vec![TOKEN.into()]);
    world.router = api::router(state.holding(stopped));
    ask(&world, &query).await;
    assert!(began.elapsed() >= Duration::from_secs(20));
    let (told, id) = tokio::join!(ask(&world, &query), seen(&world, &job, "it", 0));
    assert_eq!(told.0, [id]);
    assert!(began.elapsed() < Duration::from_secs(25));
}
