//! What is sent to change something, and what the answers mean.

use domain::failure::{CallEffect, Failure, FailureClass};
use domain::policy::MergeMethod;
use engine::ports::{PullsRead, PullsWrite};
use serde_json::{Value, json};

use crate::server::{Asked, Reply, Server, failed, pull};
use crate::world::{HEAD, OTHER};

async fn server(reply: Reply) -> Server {
    Server::start(move |_: &Asked| reply.clone()).await
}

/// Why a pull request was not marked ready.
async fn not_ready(reply: Reply) -> Failure {
    let marked = server(reply).await.writer().mark_ready(&pull(), "x").await;
    marked.unwrap_err()
}

/// The only request that arrived.
fn only(server: &Server) -> (String, Value) {
    let asked = server.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    (asked[0].line(), asked[0].body.clone())
}

#[tokio::test]
async fn a_merge_names_the_judged_head() {
    let methods = [
        (MergeMethod::Merge, "merge"),
        (MergeMethod::Squash, "squash"),
        (MergeMethod::Rebase, "rebase"),
    ];
    for (method, word) in methods {
        let server = server(Reply::ok(
            &json!({ "sha": OTHER, "merged": true, "message": "Pull Request successfully merged" }),
        ))
        .await;
        let commit = server
            .writer()
            .merge(&pull(), &HEAD.parse().unwrap(), method, Some("Add search"))
            .await
            .unwrap();
        assert_eq!(commit.as_str(), OTHER);
        assert_eq!(
            only(&server),
            (
                "PUT /repos/acme/shop/pulls/7/merge".to_owned(),
                json!({ "sha": HEAD, "merge_method": word, "commit_title": "Add search" })
            )
        );
    }
}

#[tokio::test]
async fn a_refused_merge_certainly_did_not_happen_and_a_lost_one_may_have() {
    let broken = Reply {
        breaks: true,
        ..Reply::text(200, "{\"sha\":")
    };
    let rows = [
        (
            Reply::refusal(405, "Pull Request is not mergeable"),
            FailureClass::Conflict,
            CallEffect::No,
        ),
        (
            Reply::refusal(
                409,
                "Head branch was modified. Review and try the merge again.",
            ),
            FailureClass::Conflict,
            CallEffect::No,
        ),
        (
            Reply::refusal(422, "Required status check is expected."),
            FailureClass::Conflict,
            CallEffect::No,
        ),
        (
            Reply::refusal(403, "Resource not accessible by integration"),
            FailureClass::Forbidden,
            CallEffect::No,
        ),
        (
            Reply::refusal(429, "later"),
            FailureClass::Throttled,
            CallEffect::No,
        ),
        (
            Reply::refusal(500, "boom"),
            FailureClass::Unavailable,
            CallEffect::Maybe,
        ),
        (
            Reply::text(200, "<html>"),
            FailureClass::Garbled,
            CallEffect::Maybe,
        ),
        (
            Reply::ok(&json!({ "sha": OTHER, "merged": false })),
            FailureClass::Garbled,
            CallEffect::Maybe,
        ),
        (broken, FailureClass::Network, CallEffect::Maybe),
    ];
    for (reply, class, happened) in rows {
        let server = server(reply).await;
        let failure = server
            .writer()
            .merge(&pull(), &HEAD.parse().unwrap(), MergeMethod::Squash, None)
            .await
            .unwrap_err();
        failed(&failure, class, happened);
        assert_eq!(server.asked().len(), 1, "a write is never repeated");
    }
}

#[tokio::test]
async fn a_merge_that_never_left_did_not_happen() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let backend = std::sync::Arc::new(crate::server::Backend::new(crate::server::TOKEN));
    let settings = github::Settings::new(Some(&base), None).unwrap();
    let writer =
        github::Writer::new(github::Client::new(&settings, backend.clone(), backend).unwrap());
    let failure = writer
        .merge(&pull(), &HEAD.parse().unwrap(), MergeMethod::Squash, None)
        .await
        .unwrap_err();
    failed(&failure, FailureClass::Network, CallEffect::No);
}

#[tokio::test]
async fn a_draft_is_marked_ready_over_graphql() {
    let ready = |draft: bool| json!({ "data": { "markPullRequestReadyForReview": { "pullRequest": { "isDraft": draft } } } });
    let server_ready = server(Reply::ok(&ready(false))).await;
    server_ready
        .writer()
        .mark_ready(&pull(), "PR_kwDO7")
        .await
        .unwrap();
    let (line, body) = only(&server_ready);
    assert_eq!(line, "POST /graphql");
    assert_eq!(body["variables"], json!({ "id": "PR_kwDO7" }));
    assert!(
        body["query"]
            .as_str()
            .unwrap()
            .contains("markPullRequestReadyForReview")
    );
    let still = not_ready(Reply::ok(&ready(true))).await;
    assert_eq!(still.class, FailureClass::Garbled);
}

