//! Dispatched workflows and deployments.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::Stand;
use super::stand::REPO;
use crate::github::{
    Access, CheckSetup, CiSetup, Conclusion, DeploymentState, Outcome, Permissions, Resource,
    TokenKind, TokenSetup,
};

/// A repository with a workflow `CI` for heads, and `Deploy` to be dispatched.
async fn stand(outcome: Outcome) -> Stand {
    let deploy = CheckSetup {
        workflow: "Deploy".to_owned(),
        on_dispatch: true,
        takes: SignedDuration::from_secs(30),
        ..CheckSetup::new("deploy", outcome)
    };
    Stand::with_ci(CiSetup {
        checks: vec![CheckSetup::new("build", Outcome::Success), deploy],
        ..CiSetup::default()
    })
    .await
}

const DISPATCH: &str = "/actions/workflows/deploy.yml/dispatches";

fn runs(stand: &Stand, created: &str) -> String {
    let created = created.replace("NOW", &stand.now().to_string());
    let created = created.replace('>', "%3E").replace('<', "%3C");
    format!(
        "/actions/workflows/deploy.yml/runs?branch=main&event=workflow_dispatch&created={created}"
    )
}

#[tokio::test]
async fn a_dispatched_workflow_runs_and_ends() {
    let stand = stand(Outcome::Success).await;
    let n = stand.open("a", "a.rs");
    stand.pass(5);
    let of_head = stand
        .repo(&format!("/commits/{}/check-runs", stand.head(n)))
        .await;
    assert_eq!(of_head.each("check_runs", "name"), ["build"]);
    let asked = stand.now();
    assert_eq!(
        stand.repo(&runs(&stand, ">=NOW")).await.body["total_count"],
        0
    );
    let sent = stand.post(DISPATCH, json!({ "ref": "main" })).await;
    assert_eq!(sent.status, 204);
    let since = format!(">={asked}");
    let listed = stand.repo(&runs(&stand, &since)).await;
    assert_eq!(listed.each("workflow_runs", "status"), ["in_progress"]);
    assert_eq!(listed.each("workflow_runs", "event"), ["workflow_dispatch"]);
    stand.pass(31);
    let listed = stand.repo(&runs(&stand, &since)).await;
    assert_eq!(listed.each("workflow_runs", "conclusion"), ["success"]);
    let later = stand.repo(&runs(&stand, ">=NOW")).await;
    assert_eq!(later.body["total_count"], 0);
    stand.post(DISPATCH, json!({ "ref": "main" })).await;
    let both = stand.repo(&runs(&stand, &since)).await;
    assert_eq!(
        both.each("workflow_runs", "status"),
        ["in_progress", "completed"]
    );
    let counters = stand.counters.counters();
    assert_eq!((counters.dispatches, counters.github_writes), (2, 2));
}

#[tokio::test]
async fn a_dispatched_run_is_ended_by_hand() {
    for conclusion in [Conclusion::Success, Conclusion::Failure] {
        let stand = stand(Outcome::Hangs).await;
        stand.post(DISPATCH, json!({ "ref": "main" })).await;
        stand
            .github
            .finish_dispatched(stand.now(), REPO, "deploy.yml", conclusion);
        let listed = stand.repo(&runs(&stand, "<=NOW")).await;
        assert_eq!(
            listed.each("workflow_runs", "conclusion"),
            [conclusion.as_str()]
        );
    }
}

