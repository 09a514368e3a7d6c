//! Reading: pull requests, pages, entity tags, branches, rules, comparisons.

use serde_json::{Value, json};

use super::Stand;
use super::stand::{REPO, new_pull};
use crate::faults::Lags;
use crate::github::{CiSetup, DEFAULT_TOKEN, NewPull, Protection, RepoSetup, RequiredCheck};
use jiff::SignedDuration;
use reqwest::Method;

#[tokio::test]
async fn a_pull_request_shows_its_true_shape() {
    let stand = Stand::start().await;
    let n = stand.open("feat/cart-123", "src/cart.rs");
    let got = stand.repo(&format!("/pulls/{n}")).await;

    assert_eq!(got.status, 200);
    let pull = &got.body;
    assert_eq!(pull["number"], n);
    assert_eq!(pull["state"], "open");
    assert_eq!(pull["draft"], false);
    assert_eq!(pull["merged"], false);
    assert_eq!(pull["mergeable"], true);
    assert_eq!(pull["mergeable_state"], "clean");
    assert_eq!(pull["head"]["ref"], "feat/cart-123");
    assert_eq!(pull["head"]["sha"].as_str().unwrap().len(), 40);
    assert_eq!(pull["head"]["repo"]["full_name"], REPO);
    assert_eq!(pull["head"]["repo"]["fork"], false);
    assert_eq!(pull["base"]["ref"], "main");
    assert_eq!(
        pull["base"]["sha"],
        json!(stand.github.branch(REPO, "main"))
    );
    assert_eq!(pull["user"]["login"], "google-labs-jules[bot]");
    assert_eq!(pull["user"]["id"], 161_369_871);
    assert_eq!(pull["user"]["type"], "Bot");
    assert_eq!(pull["author_association"], "CONTRIBUTOR");
    assert_eq!(pull["changed_files"], 1);
    assert_eq!(pull["commits"], 1);
    assert_eq!(pull["merge_commit_sha"], Value::Null);
    let files = stand.repo(&format!("/pulls/{n}/files")).await;
    assert_eq!(files.each("", "filename"), ["src/cart.rs"]);
    assert!(files.body[0]["patch"].as_str().unwrap().starts_with("@@"));
}

#[tokio::test]
async fn shas_follow_from_the_order_of_events_alone() {
    let (one, other) = (Stand::start().await, Stand::start().await);
    let heads = [&one, &other].map(|stand| {
        let n = stand.open("a", "a.rs");
        stand.github.push(stand.now(), REPO, "a", "more", "ada");
        stand.head(n)
    });
    assert_eq!(heads[0], heads[1]);
}

#[tokio::test]
async fn lists_are_filtered_and_paged_with_links_under_the_request_host() {
    let stand = Stand::start().await;
    for n in 0..35 {
        stand.open(&format!("branch-{n}"), &format!("f{n}.rs"));
    }
    stand.github.close(stand.now(), REPO, 1);

    let first = stand.repo("/pulls").await;
    assert_eq!(first.body.as_array().unwrap().len(), 30);
    assert_eq!(first.body[0]["number"], 35, "the newest comes first");
    let link = first.header("link");
    assert!(
        link.contains(&format!(
            "<{}/repos/acme/shop/pulls?page=2>; rel=\"next\"",
            stand.base
        )),
        "{link}"
    );
    assert!(link.contains("?page=2>; rel=\"last\""), "{link}");

    let second = stand.repo("/pulls?page=2").await;
    assert_eq!(second.each("", "number"), [5, 4, 3, 2]);
    assert!(second.header("link").contains("rel=\"prev\""));
    assert!(!second.header("link").contains("rel=\"next\""));

    assert_eq!(
        stand.repo("/pulls?state=closed").await.each("", "number"),
        [1]
    );
    let all = stand.repo("/pulls?state=all&per_page=100").await;
    assert_eq!(all.body.as_array().unwrap().len(), 35);
    assert_eq!(all.header("link"), "");
    let of_head = stand.repo("/pulls?head=acme:branch-7").await;
    assert_eq!(of_head.each("", "number"), [8]);
    assert_eq!(
        stand.repo("/pulls?head=other:branch-7").await.body,
        json!([])
    );
    assert_eq!(stand.repo("/pulls?base=release").await.body, json!([]));
}

