//! Every call alike: paging, conditional requests, limits, error classes, redirects, and no secrets in errors.

use domain::failure::{CallEffect, Failure, FailureClass};
use engine::ports::PullsRead;
use github::{Reader, Settings};
use jiff::SignedDuration;
use serde_json::json;

use crate::server::{Asked, Reply, Server, TOKEN, common, failed, now, pull};
use crate::world::*;

const REPO: &str = "GET /repos/acme/shop";

/// The failure of a simple read that is answered like this.
async fn failure_of(reply: Reply) -> Failure {
    let server = Server::start(move |_: &Asked| reply.clone()).await;
    server
        .reader()
        .default_branch(&pull().repo)
        .await
        .unwrap_err()
}

fn next(asked: &Asked, page: usize) -> String {
    format!(
        "<{base}{path}?page=9>; rel=\"last\", <{base}{path}?page={page}>; rel=\"next\"",
        base = asked.base,
        path = asked.path
    )
}

#[tokio::test]
async fn all_pages_are_read() {
    let script = |asked: &Asked| match asked.line().as_str() {
        RUNS => Reply::ok(
            &json!({ "total_count": 2, "check_runs": [run(1, "a", "completed", Some("success"))] }),
        )
        .with("link", next(asked, 2)),
        line if line.contains("/check-runs?page=2") => Reply::ok(
            &json!({ "total_count": 2, "check_runs": [run(2, "b", "completed", Some("failure"))] }),
        ),
        _ => green(asked),
    };
    let facts = Server::start(script).await.facts().await.unwrap();
    let names: Vec<&str> = facts
        .checks
        .known()
        .unwrap()
        .iter()
        .map(|check| check.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test]
async fn a_next_page_elsewhere_gets_no_call() {
    let stranger = Server::start(|_: &Asked| Reply::ok(&json!([]))).await;
    for forged in [
        stranger.base.clone(),
        "https://evil.example/github".to_owned(),
    ] {
        let script = move |asked: &Asked| match asked.line().as_str() {
            REVIEWS => Reply::ok(&json!([])).with(
                "link",
                format!("<{forged}/repos/acme/shop/pulls/7/reviews?page=2>; rel=\"next\""),
            ),
            _ => green(asked),
        };
        let facts = Server::start(script).await.facts().await.unwrap();
        assert!(
            matches!(facts.reviews, domain::facts::Fact::Unknown { why } if why.contains("another host"))
        );
    }
    assert!(stranger.asked().is_empty());
}

#[tokio::test]
async fn a_list_without_an_end_is_given_up() {
    let server =
        Server::start(|asked: &Asked| Reply::ok(&json!([])).with("link", next(asked, 2))).await;
    let failure = server.reader().has_comment(&pull(), "m").await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Garbled);
    assert_eq!(server.asked().len(), 50);
}

#[tokio::test]
async fn an_unchanged_answer_is_read_again_for_nothing() {
    let script = |asked: &Asked| match asked.header("if-none-match") {
        Some("\"v1\"") => Reply::text(304, ""),
        Some(other) => Reply::refusal(400, other),
        None => green(asked).with("etag", "\"v1\""),
    };
    let server = Server::start(script).await;
    let client = server.client();
    let reader = Reader::new(client.clone());
    let first = reader.facts(&pull(), common(), now()).await.unwrap();
    let calls = client.usage().requests;
    // The pull request is read a second time within the first reading already.
    assert_eq!(client.usage().not_modified, 1);
    assert_eq!(reader.facts(&pull(), common(), now()).await.unwrap(), first);
    // "Branch not protected" is an error and is never kept, so the second reading asks for the list of protected branches as well.
    let usage = client.usage();
    assert_eq!(usage.requests, calls * 2 + 1);
    assert_eq!(usage.not_modified, 1 + calls - 1);
}

#[tokio::test]
async fn a_changed_answer_replaces_the_kept_one() {
    let script = |asked: &Asked| {
        let version = asked.before.min(1);
        let etag = format!("\"v{version}\"");
        if asked.header("if-none-match") == Some(etag.as_str()) {
            return Reply::text(304, "");
        }
        Reply::ok(&json!({ "default_branch": format!("b{version}") })).with("etag", etag)
    };
    let reader = Server::start(script).await.reader();
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(
            reader
                .default_branch(&pull().repo)
                .await
                .unwrap()
                .to_string(),
        );
    }
    assert_eq!(seen, ["b0", "b1", "b1"]);
}

