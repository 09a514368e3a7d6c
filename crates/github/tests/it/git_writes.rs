//! Commits, branches and what is opened: what is sent, and what the answers mean.

use domain::failure::FailureClass;
use domain::ids::{BranchName, CommitSha};
use engine::ports::{Edit, GitWrite, NewCommit, NewIssue, NewPull, NewStatus, StatusState};
use github::Writer;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::server::{Asked, Backend, Reply, Server, TOKEN, pull};
use crate::world::{HEAD, OTHER, TIP};

const BASE_TREE: &str = "4444444444444444444444444444444444444444";
const FOLDER: &str = "5555555555555555555555555555555555555555";

fn sha(text: &str) -> CommitSha {
    text.parse().unwrap()
}

fn branch() -> BranchName {
    "jules/a".parse().unwrap()
}

/// A repository in which the commit `OTHER` has the folder `.jules` and no other commit has one.
fn repository(asked: &Asked) -> Reply {
    match asked.line().as_str() {
        "POST /graphql" => {
            let variables = &asked.body["variables"];
            let has_it = variables["path"] == format!("{OTHER}:.jules").as_str();
            let folder = has_it.then(|| json!({ "__typename": "Tree", "oid": FOLDER }));
            let commit = json!({ "__typename": "Commit", "oid": variables["commit"] });
            Reply::ok(
                &json!({ "data": { "repository": { "databaseId": 5, "commit": commit, "root": folder } } }),
            )
        }
        "GET /repos/acme/shop/git/commits/1111111111111111111111111111111111111111" => {
            Reply::ok(&json!({ "sha": HEAD, "tree": { "sha": BASE_TREE } }))
        }
        "POST /repos/acme/shop/git/trees" => Reply::json(
            201,
            &json!({ "sha": format!("{:040}", asked.before + 6), "tree": [] }),
        ),
        "POST /repos/acme/shop/git/commits" => {
            Reply::json(201, &json!({ "sha": TIP, "tree": { "sha": BASE_TREE } }))
        }
        unexpected => Reply::refusal(404, unexpected),
    }
}

/// What was posted to an address, in order.
fn posted(server: &Server, path: &str) -> Vec<Value> {
    let line = format!("POST /repos/acme/shop/{path}");
    let asked = server.asked().into_iter();
    asked
        .filter(|asked| asked.line() == line)
        .map(|asked| asked.body)
        .collect()
}

async fn commit(edits: Vec<Edit>) -> Server {
    let server = Server::start(repository).await;
    let commit = NewCommit {
        parents: vec![sha(HEAD), sha(OTHER)],
        files_of: sha(HEAD),
        edits,
        kept: Vec::new(),
        message: "Sync".to_owned(),
        names_tree: false,
    };
    let made = server.writer().commit(&pull().repo, &commit).await.unwrap();
    assert_eq!(made, sha(TIP));
    server
}

fn write(path: &str) -> Edit {
    Edit::Write(path.parse().unwrap(), "text\n".to_owned())
}

fn take(path: &str, commit: &str) -> Edit {
    Edit::TakeFolder(path.parse().unwrap(), sha(commit))
}

#[tokio::test]
async fn a_commit_is_a_tree_on_a_tree() {
    let remove = Edit::Remove("old".parse().unwrap());
    let server = commit(vec![write("a/b"), remove, take(".jules", OTHER)]).await;
    let entries = json!([
        { "path": "a/b", "mode": "100644", "type": "blob", "content": "text\n" },
        { "path": "old", "mode": "100644", "type": "blob", "sha": null },
        { "path": ".jules", "mode": "040000", "type": "tree", "sha": FOLDER },
    ]);
    assert_eq!(
        posted(&server, "git/trees"),
        [json!({ "base_tree": BASE_TREE, "tree": entries })]
    );
    let tree = format!("{:040}", 6);
    assert_eq!(
        posted(&server, "git/commits"),
        [json!({ "message": "Sync", "tree": tree, "parents": [HEAD, OTHER] })]
    );
}

