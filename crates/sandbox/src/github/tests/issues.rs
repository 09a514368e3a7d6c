//! Issues: lists by time and label, edits, closing, and what was deleted or transferred.

use reqwest::Method;
use serde_json::{Value, json};

use super::Stand;
use super::moves::led;
use super::stand::REPO;
use crate::github::{
    Access, NewIssue, NewPull, Permissions, RepoSetup, Resource, TokenKind, TokenSetup,
};

fn labelled(label: &str) -> NewIssue {
    NewIssue {
        title: "Broken".to_owned(),
        body: "It is.".to_owned(),
        author_login: "ada".to_owned(),
        labels: vec![label.to_owned()],
    }
}

/// A stand with three issues of which one second apart each was opened.
async fn three() -> Stand {
    let stand = Stand::start().await;
    for label in ["gaffer", "other", "Gaffer"] {
        stand.github.open_issue(stand.now(), REPO, labelled(label));
        stand.pass(10);
    }
    stand
}

async fn numbers(stand: &Stand, query: &str) -> Vec<Value> {
    stand
        .repo(&format!("/issues?{query}"))
        .await
        .each("", "number")
}

#[tokio::test]
async fn issues_are_listed_by_the_time_of_their_last_change() {
    let stand = three().await;
    let updated = "state=all&sort=updated&direction=asc";
    assert_eq!(numbers(&stand, updated).await, [1, 2, 3]);
    let since = |seconds: i64| {
        let at = stand.now() - jiff::SignedDuration::from_secs(seconds);
        format!("{updated}&since={at}")
    };
    assert_eq!(numbers(&stand, &since(10)).await, [3]);
    assert_eq!(numbers(&stand, &since(20)).await, [2, 3]);
    assert_eq!(numbers(&stand, &since(9)).await, Vec::<Value>::new());
    assert_eq!(stand.repo("/issues?since=soon").await.status, 422);

    // Whatever happens to an issue moves it.
    let moved = async |change: &dyn Fn()| {
        stand.pass(10);
        change();
        numbers(&stand, &since(0)).await
    };
    let (github, now) = (&stand.github, || stand.now());
    let edit = || github.edit_issue(now(), REPO, 1, ("Broken", "Not any more."));
    assert_eq!(moved(&edit).await, [1]);
    assert_eq!(moved(&|| github.add_label(now(), REPO, 2, "x")).await, [2]);
    assert_eq!(
        moved(&|| github.remove_label(now(), REPO, 2, "x")).await,
        [2]
    );
    let said = || github.comment(now(), REPO, 3, ("ada", "hello"));
    assert_eq!(moved(&said).await, [3]);
    let comment = github.issue(REPO, 3).unwrap().comments[0].id;
    let edit = || github.edit_comment(now(), REPO, comment, "hello again");
    assert_eq!(moved(&edit).await, [3]);
    let delete = || github.delete_comment(now(), REPO, comment);
    assert_eq!(moved(&delete).await, [3]);
    assert_eq!(moved(&|| github.close(now(), REPO, 1)).await, [1]);
    assert_eq!(moved(&|| github.reopen(now(), REPO, 1)).await, [1]);
    // What changes nothing does not.
    assert_eq!(
        moved(&|| github.reopen(now(), REPO, 1)).await,
        Vec::<Value>::new()
    );
}

#[tokio::test]
async fn lists_are_filtered_by_label_in_any_case_and_come_in_pages() {
    let stand = three().await;
    assert_eq!(numbers(&stand, "labels=gaffer").await, [3, 1]);
    assert_eq!(
        numbers(&stand, "labels=gaffer,other").await,
        Vec::<Value>::new()
    );
    stand.github.close(stand.now(), REPO, 3);
    assert_eq!(numbers(&stand, "labels=gaffer").await, [1]);
    assert_eq!(numbers(&stand, "labels=gaffer&state=closed").await, [3]);
    let first = stand
        .repo("/issues?state=all&per_page=2&direction=asc")
        .await;
    assert_eq!(first.each("", "number"), [1, 2]);
    assert!(first.header("link").contains("rel=\"next\""));
    let last = "state=all&per_page=2&direction=asc&page=2";
    assert_eq!(numbers(&stand, last).await, [3]);
}

#[tokio::test]
async fn an_issue_says_who_closed_it_and_why() {
    let stand = three().await;
    let path = "/issues/1";
    let body = json!({ "state": "closed", "state_reason": "not_planned" });
    let closed = stand.patch(path, body).await;
    let field = |name: &str| closed.body[name].clone();
    assert_eq!(
        (field("state"), field("state_reason")),
        (json!("closed"), json!("not_planned"))
    );
    assert_eq!(closed.body["closed_by"]["login"], "octo-owner");
    stand.patch(path, json!({ "state": "closed" })).await;
    assert_eq!(stand.counters.counters().closes, 1);
    let odd = json!({ "state": "closed", "state_reason": "why" });
    assert_eq!(stand.patch(path, odd).await.status, 422);
    let reopened = stand.patch(path, json!({ "state": "open" })).await;
    assert_eq!(reopened.body["state_reason"], "reopened");
    assert!(reopened.body["closed_by"].is_null());
    stand.github.close_as(stand.now(), REPO, 1, "eve");
    let view = stand.github.issue(REPO, 1).unwrap();
    assert_eq!(
        (view.is_open, view.closed_by.as_deref()),
        (false, Some("eve"))
    );
}

