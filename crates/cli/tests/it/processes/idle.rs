//! An agent that hands work over and goes idle, over real sockets: what wakes it, and what does not.

mod cast;

use cast::{Cast, POLLED, QUIET, SHOP, SITE, STEPS, TICK};

use super::*;
use crate::world::Fields;

/// So many polls find nothing but progress.
const POLLS: usize = 100;

/// How soon a poll finds a question: by its state, and not only when a quiet session is read again after five minutes.
const WOKEN_WITHIN: SignedDuration = SignedDuration::from_secs(20);

#[test]
fn an_idle_agent_hears_what_it_is_needed_for_in_order_and_nothing_else() {
    let mut cast = Cast::new();
    let ship = nothing_is_heard_of_progress(&mut cast);
    a_burst_of_refusals_says_nothing(&cast);
    let site = a_dead_key_is_told_once(&mut cast);
    a_question_is_answered_at_the_second_try(&mut cast, &ship);
    its_checks_are_waited_for(&mut cast, &ship);
    a_failed_job_is_tried_again(&mut cast);
    a_session_may_be_late_and_may_vanish(&mut cast);
    it_is_merged_once_they_are_green(&cast, &ship);
    silence_is_told_once_a_window(&mut cast);
    // The key was put right long ago.
    cast.hears(&site, "completed");
    whoever_was_away_finds_what_nobody_has_decided(cast);
}

/// Point 1: work is handed over, and while it only progresses no byte reaches the agent.
fn nothing_is_heard_of_progress(cast: &mut Cast) -> String {
    let mut agent = cast.agent();
    let tools = agent.ask("tools/list", json!({}));
    assert!(tools["result"]["tools"].as_array().is_some(), "{tools}");
    let wanted = json!({ "repo": SHOP, "prompt": "Ship it" });
    let job = agent.call("jules_create_job", wanted)["job_id"].clone();
    let job = job.as_str().unwrap().to_owned();
    for _ in 0..2 {
        let noted = json!({ "job_id": job, "metadata": { "task": "x" } });
        let noted = agent.call("jules_register_job", noted);
        assert_eq!(noted["job_id"], *job, "{noted}");
    }
    // Another one is handed over for an agent with an address of its own.
    let far = json!({ "repo": SHOP, "prompt": "Ship it too", "agent": "far" });
    let far = agent.call("jules_create_job", far)["job_id"].clone();
    agent.ended();
    let far = far.as_str().unwrap().to_owned();
    let before = cast.answered(POLLED, 200);
    cast.until("so many polls", |cast| {
        cast.answered(POLLED, 200) >= before + POLLS
    });
    assert_eq!(cast.given_bytes(), 0);
    for job in [&job, &far] {
        assert_eq!(cast.session(job)["state"], "IN_PROGRESS");
        assert!(cast.activities(job) > 10, "it progresses");
    }
    job
}

/// Point 4: refusals make the gaps grow, without an event.
fn a_burst_of_refusals_says_nothing(cast: &Cast) {
    let refuse = json!({ "service": "jules", "kind": { "status": { "code": 429 } } });
    cast.stage.control("POST", "/faults", &refuse);
    cast.until("refusals", |cast| cast.answered("", 429) >= 5);
    cast.stage.control("DELETE", "/faults", &Value::Null);
    let (gaps, mut least) = (cast.gaps(429), TICK);
    for gap in &gaps[..4] {
        least = least.saturating_mul(2);
        assert!(*gap >= least, "they double: {gaps:?}");
    }
    let before = cast.answered(POLLED, 200);
    cast.until("polls as before", |cast| {
        cast.answered(POLLED, 200) >= before + 5
    });
    assert_eq!(cast.given_bytes(), 0);
}

