//! What failed checks said.

use domain::facts::{Check, CheckOutcome, Fact, Pass, PullFacts};
use domain::failure::{Failure, FailureClass};
use engine::ports::{CheckLog, PullsRead};
use serde_json::json;

use crate::server::{Asked, Reply, Server};
use crate::world;

fn check(id: u64, name: &str, outcome: CheckOutcome) -> Check {
    Check {
        name: name.to_owned(),
        app: Some(world::ACTIONS),
        outcome,
        id: Some(id),
    }
}

async fn facts(checks: Fact<Vec<Check>>) -> PullFacts {
    let facts = Server::start(world::green).await.facts().await.unwrap();
    PullFacts { checks, ..facts }
}

async fn one_failed() -> PullFacts {
    facts(Fact::Known(vec![check(31, "build", CheckOutcome::Failed)])).await
}

/// What a server says of the one that failed.
async fn read(server: &Server) -> Result<Vec<CheckLog>, Failure> {
    server.reader().check_logs(&one_failed().await).await
}

/// Answers the log of every job by a redirect to another server.
fn redirects_to(address: String) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    move |asked| match asked.path.ends_with("/logs") {
        true => Reply::text(302, "").with("location", address.clone()),
        false => Reply::refusal(404, "Not Found"),
    }
}

#[tokio::test]
async fn a_redirected_log_is_fetched_without_the_credential() {
    let script = |asked: &Asked| match asked.line().as_str() {
        "GET /repos/acme/shop/actions/jobs/31/logs" => {
            Reply::text(302, "").with("location", format!("{}/signed?sig=1", asked.base))
        }
        "GET /signed?sig=1" => Reply::text(
            200,
            "2026-11-21T10:00:00.0000000Z \u{1b}[31merror\u{1b}[0m: no cart\r\n",
        ),
        _ => Reply::refusal(404, "Not Found"),
    };
    let server = Server::start(script).await;
    let logs = read(&server).await.unwrap();
    assert_eq!(
        (logs[0].name.as_str(), logs[0].tail.as_str()),
        ("build", "error: no cart")
    );
    let asked = server.asked();
    assert!(asked[0].header("authorization").is_some());
    assert_eq!(asked[1].header("authorization"), None);
}

#[tokio::test]
async fn a_log_is_not_fetched_in_the_clear_from_elsewhere_and_only_one_redirect_is_followed() {
    let stranger = Server::start(|_: &Asked| Reply::text(200, "secret of the network")).await;
    let server = Server::start(redirects_to(format!("{}/logs", stranger.base))).await;
    assert!(read(&server).await.unwrap().is_empty());
    assert!(stranger.asked().is_empty());
    let round = Server::start(|asked: &Asked| match asked.path.as_str() {
        path if path.starts_with("/repos/acme/shop/check-runs") => Reply::refusal(404, "Not Found"),
        _ => Reply::text(302, "").with("location", format!("{}/again", asked.base)),
    })
    .await;
    assert!(read(&round).await.unwrap().is_empty());
    assert_eq!(
        round
            .lines()
            .iter()
            .filter(|line| *line == "GET /again")
            .count(),
        1
    );
}

#[tokio::test]
async fn without_a_log_the_check_speaks_for_itself() {
    let script = |asked: &Asked| match asked.line().as_str() {
        "GET /repos/acme/shop/check-runs/31" => Reply::ok(
            &json!({ "output": { "title": "2 errors", "summary": "in \u{202e}cart", "text": null } }),
        ),
        _ => Reply::refusal(404, "Not Found"),
    };
    let logs = read(&Server::start(script).await).await.unwrap();
    assert_eq!(logs[0].tail, "2 errors\n\nin cart");
}

#[tokio::test]
async fn at_most_five_logs_are_read_and_each_is_short() {
    let checks = (1..=8)
        .map(|id| check(id, "c", CheckOutcome::Failed))
        .collect();
    let script = |asked: &Asked| Reply::text(200, &format!("{}{}", "é".repeat(9_000), asked.path));
    let server = Server::start(script).await;
    let logs = server
        .reader()
        .check_logs(&facts(Fact::Known(checks)).await)
        .await
        .unwrap();
    assert_eq!((logs.len(), server.asked().len()), (5, 5));
    assert!(
        logs.iter()
            .all(|log| log.tail.chars().count() == 4_000 && log.tail.ends_with("/logs"))
    );
}

#[tokio::test]
async fn only_failed_check_runs_are_asked() {
    let status = Check {
        name: "ci".to_owned(),
        app: None,
        outcome: CheckOutcome::Failed,
        id: None,
    };
    let passed = check(2, "b", CheckOutcome::Passed(Pass::Success));
    let quiet = [
        Fact::Known(vec![status, passed, check(3, "c", CheckOutcome::Pending)]),
        Fact::Unknown {
            why: "x".to_owned(),
        },
    ];
    for checks in quiet {
        let server = Server::start(|_: &Asked| Reply::text(200, "x")).await;
        assert!(
            server
                .reader()
                .check_logs(&facts(checks).await)
                .await
                .unwrap()
                .is_empty()
        );
        assert!(server.asked().is_empty());
    }
}

#[tokio::test]
async fn a_limit_is_not_mistaken_for_a_log_that_cannot_be_had() {
    let server = Server::start(|_: &Asked| Reply::refusal(429, "later")).await;
    let failure = read(&server).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Throttled);
    let empty =
        Server::start(|_: &Asked| Reply::refusal(403, "Resource not accessible by integration"))
            .await;
    assert!(read(&empty).await.unwrap().is_empty());
}

#[tokio::test]
async fn secrets_in_a_log_are_masked() {
    let token = format!("ghp_{}", "a1".repeat(18));
    let server =
        Server::start(move |_: &Asked| Reply::text(200, &format!("using {token} to push"))).await;
    let logs = read(&server).await.unwrap();
    assert_eq!(logs[0].tail, "using [secret] to push");
}
