//! Repositories that are renamed, replaced or deleted, the App's installations, and whose a token is.

use reqwest::{Method, redirect};
use serde_json::json;

use super::Stand;
use super::stand::REPO;
use crate::github::{DEFAULT_TOKEN, InstallationSetup, RepoSetup, TokenKind, TokenSetup};

/// Asks without following where the answer leads.
pub(super) async fn led(stand: &Stand, method: Method, path: &str) -> (u16, String) {
    let client = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .build()
        .unwrap();
    let request = client.request(method, format!("{}{path}", stand.base));
    let answer = request.bearer_auth(DEFAULT_TOKEN).send().await.unwrap();
    let to = answer.headers().get("location");
    let to = to.map_or("", |to| to.to_str().unwrap()).to_owned();
    (answer.status().as_u16(), to.replace(&stand.base, ""))
}

#[tokio::test]
async fn an_old_name_leads_on_until_somebody_takes_it() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    let id = stand.github.repo_id(REPO).unwrap();
    stand.github.rename_repo(REPO, "acme/store");

    let old = format!("/repos/{REPO}/pulls/{n}?x=1");
    let new = format!("/repositories/{id}/pulls/{n}?x=1");
    assert_eq!(led(&stand, Method::GET, &old).await, (301, new.clone()));
    let merge = format!("/repos/{REPO}/pulls/{n}/merge");
    let there = format!("/repositories/{id}/pulls/{n}/merge");
    assert_eq!(led(&stand, Method::PUT, &merge).await, (307, there));
    let own = format!("/repositories/{id}");
    assert_eq!(
        led(&stand, Method::GET, &format!("/repos/{REPO}")).await,
        (301, own)
    );

    let pull = stand.get(&new).await;
    assert_eq!(pull.body["base"]["repo"]["full_name"], "acme/store");
    assert_eq!(pull.body["head"]["repo"]["id"], json!(id));
    assert_eq!(stand.get("/repositories/77").await.status, 404);

    let made = stand.github.add_repo(stand.now(), RepoSetup::new(REPO));
    made.unwrap();
    let taken = stand.get(&format!("/repos/{REPO}")).await;
    assert_eq!(taken.status, 200);
    assert_ne!(taken.body["id"], json!(id));
    stand.github.remove_repo(REPO);
    stand.github.rename_repo("acme/store", REPO);
    assert_eq!(stand.github.repo_id(REPO), Some(id));
    stand.github.remove_repo(REPO);
    assert_eq!(stand.get(&format!("/repos/{REPO}")).await.status, 404);
}

#[tokio::test]
async fn what_may_not_be_seen_leads_nowhere() {
    let stand = Stand::start().await;
    stand.github.rename_repo(REPO, "acme/store");
    stand.github.add_token(TokenSetup {
        repos: Some(Vec::new()),
        ..TokenSetup::default()
    });
    let hidden = led(&stand, Method::GET, &format!("/repos/{REPO}")).await;
    assert_eq!(hidden, (404, String::new()));
}

#[tokio::test]
async fn a_suspended_installation_mints_no_tokens() {
    let stand = Stand::start().await;
    let app = super::access::app_jwt();
    stand.github.set_installations(vec![InstallationSetup {
        id: 9,
        owner: Some("acme".to_owned()),
        suspended: true,
    }]);
    let path = format!("/repos/{REPO}/installation");
    let found = stand.get_as(&app, &path).await;
    assert_eq!(found.body["id"], 9);
    assert!(found.body["suspended_at"].is_string());
    let mint = "/app/installations/9/access_tokens";
    let refused = stand
        .send_as(&app, (Method::POST, mint), (json!({}), &[]))
        .await;
    refused.says(403, "This installation has been suspended");
    stand.github.set_installations(Vec::new());
    assert_eq!(stand.get_as(&app, &path).await.status, 404);
}

#[tokio::test]
async fn a_token_tells_whose_it_is() {
    let stand = Stand::start().await;
    stand.github.add_token(TokenSetup {
        token: "ghs_run".to_owned(),
        kind: TokenKind::Actions,
        ..TokenSetup::default()
    });
    let query = || json!({ "query": "query { viewer { databaseId login } }" });
    for (token, login) in [
        ("ghs_run", "github-actions[bot]"),
        (DEFAULT_TOKEN, "octo-owner"),
    ] {
        let got = stand
            .send_as(token, (Method::POST, "/graphql"), (query(), &[]))
            .await;
        let viewer = &got.body["data"]["viewer"];
        assert_eq!(viewer["login"], login);
        assert_eq!(
            viewer["databaseId"] == json!(41_898_282),
            token == "ghs_run"
        );
    }
}
