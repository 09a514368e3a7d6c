//! What the API shows.

use domain::event::{Event, Occurrence};
use domain::ids::{AgentName, EventId, JobId};
use domain::job::{Attention, JobPhase};
use domain::session::{Plan, PlanStep, SessionState};
use domain::wake::Wake;
use engine::keys;
use engine::ports::Clock;
use engine::settings::{PatchPage, ReadArtifacts};
use engine::work::Work;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::merging::in_review;
use crate::world::{SESSION, World, shop_pull};

const LEAKED: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

#[tokio::test]
async fn a_job_is_shown_by_its_id_and_by_its_session() {
    let world = World::new().await;
    let id = world
        .watched(|watch| {
            watch.state = SessionState::AwaitingUserFeedback;
            watch.pull = Some(shop_pull());
            watch.attention = Attention::Question {
                event: EventId::from_name("q"),
                since: watch.since,
                text: Some(format!("May I use {LEAKED}?")),
            };
        })
        .await;
    let shown = world.get(&format!("/jobs/{id}")).await.ok(200);
    assert_eq!(
        shown,
        json!({
            "job_id": id.to_string(), "state": "asking", "session_id": SESSION,
            "session_state": "AWAITING_USER_FEEDBACK", "session_url": "https://jules.google.com/session/1",
            "repo": "acme/shop", "branch": "main", "title": "Tidy the shop.", "attempt": 1,
            "created_at": "2026-03-01T12:00:00Z", "pull_request": "acme/shop#7",
            "pull_request_url": "https://github.com/acme/shop/pull/7", "agent": null, "priority": 5,
            "account": "default", "last_activity": "2026-03-01T12:00:00Z",
            "waiting": {"for": "question", "since": "2026-03-01T12:00:00Z", "text": "May I use [secret]?"},
            "waits_for": {
                "who": "person", "for": "question", "since": "2026-03-01T12:00:00Z",
                "sentence": "a person: a question is open",
            },
            "ended": null,
        })
    );
    let by_session = world.get(&format!("/jobs/{SESSION}")).await.ok(200);
    assert_eq!(by_session, shown);
}

#[tokio::test]
async fn a_waiting_plan_is_shown_with_its_steps() {
    let world = World::new().await;
    let plan = Plan {
        id: "p1".parse().unwrap(),
        steps: vec![PlanStep {
            title: "Sweep".to_owned(),
            description: String::new(),
        }],
    };
    let id = world
        .watched(|watch| {
            watch.state = SessionState::AwaitingPlanApproval;
            watch.attention = Attention::Plan {
                event: EventId::from_name("p"),
                since: watch.since,
                plan: Some(plan),
            };
        })
        .await;
    let shown = world.get(&format!("/jobs/{id}")).await.ok(200);
    assert_eq!(shown["state"], "plan-waits");
    assert_eq!(shown["waiting"]["plan_id"], "p1");
    assert_eq!(
        shown["waiting"]["steps"],
        json!([{"title": "Sweep", "description": ""}])
    );
}

#[tokio::test]
async fn the_newest_jobs_come_first_and_the_list_tells_whether_there_are_more() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for repo in ["acme/shop", "acme/other", "Acme/Shop"] {
        world.clock.advance(jiff::SignedDuration::from_secs(1));
        ids.push(world.job(repo).await.to_string());
    }
    let list = async |query: &str| {
        let list = world.get(&format!("/jobs{query}")).await.ok(200);
        let jobs = list["jobs"].as_array().unwrap().iter();
        let ids: Vec<String> = jobs
            .map(|job| job["job_id"].as_str().unwrap().to_owned())
            .collect();
        (ids, list["more"].as_bool().unwrap())
    };
    let [first, second, third] = [&ids[0], &ids[1], &ids[2]].map(String::clone);
    let all = vec![third.clone(), second.clone(), first.clone()];
    assert_eq!(list("").await, (all.clone(), false));
    assert_eq!(list("?limit=3").await, (all, false));
    assert_eq!(list("?limit=2").await, (vec![third.clone(), second], true));
    let of_shop = vec![third.clone(), first];
    assert_eq!(list("?repo=acme/shop").await, (of_shop, false));
    assert_eq!(list("?repo=acme%2Fshop&limit=1").await, (vec![third], true));
    for listed in ["jobs", "pulls", "api/deliveries"] {
        let missing = world.get(&format!("/{listed}?repo=acme/none")).await;
        assert_eq!(missing.code(404), "no_such_source");
        let problem = missing.ok(404);
        let told = (&problem["field"], &problem["detail"]);
        let wanted = (&json!("repo"), &json!("there is no source `acme/none`"));
        assert_eq!(told, wanted, "{listed}");
    }
}