#[tokio::test]
async fn what_cannot_be_dispatched_is_refused() {
    let stand = stand(Outcome::Success).await;
    let to = |file: &str| format!("/actions/workflows/{file}/dispatches");
    let body = |branch: &str| json!({ "ref": branch });
    for (file, branch, status, message) in [
        ("none.yml", "main", 404, "Not Found"),
        (
            "ci.yml",
            "main",
            422,
            "Workflow does not have 'workflow_dispatch' trigger",
        ),
        ("deploy.yml", "none", 422, "No ref found for: none"),
    ] {
        let got = stand.post(&to(file), body(branch)).await;
        assert_eq!((got.status, got.message()), (status, message), "{file}");
    }
    let got = stand.post(&to("deploy.yml"), json!({})).await;
    assert_eq!(got.status, 422);
    let unknown = stand.repo("/actions/workflows/none.yml/runs").await;
    assert_eq!(unknown.status, 404);
    let read_only = TokenSetup {
        token: "read".to_owned(),
        kind: TokenKind::Installation,
        permissions: Permissions::all().with(Resource::Actions, Access::Read),
        ..TokenSetup::default()
    };
    stand.github.add_token(read_only);
    let path = format!("/repos/{REPO}{DISPATCH}");
    let asked = (reqwest::Method::POST, path.as_str());
    let got = stand.send_as("read", asked, (body("main"), &[])).await;
    assert_eq!(
        (got.status, got.header("x-accepted-github-permissions")),
        (403, "actions=write")
    );
}

#[tokio::test]
async fn deployments_are_listed_with_their_statuses() {
    let stand = Stand::start().await;
    let sha = stand.github.branch(REPO, "main").unwrap();
    let list = async |query: &str| {
        let got = stand.repo(&format!("/deployments?{query}")).await;
        got.each("", "id")
    };
    assert_eq!(list("").await, Vec::<Value>::new());
    let to = |environment: &str| {
        let id = stand
            .github
            .deploy(stand.now(), REPO, &sha, environment)
            .unwrap();
        stand.pass(1);
        id
    };
    let (first, staging, second) = (to("production"), to("staging"), to("production"));
    assert_eq!(list("environment=production").await, [second, first]);
    assert_eq!(
        list(&format!("sha={sha}&environment=staging")).await,
        [staging]
    );
    assert_eq!(list("sha=none").await, Vec::<Value>::new());
    let states = async |id: u64| {
        let got = stand.repo(&format!("/deployments/{id}/statuses")).await;
        got.each("", "state")
    };
    assert_eq!(states(first).await, Vec::<Value>::new());
    let set = |id, state| stand.github.set_deployment(stand.now(), REPO, id, state);
    set(first, DeploymentState::InProgress);
    set(first, DeploymentState::Success);
    set(staging, DeploymentState::Success);
    set(second, DeploymentState::Success);
    assert_eq!(states(first).await, ["inactive", "success", "in_progress"]);
    assert_eq!(states(staging).await, ["success"]);
    assert_eq!(states(second).await, ["success"]);
    assert_eq!(stand.github.deploy(stand.now(), REPO, "none", "x"), None);
}

#[tokio::test]
async fn deployments_are_made_over_the_api_by_those_who_may() {
    let stand = Stand::start().await;
    let body = json!({ "ref": "main", "environment": "staging" });
    let made = stand.post("/deployments", body.clone()).await;
    assert_eq!(
        (made.status, &made.body["environment"]),
        (201, &json!("staging"))
    );
    assert_eq!(made.body["sha"], json!(stand.github.branch(REPO, "main")));
    let path = format!("/deployments/{}/statuses", made.body["id"]);
    let set = stand.post(&path, json!({ "state": "failure" })).await;
    assert_eq!((set.status, &set.body["state"]), (201, &json!("failure")));
    let odd = stand.post(&path, json!({ "state": "odd" })).await;
    assert_eq!(odd.status, 422);
    assert_eq!(stand.repo("/deployments/7/statuses").await.status, 404);
    let narrow = TokenSetup {
        token: "read".to_owned(),
        permissions: Permissions::all().with(Resource::Deployments, Access::Read),
        ..TokenSetup::default()
    };
    stand.github.add_token(narrow);
    let path = format!("/repos/{REPO}/deployments");
    assert_eq!(stand.get_as("read", &path).await.status, 200);
    let asked = (reqwest::Method::POST, path.as_str());
    assert_eq!(stand.send_as("read", asked, (body, &[])).await.status, 403);
}