#[tokio::test]
async fn a_known_entity_tag_is_answered_304_free_of_charge() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    let path = format!("/repos/{REPO}/pulls/{n}");
    let first = stand.get(&path).await;
    let tag = first.header("etag").to_owned();
    assert!(tag.starts_with("W/\""));
    assert_eq!(first.header("x-ratelimit-used"), "1");

    let with_tag = |tag: String| {
        let (stand, path) = (&stand, &path);
        async move {
            let headers = [("if-none-match", tag.as_str())];
            stand
                .send_as(DEFAULT_TOKEN, (Method::GET, path), (Value::Null, &headers))
                .await
        }
    };
    let again = with_tag(tag.clone()).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    assert_eq!(again.header("x-ratelimit-used"), "1");
    assert_eq!(stand.counters.counters().github_not_modified, 1);

    stand
        .github
        .comment(stand.now(), REPO, n, ("ada", "changes the answer"));
    let changed = with_tag(tag).await;
    assert_eq!(changed.status, 200);
    assert_eq!(changed.header("x-ratelimit-used"), "2");
    assert_eq!(stand.counters.counters().github_not_modified, 1);
}

#[tokio::test]
async fn mergeable_is_null_until_the_lag_has_passed_and_after_every_change() {
    let stand = Stand::start().await;
    stand.faults.set_lags(Lags {
        mergeable: SignedDuration::from_secs(3),
        ..Lags::default()
    });
    let n = stand.open("a", "a.rs");
    let path = format!("/pulls/{n}");

    let got = stand.repo(&path).await;
    assert_eq!(got.body["mergeable"], Value::Null);
    assert_eq!(got.body["mergeable_state"], "unknown");
    stand.pass(3);
    assert_eq!(stand.repo(&path).await.body["mergeable"], true);

    stand.github.push(stand.now(), REPO, "a", "more", "ada");
    assert_eq!(stand.repo(&path).await.body["mergeable"], Value::Null);
    stand.pass(3);
    let other = stand.open("b", "b.rs");
    assert_eq!(stand.merge(other).await.status, 200);
    assert_eq!(
        stand.repo(&path).await.body["mergeable"],
        Value::Null,
        "the base has moved"
    );
}