#[tokio::test]
async fn the_list_holds_fifty_unless_told_otherwise() {
    let world = World::new().await;
    for _ in 0..51 {
        world.job("acme/shop").await;
    }
    let list = world.get("/jobs").await.ok(200);
    assert_eq!(list["jobs"].as_array().unwrap().len(), 50);
    assert_eq!(list["more"], true);
}

#[tokio::test]
async fn why_tells_reasons_and_the_next_look() {
    let world = World::new().await;
    let id = world.job("acme/shop").await;
    let why = world.get(&format!("/jobs/{id}/why")).await.ok(200);
    assert_eq!(why["job_id"], id.to_string());
    assert_eq!(why["state"], "queued");
    assert_eq!(why["because"][0]["code"], "no_account");
    assert!(why["next_look"].is_string(), "{why}");
}

fn question(world: &World, job: &JobId) -> Event {
    Event {
        job: Some(job.clone()),
        attempt: 1,
        status: "AWAITING_USER_FEEDBACK".to_owned(),
        ..Event::new(
            EventId::from_name("question"),
            "default".parse().unwrap(),
            world.clock.now(),
            Occurrence::Question {
                text: Some(format!("Is {LEAKED} right?")),
            },
        )
    }
}

#[tokio::test]
async fn events_are_shown_as_agents_get_them() {
    let world = World::new().await;
    let id = world.job("acme/shop").await;
    let none = world.get(&format!("/jobs/{id}/events")).await.ok(200);
    assert_eq!(none["events"], json!([]));
    let event = question(&world, &id);
    world.put(keys::event(&id, &event.id), &event).await;
    let shown = world.get(&format!("/jobs/{id}/events")).await.ok(200);
    assert_eq!(shown["events"][0]["event"], "question");
    assert_eq!(shown["events"][0]["event_id"], event.id.to_string());
    assert_eq!(shown["events"][0]["repo"], "acme/shop");
    assert_eq!(shown["events"][0]["message"], "Is [secret] right?");
}

#[tokio::test]
async fn an_agent_acknowledges_its_event() {
    let world = World::new().await;
    let id = world.job("acme/shop").await;
    let event = question(&world, &id);
    let agent: AgentName = "zai".parse().unwrap();
    let path = format!("/events/{}/ack", event.id);
    let said = world.post(&path, &json!({"agent": "zai"})).await;
    assert_eq!(said.code(404), "no_such_wake");
    let wake = Wake::new(event.clone(), agent.clone(), None, world.clock.now());
    world.put(keys::wake(&agent, &event.id), &wake).await;
    for _ in 0..2 {
        let said = world.post(&path, &json!({"agent": "zai"})).await.ok(200);
        assert_eq!(said["event_id"], event.id.to_string());
    }
    let kept = world.backend.store.wake(&agent, &event.id).await.unwrap();
    assert!(kept.unwrap().value.is_settled());
    let other = world.post(&path, &json!({"agent": "other"})).await;
    assert_eq!(other.code(404), "no_such_wake");
}

#[tokio::test]
async fn status_counts_jobs_and_messages() {
    let world = World::new().await;
    world.job("acme/shop").await;
    let status = world.get("/status").await.ok(200);
    assert_eq!(status["jobs"], json!({"queued": 1}));
    assert_eq!(
        status["queue"],
        json!({"waiting": 1, "dead": 0, "oldest": "2026-03-01T12:00:00Z"})
    );
    assert_eq!(status["observe_only"], false);
}

#[tokio::test(start_paused = true)]
async fn artifacts_that_nobody_reads_in_time_are_for_later() {
    let world = World::new().await;
    let id = world.job("acme/shop").await;
    world.messages().await;
    let answer = world.get(&format!("/jobs/{id}/artifacts")).await;
    let later = answer.ok(202);
    assert_eq!(answer.header("location"), format!("/jobs/{id}/artifacts"));
    assert_eq!(later["ask_again"], format!("/jobs/{id}/artifacts"));
    assert_eq!(world.messages().await, [Work::Artifacts { id }]);
}

