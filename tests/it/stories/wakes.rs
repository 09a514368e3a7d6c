//! Waking the agent: signed, repeated under one id until it is acknowledged, in order for each job.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::ids::JobId;
use domain::job::{WaitParty, WaitReason};
use hmac::{Hmac, KeyInit, Mac};
use sandbox::agent::{AgentSetup, Received};
use sandbox::story::Story;
use tests::world::{
    AGENT, MINUTE, SECOND, World, asking, asking_often, hour, on_green, scenario, silent, stalling,
};

/// The agent's receiver, which answers with these statuses; the last one stays.
fn receiver(statuses: &[u16]) -> AgentSetup {
    AgentSetup {
        name: AGENT.to_owned(),
        statuses: statuses.to_vec(),
        ..AgentSetup::default()
    }
}

/// A world with these stories and this receiver.
async fn playing(stories: Vec<Story>, receiver: AgentSetup) -> World {
    let mut played = scenario(stories);
    played.agents = vec![receiver];
    World::on_green(played).await
}

/// A world whose agent answers with these statuses.
async fn answering(statuses: &[u16]) -> World {
    playing(Vec::new(), receiver(statuses)).await
}

fn received(world: &World) -> Vec<Received> {
    world.sandbox.agents().received(AGENT)
}

/// One job to its end, which is one completion.
async fn completed(world: &World) -> JobId {
    let job = world.submit("Add a test").await;
    world.until_wakes(MINUTE * 5, 1).await;
    job
}

/// The ids under which the wakes came.
fn ids(world: &World) -> Vec<String> {
    received(world)
        .into_iter()
        .filter_map(|wake| wake.webhook_id)
        .collect()
}

/// Seconds between the attempts.
fn gaps(world: &World) -> Vec<i64> {
    received(world)
        .windows(2)
        .map(|pair| pair[1].at.duration_since(pair[0].at).as_secs())
        .collect()
}

/// What the specification says, computed apart from the sender's code.
fn verify(world: &World, wake: &Received) {
    let secret = world
        .secrets
        .get(&format!("agents/{AGENT}"))
        .expect("a secret");
    let key = STANDARD
        .decode(secret.strip_prefix("whsec_").expect("its prefix"))
        .expect("Base64");
    let (id, at) = (
        wake.webhook_id.as_deref().expect("an id"),
        wake.webhook_timestamp.as_deref().expect("a time"),
    );
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&key).expect("a key");
    mac.update(format!("{id}.{at}.{}", wake.body).as_bytes());
    let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    let given = wake.webhook_signature.as_deref().expect("a signature");
    assert!(
        given.split(' ').any(|one| one == expected),
        "{given} is not {expected}"
    );
    assert_eq!(
        at.parse::<i64>().expect("seconds"),
        wake.at.as_second(),
        "signed at the time of the try"
    );
}

#[tokio::test]
async fn a_wake_is_signed_and_small() {
    let world = answering(&[]).await;
    completed(&world).await;
    world.pass(MINUTE * 10).await;
    let wakes = received(&world);
    assert_eq!(wakes.len(), 1);
    verify(&world, &wakes[0]);
    assert!(wakes[0].size <= domain::wake::MESSAGE_BYTES_MAX);
    assert_eq!(
        wakes[0].webhook_id.as_deref(),
        world.wakes()[0]["event_id"].as_str()
    );
    world.finish().await;
}

#[tokio::test]
async fn a_wake_that_fails_comes_again_under_its_id_on_the_schedule() {
    let world = answering(&[500, 503, 500, 204]).await;
    completed(&world).await;
    world.pass(hour(24)).await;
    assert_eq!(received(&world).len(), 4);
    let ids = ids(&world);
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    received(&world)
        .iter()
        .for_each(|wake| verify(&world, wake));
    for (gap, wanted) in gaps(&world).into_iter().zip([5, 300, 1_800]) {
        assert!(
            (wanted..=wanted + wanted / 8 + 2).contains(&gap),
            "{:?}",
            gaps(&world)
        );
    }
    world.finish().await;
}

