//! Runs of deliveries over HTTP, and what was said and done in them.

use std::time::Duration;

use api::ApiState;
use domain::conversation::Role;
use domain::delivery::{Delivery, EntryKind, Run, TranscriptEntry, TranscriptState};
use domain::failure::{Failure, FailureClass};
use domain::ids::{DeliveryId, EventId};
use domain::job::{JobPhase, Watch};
use domain::pipeline::{PartWork, PipelinePart, SprintPart};
use domain::session::SessionState;
use engine::jobs::adoption::Adoption;
use engine::keys;
use engine::ports::Clock;
use engine::readings::TranscriptPage;
use engine::work::Work;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::deliveries::{as_caller, token};
use crate::events::{seen, start_asked};
use crate::pages::Browser;
use crate::world::{Answer, TOKEN, World};

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// A delivery whose plan a session made, and where its run is.
async fn planned(world: &World, state: TranscriptState) -> (DeliveryId, Run) {
    let job = world.job("acme/shop").await;
    let order = json!({ "repo": "acme/shop", "summary": "Add search" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let id: DeliveryId = made["id"].as_str().unwrap().parse().unwrap();
    let start = format!("/api/deliveries/{id}/start");
    world.post(&start, &json!({})).await.ok(200);
    let mut delivery = world.backend.must::<Delivery>(&id).await.unwrap().value;
    let run = delivery.runs.first_mut().unwrap();
    run.job = Some(job);
    run.session = Some("4711".parse().unwrap());
    run.ended_at = Some(world.clock.now());
    run.transcript = state;
    let run = run.clone();
    world.put(keys::delivery(&id), &delivery).await;
    world.messages().await;
    (id, run)
}

fn pages(world: &World) -> [TranscriptPage; 2] {
    let entry = |kind, text: &str| TranscriptEntry {
        at: world.clock.now(),
        role: Role::Assistant,
        kind,
        text: text.to_owned(),
    };
    let page = |entries| TranscriptPage {
        read_at: world.clock.now(),
        pages: 2,
        left_out: 3,
        entries,
        failure: None,
    };
    [
        page(vec![entry(EntryKind::Thinking, &format!("It is {SECRET}"))]),
        page(vec![entry(EntryKind::Text, "Done.")]),
    ]
}

async fn keep(world: &World, (id, run): (&DeliveryId, &Run), pages: &[TranscriptPage]) {
    for (page, kept) in (1..).zip(pages) {
        let key = keys::transcript(id, &run.id, page);
        world.put(key, kept).await;
    }
}

/// Plays the dispatcher that reads a transcript.
async fn reads(world: &World, (id, run): (&DeliveryId, &Run), pages: &[TranscriptPage]) {
    let mut again = tokio::time::interval(Duration::from_millis(10));
    let wanted = Work::Transcript {
        id: id.clone(),
        run: run.id.clone(),
    };
    while !world.messages().await.contains(&wanted) {
        again.tick().await;
    }
    keep(world, (id, run), pages).await;
}

fn words(answer: &Value) -> Vec<&str> {
    let entries = answer["leader"].as_array().unwrap().iter();
    entries.filter_map(|entry| entry["text"].as_str()).collect()
}

#[tokio::test]
async fn a_kept_transcript_is_shown_page_by_page_and_as_a_text() {
    let world = World::new().await;
    let (id, run) = planned(&world, TranscriptState::Kept).await;
    keep(&world, (&id, &run), &pages(&world)).await;
    for name in [run.id.as_str(), "latest"] {
        let at = format!("/api/deliveries/{id}/runs/{name}");
        let shown = world.get(&at).await.ok(200);
        assert_eq!(shown["run"]["id"], run.id.as_str());
        assert_eq!(shown["run"]["session_id"], "4711");
        assert_eq!(shown["run"]["transcript"], "kept");
        let first = world.get(&format!("{at}/transcript")).await.ok(200);
        assert_eq!(words(&first), ["It is [secret]"]);
        assert_eq!(
            (&first["page"], &first["next_page"]),
            (&json!(1), &json!(2))
        );
        assert_eq!(first["leader"][0]["type"], "thinking");
        assert_eq!(
            (&first["left_out"], &first["mode"]),
            (&json!(3), &json!("plan"))
        );
        let last = world.get(&format!("{at}/transcript?page=2")).await.ok(200);
        assert_eq!((words(&last), last.get("next_page")), (vec!["Done."], None));
        let log = world.get(&format!("{at}/stream_log")).await;
        assert_eq!(log.header("content-type"), "text/plain; charset=utf-8");
        let lines: Vec<&str> = log.text.lines().collect();
        assert_eq!(lines[0], "(3 earlier entries are not kept)");
        assert_eq!(lines[3], "It is [secret]");
        assert!(lines[5].ends_with("assistant text"), "{lines:?}");
    }
    assert_eq!(world.messages().await, [], "Jules is not asked");
}

#[tokio::test]
async fn a_transcript_that_is_not_kept_is_read_afresh() {
    let world = World::new().await;
    let (id, run) = planned(&world, TranscriptState::Pending).await;
    let at = format!("/api/deliveries/{id}/runs/latest/transcript");
    let pages = pages(&world);
    let read = async |pages: &[TranscriptPage]| -> Answer {
        let reading = reads(&world, (&id, &run), pages);
        tokio::join!(world.get(&at), reading).0
    };
    let unread = Failure::new(FailureClass::Unavailable, "no answer");
    let failed = [TranscriptPage::nothing(world.clock.now(), Some(&unread))];
    let refused = read(&failed).await;
    assert_eq!(refused.code(502), "jules_unread");
    assert!(refused.text.contains("no answer"), "{refused:?}");
    world.clock.advance(jiff::SignedDuration::from_secs(60));
    let [first, second] = pages;
    let read_at = world.clock.now();
    let pages = [first, second].map(|page| TranscriptPage { read_at, ..page });
    assert_eq!(words(&read(&pages).await.ok(200)), ["It is [secret]"]);
}

#[tokio::test]
async fn there_is_no_transcript_where_no_session_did_a_run() {
    let world = World::new().await;
    let (id, run) = planned(&world, TranscriptState::None).await;
    let at = |run: &str| format!("/api/deliveries/{id}/runs/{run}");
    for part in ["transcript", "stream_log"] {
        let path = format!("{}/{part}", at(run.id.as_str()));
        assert_eq!(world.get(&path).await.code(404), "no_transcript");
    }
    for odd in ["00000000", "newest", "..%2f"] {
        let refused = world.get(&at(odd)).await;
        assert_eq!(refused.code(404), "no_such_run", "{odd}");
        assert_eq!(refused.json()["field"], "run", "{odd}");
    }
    let job = world.job("acme/shop").await;
    let bare = format!("/api/deliveries/{job}/runs/latest");
    let refused = world.get(&bare);
    assert_eq!(
        refused.await.code(404),
        "no_such_run",
        "a bare job has none"
    );
    let (id, run) = planned(&world, TranscriptState::Kept).await;
    keep(&world, (&id, &run), &pages(&world)).await;
    let at = format!("/api/deliveries/{id}/runs/latest/transcript");
    let refused = world.get(&format!("{at}?page=3")).await;
    assert_eq!(refused.code(404), "no_such_page");
    for odd in ["0", "9", "x"] {
        let refused = world.get(&format!("{at}?page={odd}")).await;
        assert_eq!(refused.code(400), "bad_parameter", "{odd}");
    }
}

async fn ordered(world: &World, id: &DeliveryId, verb: &str, body: Value) -> Answer {
    let path = format!("/api/deliveries/{id}/{verb}");
    world.post(&path, &body).await
}

#[tokio::test]
async fn an_execution_is_begun_by_its_name_and_runs_before_the_answer() {
    let world = World::new().await;
    let order = json!({ "repo": "acme/shop", "summary": "Add search" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let id: DeliveryId = made["id"].as_str().unwrap().parse().unwrap();
    let early = ordered(&world, &id, "run-implement", json!({})).await;
    assert_eq!(early.code(409), "not_here");
    assert_eq!(early.json()["legal"][0], "start");
    let path = format!("/api/deliveries/{id}/generate-plan");
    for _ in 0..2 {
        let begun = world.post_named(&path, &json!({}), "one").await;
        assert_eq!(begun.header("location"), format!("/api/deliveries/{id}"));
        let begun = begun.ok(202);
        assert_eq!(begun["phase"], "plan");
        assert_eq!(begun["run_status"], "running");
    }
    for verb in ["generate-plan", "run-implement", "run-review", "run-fix"] {
        let refused = ordered(&world, &id, verb, json!({})).await;
        assert_eq!(refused.code(409), "under_way", "{verb}");
    }
    let job = world.job("acme/shop").await;
    let bare = format!("/api/deliveries/{job}/run-fix");
    let bare = world.post(&bare, &json!({}));
    assert_eq!(bare.await.code(409), "no_delivery");
    let odd = ordered(&world, &id, "run-fix", json!({ "reason": " " })).await;
    assert_eq!(odd.code(422), "reason_empty");
}

#[tokio::test]
async fn an_analysis_of_a_failed_run_is_kept_with_it() {
    let world = World::new().await;
    let (id, run) = planned(&world, TranscriptState::Kept).await;
    let at = format!("runs/{}/analysis", run.id);
    let found = json!({ "analysis": "It forgot.", "suggestion": "Write tests." });
    let early = ordered(&world, &id, &at, found.clone()).await;
    assert_eq!(early.code(409), "not_failed");
    ordered(&world, &id, "cancel", json!({})).await.ok(200);
    let kept = ordered(&world, &id, &at, found.clone()).await.ok(200);
    assert_eq!(kept["run"]["analysis"]["text"], "It forgot.");
    assert_eq!(kept["run"]["analysis"]["suggestion"], "Write tests.");
    assert_eq!(kept["run"]["analysis"]["by"], "person over HTTP");
    // The newest that failed has no transcript, and is meant all the same.
    for verb in ["retry", "cancel"] {
        ordered(&world, &id, verb, json!({})).await.ok(200);
    }
    let latest = ordered(&world, &id, "runs/latest/analysis", found).await;
    let latest = latest.ok(200);
    assert_ne!(latest["run"]["id"], run.id.as_str());
    assert_eq!(latest["run"]["analysis"]["text"], "It forgot.");
    let long = "x".repeat(9_000);
    for (body, code, field) in [
        (json!({ "analysis": " " }), "analysis_empty", "analysis"),
        (json!({ "analysis": long }), "analysis_too_long", "analysis"),
        (
            json!({ "analysis": "x", "suggestion": "" }),
            "analysis_empty",
            "suggestion",
        ),
        (json!({ "analysis": SECRET }), "secret_in_text", "analysis"),
    ] {
        let refused = ordered(&world, &id, &at, body).await;
        assert_eq!(refused.code(422), code);
        assert_eq!(refused.json()["field"], field, "{code}");
    }
}

#[tokio::test]
async fn a_session_that_was_begun_elsewhere_is_collected_as_a_run() {
    let world = World::new().await;
    let (id, _) = planned(&world, TranscriptState::None).await;
    let job = world.watched(|_| {}).await;
    let watched = world.backend.must_job(&job).await.unwrap().value;
    let session = watched.session().unwrap().to_string();
    let wanted = json!({ "session_id": session });
    let working = ordered(&world, &id, "collect", wanted.clone()).await;
    assert_eq!(working.code(409), "session_working");
    let ends_as = |state| {
        world.change(&job, |job| {
            if let JobPhase::Watching(watch) = &mut job.phase {
                watch.state = state;
            }
        })
    };
    ends_as(SessionState::Completed).await;
    let other = DeliveryId::of_issue(&"acme/shop".parse().unwrap(), 9);
    let belongs_to = |to| world.change(&job, |job| job.delivery = to);
    belongs_to(Some(other)).await;
    let theirs = ordered(&world, &id, "collect", wanted.clone()).await;
    assert_eq!(theirs.code(409), "of_other_delivery");
    belongs_to(None).await;
    let collected = ordered(&world, &id, "collect", wanted.clone())
        .await
        .ok(200);
    let run = collected["runs"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&run["mode"], &run["status"], &run["job_id"]),
        (&json!("execution"), &json!("success"), &json!(job))
    );
    assert_eq!(
        (&run["session_id"], &run["transcript"]),
        (&json!(session), &json!("pending"))
    );
    let again = ordered(&world, &id, "collect", wanted).await;
    assert_eq!(again.code(409), "collected_already");
    let unread = ordered(&world, &id, "collect", json!({ "session_id": "4712" })).await;
    let unread = unread.ok(202);
    assert_eq!(unread["ask_again"], format!("/api/deliveries/{id}/collect"));
    let odd = ordered(&world, &id, "collect", json!({ "session_id": "a b" })).await;
    assert_eq!(odd.code(422), "bad_field");
}

#[tokio::test]
async fn a_session_belongs_to_the_one_delivery_that_collected_it() {
    let world = World::new().await;
    let (one, _) = planned(&world, TranscriptState::None).await;
    let order = json!({ "repo": "acme/shop", "summary": "Add a filter" });
    let made = world.post("/api/deliveries", &order).await.ok(201);
    let two: DeliveryId = made["id"].as_str().unwrap().parse().unwrap();
    let ended = |watch: &mut Watch| watch.state = SessionState::Completed;
    let job = world.watched(ended).await;
    let watched = world.backend.must_job(&job).await.unwrap().value;
    let wanted = json!({ "session_id": watched.session().unwrap() });
    let (first, second) = tokio::join!(
        ordered(&world, &one, "collect", wanted.clone()),
        ordered(&world, &two, "collect", wanted),
    );
    let (owner, refused) = match first.status.as_u16() {
        200 => (one, second),
        _ => (two, first),
    };
    assert_eq!(refused.code(409), "of_other_delivery");
    let problem = refused.json();
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(owner.as_str()), "{detail}");
    let shown = world.get(&format!("/api/deliveries/{job}")).await.ok(200);
    assert_eq!(shown["id"], owner.as_str());
    let list = world.get("/api/deliveries").await.ok(200);
    let mut listed = list["deliveries"].as_array().unwrap().iter();
    let of_job = DeliveryId::of_job(&job);
    assert!(listed.all(|it| it["id"] != of_job.as_str()), "{list}");
}

#[tokio::test]
async fn the_agent_of_a_collected_job_has_no_say_about_its_delivery() {
    let world = World::new().await;
    let (id, _) = planned(&world, TranscriptState::None).await;
    let ended = |watch: &mut Watch| watch.state = SessionState::Completed;
    let job = world.watched(ended).await;
    world
        .change(&job, |job| job.agent = Some("bob".parse().unwrap()))
        .await;
    let bob = token(&world, "bot", Some("bob")).await;
    let cancel = format!("/jobs/{job}/cancel");
    let watched = world.backend.must_job(&job).await.unwrap().value;
    let wanted = json!({ "session_id": watched.session().unwrap() });
    ordered(&world, &id, "collect", wanted).await.ok(200);
    let refused = as_caller(&world, &cancel, (&bob, &json!({}))).await;
    assert_eq!(refused.code(403), "not_its_source");
}

#[tokio::test]
async fn the_session_of_a_sprint_is_not_collected() {
    let world = World::new().await;
    let (id, _) = planned(&world, TranscriptState::None).await;
    let ended = |watch: &mut Watch| watch.state = SessionState::Completed;
    let job = world.watched(ended).await;
    let part = PipelinePart {
        pipeline: None,
        work: PartWork::Sprint(SprintPart {
            sprint: "3".parse().unwrap(),
            persona: None,
        }),
    };
    world
        .change(&job, |job| job.part = Some(Box::new(part)))
        .await;
    let watched = world.backend.must_job(&job).await.unwrap().value;
    let wanted = json!({ "session_id": watched.session().unwrap() });
    let refused = ordered(&world, &id, "collect", wanted).await;
    assert_eq!(refused.code(409), "of_pipeline_or_sprint");
    let kept = world.backend.must_job(&job).await.unwrap().value;
    assert_eq!(kept.delivery, None);
}

/// Plays the dispatcher that finds no such session.
async fn finds_no_session(world: &World) {
    let mut again = tokio::time::interval(Duration::from_millis(10));
    let id = loop {
        let mut asked = world.messages().await.into_iter();
        let adopt = asked.find_map(|work| {
            if let Work::Adopt { id } = work {
                Some(id)
            } else {
                None
            }
        });
        match adopt {
            Some(id) => break id,
            None => again.tick().await,
        };
    };
    let adoption = Adoption {
        session: "4712".parse().unwrap(),
        repo: "acme/shop".parse().unwrap(),
        agent: None,
        take_over: false,
        delivery: None,
        by: None,
        asked_at: world.clock.now(),
        refused: Some((
            "no_such_session".to_owned(),
            "Jules has no such session".to_owned(),
        )),
    };
    world.put(keys::adoption(&id), &adoption).await;
}

#[tokio::test]
async fn a_session_that_there_is_not_cannot_be_collected() {
    let world = World::new().await;
    let (id, _) = planned(&world, TranscriptState::None).await;
    let wanted = json!({ "session_id": "4712" });
    let collecting = ordered(&world, &id, "collect", wanted);
    let (refused, ()) = tokio::join!(collecting, finds_no_session(&world));
    assert_eq!(refused.code(404), "no_such_session");
    assert_eq!(refused.json()["field"], "session_id");
    let other = world.watched(|_| {}).await;
    world
        .change(&other, |job| job.repo = "acme/other".parse().unwrap())
        .await;
    let watched = world.backend.must_job(&other).await.unwrap().value;
    let wanted = json!({ "session_id": watched.session().unwrap() });
    let refused = ordered(&world, &id, "collect", wanted).await;
    assert_eq!(refused.code(422), "other_repository");
}

/// The kinds and ids of the events of a page.
fn kinds_and_ids(page: &Value) -> Vec<(&str, &str)> {
    let events = page["events"].as_array().unwrap().iter();
    let it = events.map(|event| (event["kind"].as_str(), event["event_id"].as_str()));
    it.map(|(kind, id)| (kind.unwrap(), id.unwrap())).collect()
}

/// The address of the events of a delivery that come from now on.
async fn from_now_on(world: &World, id: &DeliveryId) -> String {
    let at = format!("/api/deliveries/{id}/events");
    let none = world.get(&format!("{at}?limit=0")).await.ok(200);
    assert_eq!(none["events"], json!([]));
    format!("{at}?after={}", none["cursor"].as_str().unwrap())
}

#[tokio::test]
async fn the_events_of_a_delivery_are_its_own_and_those_of_its_jobs() {
    let world = World::new().await;
    let (id, run) = planned(&world, TranscriptState::None).await;
    let (other, of_other) = planned(&world, TranscriptState::None).await;
    let path = from_now_on(&world, &id).await;
    let theirs = EventId::from_name("theirs");
    let own = start_asked(&world, &id, (EventId::from_name("own"), 1)).await;
    start_asked(&world, &other, (theirs, 1)).await;
    let (job, of_other) = (run.job.unwrap(), of_other.job.unwrap());
    let of_job = seen(&world, &job, "of the job", 2).await;
    seen(&world, &of_other, "of another job", 2).await;
    let page = world.get(&path).await.ok(200);
    let expected = [("start", own.as_str()), ("completed", of_job.as_str())];
    assert_eq!(kinds_and_ids(&page), expected);
    assert_eq!(page["events"][0]["delivery_id"], id.as_str());
    assert_eq!(page["events"][1]["job_id"], job.as_str());
    assert_eq!(page["more"], json!(false));
    let first = world.get(&format!("{path}&limit=1")).await.ok(200);
    assert_eq!(
        (kinds_and_ids(&first), &first["more"]),
        (vec![expected[0]], &json!(true))
    );
    let at = format!("/api/deliveries/{id}/events");
    let cursor = page["cursor"].as_str().unwrap();
    let none = world.get(&format!("{at}?after={cursor}")).await.ok(200);
    assert_eq!(none["events"], json!([]));
    for odd in ["job=latest", "after=x", "limit=101", "wait_seconds=x"] {
        let refused = world.get(&format!("{at}?{odd}")).await;
        assert_eq!(refused.code(400), "bad_parameter", "{odd}");
    }
    let none = world.get("/api/deliveries/0123456789ab/events").await;
    assert_eq!(none.code(404), "no_such_delivery");
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_held_until_an_event_of_the_delivery_comes() {
    let mut world = World::new().await;
    let (id, run) = planned(&world, TranscriptState::None).await;
    let (other, _) = planned(&world, TranscriptState::None).await;
    let (_stop, stopped) = watch::channel(false);
    let state = ApiState::new(world.backend.clone(), vec![TOKEN.into()]);
    world.router = api::router(state.holding(stopped));
    let path = from_now_on(&world, &id).await;
    let path = format!("{path}&wait_seconds=20");
    let began = Instant::now();
    let mut held = std::pin::pin!(world.get(&path));
    let soon = Duration::from_secs(5);
    let early = timeout(soon, &mut held).await;
    assert!(early.is_err(), "nothing has come: {early:?}");
    start_asked(&world, &other, (EventId::from_name("theirs"), 0)).await;
    let early = timeout(soon, &mut held).await;
    assert!(early.is_err(), "it is another's: {early:?}");
    let of_job = seen(&world, &run.job.unwrap(), "it", 0).await;
    let page = held.await.ok(200);
    assert_eq!(kinds_and_ids(&page), [("completed", of_job.as_str())]);
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn the_page_of_a_delivery_leads_to_the_transcripts_of_its_runs() {
    let world = World::new().await;
    let (id, run) = planned(&world, TranscriptState::Kept).await;
    keep(&world, (&id, &run), &pages(&world)).await;
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let at = format!("/dashboard/deliveries/{id}/runs/{}", run.id);
    let page = browser.get(&format!("/dashboard/deliveries/{id}")).await;
    assert!(page.text.contains(&at), "{page:?}");
    let first = browser.get(&at).await;
    assert_eq!(first.status, 200, "{first:?}");
    assert!(first.text.contains("It is [secret]"), "{first:?}");
    assert!(first.text.contains(&format!("{at}?page=2")), "{first:?}");
    let last = browser.get(&format!("{at}?page=2")).await;
    assert!(last.text.contains("<pre>Done.</pre>"), "{last:?}");
    for odd in ["?page=0", "?page=x", "/more"] {
        let refused = browser.get(&format!("{at}{odd}")).await;
        assert_eq!(refused.status, 404, "{odd}: {refused:?}");
    }
    let other = format!("/dashboard/deliveries/{id}/runs/00000000");
    assert_eq!(browser.get(&other).await.status, 404);
}
