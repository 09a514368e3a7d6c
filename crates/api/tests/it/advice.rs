//! What is advised at this API and over MCP: it is accepted as things are, and names a route or a tool, never a shell command.

use client::mcp::Server;
use domain::ids::{EventId, JobId};
use domain::job::{ATTEMPTS_MAX, Attention, EndReason, Ending, JobPhase, Origin};
use domain::session::{Plan, SessionState};
use engine::ports::Clock;
use serde_json::{Value, json};

use crate::mcp::call_of;
use crate::merging::in_review;
use crate::world::{SHA, World};

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Queued,
    Working,
    Asking,
    Planning,
    Paused,
    InReview,
    Merged,
    Cancelled,
    Adopted,
    Exhausted,
}

const STATES: [State; 10] = [
    State::Queued,
    State::Working,
    State::Asking,
    State::Planning,
    State::Paused,
    State::InReview,
    State::Merged,
    State::Cancelled,
    State::Adopted,
    State::Exhausted,
];

async fn world(state: State) -> (World, JobId) {
    let world = World::new().await;
    let since = world.clock.now();
    let event = EventId::from_name("asked");
    let id = match state {
        State::Queued => world.job("acme/shop").await,
        State::Working | State::Merged | State::Cancelled | State::Adopted | State::Exhausted => {
            world.watched(|_| {}).await
        }
        State::Asking => {
            world
                .watched(|watch| {
                    let text = Some("Which colour?".to_owned());
                    watch.attention = Attention::Question { event, since, text };
                })
                .await
        }
        State::Planning => {
            world
                .watched(|watch| {
                    let (id, steps) = ("plan".parse().unwrap(), Vec::new());
                    let plan = Some(Plan { id, steps });
                    watch.state = SessionState::AwaitingPlanApproval;
                    watch.attention = Attention::Plan { event, since, plan };
                })
                .await
        }
        State::Paused => {
            world
                .watched(|watch| {
                    watch.state = SessionState::Paused;
                    watch.announced.stuck_at = Some(since);
                    watch.announced.stuck_announcements = 1;
                })
                .await
        }
        State::InReview => in_review(&world).await,
    };
    let Some(how) = end(state) else {
        return (world, id);
    };
    world
        .change(&id, |job| {
            if state == State::Adopted {
                job.origin = Origin::Adopted;
            }
            if state == State::Exhausted {
                job.attempt = ATTEMPTS_MAX;
            }
            job.phase = JobPhase::Ended(Ending {
                at: since,
                session: job.session().cloned(),
                pull: None,
                how,
                plan_unreviewed: false,
            });
        })
        .await;
    (world, id)
}

/// How a job in a state has ended, if it has.
fn end(state: State) -> Option<EndReason> {
    match state {
        State::Queued
        | State::Working
        | State::Asking
        | State::Planning
        | State::Paused
        | State::InReview => None,
        State::Merged => Some(EndReason::Merged {
            sha: SHA.parse().unwrap(),
        }),
        State::Cancelled | State::Adopted | State::Exhausted => Some(EndReason::Cancelled {
            by: "me".to_owned(),
        }),
    }
}

/// What is sent with an order.
fn body(path: &str) -> Value {
    match path.rsplit('/').next() {
        Some("messages") => json!({ "message": "Use green" }),
        Some("jobs") => json!({ "repo": "acme/shop", "branch": "main", "prompt": "More" }),
        Some(_) | None => json!({}),
    }
}

fn advised(answer: &Value) -> Vec<(String, Option<String>)> {
    let listed = answer["next"].as_array().cloned().unwrap_or_default();
    let one = |next: &Value| {
        let word = next["advice"].as_str().unwrap().to_owned();
        (word, next["route"].as_str().map(str::to_owned))
    };
    listed.iter().map(one).collect()
}

