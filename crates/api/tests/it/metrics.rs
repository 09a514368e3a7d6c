//! `GET /metrics`, read by the rules of Prometheus's text format.

use std::collections::{BTreeMap, BTreeSet};

use domain::account::{Account, PollCounters};
use domain::event::{Event, Occurrence};
use domain::failure::FailureClass;
use domain::ids::{EventId, JobId};
use domain::job::Attention;
use domain::session::SessionState;
use domain::wake::{Wake, WakeState};
use engine::backend::IndexEntry;
use engine::keys;
use engine::settings::Agent;
use jiff::SignedDuration;

use serde_json::json;

use crate::world::World;

/// Samples of a page by their name and labels.
type Samples = BTreeMap<(String, Vec<(String, String)>), f64>;

/// Reads a page as the format has it, and fails where it breaks a rule.
fn parsed(page: &str) -> Samples {
    assert!(page.ends_with('\n'), "the last line ends too");
    let (mut samples, mut kinds) = (Samples::new(), BTreeMap::new());
    let (mut helped, mut current) = (BTreeSet::new(), String::new());
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(helped.insert(name.to_owned()), "{name} is told of twice");
            assert!(!help.is_empty() && !help.contains('\\'), "{line}");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge", "summary"].contains(&kind), "{line}");
            assert!(helped.contains(name), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            kinds.insert(name.to_owned(), kind.to_owned());
            current = name.to_owned();
            continue;
        }
        let (name, labels, value) = sample(line);
        let family = ["_sum", "_count"]
            .iter()
            .find_map(|end| name.strip_suffix(end));
        let family = family.filter(|family| kinds.get(*family).is_some_and(|it| it == "summary"));
        assert_eq!(
            family.unwrap_or(&name),
            current,
            "all of one figure stand together"
        );
        assert!(
            samples.insert((name, labels), value).is_none(),
            "{line} comes twice"
        );
    }
    samples
}

fn sample(line: &str) -> (String, Vec<(String, String)>, f64) {
    let end = line.find(['{', ' ']).unwrap();
    let name = &line[..end];
    assert!(is_name(name), "{line}");
    let mut rest = &line[end..];
    let mut labels = Vec::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"").unwrap();
            assert!(is_name(label) && !label.contains(':'), "{line}");
            let (value, after) = quoted(after);
            labels.push((label.to_owned(), value));
            rest = after.strip_prefix(',').unwrap_or(after);
        }
        rest = &rest[1..];
    }
    let value = rest.strip_prefix(' ').unwrap().parse().unwrap();
    (name.to_owned(), labels, value)
}

fn is_name(name: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    let goes_on = |c: char| begins(c) || c.is_ascii_digit();
    name.starts_with(begins) && name.chars().all(goes_on)
}

/// A value up to its closing quote, and what follows.
fn quoted(text: &str) -> (String, &str) {
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match chars.next().unwrap().1 {
                'n' => '\n',
                same @ ('\\' | '"') => same,
                other => panic!("\\{other} is no escape"),
            }),
            '\n' => panic!("a value goes over a line"),
            other => value.push(other),
        }
    }
    panic!("no closing quote: {text}")
}

#[tokio::test]
async fn open_deliveries_are_counted_by_their_place() {
    let world = World::new().await;
    let order = json!({ "repo": "acme/shop", "summary": "Add search" });
    world.post("/api/deliveries", &order).await.ok(201);
    let status = world.get("/status").await.ok(200);
    assert_eq!(status["deliveries"], json!({ "plan/pending": 1 }));
    let figures = world.get("/metrics").await.text;
    let told = "gaffer_deliveries{phase=\"plan\",run_status=\"pending\"} 1";
    assert!(figures.contains(told), "{figures}");
}

pub(crate) async fn add_account(world: &World) {
    let now = world.backend.now();
    let account = Account {
        counters: PollCounters {
            polls: 7,
            failed: vec![(FailureClass::Throttled, 2)],
            backoff_secs: 30,
            ..PollCounters::default()
        },
        ..Account::new("default".parse().unwrap(), now)
    };
    world.save(&account.name, &account).await;
}

/// A question that was acknowledged so many seconds after it was seen.
async fn acknowledge_after(world: &World, job: &JobId, seconds: i64) {
    let now = world.backend.now();
    let event = Event {
        job: Some(job.clone()),
        attempt: 1,
        seq: Some(1),
        ..Event::new(
            EventId::from_name(&seconds.to_string()),
            "default".parse().unwrap(),
            now - SignedDuration::from_secs(seconds),
            Occurrence::Question { text: None },
        )
    };
    let agent = Agent::new("zai".parse().unwrap());
    let wake = Wake::new(event.clone(), agent.name.clone(), None, event.observed_at);
    let wake = Wake {
        state: WakeState::Acknowledged { at: now },
        ..wake
    };
    let sort = format!("{:020}:{}", event.observed_at.as_nanosecond(), event.id);
    let place = IndexEntry {
        list: keys::listed(keys::EVENTS, sort),
        ..IndexEntry::default()
    };
    world
        .put_at(keys::event(job, &event.id), &event, place)
        .await;
    let of_wake = keys::wake(&agent.name, &event.id);
    world.put(of_wake, &wake).await;
    world.save(&agent.name, &agent).await;
}

#[tokio::test]
async fn figures_are_in_prometheus_text() {
    let world = World::new().await;
    let job = world
        .watched(|watch| {
            watch.state = SessionState::InProgress;
            watch.attention = Attention::None;
        })
        .await;
    add_account(&world).await;
    for seconds in [2, 4] {
        acknowledge_after(&world, &job, seconds).await;
    }
    let answer = world.get("/metrics").await;
    assert_eq!(answer.status.as_u16(), 200);
    assert!(
        answer
            .header("content-type")
            .starts_with("text/plain; version=0.0.4")
    );
    let samples = parsed(&answer.text);
    let of = |name: &str, labels: &[(&str, &str)]| {
        let labels = labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let found = samples.get(&(name.to_owned(), labels.collect()));
        *found.unwrap_or_else(|| panic!("no {name} with these labels: {}", answer.text))
    };
    assert_eq!(of("gaffer_jobs", &[("state", "working")]), 1.0);
    assert_eq!(of("gaffer_polls_total", &[("account", "default")]), 7.0);
    let throttled = [("account", "default"), ("code", "throttled")];
    assert_eq!(of("gaffer_poll_errors_total", &throttled), 2.0);
    let backoff = [("account", "default")];
    assert_eq!(of("gaffer_backoff_seconds_total", &backoff), 30.0);
    assert_eq!(of("gaffer_paused", &[]), 0.0);
    assert_eq!(of("gaffer_dead_letters", &[("queue", "work")]), 0.0);
    assert_eq!(of("gaffer_webhooks_total", &[("result", "refused")]), 0.0);
    let questions = [("event", "question"), ("kind", "question")];
    assert_eq!(of("gaffer_events_total", &questions), 2.0);
    assert_eq!(of("gaffer_wake_latency_seconds_count", &[]), 2.0);
    assert_eq!(of("gaffer_wake_latency_seconds_sum", &[]), 6.0);
    for (quantile, seconds) in [("0.5", 2.0), ("1", 4.0)] {
        let labels = [("quantile", quantile)];
        assert_eq!(of("gaffer_wake_latency_seconds", &labels), seconds);
    }
    assert!(!answer.text.contains(" -0\n"), "{}", answer.text);
    let day = [("account", "default"), ("window", "day")];
    assert!(of("gaffer_tasks_allowed", &day) > 0.0);
}