#[tokio::test]
async fn graphql_errors_come_with_status_200() {
    let rows = [
        ("FORBIDDEN", FailureClass::Forbidden),
        ("INSUFFICIENT_SCOPES", FailureClass::Forbidden),
        ("NOT_FOUND", FailureClass::NotFound),
        ("RATE_LIMITED", FailureClass::Throttled),
        ("RATE_LIMIT", FailureClass::Throttled),
        ("UNPROCESSABLE", FailureClass::Invalid),
    ];
    for (kind, class) in rows {
        let body = json!({ "data": null, "errors": [{ "type": kind, "message": "Resource not accessible by integration" }] });
        let failure = not_ready(Reply::ok(&body)).await;
        failed(&failure, class, CallEffect::No);
        assert_eq!(
            failure.retry_after.is_some(),
            class == FailureClass::Throttled
        );
        assert!(
            failure.message.contains("Resource not accessible"),
            "{failure}"
        );
    }
    let untyped = json!({ "errors": [{ "message": "Parse error" }] });
    assert_eq!(
        not_ready(Reply::ok(&untyped)).await.class,
        FailureClass::Invalid
    );
}

#[tokio::test]
async fn a_branch_is_updated_only_from_the_expected_head() {
    let accepted = server(Reply::json(
        202,
        &json!({ "message": "Updating pull request branch.", "url": "x" }),
    ))
    .await;
    accepted
        .writer()
        .update_branch(&pull(), &HEAD.parse().unwrap())
        .await
        .unwrap();
    assert_eq!(
        only(&accepted),
        (
            "PUT /repos/acme/shop/pulls/7/update-branch".to_owned(),
            json!({ "expected_head_sha": HEAD })
        )
    );
    let moved = server(Reply::refusal(
        422,
        "expected head sha didn't match current head ref.",
    ))
    .await;
    let failure = moved
        .writer()
        .update_branch(&pull(), &HEAD.parse().unwrap())
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Conflict);
}

#[tokio::test]
async fn a_comment_ends_with_its_marker_and_is_found_by_it() {
    let server = server(Reply::json(201, &json!({ "id": 1 }))).await;
    server
        .writer()
        .comment(&pull(), "Merged.", "comment:acme/shop#7:merged")
        .await
        .unwrap();
    let (line, body) = only(&server);
    assert_eq!(line, "POST /repos/acme/shop/issues/7/comments");
    assert_eq!(
        body,
        json!({ "body": "Merged.\n\n<!-- gaffer:comment:acme/shop#7:merged -->" })
    );
    let script = move |_: &Asked| Reply::ok(&json!([body.clone()]));
    let reader = Server::start(script).await.reader();
    assert!(
        reader
            .has_comment(&pull(), "comment:acme/shop#7:merged")
            .await
            .unwrap()
    );
    assert!(
        !reader
            .has_comment(&pull(), "comment:acme/shop#7:other")
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn a_long_comment_is_cut_before_its_marker() {
    let server = server(Reply::json(201, &json!({}))).await;
    server
        .writer()
        .comment(&pull(), &"ü".repeat(70_000), "m")
        .await
        .unwrap();
    let body = only(&server).1["body"].as_str().unwrap().to_owned();
    assert_eq!(body.chars().count(), 65_536);
    assert!(body.ends_with("ü\n\n<!-- gaffer:m -->"));
}

#[tokio::test]
async fn a_marker_that_could_end_its_hiding_is_not_sent() {
    let server = server(Reply::json(201, &json!({}))).await;
    for marker in ["", "a-->b", "a\nb", "<x>", "a--b"] {
        let failure = server
            .writer()
            .comment(&pull(), "x", marker)
            .await
            .unwrap_err();
        failed(&failure, FailureClass::Invalid, CallEffect::No);
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_label_is_added() {
    let server = server(Reply::ok(&json!([{ "name": "gaffer:stuck" }]))).await;
    server
        .writer()
        .label(&pull(), "gaffer:stuck")
        .await
        .unwrap();
    assert_eq!(
        only(&server),
        (
            "POST /repos/acme/shop/issues/7/labels".to_owned(),
            json!({ "labels": ["gaffer:stuck"] })
        )
    );
}

#[tokio::test]
async fn a_branch_that_is_gone_counts_as_deleted_and_one_that_is_kept_does_not() {
    let branch = "feat/ca#rt".parse().unwrap();
    let rows = [
        (Reply::text(204, ""), None),
        (Reply::refusal(404, "Not Found"), None),
        (Reply::refusal(422, "Reference does not exist"), None),
        (
            Reply::refusal(422, "Cannot delete this protected branch"),
            Some(FailureClass::Conflict),
        ),
        (
            Reply::refusal(403, "Resource not accessible by integration"),
            Some(FailureClass::Forbidden),
        ),
        (Reply::refusal(500, "boom"), Some(FailureClass::Unavailable)),
    ];
    for (reply, class) in rows {
        let server = server(reply.clone()).await;
        let outcome = server.writer().delete_branch(&pull().repo, &branch).await;
        assert_eq!(
            outcome.err().map(|failure| failure.class),
            class,
            "{reply:?}"
        );
        assert_eq!(
            only(&server).0,
            "DELETE /repos/acme/shop/git/refs/heads/feat/ca%23rt"
        );
    }
}
