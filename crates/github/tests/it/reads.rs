//! Branches and comments.

use domain::failure::FailureClass;
use engine::ports::{BranchState, PullsRead};
use serde_json::{Value, json};

use crate::server::{Asked, Reply, Server, pull};
use crate::world::HEAD;

const REPO: &str = "GET /repos/acme/shop";
const REFERENCE: &str = "GET /repos/acme/shop/git/ref/heads/feat/cart";
const BASED: &str = "GET /repos/acme/shop/pulls?state=open&base=feat%2Fcart";

fn green(asked: &Asked) -> Reply {
    match asked.line().as_str() {
        REPO => Reply::ok(&json!({ "default_branch": "trunk" })),
        REFERENCE => Reply::ok(
            &json!({ "ref": "refs/heads/feat/cart", "object": { "sha": HEAD, "type": "commit" } }),
        ),
        BASED => Reply::ok(&json!([{ "number": 8 }, { "number": 9 }])),
        _ => Reply::refusal(404, "Not Found"),
    }
}

async fn branch(
    script: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> Result<BranchState, FailureClass> {
    let reader = Server::start(script).await.reader();
    reader
        .branch(&pull().repo, &"feat/cart".parse().unwrap())
        .await
        .map_err(|failure| failure.class)
}

#[tokio::test]
async fn the_default_branch_is_read() {
    let branch = Server::start(green)
        .await
        .reader()
        .default_branch(&pull().repo)
        .await
        .unwrap();
    assert_eq!(branch.as_str(), "trunk");
}

#[tokio::test]
async fn a_branch_has_a_commit_and_pull_requests_based_on_it() {
    assert_eq!(
        branch(green).await,
        Ok(BranchState {
            sha: Some(HEAD.parse().unwrap()),
            based_on_it: 2
        })
    );
}

const GRAPH: &str = "POST /graphql";

/// What GraphQL answers about a branch of repository 5.
fn shown(reference: &Value, based: u64) -> Reply {
    let repository =
        json!({ "databaseId": 5, "ref": reference, "pullRequests": { "totalCount": based } });
    Reply::ok(&json!({ "data": { "repository": repository } }))
}

#[tokio::test]
async fn one_query_says_both() {
    for (reference, sha) in [
        (json!({ "target": { "oid": HEAD } }), Some(HEAD)),
        (json!(null), None),
    ] {
        let server = Server::start(move |_: &Asked| shown(&reference, 3)).await;
        let reader = server.reader();
        let state = reader
            .branch(&pull().repo, &"feat/cart".parse().unwrap())
            .await;
        let sha = sha.map(|sha| sha.parse().unwrap());
        let based_on_it = 3;
        assert_eq!(state.unwrap(), BranchState { sha, based_on_it });
        let [asked] = &server.asked()[..] else {
            panic!("{:?}", server.lines())
        };
        assert_eq!(asked.line(), GRAPH);
        assert_eq!(
            asked.body["variables"],
            json!({ "owner": "acme", "name": "shop", "ref": "refs/heads/feat/cart", "branch": "feat/cart" })
        );
        assert!(asked.body["query"].as_str().unwrap().starts_with("query"));
    }
}

#[tokio::test]
async fn what_the_query_does_not_say_is_asked_over_rest() {
    let errors = json!({ "data": null, "errors": [{ "type": "FORBIDDEN", "message": "no" }] });
    for odd in [
        Reply::ok(&errors),
        Reply::ok(&json!({ "data": { "repository": null } })),
        Reply::ok(&json!({ "data": { "repository": { "databaseId": 5, "ref": null } } })),
        shown(&json!({ "target": { "oid": "no commit" } }), 0),
        Reply::refusal(502, "boom"),
    ] {
        let script = move |asked: &Asked| match asked.line().as_str() {
            GRAPH => odd.clone(),
            _ => green(asked),
        };
        assert_eq!(branch(script).await.unwrap().based_on_it, 2);
    }
    let limited = json!({ "errors": [{ "type": "RATE_LIMITED", "message": "later" }] });
    let script = move |asked: &Asked| match asked.line().as_str() {
        GRAPH => Reply::ok(&limited),
        _ => green(asked),
    };
    assert_eq!(branch(script).await, Err(FailureClass::Throttled));
}

#[tokio::test]
async fn another_repository_under_the_name_has_no_branch_of_ours() {
    let script = |asked: &Asked| match asked.line().as_str() {
        GRAPH => shown(&json!({ "target": { "oid": HEAD } }), 0),
        _ => Reply::ok(&json!({ "id": 6, "full_name": "acme/shop" })),
    };
    let reader = Server::start(script).await.reader();
    reader.identify(&pull().repo).await.unwrap();
    let read = reader
        .branch(&pull().repo, &"feat/cart".parse().unwrap())
        .await;
    assert_eq!(read.unwrap_err().class, FailureClass::Conflict);
}

#[tokio::test]
async fn a_branch_is_gone_only_if_its_repository_is_there() {
    let gone = |asked: &Asked| {
        if asked.line() == REFERENCE {
            Reply::refusal(404, "Not Found")
        } else {
            green(asked)
        }
    };
    assert_eq!(
        branch(gone).await,
        Ok(BranchState {
            sha: None,
            based_on_it: 2
        })
    );
    let hidden = |asked: &Asked| {
        if asked.line() == BASED {
            green(asked)
        } else {
            Reply::refusal(404, "Not Found")
        }
    };
    assert_eq!(branch(hidden).await, Err(FailureClass::NotFound));
}

#[tokio::test]
async fn pull_requests_that_cannot_be_counted_are_not_none() {
    let script = |asked: &Asked| {
        if asked.line() == BASED {
            Reply::refusal(500, "boom")
        } else {
            green(asked)
        }
    };
    assert_eq!(branch(script).await, Err(FailureClass::Unavailable));
}

#[tokio::test]
async fn a_quoted_marker_is_not_our_comment() {
    let quote = json!([
        { "body": "> done\n>\n> <!-- gaffer:m -->\n\nreally?" },
        { "body": null },
        { "body": "<!-- gaffer:mm -->" },
    ]);
    let server = Server::start(move |_: &Asked| Reply::ok(&quote)).await;
    assert!(!server.reader().has_comment(&pull(), "m").await.unwrap());
    let windows = json!([{ "body": "done\r\n\r\n<!-- gaffer:m -->\r\n" }]);
    let server = Server::start(move |_: &Asked| Reply::ok(&windows)).await;
    assert!(server.reader().has_comment(&pull(), "m").await.unwrap());
}