#[tokio::test]
async fn fresh_artifacts_are_shown_and_a_failed_reading_is_told() {
    let world = World::new().await;
    let id = world.job("acme/shop").await;
    let mut read = ReadArtifacts {
        read_at: world.clock.now(),
        pull_urls: vec!["https://github.com/acme/shop/pull/7".to_owned()],
        patch: Some(format!("+key = {LEAKED}\r\n+\u{200b}\n")),
        patch_cut: false,
        patch_bytes: 0,
        further: 0,
        base_commit: None,
        suggested_message: None,
        failure: None,
    };
    world.put(keys::artifacts(&id), &read).await;
    let shown = world.get(&format!("/jobs/{id}/artifacts")).await.ok(200);
    assert_eq!(shown["patch"], "+key = [secret]\r\n+\u{200b}\n");
    assert_eq!(shown["pull_urls"][0], "https://github.com/acme/shop/pull/7");
    read.failure = Some(format!("503 for {LEAKED}"));
    world.put(keys::artifacts(&id), &read).await;
    let answer = world.get(&format!("/jobs/{id}/artifacts")).await;
    assert_eq!(answer.code(502), "jules_unread");
    assert!(!answer.text.contains(LEAKED));
}

/// A patch of two files, the second of which begins beyond the first piece.
async fn in_two_pieces(world: &World) -> (JobId, String) {
    let id = world.job("acme/shop").await;
    let heading = |name: &str| {
        format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1 @@\n")
    };
    let first = heading("a.rs") + &"+a\n".repeat(7_000);
    let second = heading("b.rs") + &"+b\n".repeat(5_000);
    let read = ReadArtifacts {
        read_at: world.clock.now(),
        pull_urls: Vec::new(),
        patch_bytes: (first.len() + second.len()) as u64,
        patch: Some(first),
        patch_cut: false,
        further: 1,
        base_commit: None,
        suggested_message: None,
        failure: None,
    };
    let piece = PatchPage {
        read_at: read.read_at,
        patch: second.clone(),
    };
    world.put(keys::artifacts(&id), &read).await;
    world.put(keys::artifacts_page(&id, 1), &piece).await;
    (id, second)
}