#[tokio::test]
async fn a_file_inside_a_folder_that_was_taken_is_written_after_it() {
    let server = commit(vec![take(".jules", OTHER), write(".jules/a"), write("b")]).await;
    let trees = posted(&server, "git/trees");
    let paths: Vec<Vec<&str>> = trees
        .iter()
        .map(|tree| {
            let entries = tree["tree"].as_array().unwrap().iter();
            entries.map(|it| it["path"].as_str().unwrap()).collect()
        })
        .collect();
    assert_eq!(paths, [vec![".jules"], vec![".jules/a", "b"]]);
    assert_eq!(trees[1]["base_tree"], format!("{:040}", 6).as_str());
    let tree = format!("{:040}", 7);
    assert_eq!(posted(&server, "git/commits")[0]["tree"], tree.as_str());
}

#[tokio::test]
async fn a_commit_without_a_difference_is_made_all_the_same() {
    // The folder is on neither side, so there is nothing to remove.
    let server = commit(vec![take(".jules", HEAD)]).await;
    assert!(posted(&server, "git/trees").is_empty());
    assert_eq!(posted(&server, "git/commits")[0]["tree"], BASE_TREE);
}

#[tokio::test]
async fn a_folder_that_the_other_commit_lacks_is_removed() {
    let script = |asked: &Asked| match asked.body["variables"]["path"].as_str() {
        // Only the tree to change has it.
        Some(path) if path == format!("{BASE_TREE}:.jules") => {
            let commit = json!({ "__typename": "Commit", "oid": HEAD });
            let folder = json!({ "__typename": "Tree", "oid": FOLDER });
            Reply::ok(
                &json!({ "data": { "repository": { "databaseId": 5, "commit": commit, "root": folder } } }),
            )
        }
        Some(_) | None => repository(asked),
    };
    let server = Server::start(script).await;
    let commit = NewCommit {
        parents: vec![sha(HEAD)],
        files_of: sha(HEAD),
        edits: vec![take(".jules", TIP)],
        kept: Vec::new(),
        message: "Drop".to_owned(),
        names_tree: false,
    };
    server.writer().commit(&pull().repo, &commit).await.unwrap();
    let entry = json!({ "path": ".jules", "mode": "040000", "type": "tree", "sha": null });
    assert_eq!(posted(&server, "git/trees")[0]["tree"], json!([entry]));
}

#[tokio::test]
async fn a_branch_that_is_there_already_is_ours_only_at_our_commit() {
    let exists = Reply::refusal(422, "Reference already exists");
    let odd = Reply::refusal(422, "Reference update failed");
    for (refusal, at, outcome) in [
        (exists.clone(), HEAD, Ok(())),
        (exists, OTHER, Err(FailureClass::Conflict)),
        (odd, HEAD, Err(FailureClass::Conflict)),
        (
            Reply::refusal(403, "Resource not accessible by integration"),
            HEAD,
            Err(FailureClass::Forbidden),
        ),
    ] {
        let script = move |asked: &Asked| match asked.method.as_str() {
            "POST" => refusal.clone(),
            _ => Reply::ok(&json!({ "ref": "refs/heads/jules/a", "object": { "sha": at } })),
        };
        let server = Server::start(script).await;
        let writer = server.writer();
        let made = writer
            .create_branch(&pull().repo, &branch(), &sha(HEAD))
            .await;
        assert_eq!(made.map_err(|failure| failure.class), outcome);
        assert_eq!(
            posted(&server, "git/refs"),
            [json!({ "ref": "refs/heads/jules/a", "sha": HEAD })]
        );
    }
}

#[tokio::test]
async fn what_is_opened_has_a_number() {
    let script = |asked: &Asked| match asked.line().as_str() {
        "POST /repos/acme/shop/pulls" => Reply::json(201, &json!({ "number": 7 })),
        _ => Reply::json(201, &json!({ "number": 8 })),
    };
    let server = Server::start(script).await;
    let (backend, repo) = (Backend::new(TOKEN), pull().repo);
    let writer = Writer::new(backend.client(&server, None));
    let new = NewPull {
        head: branch(),
        base: "jules".parse().unwrap(),
        title: "Sync".to_owned(),
        body: "Why.".to_owned(),
    };
    assert_eq!(writer.open_pull(&repo, &new).await.unwrap(), pull());
    assert_eq!(
        posted(&server, "pulls"),
        [json!({ "head": "jules/a", "base": "jules", "title": "Sync", "body": "Why." })]
    );
    backend.pass(SignedDuration::from_secs(1));
    let issue = NewIssue {
        title: "Title".to_owned(),
        body: "Body".to_owned(),
        label: "bugs".to_owned(),
        marker: "m1".to_owned(),
    };
    let issue = writer.open_issue(&repo, &issue).await;
    assert_eq!(issue.unwrap(), 8);
    assert_eq!(
        posted(&server, "issues"),
        [json!({ "title": "Title", "body": "Body\n\n<!-- gaffer:m1 -->", "labels": ["bugs"] })]
    );
    let there = Reply::refusal(422, "Validation Failed");
    let there = Server::start(move |_: &Asked| there.clone()).await;
    let failure = there.writer().open_pull(&repo, &new).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Conflict);
}

