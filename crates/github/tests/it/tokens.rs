//! Which credentials are accepted for a repository, and how the others are refused.

use domain::failure::{CallEffect, FailureClass};
use engine::ports::{PullsRead, PullsWrite};
use github::{Reader, Writer};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::server::{Asked, Backend, Reply, Server, failed, pull};

const FINE: &str = "github_pat_canary";
const RUNNER: &str = "ghs_canary";
const KEY: &str = include_str!("keys/app.pem");
const REPO: &str = "GET /repos/acme/shop";
const PROBE: &str = "GET /repos/acme/shop/commits/main/check-runs?per_page=1";

fn repository() -> Reply {
    Reply::ok(&json!({ "id": 5, "full_name": "acme/shop", "default_branch": "main" }))
}

fn no_checks() -> Reply {
    Reply::refusal(403, "Resource not accessible by personal access token")
}

#[tokio::test]
async fn a_fine_grained_token_that_cannot_read_check_runs_is_refused_with_that_reason() {
    let server = Server::start(|asked: &Asked| match asked.line().as_str() {
        PROBE if asked.before == 0 => no_checks(),
        PROBE => Reply::ok(&json!({ "total_count": 0, "check_runs": [] })),
        _ => repository(),
    })
    .await;
    let backend = Backend::new(FINE);
    let client = backend.client(&server, None);
    let (reader, writer) = (Reader::new(client.clone()), Writer::new(client));
    for _ in 0..3 {
        let failure = reader.default_branch(&pull().repo).await.unwrap_err();
        failed(&failure, FailureClass::Forbidden, CallEffect::No);
        assert!(
            failure.message.contains("no Checks permission") && !failure.message.contains("canary"),
            "{failure}"
        );
    }
    writer.label(&pull(), "x").await.unwrap_err();
    assert_eq!(server.lines(), [REPO, PROBE], "one probe, and nothing else");
    // The repository was made public, for example.
    backend.pass(SignedDuration::from_mins(5));
    writer.label(&pull(), "x").await.unwrap();
    assert_eq!(server.lines().len(), 5);
}

#[tokio::test]
async fn a_fine_grained_token_that_can_is_probed_once_for_each_repository() {
    let server = Server::start(|asked: &Asked| match asked.line().as_str() {
        line if line.contains("/check-runs") => {
            Reply::ok(&json!({ "total_count": 0, "check_runs": [] }))
        }
        _ => repository(),
    })
    .await;
    let backend = Backend::new(FINE);
    let reader = Reader::new(backend.client(&server, None));
    for repo in ["acme/shop", "acme/shop", "acme/till", "acme/shop"] {
        reader.default_branch(&repo.parse().unwrap()).await.unwrap();
        backend.pass(SignedDuration::from_mins(2));
    }
    let probes = server
        .lines()
        .iter()
        .filter(|line| line.contains("/check-runs"))
        .count();
    assert_eq!(probes, 2);
}

#[tokio::test]
async fn a_probe_that_tells_nothing_refuses_nobody() {
    for odd in [
        Reply::refusal(404, "Not Found"),
        Reply::refusal(409, "Git Repository is empty."),
        Reply::refusal(500, "boom"),
    ] {
        let server = Server::start(move |asked: &Asked| match asked.line().as_str() {
            PROBE => odd.clone(),
            _ => repository(),
        })
        .await;
        let reader = Reader::new(Backend::new(FINE).client(&server, None));
        for _ in 0..2 {
            reader.default_branch(&pull().repo).await.unwrap();
        }
        let probes = server.lines().iter().filter(|line| *line == PROBE).count();
        assert_eq!(probes, 2, "what is not known is asked again");
    }
}

async fn as_runner(viewer: Value) -> (Server, domain::failure::Failure) {
    let server = Server::start(move |asked: &Asked| match asked.path.as_str() {
        "/graphql" => Reply::ok(&viewer),
        _ => repository(),
    })
    .await;
    let reader = Reader::new(Backend::new(RUNNER).client(&server, None));
    let refused = reader.default_branch(&pull().repo).await.unwrap_err();
    (server, refused)
}

#[tokio::test]
async fn the_token_of_a_workflow_run_is_refused_because_its_merges_start_no_workflows() {
    let viewer = json!({ "data": { "viewer": { "databaseId": 41_898_282 } } });
    let (server, failure) = as_runner(viewer).await;
    failed(&failure, FailureClass::Unauthorized, CallEffect::No);
    assert!(failure.message.contains("starts no workflows"), "{failure}");
    assert_eq!(server.lines(), ["POST /graphql"]);
    let asked = &server.asked()[0].body;
    assert!(asked["query"].as_str().unwrap().contains("databaseId"));
}

