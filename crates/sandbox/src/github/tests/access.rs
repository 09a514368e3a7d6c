//! Who may do what: tokens, permissions, rate limits, the App.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde_json::{Value, json};

use super::Stand;
use super::stand::REPO;
use crate::github::{
    APP_ID, Access, CheckSetup, CiSetup, DEFAULT_TOKEN, INSTALLATION_ID, NewPull, Outcome,
    Permissions, PullState, RepoSetup, Resource, TokenKind, TokenSetup,
};

fn token(secret: &str, kind: TokenKind, permissions: Permissions) -> TokenSetup {
    TokenSetup {
        token: secret.to_owned(),
        kind,
        permissions,
        ..TokenSetup::default()
    }
}

fn jwt(claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!(
        "{}.{}.c2lnbmF0dXJl",
        part(&json!({ "alg": "RS256", "typ": "JWT" })),
        part(claims)
    )
}

pub(super) fn app_jwt() -> String {
    jwt(&json!({ "iss": APP_ID.to_string(), "iat": 0, "exp": 600 }))
}

#[tokio::test]
async fn unknown_tokens_are_bad_credentials() {
    let stand = Stand::start().await;
    let got = stand.get_as("ghp_wrong", "/user").await;
    got.says(401, "Bad credentials");
    assert_eq!(
        stand.get_as("", "/user").await.message(),
        "Requires authentication"
    );
    stand.github.revoke_token(DEFAULT_TOKEN);
    assert_eq!(stand.get("/user").await.status, 401);
}

#[tokio::test]
async fn a_classic_token_tells_its_owner_and_scopes() {
    let stand = Stand::start().await;
    let got = stand.get("/user").await;
    assert_eq!(got.body["login"], "octo-owner");
    assert_eq!(got.header("x-oauth-scopes"), "repo, workflow");
    assert_eq!(
        got.header("date"),
        "Sat, 21 Nov 2026 10:00:00 GMT",
        "the time of the sandbox's clock"
    );
    let repo = stand.repo("").await;
    assert_eq!(repo.body["full_name"], REPO);
    assert_eq!(repo.body["permissions"]["push"], true);
}

#[tokio::test]
async fn missing_permissions_are_forbidden_in_the_words_of_the_token_kind() {
    let ci = CiSetup {
        checks: vec![CheckSetup::new("build", Outcome::Success)],
        ..CiSetup::default()
    };
    let stand = Stand::with_ci(ci).await;
    let n = stand.open("a", "a.rs");
    let none = |resource| Permissions::all().with(resource, Access::None);
    stand.github.add_token(token(
        "fine",
        TokenKind::FineGrained,
        none(Resource::Checks),
    ));
    stand.github.add_token(token(
        "app",
        TokenKind::Installation,
        none(Resource::Administration),
    ));
    stand.github.add_token(token(
        "read",
        TokenKind::Installation,
        Permissions::all().with(Resource::Contents, Access::Read),
    ));

    let got = stand
        .get_as(
            "fine",
            &format!("/repos/{REPO}/commits/{}/check-runs", stand.head(n)),
        )
        .await;
    got.says(403, "Resource not accessible by personal access token");
    assert_eq!(got.header("x-accepted-github-permissions"), "checks=read");
    let got = stand
        .get_as("app", &format!("/repos/{REPO}/branches/main/protection"))
        .await;
    got.says(403, "Resource not accessible by integration");
    assert_eq!(
        stand
            .get_as("app", &format!("/repos/{REPO}/rules/branches/main"))
            .await
            .status,
        200
    );

    let path = format!("/repos/{REPO}/pulls/{n}/merge");
    let refused = stand
        .send_as("read", (Method::PUT, &path), (json!({}), &[]))
        .await;
    assert_eq!(refused.status, 403);
    assert_eq!(stand.github.pull(REPO, n).unwrap().state, PullState::Open);
    let counters = stand.counters.counters();
    assert_eq!(
        (
            counters.merges,
            counters.merge_calls,
            counters.github_writes
        ),
        (0, 1, 1)
    );
}

#[tokio::test]
async fn tokens_of_apps_and_of_runs_have_no_user() {
    let stand = Stand::start().await;
    stand
        .github
        .add_token(token("ghs_run", TokenKind::Actions, Permissions::all()));
    let got = stand.get_as("ghs_run", "/user").await;
    got.says(403, "Resource not accessible by integration");
    assert_eq!(got.header("x-oauth-scopes"), "");
}

#[tokio::test]
async fn repositories_out_of_sight_do_not_exist() {
    let stand = Stand::start().await;
    let secret = RepoSetup {
        private: true,
        ..RepoSetup::new("acme/secret")
    };
    stand.github.add_repo(stand.now(), secret).unwrap();
    let narrow = TokenSetup {
        token: "narrow".to_owned(),
        repos: Some(vec!["ACME/Shop".to_owned()]),
        ..TokenSetup::default()
    };
    stand.github.add_token(narrow);
    assert_eq!(stand.get_as("narrow", "/repos/acme/shop").await.status, 200);
    let hidden = stand.get_as("narrow", "/repos/acme/secret").await;
    hidden.says(404, "Not Found");
    assert_eq!(stand.get("/repos/acme/secret").await.status, 200);
}