/// Does what a route says, in a world of its own, and sees that it is accepted.
async fn is_accepted(state: State, route: &str) {
    let (world, id) = world(state).await;
    // Ids are counted in every world alike.
    assert!(
        !route.contains("/jobs/0") || route.contains(&id.to_string()),
        "{route}"
    );
    let (method, path) = route.split_once(' ').unwrap();
    let answer = match method {
        "GET" => world.get(path).await,
        _ => world.post(path, &body(path)).await,
    };
    assert!(answer.status.is_success(), "{state:?}: {route}: {answer:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_door_advises_is_accepted() {
    let mut seen = Vec::new();
    for state in STATES {
        let (here, id) = world(state).await;
        let why = here.get(&format!("/jobs/{id}/why")).await;
        assert!(!why.text.contains("gaffer "), "{state:?}: {why:?}");
        let mut next = advised(&why.ok(200));
        for verb in ["messages", "approve", "merge", "retry", "cancel"] {
            let (here, id) = world(state).await;
            let path = format!("/jobs/{id}/{verb}");
            let answer = here.post(&path, &body(&path)).await;
            assert!(!answer.text.contains("gaffer "), "{state:?}: {answer:?}");
            next.extend(advised(&answer.json()));
        }
        for (word, route) in next {
            if let Some(route) = &route {
                is_accepted(state, route).await;
            }
            seen.push((state, word));
        }
    }
    for expected in [
        (State::Asking, "say"),
        (State::Planning, "approve"),
        (State::Paused, "say"),
        (State::InReview, "merge"),
        (State::Merged, "create_job"),
        (State::Cancelled, "retry"),
        (State::Adopted, "create_job"),
        (State::Exhausted, "create_job"),
        (State::Working, "cancel"),
    ] {
        let found = seen
            .iter()
            .any(|(state, word)| (*state, &**word) == expected);
        assert!(found, "{expected:?} is not among {seen:?}");
    }
    for (state, word) in seen {
        let over = [State::Merged, State::Adopted, State::Exhausted].contains(&state);
        assert!(!(over && word == "retry"), "{state:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_advised_over_mcp_names_tools() {
    let tools = Server::every_tool();
    for state in STATES {
        let (here, id) = world(state).await;
        let mut told = Vec::new();
        let job = json!({ "job_id": id });
        let words = json!({ "job_id": id, "message": "Use green" });
        for (tool, arguments) in [
            ("jules_why", &job),
            ("jules_get_job", &job),
            ("jules_list_events", &job),
            ("jules_send_message", &words),
            ("jules_approve_plan", &job),
            ("jules_merge_pr", &job),
            ("jules_request_retry", &job),
            ("jules_cancel_job", &job),
        ] {
            told.push(call_of(&here, tool, arguments.clone()).await.to_string());
        }
        for text in told {
            assert!(!text.contains("gaffer "), "{state:?}: {text}");
            for word in text.split('`').filter(|word| word.starts_with("jules_")) {
                assert!(tools.contains(&word), "{state:?}: `{word}` in {text}");
            }
        }
    }
    let (here, id) = world(State::Merged).await;
    let words = json!({ "job_id": id, "message": "Use green" });
    let refused = call_of(&here, "jules_send_message", words)
        .await
        .to_string();
    assert!(refused.contains("Next: `jules_create_job`"), "{refused}");
    let unknown = json!({ "repo": "acme/none", "prompt": "More" });
    let refused = call_of(&here, "jules_create_job", unknown)
        .await
        .to_string();
    assert!(
        refused.contains("Next: The operator of Gaffer adds the source"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_repository_without_a_source_is_advised_to_be_added() {
    let world = World::new().await;
    let unknown = json!({ "repo": "acme/none", "branch": "main", "prompt": "More" });
    let refused = world.post("/jobs", &unknown).await;
    assert_eq!(refused.code(422), "unknown_name");
    let route = Some("POST /api/sources".to_owned());
    assert_eq!(advised(&refused.json()), [("add_source".to_owned(), route)]);
    assert!(!refused.text.contains("gaffer "), "{refused:?}");
}