#[tokio::test]
async fn a_status_is_set_in_few_words() {
    let server = Server::start(|_: &Asked| Reply::json(201, &json!({ "id": 1 }))).await;
    for state in [
        StatusState::Pending,
        StatusState::Success,
        StatusState::Failure,
    ] {
        let status = NewStatus {
            context: "jules/doctor".to_owned(),
            state,
            description: "x".repeat(141),
        };
        let writer = server.writer();
        writer
            .set_status(&pull().repo, &sha(HEAD), &status)
            .await
            .unwrap();
    }
    let bodies = posted(&server, &format!("statuses/{HEAD}"));
    let words: Vec<_> = bodies.iter().map(|it| it["state"].clone()).collect();
    assert_eq!(words, ["pending", "success", "failure"]);
    assert_eq!(bodies[0]["context"], "jules/doctor");
    assert_eq!(bodies[0]["description"], "x".repeat(140).as_str());
}

#[tokio::test]
async fn a_label_is_made_or_changed() {
    let exists = json!({ "message": "Validation Failed", "errors": [{ "resource": "Label", "code": "already_exists", "field": "name" }] });
    let invalid = json!({ "message": "Validation Failed", "errors": [{ "resource": "Label", "code": "invalid", "field": "color" }] });
    for (refusal, outcome, lines) in [
        (exists, Ok(()), 2),
        (invalid, Err(FailureClass::Conflict), 1),
    ] {
        let script = move |asked: &Asked| match asked.method.as_str() {
            "POST" => Reply::json(422, &refusal),
            _ => Reply::ok(&json!({ "name": "a b" })),
        };
        let server = Server::start(script).await;
        let writer = server.writer();
        let put = writer
            .put_label(&pull().repo, "a b", "d73a4a", "Broken")
            .await;
        assert_eq!(put.map_err(|failure| failure.class), outcome);
        let asked = server.asked();
        assert_eq!(
            asked[0].body,
            json!({ "name": "a b", "color": "d73a4a", "description": "Broken" })
        );
        assert_eq!(asked.len(), lines);
        if let Some(change) = asked.get(1) {
            assert_eq!(change.line(), "PATCH /repos/acme/shop/labels/a%20b");
            assert_eq!(
                change.body,
                json!({ "color": "d73a4a", "description": "Broken" })
            );
        }
    }
}

#[tokio::test]
async fn a_proposal_waits_for_one_turn_and_then_goes_on_at_once() {
    let script = |asked: &Asked| match asked.line().as_str() {
        "POST /repos/acme/shop/pulls" => Reply::json(201, &json!({ "number": 7 })),
        "POST /repos/acme/shop/git/refs" => Reply::json(201, &json!({ "ref": "x" })),
        _ => repository(asked),
    };
    let server = Server::start(script).await;
    let backend = Backend::new(TOKEN);
    let (writer, repo) = (Writer::new(backend.client(&server, None)), pull().repo);
    let commit = NewCommit {
        parents: vec![sha(HEAD)],
        files_of: sha(HEAD),
        edits: vec![write("a"), write("a")],
        kept: Vec::new(),
        message: "Twice".to_owned(),
        names_tree: false,
    };
    let made = writer.commit(&repo, &commit).await.unwrap();
    writer.create_branch(&repo, &branch(), &made).await.unwrap();
    let new = NewPull {
        head: branch(),
        base: "jules".parse().unwrap(),
        title: "Sync".to_owned(),
        body: String::new(),
    };
    writer.open_pull(&repo, &new).await.unwrap();
    let next = writer.commit(&repo, &commit).await.unwrap_err();
    assert_eq!(
        next.class,
        FailureClass::Throttled,
        "each of them was counted"
    );
    assert_eq!(posted(&server, "git/trees").len(), 2);
}