#[tokio::test]
async fn a_full_last_page_is_never_taken_from_memory() {
    let hundred: Vec<_> = (0..100)
        .map(|i| json!({ "body": format!("c{i}") }))
        .collect();
    let script = move |asked: &Asked| {
        assert_eq!(
            asked.header("if-none-match"),
            None,
            "a page that was full could have got a next one"
        );
        match asked.before {
            _ if asked.query.contains("page=2") => {
                Reply::ok(&json!([{ "body": "x\n\n<!-- gaffer:m -->" }]))
            }
            0 => Reply::ok(&json!(hundred)).with("etag", "\"same\""),
            _ => Reply::ok(&json!(hundred))
                .with("etag", "\"same\"")
                .with("link", next(asked, 2)),
        }
    };
    let reader = Server::start(script).await.reader();
    assert!(!reader.has_comment(&pull(), "m").await.unwrap());
    assert!(reader.has_comment(&pull(), "m").await.unwrap());
}

#[tokio::test]
async fn an_unchanged_page_can_have_got_a_next_one() {
    let script = |asked: &Asked| match asked.header("if-none-match") {
        Some(_) => Reply::text(304, "").with("link", next(asked, 2)),
        None if asked.query.contains("page=2") => {
            Reply::ok(&json!([{ "body": "<!-- gaffer:m -->" }]))
        }
        None => Reply::ok(&json!([])).with("etag", "\"same\""),
    };
    let reader = Server::start(script).await.reader();
    assert!(!reader.has_comment(&pull(), "m").await.unwrap());
    assert!(reader.has_comment(&pull(), "m").await.unwrap());
}

#[tokio::test]
async fn an_unchanged_page_still_leads_to_the_next_one() {
    let script = |asked: &Asked| match asked.header("if-none-match") {
        Some(_) => Reply::text(304, ""),
        None if asked.query.contains("page=2") => {
            Reply::ok(&json!([{ "body": "<!-- gaffer:m -->" }])).with("etag", "\"two\"")
        }
        None => Reply::ok(&json!([]))
            .with("etag", "\"one\"")
            .with("link", next(asked, 2)),
    };
    let server = Server::start(script).await;
    let reader = server.reader();
    for _ in 0..2 {
        assert!(reader.has_comment(&pull(), "m").await.unwrap());
    }
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test]
async fn every_status_has_its_class() {
    let rows = [
        (
            401,
            "Bad credentials",
            FailureClass::Unauthorized,
            CallEffect::No,
        ),
        (
            403,
            "Resource not accessible by integration",
            FailureClass::Forbidden,
            CallEffect::No,
        ),
        (
            403,
            "You have exceeded a secondary rate limit",
            FailureClass::Throttled,
            CallEffect::No,
        ),
        (
            403,
            "API rate limit exceeded for user",
            FailureClass::Throttled,
            CallEffect::No,
        ),
        (404, "Not Found", FailureClass::NotFound, CallEffect::No),
        (410, "Gone", FailureClass::NotFound, CallEffect::No),
        (405, "Not mergeable", FailureClass::Conflict, CallEffect::No),
        (
            409,
            "Head branch was modified",
            FailureClass::Conflict,
            CallEffect::No,
        ),
        (
            422,
            "Validation Failed",
            FailureClass::Conflict,
            CallEffect::No,
        ),
        (
            400,
            "Problems parsing JSON",
            FailureClass::Invalid,
            CallEffect::No,
        ),
        (429, "Too many", FailureClass::Throttled, CallEffect::No),
        (500, "boom", FailureClass::Unavailable, CallEffect::Maybe),
        (503, "later", FailureClass::Unavailable, CallEffect::Maybe),
    ];
    for (status, message, class, happened) in rows {
        let failure = failure_of(Reply::refusal(status, message)).await;
        failed(&failure, class, happened);
        assert!(
            failure.message.contains(message) && failure.message.contains("acme/shop"),
            "{}",
            failure.message
        );
    }
}

#[tokio::test]
async fn a_missing_permission_is_named_where_github_names_it() {
    let refusal = Reply::refusal(403, "Resource not accessible by integration");
    let named = refusal
        .clone()
        .with("x-accepted-github-permissions", "contents=read");
    let what_to_do = "; give the token or the App this permission";
    for (reply, name) in [(refusal, ""), (named, ": contents=read")] {
        let failure = failure_of(reply).await;
        let end = format!("{what_to_do}{name}");
        assert!(failure.message.ends_with(&end), "{failure}");
    }
}