/// Point 4: a dead key is one event of its account, and a new one is taken up.
fn a_dead_key_is_told_once(cast: &mut Cast) -> String {
    let world = &cast.stage.world;
    let add = ["account", "add", "second", "--agent", "me"];
    world.feed(&add, "a-key-that-was-revoked").ok();
    let source = ["source", "add", SITE, "--account", "second"];
    let policy = ["--agent", "me", "--plan-approval", "auto"];
    world.run(&[&source[..], &policy].concat()).ok();
    let job = cast.create(SITE, "Look around the site");
    let told = cast.hears("", "auth");
    assert_eq!(told["account"], "second", "{told}");
    let add = ["account", "add", "second", "--replace-key"];
    cast.stage.world.feed(&add, "key-of-second").ok();
    job
}

/// Point 2: a question wakes soon, comes again when its handler crashes, and is over once it is answered.
fn a_question_is_answered_at_the_second_try(cast: &mut Cast, job: &str) {
    // It falls silent then: what is said any sooner does not wake it.
    let last = format!("Step {}", STEPS - 1);
    cast.until("all steps", |cast| cast.shows(job, &last));
    cast.says_upstream(job, "Go on.");
    let first = cast.next_of(job);
    assert_eq!(first["outcome"], "given back: exit code 1", "{first}");
    let second = cast.next_of(job);
    second.holds(&json!({ "outcome": "done", "attempt": 2 }));
    assert_eq!(first["event_id"], second["event_id"]);
    let given = cast.given_of(job);
    assert_eq!(given.len(), 2, "{given:?}");
    assert_eq!(given[0]["message"], "Which colour?");
    let asked = cast.at(job, "Which colour?");
    let heard: jiff::Timestamp = given[0]["observed_at"].as_str().unwrap().parse().unwrap();
    assert!(
        heard.duration_since(asked) < WOKEN_WITHIN,
        "{asked} {heard}"
    );
    cast.heard += 1;
}

/// Point 5: what it made is fetched, and no order merges it while its checks go on.
fn its_checks_are_waited_for(cast: &mut Cast, job: &str) {
    cast.hears(job, "completed");
    let mut agent = cast.agent();
    let of_job = json!({ "job_id": job });
    let made = agent.call("jules_get_artifacts", of_job.clone());
    let text = made.to_string();
    assert!(text.contains("/acme/shop/pull/1"), "{made}");
    assert!(made["files_changed"].as_u64() > Some(0), "{made}");
    let waits = agent.call("jules_merge_pr", of_job);
    assert_eq!(waits["merged"], false, "{waits}");
    assert!(
        waits["waits_for"].to_string().contains("integration"),
        "it names what is awaited: {waits}"
    );
    agent.ended();
}

/// Point 5: it is merged once they are green, and put away.
fn it_is_merged_once_they_are_green(cast: &Cast, job: &str) {
    let mut agent = cast.agent();
    let end = Instant::now() + WITHIN;
    loop {
        let of_job = json!({ "job_id": job });
        let asked = json!({ "name": "jules_merge_pr", "arguments": of_job });
        let answer = agent.ask("tools/call", asked)["result"].clone();
        if answer["structuredContent"]["merged"] == true {
            break;
        }
        assert!(Instant::now() < end, "{answer}");
        // Each reading is a process, which keeps the pace.
        cast.stage.world.run(&["job", "show", job]).ok();
    }
    agent.ended();
    cast.until("an archived session", |cast| {
        cast.session(job)["archived"] == true
    });
    let done = cast.stage.done();
    // Two messages: the one from its page, and the answer.
    assert_eq!((&done[1], &done[2]), (&json!(2), &json!(1)), "{done}");
}

/// Point 5: a retry is another attempt of the same job, and both are announced.
fn a_failed_job_is_tried_again(cast: &mut Cast) {
    let job = cast.create(SHOP, "Fail at it");
    let first = cast.hears(&job, "session_failed");
    let mut agent = cast.agent();
    let again = agent.call("jules_request_retry", json!({ "job_id": job }));
    again.holds(&json!({ "job_id": job, "attempt": 2 }));
    agent.ended();
    let second = cast.hears(&job, "session_failed");
    assert_eq!(
        (&first["attempt"], &second["attempt"]),
        (&json!(1), &json!(2))
    );
    assert_ne!(first["event_id"], second["event_id"]);
}