#[tokio::test]
async fn a_patch_is_read_on_page_by_page() {
    let world = World::new().await;
    let (id, second) = in_two_pieces(&world).await;
    let first = world.get(&format!("/jobs/{id}/artifacts")).await.ok(200);
    assert_eq!(
        (&first["patch_cut"], &first["truncated"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(first["next_page"], 1);
    let rest = world
        .get(&format!("/jobs/{id}/artifacts?page=1"))
        .await
        .ok(200);
    assert_eq!(
        (&rest["patch"], &rest["next_page"]),
        (&json!(second), &Value::Null)
    );
    assert_eq!(rest["patch_bytes"], first["patch_bytes"]);
    for (page, status, code) in [
        ("2", 404, "no_such_page"),
        ("100", 400, "bad_parameter"),
        ("-1", 400, "bad_parameter"),
    ] {
        let answer = world
            .get(&format!("/jobs/{id}/artifacts?page={page}"))
            .await;
        assert_eq!(answer.code(status), code);
        assert_eq!(answer.json()["field"], "page");
    }
    // A piece of an earlier reading does not belong to this one.
    let piece = PatchPage {
        read_at: world.clock.now() - SignedDuration::from_secs(1),
        patch: second,
    };
    world.put(keys::artifacts_page(&id, 1), &piece).await;
    let answer = world.get(&format!("/jobs/{id}/artifacts?page=1")).await;
    assert_eq!(answer.code(404), "no_such_page");
}

#[tokio::test]
async fn a_tool_reads_a_file_beyond_the_first_piece_within_its_budget() {
    let world = World::new().await;
    let (id, second) = in_two_pieces(&world).await;
    let (mut offset, mut whole) = (json!(null), String::new());
    loop {
        let wanted = json!({
            "job_id": id.to_string(), "show": "file", "path": "b.rs", "max_bytes": 6_000, "offset": offset,
        });
        let answer = crate::mcp::tool(&world, "jules_get_artifacts", wanted).await;
        let piece = answer["patch"].as_str().unwrap();
        assert!(piece.len() <= 6_000);
        whole.push_str(piece);
        offset = answer["next_offset"].clone();
        assert_eq!(answer["cut"], json!(!offset.is_null()));
        assert_eq!(answer["patch_cut"], false);
        if offset.is_null() {
            break;
        }
    }
    assert_eq!(whole, second);
}

#[tokio::test]
async fn an_ended_job_tells_how() {
    let world = World::new().await;
    let id = world.job("acme/shop").await;
    let path = format!("/jobs/{id}:cancel");
    let shown = world.post(&path, &json!({"by": "dora"})).await.ok(200);
    assert_eq!(shown["state"], "cancelled");
    assert_eq!(shown["ended"]["how"], "cancelled");
    assert_eq!(shown["ended"]["by"], "dora over HTTP");
    let job = world.backend.store.job(&id).await.unwrap().unwrap().value;
    assert!(matches!(job.phase, JobPhase::Ended(_)));
}

#[tokio::test]
async fn a_pull_request_that_nobody_knows_is_told_as_such() {
    let world = World::new().await;
    let why = world.get("/pulls/acme/shop/7/why").await.ok(200);
    assert_eq!(why["job_id"], json!(null));
    assert_eq!(why["pull_request"], "acme/shop#7");
    let codes = why["because"].as_array().unwrap();
    assert!(codes.iter().any(|it| it["code"] == "not_ours"), "{why}");
    for bad in [
        "/pulls/acme/shop/0/why",
        "/pulls/acme/shop/x/why",
        "/pulls/a%2Fb/shop/1/why",
    ] {
        let problem = world.get(bad).await;
        assert_eq!(problem.status.as_u16(), 400, "{bad}");
    }
}

#[tokio::test]
async fn a_list_goes_on_from_its_cursor_whoever_came_since() {
    let world = World::new().await;
    let mut made = Vec::new();
    for n in 0..7 {
        made.push(world.job("acme/shop").await.to_string());
        world.job("acme/other").await;
        if n % 2 == 0 {
            world.clock.advance(SignedDuration::from_millis(1));
        }
    }
    made.reverse();
    for limit in [1, 2, 3, 7, 8] {
        let (mut seen, mut query) = (Vec::new(), format!("/jobs?repo=acme/shop&limit={limit}"));
        loop {
            let page = world.get(&query).await.ok(200);
            let jobs = page["jobs"].as_array().unwrap();
            assert!(jobs.len() <= limit);
            seen.extend(
                jobs.iter()
                    .map(|job| job["job_id"].as_str().unwrap().to_owned()),
            );
            let Some(cursor) = page["next_cursor"].as_str() else {
                assert_eq!(page["more"], false);
                break;
            };
            assert_eq!(page["more"], true);
            // New jobs come before the cursor.
            world.job("acme/shop").await;
            query = format!("/jobs?repo=acme/shop&limit={limit}&cursor={cursor}");
        }
        let old: Vec<_> = seen.iter().filter(|id| made.contains(id)).collect();
        assert_eq!(old, made.iter().collect::<Vec<_>>(), "{limit}");
        let newest = world.get("/jobs?repo=acme/shop&limit=200").await.ok(200);
        let newest = newest["jobs"].as_array().unwrap();
        assert!(newest.len() > made.len());
        assert_eq!(newest[newest.len() - 1]["job_id"], made[6].as_str());
    }
}

#[tokio::test]
async fn jobs_are_listed_by_their_states() {
    let world = World::new().await;
    let queued = world.job("acme/shop").await;
    let working = world.watched(|_| {}).await;
    let ids = async |state: &str| {
        let listed = world.get(&format!("/jobs?state={state}")).await.ok(200);
        let jobs = listed["jobs"].as_array().unwrap().iter();
        let mut ids: Vec<_> = jobs.map(|job| job["job_id"].clone()).collect();
        ids.sort_by_key(ToString::to_string);
        ids
    };
    assert_eq!(ids("queued").await, [json!(queued)]);
    assert_eq!(ids("working").await, [json!(working)]);
    assert_eq!(ids("working,queued").await.len(), 2);
    assert_eq!(ids("merged").await.len(), 0);
    let refused = world.get("/jobs?state=wroking").await;
    assert_eq!(refused.code(400), "bad_parameter");
    assert!(
        refused
            .text
            .contains("`wroking` is no state; there are queued")
    );
}

#[tokio::test]
async fn open_pull_requests_are_listed_with_their_pages() {
    let world = World::new().await;
    assert_eq!(world.get("/pulls").await.ok(200), json!({ "pulls": [] }));
    let job = in_review(&world).await;
    let listed = world.get("/pulls?repo=Acme/Shop").await.ok(200);
    let pull = &listed["pulls"][0];
    assert_eq!(pull["pull_request"], "acme/shop#7");
    assert_eq!(pull["url"], "https://github.com/acme/shop/pull/7");
    assert_eq!(pull["job_id"], job.as_str());
    assert_eq!(world.get("/pulls").await.ok(200), listed);
    let other = world.get("/pulls?repo=acme/other").await.ok(200);
    assert_eq!(other, json!({ "pulls": [] }));
}
