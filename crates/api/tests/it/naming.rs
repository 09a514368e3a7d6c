//! What jobs and events are called by, at the HTTP API.

use domain::ids::JobId;
use jiff::SignedDuration;
use serde_json::json;

use crate::merging::in_review;
use crate::world::{SESSION, World};

/// The id that an answer is about.
async fn named(world: &World, name: &str) -> String {
    let shown = world.get(&format!("/jobs/{name}")).await.ok(200);
    shown["job_id"].as_str().unwrap().to_owned()
}

/// Jobs of three times that are hours apart, the oldest first.
async fn three(world: &World) -> Vec<JobId> {
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(world.job("acme/shop").await);
        world.clock.advance(SignedDuration::from_hours(5));
    }
    jobs
}

#[tokio::test]
async fn a_job_is_found_by_the_beginning_of_its_id_in_any_case() {
    let world = World::new().await;
    let jobs = three(&world).await;
    for job in &jobs {
        let text = job.to_string();
        // Eight characters of the time tell seconds apart.
        for name in [&text[..8], &text[..25], &text.to_uppercase()] {
            assert_eq!(named(&world, name).await, text, "{name}");
        }
    }
    let shared = &jobs[0].as_str()[..4];
    let refused = world.get(&format!("/jobs/{shared}")).await;
    assert_eq!(refused.code(409), "ambiguous");
    for job in &jobs {
        assert!(refused.text.contains(job.as_str()), "{refused:?}");
    }
    for nothing in ["01zz", "01k", "7zzzzzzzzz", "12345678"] {
        let refused = world.get(&format!("/jobs/{nothing}")).await;
        assert_eq!(refused.code(404), "no_such_job", "{nothing}");
    }
}

#[tokio::test]
async fn a_job_is_found_among_thousands_by_its_time() {
    let world = World::new().await;
    let old = world.job("acme/shop").await;
    world.clock.advance(SignedDuration::from_hours(5));
    for _ in 0..300 {
        world.job("acme/shop").await;
    }
    assert_eq!(named(&world, &old.as_str()[..8]).await, old.as_str());
}

#[tokio::test]
async fn the_newest_job_a_session_and_a_pull_request_name_a_job() {
    let world = World::new().await;
    let none = world.get("/jobs/latest").await;
    assert_eq!(none.code(404), "no_such_job");
    let watched = in_review(&world).await;
    assert_eq!(named(&world, SESSION).await, watched.as_str());
    for pull in ["acme%2Fshop%237", "ACME%2FShop%237"] {
        assert_eq!(named(&world, pull).await, watched.as_str(), "{pull}");
    }
    let other = world.get("/jobs/acme%2Fshop%238").await;
    assert_eq!(other.code(404), "no_such_job");
    world.clock.advance(SignedDuration::from_secs(1));
    let newest = world.job("acme/other").await;
    assert_eq!(named(&world, "latest").await, newest.as_str());
    let cancelled = world.post("/jobs/LATEST:cancel", &json!({})).await.ok(200);
    assert_eq!(cancelled["job_id"], newest.as_str());
    let events = world.get("/events?job=latest").await.ok(200);
    assert_eq!(events["events"], json!([]));
}