#[tokio::test]
async fn a_token_of_nobody_known_is_refused_and_one_of_another_app_is_not() {
    let nobody = json!({ "data": null, "errors": [{ "type": "FORBIDDEN" }] });
    let (_, failure) = as_runner(nobody).await;
    assert!(failure.message.contains("unknown origin"), "{failure}");

    let server = Server::start(|asked: &Asked| match asked.path.as_str() {
        // A look-alike: the login proves nothing, the number does.
        "/graphql" => Reply::ok(
            &json!({ "data": { "viewer": { "login": "github-actions[bot]", "databaseId": 7 } } }),
        ),
        _ => repository(),
    })
    .await;
    let reader = Reader::new(Backend::new(RUNNER).client(&server, None));
    for _ in 0..2 {
        reader.default_branch(&pull().repo).await.unwrap();
    }
    assert_eq!(server.lines(), ["POST /graphql", REPO, REPO]);
}

/// An App with an installation for each owner; that of `suspended` is suspended.
fn installations(asked: &Asked) -> Reply {
    let owner = asked.path.split('/').nth(2).unwrap_or_default();
    if asked.path.ends_with("/installation") {
        return match owner {
            "acme" => Reply::ok(&json!({ "id": 1, "suspended_at": null })),
            "other" => Reply::ok(&json!({ "id": 2 })),
            "late" => Reply::ok(&json!({ "id": 3 })),
            "asleep" => Reply::ok(&json!({ "id": 4, "suspended_at": "2026-11-01T00:00:00Z" })),
            _ => Reply::refusal(404, "Not Found"),
        };
    }
    if let Some(rest) = asked.path.strip_prefix("/app/installations/") {
        let id = rest.split('/').next().unwrap();
        if id == "3" {
            return Reply::refusal(403, "This installation has been suspended");
        }
        let expires = now_plus_an_hour();
        return Reply::json(
            201,
            &json!({ "token": format!("ghs_of_{id}"), "expires_at": expires }),
        );
    }
    let wanted = match owner {
        "acme" => "Bearer ghs_of_1",
        "other" => "Bearer ghs_of_2",
        _ => "nothing",
    };
    if asked.header("authorization") == Some(wanted) {
        repository()
    } else {
        Reply::refusal(404, "Not Found")
    }
}

fn now_plus_an_hour() -> String {
    (crate::server::now() + SignedDuration::from_hours(1)).to_string()
}

#[tokio::test]
async fn every_repository_is_asked_with_the_token_of_its_own_installation() {
    let server = Server::start(installations).await;
    let reader = Reader::new(Backend::new(KEY).client(&server, Some(77)));
    for repo in [
        "acme/shop",
        "other/shop",
        "acme/till",
        "other/shop",
        "acme/shop",
    ] {
        reader.default_branch(&repo.parse().unwrap()).await.unwrap();
    }
    let made = |line: &&String| line.ends_with("/access_tokens");
    assert_eq!(server.lines().iter().filter(made).count(), 2);
}

#[tokio::test]
async fn a_suspended_installation_and_a_missing_one_are_told_as_such() {
    let server = Server::start(installations).await;
    let reader = Reader::new(Backend::new(KEY).client(&server, Some(77)));
    let rows = [
        ("asleep/shop", "suspended"),
        ("late/shop", "suspended"),
        ("stranger/shop", "not installed on stranger/shop"),
    ];
    for (repo, words) in rows {
        let failure = reader
            .default_branch(&repo.parse().unwrap())
            .await
            .unwrap_err();
        assert_eq!(failure.class, FailureClass::Forbidden);
        assert!(failure.message.contains(words), "{failure}");
    }
    let for_the_suspended = |line: &&String| line.contains("/installations/4/");
    assert_eq!(server.lines().iter().filter(for_the_suspended).count(), 0);
}

#[tokio::test]
async fn a_repository_that_was_transferred_is_found_in_its_new_installation() {
    let server = Server::start(|asked: &Asked| match asked.line().as_str() {
        "GET /repos/acme/shop/installation" => Reply::ok(&json!({ "id": 1 + asked.before })),
        _ if asked.path.starts_with("/app/") => installations(asked),
        _ => repository(),
    })
    .await;
    let backend = Backend::new(KEY);
    let reader = Reader::new(backend.client(&server, Some(77)));
    reader.default_branch(&pull().repo).await.unwrap();
    backend.pass(SignedDuration::from_mins(10));
    reader.default_branch(&pull().repo).await.unwrap();
    let last = server.asked().last().unwrap().clone();
    assert_eq!(last.header("authorization"), Some("Bearer ghs_of_2"));
}