#[tokio::test]
async fn forks_show_their_own_repository() {
    let stand = Stand::start().await;
    let fork = Some("mallory/shop".to_owned());
    let n = stand.github.open_pull(
        stand.now(),
        REPO,
        NewPull {
            fork,
            ..new_pull("main", "x.rs")
        },
    );
    let got = stand.repo(&format!("/pulls/{n}")).await;
    assert_eq!(got.body["head"]["repo"]["full_name"], "mallory/shop");
    assert_eq!(got.body["head"]["repo"]["fork"], true);
    assert_ne!(
        got.body["head"]["repo"]["id"],
        got.body["base"]["repo"]["id"]
    );
    assert_eq!(got.body["author_association"], "NONE");
    assert_eq!(got.body["changed_files"], 1);
    assert_eq!(
        stand.github.branch(REPO, "main").unwrap(),
        got.body["base"]["sha"]
    );
    let refused = stand
        .put(&format!("/pulls/{n}/update-branch"), json!({}))
        .await;
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn rules_and_protection_tell_only_what_their_mechanism_knows() {
    let ci = CiSetup {
        required: vec![
            RequiredCheck {
                context: "build".to_owned(),
                app_id: Some(15_368),
            },
            RequiredCheck::any("lint"),
        ],
        strict: true,
        ..CiSetup::default()
    };
    let stand = Stand::with(RepoSetup {
        reviews_required: 1,
        merge_queue: true,
        ..RepoSetup::new(REPO).with_ci(ci)
    })
    .await;

    let rules = stand.repo("/rules/branches/main").await;
    assert_eq!(
        rules.each("", "type"),
        ["required_status_checks", "pull_request", "merge_queue"]
    );
    let parameters = &rules.body[0]["parameters"];
    assert_eq!(parameters["strict_required_status_checks_policy"], true);
    assert_eq!(
        parameters["required_status_checks"],
        json!([{ "context": "build", "integration_id": 15_368 }, { "context": "lint" }])
    );
    assert_eq!(
        rules.body[1]["parameters"]["required_approving_review_count"],
        1
    );
    assert_eq!(stand.repo("/rules/branches/other").await.body, json!([]));
    let unprotected = stand.repo("/branches/main/protection").await;
    unprotected.says(404, "Branch not protected");

    stand
        .github
        .change_repo(REPO, |setup| setup.protection = Protection::Classic);
    assert_eq!(stand.repo("/rules/branches/main").await.body, json!([]));
    let classic = stand.repo("/branches/main/protection").await;
    assert_eq!(classic.status, 200);
    assert_eq!(
        classic.body["required_status_checks"]["contexts"],
        json!(["build", "lint"])
    );
    assert_eq!(classic.body["required_status_checks"]["strict"], true);
    assert_eq!(
        classic.body["required_pull_request_reviews"]["required_approving_review_count"],
        1
    );
    assert_eq!(stand.repo("/branches/main").await.body["protected"], true);
    let listed = stand.repo("/branches?protected=true").await;
    assert_eq!(listed.each("", "name"), ["main"]);
    stand
        .github
        .change_repo(REPO, |setup| setup.protection = Protection::Off);
    assert_eq!(stand.repo("/branches?protected=true").await.body, json!([]));
    assert_eq!(
        stand
            .repo("/branches?protected=false")
            .await
            .each("", "name"),
        ["main"]
    );
}

#[tokio::test]
async fn branches_with_slashes_are_read_and_deleted() {
    let stand = Stand::start().await;
    let n = stand.open("feat/x-123", "a.rs");
    for path in ["/git/ref/heads/feat/x-123", "/git/ref/heads/feat%2Fx-123"] {
        let got = stand.repo(path).await;
        assert_eq!(got.body["object"]["sha"], stand.head(n));
        assert_eq!(got.body["ref"], "refs/heads/feat/x-123");
    }
    assert_eq!(
        stand.repo("/branches/feat/x-123").await.body["name"],
        "feat/x-123"
    );

    assert_eq!(stand.delete("/git/refs/heads/feat/x-123").await.status, 204);
    let again = stand.delete("/git/refs/heads/feat/x-123").await;
    again.says(422, "Reference does not exist");
    assert_eq!(stand.repo("/git/ref/heads/feat/x-123").await.status, 404);
    assert_eq!(stand.counters.counters().branch_deletes, 1);
    assert_eq!(stand.delete("/git/refs/heads/main").await.status, 422);
}

#[tokio::test]
async fn comparisons_count_both_sides() {
    let stand = Stand::start().await;
    stand.open("feat/a", "a.rs");
    let b = stand.open("b", "b.rs");
    stand
        .github
        .push(stand.now(), REPO, "feat/a", "more", "ada");
    assert_eq!(stand.merge(b).await.status, 200);

    let got = stand.repo("/compare/main...feat/a").await;
    assert_eq!(
        (&got.body["ahead_by"], &got.body["behind_by"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(stand.repo("/compare/main...nowhere").await.status, 404);
}

#[tokio::test]
async fn comparisons_say_where_a_head_is() {
    let stand = Stand::start().await;
    let (one, other) = (stand.open("a", "a.rs"), stand.open("b", "b.rs"));
    let main = || stand.github.branch(REPO, "main").unwrap();
    let begun = main();
    assert_eq!(stand.merge(one).await.status, 200);
    let merged = main();
    let own = stand.head(other);
    assert_eq!(stand.merge(other).await.status, 200);
    let newest = main();
    for (head, status) in [
        (&begun, "behind"),
        (&merged, "identical"),
        (&newest, "ahead"),
        (&own, "diverged"),
    ] {
        let got = stand.repo(&format!("/compare/{merged}...{head}")).await;
        assert_eq!(got.body["status"], status);
    }
    stand
        .github
        .push(stand.now(), "acme/site", "main", "x", "ada");
    let foreign = stand.github.branch("acme/site", "main").unwrap();
    let got = stand.repo(&format!("/compare/{merged}...{foreign}")).await;
    assert_eq!(got.status, 404);
}

#[tokio::test]
async fn what_does_not_exist_is_not_found() {
    let stand = Stand::start().await;
    for path in [
        "/repos/acme/none",
        "/repos/acme/shop/pulls/99",
        "/repos/acme/shop/pulls/abc",
        "/nothing",
    ] {
        let got = stand.get(path).await;
        assert_eq!((got.status, got.message()), (404, "Not Found"), "{path}");
    }
    assert_eq!(stand.repo("/commits/0000/check-runs").await.status, 422);
    let broken = stand
        .http
        .post(format!("{}/repos/{REPO}/issues", stand.base))
        .bearer_auth(DEFAULT_TOKEN)
        .body("{")
        .send()
        .await
        .unwrap();
    assert_eq!(broken.status(), 400);
}