#[tokio::test]
async fn garbled_and_broken_answers_are_told_apart() {
    for body in ["<html>unicorn</html>", "{\"default_branch\":", "", "{}"] {
        assert_eq!(
            failure_of(Reply::text(200, body)).await.class,
            FailureClass::Garbled,
            "{body}"
        );
    }
    let broken = failure_of(Reply {
        breaks: true,
        ..Reply::text(200, "{\"default_branch\":")
    })
    .await;
    failed(&broken, FailureClass::Network, CallEffect::Maybe);
}

#[tokio::test]
async fn limits_tell_how_long_to_stay_away() {
    let secondary = || Reply::refusal(403, "You have exceeded a secondary rate limit");
    let reset = (now() + SignedDuration::from_mins(12))
        .as_second()
        .to_string();
    let spent = || {
        Reply::refusal(403, "API rate limit exceeded")
            .with("x-ratelimit-limit", "5000")
            .with("x-ratelimit-remaining", "0")
    };
    let rows = [
        (secondary(), SignedDuration::from_secs(60)),
        (
            secondary().with("retry-after", "17"),
            SignedDuration::from_secs(17),
        ),
        (
            Reply::refusal(403, "odd").with("retry-after", "5"),
            SignedDuration::from_secs(5),
        ),
        (
            Reply::refusal(429, "x").with("retry-after", "999999"),
            SignedDuration::from_hours(1),
        ),
        (
            Reply::refusal(429, "x").with("retry-after", "0"),
            SignedDuration::from_secs(1),
        ),
        (
            spent().with("x-ratelimit-reset", reset),
            SignedDuration::from_mins(12),
        ),
        (
            spent().with("x-ratelimit-reset", "1"),
            SignedDuration::from_secs(1),
        ),
        (spent(), SignedDuration::from_secs(60)),
    ];
    for (reply, wait) in rows {
        let failure = failure_of(reply.clone()).await;
        assert_eq!(
            (failure.class, failure.retry_after),
            (FailureClass::Throttled, Some(wait)),
            "{reply:?}"
        );
    }
    assert_eq!(
        failure_of(Reply::refusal(503, "x").with("retry-after", "30"))
            .await
            .retry_after,
        Some(SignedDuration::from_secs(30))
    );
}

#[tokio::test]
async fn no_failure_ever_holds_the_token() {
    let echo = format!(
        "your header was Bearer {TOKEN}\r\nX-Evil: \u{1b}[31m ghp_{}",
        "a1".repeat(18)
    );
    for status in [301, 400, 401, 403, 404, 409, 422, 429, 500] {
        for reply in [Reply::refusal(status, &echo), Reply::text(status, &echo)] {
            let failure = failure_of(reply).await;
            let shown = format!("{failure} {failure:?}");
            assert!(
                !shown.contains("canary") && !shown.contains("ghp_"),
                "{shown}"
            );
            assert!(!failure.message.contains(char::is_control), "{shown}");
        }
    }
}

#[tokio::test]
async fn messages_have_a_limit() {
    let failure = failure_of(Reply::refusal(422, &"é".repeat(9_000))).await;
    assert!(failure.message.chars().count() <= 1_024);
    let failure = failure_of(Reply::text(500, &"x".repeat(2_000_000))).await;
    assert!(failure.message.chars().count() <= 1_024);
}

#[tokio::test]
async fn an_endless_body_is_not_read_to_its_end() {
    let failure = failure_of(Reply::text(200, &" ".repeat(17 * 1024 * 1024))).await;
    assert_eq!(failure.class, FailureClass::Garbled);
    assert!(
        failure.message.contains("larger than"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn nothing_is_repeated_and_nothing_is_waited_for() {
    // Octocrab would repeat 5xx three times, and wait as long as a limit says.
    for status in [403, 429, 500, 502, 503, 504] {
        for wait in [None, Some("3600"), Some("0")] {
            let server = Server::start(move |_: &Asked| {
                let reply = Reply::refusal(status, "no").with("x-ratelimit-remaining", "0");
                match wait {
                    Some(wait) => reply.with("retry-after", wait),
                    None => reply,
                }
            })
            .await;
            let failure = server.reader().default_branch(&pull().repo).await;
            failure.unwrap_err();
            assert_eq!(server.lines(), [REPO], "{status} {wait:?}");
        }
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_used_is_refused_at_once() {
    for address in [
        "not a url",
        "ftp://github.com",
        "https://user:canary@api.github.com",
    ] {
        let settings = Settings::new(Some(address), None);
        let backend = std::sync::Arc::new(crate::server::Backend::new(TOKEN));
        let refusal = match settings {
            Ok(settings) => github::Client::new(&settings, backend.clone(), backend).unwrap_err(),
            Err(refusal) => refusal,
        };
        assert!(!refusal.to_string().contains("canary"), "{refusal}");
    }
}
