//! The typed client and the API, over a real socket.

use std::sync::Once;

use client::wire::{ApproveRequest, CancelRequest, CreateJob, MergeRequest, RetryRequest, Waiting};
use client::{Answer, Client, Error, JobQuery};
use tokio::net::TcpListener;
use url::Url;

use crate::deliveries::wait_with_plan;
use crate::world::{SESSION, TOKEN, World};

static PROVIDER: Once = Once::new();

async fn connect(world: &World, token: &str) -> Client {
    PROVIDER.call_once(|| {
        rustls::crypto::ring::default_provider()
            .install_default()
            .unwrap();
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base: Url = format!("http://{}/", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    let router = world.router.clone();
    tokio::spawn(async move { axum::serve(listener, router).await });
    Client::new(base, token.into()).unwrap()
}

fn order() -> CreateJob {
    CreateJob {
        repo: "acme/shop".parse().unwrap(),
        branch: None,
        prompt: "Tidy the shop.".to_owned(),
        title: Some("Tidy".to_owned()),
        agent: None,
        resume: None,
        priority: None,
        constraints: None,
    }
}

#[track_caller]
fn problem(error: Error) -> (u16, String) {
    let Error::Problem(problem) = error else {
        panic!("{error:?}");
    };
    (problem.status, problem.code)
}

#[tokio::test]
async fn a_job_from_its_creation_to_its_end() {
    let world = World::new().await;
    let client = connect(&world, TOKEN).await;
    let job = client.create_job(&order(), Some("once")).await.unwrap();
    assert_eq!(
        client.create_job(&order(), Some("once")).await.unwrap(),
        job
    );
    let id = job.job_id.as_str();
    assert_eq!(client.job(id).await.unwrap(), job);
    let repo = "acme/shop".parse().unwrap();
    let list = client.jobs(Some(&repo), Some(5)).await.unwrap();
    assert_eq!(list.jobs, std::slice::from_ref(&job));
    assert_eq!((list.more, list.next_cursor), (false, None));
    assert_eq!(client.why(id).await.unwrap().because[0].code, "no_account");
    assert_eq!(client.events(id).await.unwrap().events, []);
    assert_eq!(client.status().await.unwrap().jobs["queued"], 1);
    assert!(client.health().await.unwrap().ok);
    let by = CancelRequest {
        close_pull: false,
        by: Some("dora".to_owned()),
    };
    let ended = client.cancel(id, &by).await.unwrap().ended.unwrap();
    assert_eq!(ended.by.as_deref(), Some("dora over HTTP"));
    let reason = |text: &str| RetryRequest {
        reason: Some(text.to_owned()),
    };
    let long = client.retry(id, &reason(&"x".repeat(1_001))).await;
    assert!(long.unwrap_err().to_string().contains("1000 characters"));
    let other = client.create_job(&order(), None).await.unwrap();
    let first = client.jobs(None, Some(1)).await.unwrap();
    assert_eq!((first.jobs, first.more), (vec![other], true));
    let asked = JobQuery {
        limit: Some(1),
        cursor: first.next_cursor,
        ..JobQuery::default()
    };
    let second = client.jobs_of(&asked).await.unwrap();
    assert_eq!(second.jobs[0].job_id, job.job_id);
    assert!(!second.more);
    let again = client.retry(id, &reason("Keep the old API.")).await;
    assert_eq!(again.unwrap().attempt, 2);
    let refused = client
        .merge(id, &MergeRequest::default())
        .await
        .unwrap_err();
    assert_eq!(problem(refused), (409, "no_pull_request".to_owned()));
}

#[tokio::test]
async fn effects_are_waited_for_and_plans_are_shown() {
    let world = World::new().await;
    let id = world.watched(|watch| wait_with_plan(watch, None)).await;
    let client = connect(&world, TOKEN).await;
    let shown = client.job(SESSION).await.unwrap();
    assert!(matches!(shown.waiting, Some(Waiting::Plan { .. })));
    let approve = ApproveRequest::default();
    let (approved, effect) = tokio::join!(
        client.approve(id.as_str(), &approve),
        world.perform(&id, None)
    );
    let Answer::Done(approved) = approved.unwrap() else {
        panic!("not done");
    };
    assert_eq!(approved.effect_id, effect.id);
    assert_eq!(
        client.effect(id.as_str(), &effect.id).await.unwrap(),
        approved
    );
    let (said, _) = tokio::join!(
        client.say(SESSION, "Go on.", None),
        world.perform(&id, None)
    );
    assert!(matches!(said.unwrap(), Answer::Done(_)));
}

#[tokio::test]
async fn refusals_are_problems() {
    let world = World::new().await;
    let client = connect(&world, TOKEN).await;
    let missing = client.job("123").await.unwrap_err();
    assert_eq!(problem(missing), (404, "no_such_job".to_owned()));
    let mut elsewhere = order();
    elsewhere.repo = "acme/none".parse().unwrap();
    let Error::Problem(refused) = client.create_job(&elsewhere, None).await.unwrap_err() else {
        panic!("not a problem");
    };
    assert_eq!(refused.field.as_deref(), Some("repo"));
    assert_eq!(refused.next[0].advice, "add_source");
    assert!(matches!(client.why("../status").await, Err(Error::Id(_))));
    let stranger = connect(&world, "gaf_stranger").await;
    let refused = stranger.status().await.unwrap_err();
    assert_eq!(problem(refused), (401, "wrong_token".to_owned()));
    assert!(stranger.health().await.unwrap().ok);
}

#[tokio::test]
async fn what_takes_longer_is_for_later() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let state = api::ApiState {
        answer_within: std::time::Duration::ZERO,
        ..api::ApiState::new(world.backend.clone(), vec![TOKEN.into()])
    };
    let hasty = World {
        router: api::router(state),
        ..world
    };
    let client = connect(&hasty, TOKEN).await;
    let Answer::Later(later) = client.say(id.as_str(), "Go on.", None).await.unwrap() else {
        panic!("done");
    };
    let effect = later.effect.unwrap();
    assert_eq!(effect.state, "intent");
    assert_eq!(
        later.ask_again,
        format!("/jobs/{id}/effects/{}", effect.effect_id)
    );
    let artifacts = client.artifacts(id.as_str()).await.unwrap();
    assert!(matches!(artifacts, Answer::Later(_)));
}
