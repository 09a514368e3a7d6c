//! Budgets: what answers tell of them, who stops first, and that nothing is sent that they do not allow.

use domain::failure::{CallEffect, Failure, FailureClass};
use domain::github_access::GitHubBudget;
use domain::policy::MergeMethod;
use engine::ports::{PullsRead, PullsWrite};
use github::{Reader, Writer};
use jiff::SignedDuration;
use serde_json::json;

use crate::server::{Asked, Backend, Reply, Server, TOKEN, common, kept, now, pull};
use crate::world::*;

/// Ten minutes after the beginning.
fn reset() -> jiff::Timestamp {
    now() + SignedDuration::from_mins(10)
}

/// The same answers with so much left of an hour's thousand requests.
fn with_left(reply: Reply, left: u64) -> Reply {
    reply
        .with("x-ratelimit-limit", "1000")
        .with("x-ratelimit-remaining", left.to_string())
        .with("x-ratelimit-reset", reset().as_second().to_string())
        .with("x-ratelimit-resource", "core")
}

fn short_until(failure: &Failure, at: jiff::Timestamp, from: jiff::Timestamp) {
    assert_eq!(
        (failure.class, failure.happened, failure.retry_after),
        (
            FailureClass::Throttled,
            CallEffect::No,
            Some(at.duration_since(from))
        ),
        "{failure}"
    );
}

#[tokio::test]
async fn budgets_are_told_as_github_last_told_them() {
    let server = Server::start(|asked: &Asked| with_left(green(asked), 432)).await;
    let reader = server.reader();
    assert_eq!(reader.budgets(), []);
    reader.facts(&pull(), common(), now()).await.unwrap();
    let expected = GitHubBudget {
        owner: "token".to_owned(),
        resource: "core".to_owned(),
        limit: 1_000,
        remaining: 432,
        reset: reset(),
        stay_away: None,
    };
    assert_eq!(reader.budgets(), [expected]);
}

#[tokio::test]
async fn what_is_left_is_kept_for_merges_and_nothing_else_is_sent() {
    let server = Server::start(|asked: &Asked| {
        let merged = json!({ "sha": OTHER, "merged": true });
        let reply = if asked.method == "PUT" {
            Reply::ok(&merged)
        } else {
            green(asked)
        };
        with_left(reply, 100)
    })
    .await;
    let backend = Backend::new(TOKEN);
    let client = backend.client(&server, None);
    let (reader, writer) = (Reader::new(client.clone()), Writer::new(client));
    reader.glance(&pull()).await.unwrap();
    let sent = server.asked().len();

    let failure = reader.glance(&pull()).await.unwrap_err();
    short_until(&failure, reset(), now());
    let failure = reader.facts(&pull(), common(), now()).await;
    short_until(&failure.unwrap_err(), reset(), now());
    assert_eq!(server.asked().len(), sent, "neither was sent");

    let facts = reader.facts(&pull(), kept(), now()).await.unwrap();
    let pull = pull();
    let merge = writer.merge(&pull, &facts.head.sha, MergeMethod::Squash, None);
    merge.await.unwrap();
    backend.pass(SignedDuration::from_mins(10));
    reader.glance(&pull).await.unwrap();
}

#[tokio::test]
async fn a_budget_that_is_used_up_stops_everything_until_its_hour_ends() {
    let server = Server::start(
        |asked: &Asked| match (asked.line().as_str(), asked.before) {
            (PULL, 0) => with_left(Reply::refusal(403, "API rate limit exceeded"), 0),
            _ => green(asked),
        },
    )
    .await;
    let backend = Backend::new(TOKEN);
    let client = backend.client(&server, None);
    let (reader, writer) = (Reader::new(client.clone()), Writer::new(client));
    let failure = reader.glance(&pull()).await.unwrap_err();
    assert_eq!(failure.retry_after, Some(SignedDuration::from_mins(10)));
    backend.pass(SignedDuration::from_mins(4));
    let from = now() + SignedDuration::from_mins(4);
    for _ in 0..3 {
        let refused = reader.facts(&pull(), kept(), now()).await;
        short_until(&refused.unwrap_err(), reset(), from);
        let refused = writer.label(&pull(), "x").await;
        short_until(&refused.unwrap_err(), reset(), from);
    }
    assert_eq!(server.lines(), [PULL]);
    backend.pass(SignedDuration::from_mins(6));
    reader.facts(&pull(), common(), now()).await.unwrap();
}

#[tokio::test]
async fn a_secondary_limit_stops_everything_for_as_long_as_it_asks() {
    for (asked_for, expected) in [(Some("17"), 17), (None, 60)] {
        let server = Server::start(move |asked: &Asked| {
            if asked.before > 0 {
                return green(asked);
            }
            let reply = Reply::refusal(403, "You have exceeded a secondary rate limit");
            match asked_for {
                Some(seconds) => reply.with("retry-after", seconds),
                None => reply,
            }
        })
        .await;
        let backend = Backend::new(TOKEN);
        let client = backend.client(&server, None);
        let (reader, writer) = (Reader::new(client.clone()), Writer::new(client));
        let wait = SignedDuration::from_secs(expected);
        let failure = reader.glance(&pull()).await.unwrap_err();
        assert_eq!(failure.retry_after, Some(wait));
        let refused = writer.label(&pull(), "x").await.unwrap_err();
        short_until(&refused, now() + wait, now());
        assert_eq!(server.lines(), [PULL]);
        backend.pass(wait);
        reader.glance(&pull()).await.unwrap();
    }
}

#[tokio::test]
async fn writes_are_a_second_apart_and_the_second_is_not_slept() {
    let server = Server::start(|_: &Asked| Reply::ok(&json!([]))).await;
    let backend = Backend::new(TOKEN);
    let writer = Writer::new(backend.client(&server, None));
    writer.label(&pull(), "a").await.unwrap();
    backend.pass(SignedDuration::from_millis(400));
    let refused = writer.label(&pull(), "b").await.unwrap_err();
    assert_eq!(
        (refused.class, refused.retry_after),
        (
            FailureClass::Throttled,
            Some(SignedDuration::from_millis(600))
        )
    );
    assert_eq!(server.asked().len(), 1);
    backend.pass(SignedDuration::from_millis(600));
    writer.label(&pull(), "b").await.unwrap();
}

#[tokio::test]
async fn an_answer_kept_for_one_token_is_never_asked_about_with_another() {
    let script = |asked: &Asked| {
        let own = format!("\"{}\"", asked.header("authorization").unwrap());
        match asked.header("if-none-match") {
            Some(given) if given == own => Reply::text(304, ""),
            Some(other) => Reply::refusal(400, other),
            None => Reply::ok(&json!({ "default_branch": "main" })).with("etag", own),
        }
    };
    let server = Server::start(script).await;
    let backend = Backend::new("one");
    let client = backend.client(&server, None);
    let reader = Reader::new(client.clone());
    for secret in ["one", "two", "one", "two"] {
        backend.replace(secret);
        backend.pass(SignedDuration::from_mins(5));
        reader.default_branch(&pull().repo).await.unwrap();
    }
    let usage = client.usage();
    assert_eq!((usage.requests, usage.not_modified), (4, 2));
}
