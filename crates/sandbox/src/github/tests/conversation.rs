//! Issues, comments, labels and who may speak.

use serde_json::json;

use super::Stand;
use super::stand::REPO;
use crate::github::RepoSetup;

#[tokio::test]
async fn comments_are_written_listed_and_edited() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    let path = format!("/issues/{n}/comments");
    let written = stand.post(&path, json!({ "body": "hello" })).await;
    assert_eq!(
        (written.status, &written.body["user"]["login"]),
        (201, &json!("octo-owner"))
    );
    let id = &written.body["id"];
    let edited = stand
        .patch(
            &format!("/issues/comments/{id}"),
            json!({ "body": "hello again" }),
        )
        .await;
    assert_eq!(edited.status, 200);
    assert_eq!(stand.repo(&path).await.each("", "body"), ["hello again"]);
    assert_eq!(stand.post(&path, json!({ "body": " " })).await.status, 422);
    assert_eq!(
        stand
            .post("/issues/99/comments", json!({ "body": "x" }))
            .await
            .status,
        404
    );
    let counters = stand.counters.counters();
    assert_eq!((counters.comments, counters.github_writes), (1, 4));
    assert_eq!(
        stand.github.pull(REPO, n).unwrap().comments[0].body,
        "hello again"
    );
}

#[tokio::test]
async fn labels_are_put_on_once_and_taken_off() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    let path = format!("/issues/{n}/labels");
    stand
        .post(&path, json!({ "labels": ["automerge", "needs review"] }))
        .await;
    let again = stand.post(&path, json!(["automerge"])).await;
    assert_eq!(again.each("", "name"), ["automerge", "needs review"]);
    assert_eq!(
        stand.counters.counters().labels,
        2,
        "a label that was there is no label put on"
    );
    let left = stand.delete(&format!("{path}/needs%20review")).await;
    assert_eq!(
        (left.status, left.each("", "name")),
        (200, vec![json!("automerge")])
    );
    let missing = stand.delete(&format!("{path}/none")).await;
    missing.says(404, "Label does not exist");
    assert_eq!(stand.counters.counters().labels, 3);
    let pull = stand.repo(&format!("/pulls/{n}")).await;
    assert_eq!(pull.body["labels"][0]["name"], "automerge");
    let made = json!({ "name": "bugs", "color": "d73a4a" });
    assert_eq!(stand.post("/labels", made).await.status, 201);
    let all = stand.repo("/labels").await;
    assert_eq!(all.each("", "name"), ["automerge", "bugs"]);
}

#[tokio::test]
async fn issues_and_pull_requests_share_their_numbers() {
    let stand = Stand::start().await;
    let issue = stand
        .post("/issues", json!({ "title": "Broken", "labels": ["jules"] }))
        .await;
    assert_eq!((issue.status, &issue.body["number"]), (201, &json!(1)));
    let n = stand.open("a", "a.rs");
    assert_eq!(n, 2);
    let shown = stand.repo("/issues/2").await;
    assert!(
        shown.body["pull_request"]["url"]
            .as_str()
            .unwrap()
            .ends_with("/pulls/2")
    );
    assert!(
        stand
            .repo("/issues/1")
            .await
            .body
            .get("pull_request")
            .is_none()
    );
    assert_eq!(
        stand.repo("/issues?labels=jules").await.each("", "number"),
        [1]
    );
    assert_eq!(stand.repo("/pulls/1").await.status, 404);
    stand.patch("/issues/1", json!({ "state": "closed" })).await;
    assert_eq!(stand.repo("/issues").await.each("", "number"), [2]);
}

#[tokio::test]
async fn permission_to_speak_is_told() {
    let mut setup = RepoSetup::new(REPO);
    setup
        .collaborators
        .insert("ada".to_owned(), "write".to_owned());
    let stand = Stand::with(setup).await;
    for (login, permission) in [("ada", "write"), ("acme", "admin"), ("mallory", "read")] {
        let got = stand
            .repo(&format!("/collaborators/{login}/permission"))
            .await;
        assert_eq!(got.body["permission"], permission, "{login}");
    }
    let n = stand.open("a", "a.rs");
    stand
        .github
        .comment(stand.now(), REPO, n, ("ada", "/gaffer merge"));
    stand
        .github
        .comment(stand.now(), REPO, n, ("mallory", "/gaffer merge"));
    let got = stand.repo(&format!("/issues/{n}/comments")).await;
    assert_eq!(got.each("", "author_association"), ["COLLABORATOR", "NONE"]);
}

#[tokio::test]
async fn reopening_works_for_what_was_not_merged() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    let path = format!("/pulls/{n}");
    stand.patch(&path, json!({ "state": "closed" })).await;
    assert_eq!(
        stand.patch(&path, json!({ "state": "open" })).await.body["state"],
        "open"
    );
    stand.merge(n).await;
    assert_eq!(
        stand.patch(&path, json!({ "state": "open" })).await.status,
        422
    );
}