/// Point 4: a session that is not visible yet is no trouble, and one that was deleted ends its job.
fn a_session_may_be_late_and_may_vanish(cast: &mut Cast) {
    // Longer than two polls take on any machine, and too short for older sessions to be lost meanwhile.
    let lags = json!({ "create": "10s", "list": "10s" });
    cast.stage.control("POST", "/lags", &lags);
    let job = cast.create(SHOP, "Look around");
    cast.until("a session", |cast| !cast.session(&job).is_null());
    let session = cast.session(&job)["id"].as_str().unwrap().to_owned();
    cast.until("two 404s", |cast| cast.answered(&session, 404) >= 2);
    cast.stage.control("POST", "/lags", &json!({}));
    cast.hears(&job, "completed");

    let job = cast.create(SHOP, "Fall silent");
    cast.until("a session", |cast| cast.activities(&job) > 0);
    let session = cast.session(&job)["id"].as_str().unwrap().to_owned();
    let path = format!("/sessions/{session}");
    cast.stage.to_jules("DELETE", &path, &json!({}));
    cast.hears(&job, "invalid_job");
    let asked = cast.answered(&session, 404);
    let before = cast.answered(POLLED, 200);
    cast.until("more polls", |cast| {
        cast.answered(POLLED, 200) >= before + 10
    });
    assert_eq!(cast.answered(&session, 404), asked, "nobody asks for it");
}

/// Point 2: silence is announced once, and again after as much of it.
fn silence_is_told_once_a_window(cast: &mut Cast) {
    let source = ["source", "add", QUIET, "--agent", "me"];
    // Its third time is so much later that the test can cancel it without haste.
    let policy = ["--stuck-after", "8s", "--plan-approval", "auto"];
    cast.stage.world.run(&[&source[..], &policy].concat()).ok();
    let job = cast.create(QUIET, "Fall silent");
    let at = |event: &Value| -> jiff::Timestamp {
        event["observed_at"].as_str().unwrap().parse().unwrap()
    };
    let first = cast.hears(&job, "stuck");
    let second = cast.hears(&job, "stuck");
    let window = SignedDuration::from_secs(8);
    assert!(at(&second).duration_since(at(&first)) >= window);
    let mut agent = cast.agent();
    agent.call("jules_cancel_job", json!({ "job_id": job }));
    agent.ended();
}

/// Point 3: two jobs go on without a watcher; then no question comes that was answered meanwhile, and the rest is acknowledged
/// once.
fn whoever_was_away_finds_what_nobody_has_decided(mut cast: Cast) {
    cast.goes_away();
    let jobs = [cast.create(SHOP, "Ask one"), cast.create(SHOP, "Ask two")];
    for (n, question) in ["First?", "Second?"].into_iter().enumerate() {
        for job in &jobs {
            cast.until("a question", |cast| cast.events(job).len() == n + 1);
            cast.at(job, question);
            cast.says_upstream(job, "Yes.");
        }
    }
    for job in &jobs {
        cast.until("a completion", |cast| cast.events(job).len() == 3);
        assert!(cast.given_of(job).is_empty());
    }
    cast.comes_back();
    for _ in &jobs {
        let told = cast.watcher().next();
        told.holds(&json!({ "outcome": "done", "attempt": 1 }));
    }
    for job in &jobs {
        let told: Vec<Value> = cast.given_of(job);
        let ids: Vec<_> = told.iter().map(|event| event["event_id"].clone()).collect();
        assert_eq!(ids, cast.events(job)[2..], "the completion alone");
    }
    cast.everything_was_heard_and_acknowledged_once((2, 4));
}