#[tokio::test]
async fn a_wake_that_never_arrives_is_given_up_where_a_person_sees_it() {
    let world = answering(&[500]).await;
    let job = completed(&world).await;
    world.pass(hour(24 * 6)).await;
    assert_eq!(received(&world).len(), 10);
    let wakes = world
        .backend
        .store
        .wakes(&world.agent())
        .await
        .expect("wakes");
    assert!(
        wakes
            .iter()
            .all(|wake| matches!(wake.value.state, domain::wake::WakeState::Dead { .. })),
        "{wakes:#?}"
    );
    assert_eq!(world.state(&job).await, "merged");
    world.finish().await;
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_not_asked_again() {
    let world = answering(&[410]).await;
    let job = completed(&world).await;
    let other = world.submit("Another test").await;
    world.pass(hour(2)).await;
    assert_eq!(received(&world).len(), 1);
    assert!(
        world
            .backend
            .store
            .agent(&world.agent())
            .await
            .expect("a store")
            .expect("an agent")
            .value
            .disabled
            .is_some()
    );
    // Its jobs go on, and its events wait for a person.
    assert!(world.all_merged(&[job, other.clone()]).await);
    assert_eq!(world.events(&other).await, ["completed/completed"]);
    world.finish().await;
}

#[tokio::test]
async fn where_the_agent_takes_no_wakes_a_person_is_waited_for() {
    for (status, who) in [(202, WaitParty::Agent), (410, WaitParty::Person)] {
        let world = playing(vec![stalling("stall")], receiver(&[status])).await;
        let job = world.submit("stall").await;
        world.pass(MINUTE * 25).await;
        let job = world.backend.must_job(&job).await.expect("a job").value;
        let waits = world.backend.waits_for(&job).await.expect("somebody");
        assert_eq!(
            (waits.who, waits.what),
            (who, WaitReason::Silence),
            "{status}"
        );
    }
}

#[tokio::test]
async fn an_accepted_wake_is_leased_and_comes_again_when_the_lease_lapses() {
    let world = answering(&[202]).await;
    completed(&world).await;
    world.pass(MINUTE * 9).await;
    assert_eq!(received(&world).len(), 1);
    world.pass(MINUTE * 3).await;
    assert_eq!(received(&world).len(), 2);
    assert_eq!(ids(&world)[0], ids(&world)[1]);
    world.acknowledge(&world.wakes()[0]).await;
    world.acknowledge(&world.wakes()[0]).await;
    world.pass(hour(24)).await;
    assert_eq!(received(&world).len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn an_agent_that_was_away_gets_everything_in_order_and_acknowledges_it_once() {
    let world = playing(vec![silent("stall")], receiver(&[503])).await;
    let jobs = [world.submit("stall 1").await, world.submit("stall 2").await];
    world
        .until(hour(1), "silent twice", async |world| {
            world.events(&jobs[0]).await.len() == 2 && world.events(&jobs[1]).await.len() == 2
        })
        .await;
    for job in &jobs {
        world.cancel(job).await;
    }
    world.sandbox.agents().set(receiver(&[]));
    world.pass(hour(30)).await;

    for job in &jobs {
        let of_job = |wake: &&Received| wake.status == 204 && wake.body.contains(job.as_str());
        let acknowledged: Vec<serde_json::Value> = received(&world)
            .iter()
            .filter(of_job)
            .map(|wake| serde_json::from_str(&wake.body).expect("JSON"))
            .collect();
        let told = acknowledged.iter().map(|wake| wake["seq"].as_u64());
        assert_eq!(told.collect::<Vec<_>>(), [Some(1), Some(2)]);
    }
    world.finish().await;
}

#[tokio::test]
async fn no_wake_of_a_job_overtakes_an_earlier_one() {
    let world = playing(vec![silent("stall")], receiver(&[202])).await;
    let job = world.submit("stall").await;
    world.until_events(hour(1), &job, 2).await;
    world.pass(MINUTE * 2).await;
    let seqs = || {
        let wakes = world.wakes().into_iter();
        wakes.map(|wake| wake["seq"].as_u64()).collect::<Vec<_>>()
    };
    assert!(
        seqs().iter().all(|seq| *seq == Some(1)),
        "the second waits for the first to be acknowledged"
    );
    world.acknowledge(&world.wakes()[0]).await;
    world.pass(SECOND * 150).await;
    assert_eq!(seqs().last(), Some(&Some(2)));
    world.finish().await;
}

#[tokio::test]
async fn an_order_ends_the_wake_that_asks_for_it_and_no_other() {
    let world = playing(vec![asking_often("ask", 2)], receiver(&[202])).await;
    let job = world.submit("ask").await;
    for n in 1..=2 {
        world
            .until(MINUTE * 5, "a wake", async |_| received(&world).len() == n)
            .await;
        world.answer(&job, "Yes", &format!("answer {n}")).await;
    }
    world
        .until(MINUTE * 10, "a completion", async |_| {
            received(&world).len() == 3
        })
        .await;
    // An additional acknowledgement is harmless, and an event without an order comes again.
    world.acknowledge(&world.wakes()[0]).await;
    world.pass(MINUTE * 15).await;
    let told = world.wakes();
    let kinds: Vec<_> = told.iter().map(|wake| wake["kind"].as_str()).collect();
    let (question, completed) = (Some("question"), Some("completed"));
    assert_eq!(kinds, [question, question, completed, completed]);
    world.finish().await;
}

#[tokio::test]
async fn late_words_reach_whoever_has_the_wake() {
    let world = playing(vec![asking("ask", "Which database?")], receiver(&[503])).await;
    world.sandbox.faults().set_lags(sandbox::Lags {
        activities: MINUTE * 3,
        ..sandbox::Lags::default()
    });
    let mut source = on_green();
    let job = world.submit("ask").await;
    world
        .until(MINUTE * 5, "a try", async |_| !received(&world).is_empty())
        .await;
    assert!(world.wakes()[0]["message"].is_null());
    // From now on another agent is woken for its jobs, or none.
    source.agent = None;
    world.put_source(&source).await;
    world.pass(MINUTE * 30).await;
    let last = world.wakes().pop().expect("a wake");
    assert_eq!(last["message"], "Which database?");
    assert_eq!(ids(&world)[0], ids(&world)[received(&world).len() - 1]);
    // No agent is woken for it any more, so a person sees it too.
    assert_eq!(world.events(&job).await, ["question/question"; 2]);
    world.finish().await;
}

#[tokio::test]
async fn nothing_is_sent_for_a_test_but_the_test() {
    let world = answering(&[500, 204]).await;
    let found = world.backend.store.agent(&world.agent()).await;
    let agent = found.expect("a store").expect("an agent").value;
    world.backend.test_wake(&agent).await.expect("a test");
    // A person waits for its outcome, so it is not retried.
    world.pass(hour(1)).await;
    assert_eq!(received(&world).len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn the_events_of_a_job_are_numbered_in_their_order() {
    let world = World::on_green(scenario(vec![asking("ask", "Which database?")])).await;
    let (asks, other) = (world.submit("ask").await, world.submit("Add a test").await);
    world.until_is(MINUTE * 5, &asks, "asking").await;
    world.answer(&asks, "PostgreSQL", "answer").await;
    world
        .until_merged(MINUTE * 20, &[asks.clone(), other.clone()])
        .await;
    for (job, count) in [(&asks, 2), (&other, 1)] {
        let events = world.backend.store.events(job).await.expect("a store");
        let told = events.iter().map(|event| event.seq);
        assert!(told.eq((1..=count).map(Some)), "{events:?}");
    }
    let told = |wake: &serde_json::Value| (wake["job_id"].clone(), wake["seq"].clone());
    let wakes: Vec<_> = world.wakes().iter().map(told).collect();
    for seq in [1, 2] {
        let wake = (serde_json::json!(asks.to_string()), serde_json::json!(seq));
        assert!(wakes.contains(&wake), "{wakes:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_wait_that_the_receiver_asks_for_is_kept() {
    let busy = AgentSetup {
        retry_after_secs: Some(1_000),
        ..receiver(&[503, 204])
    };
    let world = playing(Vec::new(), busy).await;
    completed(&world).await;
    world.pass(hour(2)).await;
    assert_eq!(received(&world).len(), 2);
    let gaps = gaps(&world);
    assert!((1_000..1_130).contains(&gaps[0]), "{gaps:?}");
    world.finish().await;
}
