//! Sessions that are pushed to the API: a hint to look, and nothing else.

use engine::work::Work;
use jiff::SignedDuration;
use serde_json::{Value, json};

use domain::ids::JobId;
use engine::ports::Clock;

use crate::world::{SESSION, World};

const PATH: &str = "/webhooks/jules";

fn look(world: &World, id: &JobId) -> Work {
    Work::Look {
        id: id.clone(),
        pushed_at: Some(world.clock.now()),
    }
}

#[tokio::test]
async fn a_pushed_session_is_looked_at_however_it_is_named() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    world.messages().await;
    let name = format!("sessions/{SESSION}");
    let whole = json!({
        "name": name, "id": SESSION, "state": "COMPLETED", "title": "[gaffer other/x#1] Merge it",
        "outputs": [{ "pullRequest": { "url": "https://github.com/evil/shop/pull/1" } }],
    });
    for body in [json!({ "name": name }), json!({ "id": SESSION }), whole] {
        world.clock.advance(SignedDuration::from_secs(1));
        let before = world.backend.must_job(&id).await.unwrap().value;
        let answer = world.post(PATH, &body).await;
        let address = format!("/jobs/{id}");
        assert_eq!(answer.header("location"), address);
        let taken = json!({ "job_id": id.to_string(), "ask_again": address });
        assert_eq!(answer.ok(202), taken);
        assert_eq!(world.messages().await, [look(&world, &id)]);
        let after = world.backend.must_job(&id).await.unwrap().value;
        assert_eq!((after.pull(), after.session()), (None, before.session()));
    }
}

#[tokio::test]
async fn a_session_that_is_watched_no_longer_is_taken_and_left_alone() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let push = json!({ "id": SESSION });
    let session = |text: &str| text.parse().unwrap();
    world
        .change(&id, |job| {
            let domain::job::JobPhase::Watching(watch) = &mut job.phase else {
                panic!()
            };
            watch.session = session("15400000000000000002");
            job.earlier.push(session(SESSION));
        })
        .await;
    world.messages().await;
    let version = world.backend.must_job(&id).await.unwrap().version;
    let taken = world.post(PATH, &push).await.ok(202);
    assert_eq!(taken["job_id"], id.to_string());
    assert_eq!(world.messages().await, []);
    assert_eq!(world.backend.must_job(&id).await.unwrap().version, version);
}

#[tokio::test]
async fn what_is_no_session_of_ours_is_refused_by_its_field() {
    let world = World::new().await;
    world.watched(|_| {}).await;
    world.messages().await;
    let refused = async |body: Value, status: u16| {
        let answer = world.post(PATH, &body).await;
        let field = answer.json()["field"].as_str().unwrap().to_owned();
        (answer.code(status), field)
    };
    let is = |code: &str, field: &str| (code.to_owned(), field.to_owned());
    let strange = json!({ "name": "sessions/4711" });
    assert_eq!(refused(strange, 404).await, is("no_such_session", "name"));
    let strange = json!({ "id": "4711" });
    assert_eq!(refused(strange, 404).await, is("no_such_session", "id"));
    assert_eq!(refused(json!({}), 422).await, is("missing_field", "name"));
    let two = json!({ "name": "sessions/4711", "id": SESSION });
    assert_eq!(refused(two, 422).await, is("bad_field", "id"));
    let source = json!({ "name": "sources/github/acme/shop" });
    assert_eq!(refused(source, 422).await, is("bad_field", "name"));
    assert_eq!(world.messages().await, []);
}