#[tokio::test]
async fn the_hourly_limit_refuses_and_starts_again() {
    let stand = Stand::start().await;
    stand.github.add_token(TokenSetup {
        token: "small".to_owned(),
        rate_limit: 2,
        ..TokenSetup::default()
    });
    for used in ["1", "2"] {
        let got = stand.get_as("small", "/user").await;
        assert_eq!((got.status, got.header("x-ratelimit-used")), (200, used));
        assert_eq!(got.header("x-ratelimit-resource"), "core");
    }
    let refused = stand.get_as("small", "/user").await;
    assert_eq!(
        (refused.status, refused.header("x-ratelimit-remaining")),
        (403, "0")
    );
    assert!(refused.message().starts_with("API rate limit exceeded"));
    let limit = stand.get_as("small", "/rate_limit").await;
    assert_eq!(limit.body["resources"]["core"]["remaining"], 0);
    let reset: i64 = refused.header("x-ratelimit-reset").parse().unwrap();
    assert_eq!(reset, stand.now().as_second() + 3_600);
    stand.pass(3_600);
    assert_eq!(stand.get_as("small", "/user").await.status, 200);
}

#[tokio::test]
async fn the_app_mints_tokens_that_end() {
    let stand = Stand::start().await;
    let app = stand.get_as(&app_jwt(), "/app").await;
    assert_eq!((app.status, &app.body["id"]), (200, &json!(APP_ID)));
    let installation = stand
        .get_as(&app_jwt(), &format!("/repos/{REPO}/installation"))
        .await;
    assert_eq!(installation.body["id"], INSTALLATION_ID);
    assert_eq!(
        stand
            .get_as(&app_jwt(), "/app/installations")
            .await
            .body
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let path = format!("/app/installations/{INSTALLATION_ID}/access_tokens");
    let body = json!({ "repositories": ["shop"], "permissions": { "checks": "read", "pull_requests": "write" } });
    let minted = stand
        .send_as(&app_jwt(), (Method::POST, &path), (body, &[]))
        .await;
    assert_eq!(minted.status, 201);
    assert_eq!(minted.body["expires_at"], "2026-11-21T11:00:00Z");
    assert_eq!(
        minted.body["permissions"],
        json!({ "checks": "read", "metadata": "read", "pull_requests": "write" })
    );
    let secret = minted.body["token"].as_str().unwrap();
    assert_eq!(
        stand.get_as(secret, &format!("/repos/{REPO}")).await.status,
        200
    );
    assert_eq!(
        stand
            .get_as(secret, &format!("/repos/{REPO}/branches/main"))
            .await
            .status,
        403,
        "contents were not asked for"
    );
    assert_eq!(
        stand
            .get_as(secret, "/installation/repositories")
            .await
            .body["total_count"],
        1
    );

    assert_eq!(
        stand.counters.counters().github_writes,
        0,
        "minting changes nothing people see"
    );
    stand.pass(3_600);
    let ended = stand.get_as(secret, &format!("/repos/{REPO}")).await;
    ended.says(401, "Bad credentials");
}

#[tokio::test]
async fn only_the_right_web_token_is_the_app() {
    let stand = Stand::start().await;
    let wrong = [
        jwt(&json!({ "iss": "1", "exp": 600 })),
        jwt(&json!({ "iss": APP_ID })),
        "a.b.c".to_owned(),
        DEFAULT_TOKEN.to_owned(),
    ];
    for secret in wrong {
        let got = stand.get_as(&secret, "/app").await;
        assert_eq!(
            (got.status, got.message()),
            (401, "A JSON web token could not be decoded"),
            "{secret}"
        );
    }
    assert_eq!(
        stand
            .get_as(&app_jwt(), &format!("/repos/{REPO}"))
            .await
            .status,
        401
    );
}

#[tokio::test]
async fn drafts_are_marked_ready_through_graphql_only_with_permission() {
    let stand = Stand::start().await;
    let draft = || NewPull {
        draft: true,
        ..super::stand::new_pull("a", "a.rs")
    };
    let n = stand.github.open_pull(stand.now(), REPO, draft());
    let id = stand.shown(n).await["node_id"].clone();
    let query = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }";
    let body = json!({ "query": query, "variables": { "id": id } });

    let reader = Permissions::all().with(Resource::PullRequests, Access::Read);
    stand
        .github
        .add_token(token("reader", TokenKind::Installation, reader));
    let refused = stand
        .send_as("reader", (Method::POST, "/graphql"), (body.clone(), &[]))
        .await;
    assert_eq!(
        (refused.status, &refused.body["errors"][0]["type"]),
        (200, &json!("FORBIDDEN"))
    );
    assert!(stand.github.pull(REPO, n).unwrap().draft);

    let got = stand.send(Method::POST, "/graphql", body.clone()).await;
    assert_eq!(
        got.body["data"]["markPullRequestReadyForReview"]["pullRequest"]["isDraft"],
        false
    );
    assert!(!stand.github.pull(REPO, n).unwrap().draft);
    stand.send(Method::POST, "/graphql", body).await;
    assert_eq!(
        stand.counters.counters().ready_for_review,
        1,
        "what was ready is not counted again"
    );

    let unknown = json!({ "query": query, "variables": { "id": "PR_none" } });
    let got = stand.send(Method::POST, "/graphql", unknown).await;
    assert_eq!(got.body["errors"][0]["type"], "NOT_FOUND");
    let other = stand
        .send(
            Method::POST,
            "/graphql",
            json!({ "query": "mutation { enqueuePullRequest }" }),
        )
        .await;
    assert_eq!(
        (other.status, &other.body["errors"][0]["type"]),
        (200, &json!("UNSUPPORTED"))
    );
}
