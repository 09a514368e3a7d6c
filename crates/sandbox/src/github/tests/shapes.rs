//! The shapes, judged by an independent reader: octocrab's models take what we answer and send.

use octocrab::models::webhook_events::WebhookEvent;
use octocrab::models::{self, pulls::PullRequest};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Stand;
use super::stand::REPO;
use crate::github::{CheckSetup, CiSetup, Outcome};

/// Reads an answer with a model, or fails with the place where it does not fit.
fn reads<T: DeserializeOwned>(value: &Value) {
    if let Err(error) = serde_json::from_value::<T>(value.clone()) {
        panic!("{}: {error}", std::any::type_name::<T>());
    }
}

fn ci() -> CiSetup {
    let foreign = CheckSetup {
        app_id: 7,
        app_slug: "circle".to_owned(),
        ..CheckSetup::new("circle", Outcome::Success)
    };
    CiSetup {
        checks: vec![
            CheckSetup::new("build", Outcome::Failure),
            foreign,
            CheckSetup::status("ci/deploy", Outcome::Success),
        ],
        ..CiSetup::default()
    }
}

#[tokio::test]
async fn answers_fit_the_models_of_a_real_client() {
    let stand = Stand::with_ci(ci()).await;
    let n = stand.open("feat/a", "a.rs");
    stand
        .post(&format!("/issues/{n}/comments"), json!({ "body": "hello" }))
        .await;
    stand
        .post(&format!("/issues/{n}/labels"), json!(["automerge"]))
        .await;
    stand
        .post(
            &format!("/pulls/{n}/reviews"),
            json!({ "event": "APPROVE" }),
        )
        .await;
    stand.pass(2);
    let head = stand.head(n);

    reads::<models::Author>(&stand.get("/user").await.body);
    reads::<models::RateLimit>(&stand.get("/rate_limit").await.body);
    reads::<models::Repository>(&stand.repo("").await.body);
    reads::<PullRequest>(&stand.shown(n).await);
    reads::<Vec<PullRequest>>(&stand.repo("/pulls").await.body);
    reads::<Vec<models::repos::DiffEntry>>(&stand.repo(&format!("/pulls/{n}/files")).await.body);
    reads::<Vec<models::pulls::Review>>(&stand.repo(&format!("/pulls/{n}/reviews")).await.body);
    reads::<models::checks::ListCheckRuns>(
        &stand
            .repo(&format!("/commits/{head}/check-runs"))
            .await
            .body,
    );
    reads::<models::CombinedStatus>(&stand.repo(&format!("/commits/{head}/status")).await.body);
    reads::<Vec<models::Status>>(&stand.repo(&format!("/commits/{head}/statuses")).await.body);
    reads::<models::repos::RepoCommit>(&stand.repo(&format!("/commits/{head}")).await.body);
    reads::<Vec<models::issues::Comment>>(&stand.repo(&format!("/issues/{n}/comments")).await.body);
    reads::<models::issues::Issue>(&stand.repo(&format!("/issues/{n}")).await.body);
    reads::<Vec<models::Label>>(&stand.repo(&format!("/issues/{n}/labels")).await.body);
    reads::<models::repos::Ref>(&stand.repo("/git/ref/heads/feat/a").await.body);
    let runs = stand
        .repo(&format!("/actions/runs?head_sha={head}"))
        .await
        .body;
    reads::<Vec<models::workflows::Run>>(&runs["workflow_runs"]);
    let jobs = stand
        .repo(&format!(
            "/actions/runs/{}/jobs",
            runs["workflow_runs"][0]["id"]
        ))
        .await
        .body;
    reads::<Vec<models::workflows::Job>>(&jobs["jobs"]);
    let workflows = stand.repo("/actions/workflows").await.body;
    reads::<Vec<models::workflows::WorkFlow>>(&workflows["workflows"]);
    reads::<models::pulls::Merge>(&stand.merge(n).await.body);
    reads::<PullRequest>(&stand.shown(n).await);
}

#[tokio::test]
async fn webhooks_fit_the_models_of_a_real_client() {
    let stand = Stand::with_ci(ci()).await;
    let target = stand.hook().await;
    let n = stand.open("feat/a", "a.rs");
    let issue = stand
        .post("/issues", json!({ "title": "Broken" }))
        .await
        .body["number"]
        .as_u64()
        .unwrap();
    stand.github.add_label(stand.now(), REPO, issue, "jules");
    stand.github.comment(stand.now(), REPO, n, ("ada", "hello"));
    stand.github.add_label(stand.now(), REPO, n, "automerge");
    stand
        .github
        .review(stand.now(), REPO, n, ("ada", "APPROVED", "fine"));
    stand.pass(2);
    stand
        .github
        .push(stand.now(), REPO, "feat/a", "more", "ada");
    stand.pass(2);
    stand.merge(n).await;
    stand.delete("/git/refs/heads/feat/a").await;
    stand.deliver().await;

    let seen = target.seen();
    let mut events: Vec<&str> = seen.iter().map(|it| it.header("x-github-event")).collect();
    for one in &seen {
        if let Err(error) =
            WebhookEvent::try_from_header_and_body(one.header("x-github-event"), &one.raw)
        {
            panic!("{}: {error}", one.kind());
        }
    }
    events.sort_unstable();
    events.dedup();
    let expected = [
        "check_run",
        "check_suite",
        "issue_comment",
        "issues",
        "pull_request",
        "pull_request_review",
        "push",
        "status",
        "workflow_run",
    ];
    assert_eq!(events, expected);
}