#[tokio::test]
async fn webhooks_tell_every_change_of_an_issue() {
    let stand = Stand::start().await;
    let target = stand.hook().await;
    let (github, now) = (&stand.github, stand.now());
    let elsewhere = RepoSetup::new("acme/elsewhere");
    github.add_repo(now, elsewhere).unwrap();
    let n = github.open_issue(now, REPO, labelled("gaffer"));
    github.edit_issue(now, REPO, n, ("Broken", "Very."));
    github.add_label(now, REPO, n, "urgent");
    github.close_as(now, REPO, n, "eve");
    github.reopen(now, REPO, n);
    github.transfer_issue(now, REPO, n, "acme/elsewhere");
    let n = github.open_issue(now, REPO, labelled("gaffer"));
    github.delete_issue(now, REPO, n);
    stand.deliver().await;
    let told = [
        "opened",
        "edited",
        "labeled",
        "closed",
        "reopened",
        "transferred",
        "opened",
        "opened",
        "deleted",
    ];
    let kinds = target.kinds();
    assert_eq!(kinds, told.map(|action| format!("issues.{action}")));
    let seen = target.seen();
    let body = |at: usize| &seen[at].body;
    assert_eq!(body(1)["changes"], json!({ "body": { "from": "It is." } }));
    assert_eq!(body(3)["sender"]["login"], "eve");
    let moved = &body(5)["changes"];
    assert_eq!(moved["new_repository"]["full_name"], "acme/elsewhere");
    assert_eq!(moved["new_issue"]["number"], 1);
    assert_eq!(body(6)["repository"]["full_name"], "acme/elsewhere");
}

#[tokio::test]
async fn a_deleted_issue_is_gone_and_a_transferred_one_leads_on() {
    let stand = three().await;
    let (github, now) = (&stand.github, stand.now());
    github.delete_issue(now, REPO, 1);
    let gone = stand.repo("/issues/1").await;
    gone.says(410, "This issue was deleted");
    let body = json!({ "body": "x" });
    assert_eq!(stand.post("/issues/1/comments", body).await.status, 410);
    assert_eq!(stand.repo("/issues/99").await.status, 404);
    assert_eq!(numbers(&stand, "state=all").await, [3, 2]);

    let elsewhere = RepoSetup::new("acme/elsewhere");
    github.add_repo(now, elsewhere).unwrap();
    github.comment(now, REPO, 2, ("ada", "hello"));
    let there = github.transfer_issue(now, REPO, 2, "acme/elsewhere");
    assert_eq!(there, Some(1));
    let id = github.repo_id("acme/elsewhere").unwrap();
    let old = format!("/repos/{REPO}/issues/2");
    let new = format!("/repositories/{id}/issues/1");
    assert_eq!(led(&stand, Method::GET, &old).await, (301, new.clone()));
    assert_eq!(led(&stand, Method::PATCH, &old).await, (307, new.clone()));
    let comments = stand.get(&format!("{new}/comments")).await;
    assert_eq!(comments.each("", "body"), ["hello"]);
    assert_eq!(numbers(&stand, "state=all").await, [3]);

    // Who may not see the other repository is not led there.
    github.add_token(TokenSetup {
        token: "narrow".to_owned(),
        repos: Some(vec![REPO.to_owned()]),
        ..TokenSetup::default()
    });
    assert_eq!(stand.get_as("narrow", &old).await.status, 404);
}

#[tokio::test]
async fn a_merge_into_the_default_branch_closes_the_issues_it_names() {
    let stand = three().await;
    let open = |base: &str, body: &str| {
        let pull = NewPull {
            title: "Fix it".to_owned(),
            body: body.to_owned(),
            head_branch: format!("fix-{base}"),
            base_branch: base.to_owned(),
            author_login: "ada".to_owned(),
            ..NewPull::default()
        };
        stand.github.open_pull(stand.now(), REPO, pull)
    };
    stand.github.push(stand.now(), REPO, "next", "Begin", "ada");
    let aside = open("next", "Closes #1");
    assert_eq!(stand.merge(aside).await.status, 200);
    assert_eq!(stand.github.is_closed(REPO, 1), Some(false));
    let pull = open("main", "Closes #1, see #2");
    assert!(stand.github.merge_by_hand(stand.now(), REPO, pull, "grace"));
    let closed = stand.github.issue(REPO, 1).unwrap();
    assert_eq!(
        (closed.is_open, closed.closed_by.as_deref()),
        (false, Some("grace"))
    );
    assert_eq!(stand.github.is_closed(REPO, 2), Some(false));
}

#[tokio::test]
async fn issues_have_a_permission_of_their_own() {
    let stand = three().await;
    let pull = stand.open("a", "a.rs");
    let without = |secret: &str, access| TokenSetup {
        token: secret.to_owned(),
        kind: TokenKind::Installation,
        permissions: Permissions::all().with(Resource::Issues, access),
        ..TokenSetup::default()
    };
    stand.github.add_token(without("none", Access::None));
    stand.github.add_token(without("read", Access::Read));
    let path = |rest: &str| format!("/repos/{REPO}/issues{rest}");
    for (rest, of_none) in [
        ("", 403),
        ("/1", 403),
        ("/1/comments", 403),
        (&*format!("/{pull}"), 200),
        (&*format!("/{pull}/comments"), 200),
    ] {
        assert_eq!(
            stand.get_as("none", &path(rest)).await.status,
            of_none,
            "{rest}"
        );
        assert_eq!(
            stand.get_as("read", &path(rest)).await.status,
            200,
            "{rest}"
        );
    }
    let write = async |token: &str, n: u64| {
        let at = path(&format!("/{n}/comments"));
        let sent = stand.send_as(token, (Method::POST, &at), (json!({ "body": "x" }), &[]));
        sent.await
    };
    let refused = write("read", 1).await;
    assert_eq!(
        (
            refused.status,
            refused.header("x-accepted-github-permissions")
        ),
        (403, "issues=write")
    );
    assert_eq!(write("read", pull).await.status, 201);
}
