//! What the weaver reads and writes: what is sent, and what the answers mean.

use domain::failure::FailureClass;
use domain::ids::CommitSha;
use engine::ports::{CommitRange, Edit, GitRead, GitWrite, NewCommit};
use serde_json::{Value, json};
use weave::tree::{BlobId, Entry, Mode, Tree};

use crate::server::{Asked, Reply, Server, pull};
use crate::world::{HEAD, OTHER, TIP};

const FOLDER: &str = "5555555555555555555555555555555555555555";
const INNER: &str = "6666666666666666666666666666666666666666";
const BLOB: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

fn sha(text: &str) -> CommitSha {
    text.parse().unwrap()
}

fn id(text: &str) -> BlobId {
    text.parse().unwrap()
}

fn entry(path: &str, mode: &str, id: &str) -> Value {
    let kind = if mode == "040000" { "tree" } else { "blob" };
    json!({ "path": path, "mode": mode, "type": kind, "sha": id })
}

fn listed(truncated: bool, entries: &[Value]) -> Reply {
    Reply::ok(&json!({ "sha": HEAD, "tree": entries, "truncated": truncated }))
}

async fn entries(
    script: impl Fn(&str) -> Reply + Send + Sync + 'static,
) -> (Result<Tree, FailureClass>, Vec<String>) {
    let script = move |asked: &Asked| {
        let line = asked.line();
        script(
            line.strip_prefix("GET /repos/acme/shop/git/trees/")
                .unwrap(),
        )
    };
    let server = Server::start(script).await;
    let read = server.reader().entries(&pull().repo, &sha(HEAD)).await;
    let lines = server.lines().into_iter();
    let asked = lines.map(|line| line.rsplit('/').next().unwrap().to_owned());
    (read.map_err(|failure| failure.class), asked.collect())
}

#[tokio::test]
async fn a_whole_tree_is_one_request() {
    let all = [
        entry("dir", "040000", FOLDER),
        entry("dir/run.sh", "100755", BLOB),
        entry("link", "120000", BLOB),
        entry("old", "100664", BLOB),
        entry("other", "160000", TIP),
    ];
    let (read, asked) = entries(move |_| listed(false, &all)).await;
    let entry = |path: &str, mode, text| (path.to_owned(), Entry { mode, id: id(text) });
    let expected = [
        entry("dir/run.sh", Mode::Executable, BLOB),
        entry("link", Mode::Symlink, BLOB),
        entry("old", Mode::File, BLOB),
        entry("other", Mode::Submodule, TIP),
    ];
    assert_eq!(read, Ok(expected.into_iter().collect()));
    assert_eq!(asked, [format!("{HEAD}?recursive=1")]);
}

#[tokio::test]
async fn a_tree_that_is_cut_off_is_read_folder_by_folder() {
    let script = |rest: &str| match rest
        .split_once('?')
        .map_or((rest, false), |(id, _)| (id, true))
    {
        (HEAD, true) | (FOLDER, true) => listed(true, &[entry("lost", "100644", BLOB)]),
        (HEAD, false) => {
            let folders = [entry("a", "040000", FOLDER), entry("b", "040000", INNER)];
            listed(
                false,
                &[&folders[..], &[entry("top", "100644", BLOB)]].concat(),
            )
        }
        (FOLDER, false) => listed(
            false,
            &[entry("one", "100644", BLOB), entry("c", "040000", INNER)],
        ),
        (INNER, true) => listed(
            false,
            &[entry("d", "040000", FOLDER), entry("d/two", "100644", BLOB)],
        ),
        (other, _) => panic!("{other}"),
    };
    let (read, asked) = entries(script).await;
    let read = read.unwrap();
    let paths: Vec<_> = read.iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["a/c/d/two", "a/one", "b/d/two", "top"]);
    assert_eq!(asked.len(), 6, "{asked:?}");
}

#[tokio::test]
async fn a_part_of_a_tree_is_none() {
    let (read, _) = entries(|_| listed(true, &[entry("a", "100644", BLOB)])).await;
    assert_eq!(read, Err(FailureClass::Garbled));
    let (read, _) = entries(|_| listed(false, &[entry("a", "100600", BLOB)])).await;
    assert_eq!(read, Err(FailureClass::Garbled));
    let (read, _) = entries(|_| listed(false, &[entry("a", "100644", "ce01")])).await;
    assert_eq!(read, Err(FailureClass::Garbled));
    // Folders of folders without an end.
    let (read, asked) = entries(|rest| {
        let deep = rest.ends_with("recursive=1");
        listed(deep, &[entry("a", "040000", FOLDER)])
    })
    .await;
    assert_eq!(read, Err(FailureClass::Garbled));
    assert!(asked.len() <= 200, "{} requests", asked.len());
}

#[tokio::test]
async fn a_diff_is_asked_for_as_text_and_may_be_too_large() {
    let text = b"diff --git a/a b/a\n\xff\n".to_vec();
    let long = json!({ "message": "Sorry, the diff exceeded the maximum number of lines (20000)", "errors": [{ "code": "too_large" }] });
    let bytes = Reply {
        body: text.clone(),
        ..Reply::text(200, "")
    };
    for (reply, expected) in [
        (bytes, Ok(Some(text))),
        (Reply::json(406, &long), Ok(None)),
        (
            Reply::refusal(406, "Not Acceptable"),
            Err(FailureClass::Invalid),
        ),
        (
            Reply::refusal(404, "Not Found"),
            Err(FailureClass::NotFound),
        ),
        (
            Reply::refusal(503, "too_large"),
            Err(FailureClass::Unavailable),
        ),
    ] {
        let server = Server::start(move |_: &Asked| reply.clone()).await;
        let read = server.reader();
        let between = CommitRange {
            base: &sha(TIP),
            head: &sha(HEAD),
        };
        let read = read.diff(&pull().repo, between).await;
        assert_eq!(read.map_err(|failure| failure.class), expected);
        let asked = &server.asked()[0];
        assert_eq!(
            asked.line(),
            format!("GET /repos/acme/shop/compare/{TIP}...{HEAD}")
        );
        assert_eq!(asked.header("accept"), Some("application/vnd.github.diff"));
    }
}

#[tokio::test]
async fn a_blob_is_its_bytes_and_no_others() {
    for (body, expected) in [
        ("hello\n", Ok(b"hello\n".to_vec())),
        ("hello", Err(FailureClass::Garbled)),
    ] {
        let server = Server::start(move |_: &Asked| Reply::text(200, body)).await;
        let read = server.reader().blob(&pull().repo, id(BLOB)).await;
        assert_eq!(read.map_err(|failure| failure.class), expected);
        let asked = &server.asked()[0];
        assert_eq!(
            asked.line(),
            format!("GET /repos/acme/shop/git/blobs/{BLOB}")
        );
        assert_eq!(
            asked.header("accept"),
            Some("application/vnd.github.raw+json")
        );
    }
}

#[tokio::test]
async fn what_an_id_names_is_asked_for_once() {
    let script = |asked: &Asked| match asked.path.contains("/blobs/") {
        true => Reply::text(200, "hello\n").with("etag", "\"1\""),
        false => listed(false, &[entry("a", "100644", BLOB)]).with("etag", "\"2\""),
    };
    let server = Server::start(script).await;
    let (reader, repo) = (server.reader(), pull().repo);
    for _ in 0..2 {
        let bytes = reader.blob(&repo, id(BLOB)).await.unwrap();
        assert_eq!(bytes, b"hello\n");
        let tree = reader.entries(&repo, &sha(HEAD)).await.unwrap();
        assert_eq!(tree.len(), 1);
    }
    assert_eq!(
        server.lines(),
        [
            format!("GET /repos/acme/shop/git/blobs/{BLOB}"),
            format!("GET /repos/acme/shop/git/trees/{HEAD}?recursive=1"),
        ]
    );
    // What was not read is asked for again.
    let server = Server::start(|_: &Asked| Reply::refusal(404, "Not Found")).await;
    let reader = server.reader();
    for _ in 0..2 {
        let missing = reader.blob(&repo, id(BLOB)).await.unwrap_err();
        assert_eq!(missing.class, FailureClass::NotFound);
    }
    assert_eq!(server.lines().len(), 2);
}

#[tokio::test]
async fn where_two_commits_parted_may_be_nowhere() {
    for (base, expected) in [
        (json!({ "sha": TIP }), Ok(sha(TIP))),
        (Value::Null, Err(FailureClass::NotFound)),
        (json!({ "sha": "x" }), Err(FailureClass::Garbled)),
    ] {
        let answer = json!({ "merge_base_commit": base, "files": null });
        let server = Server::start(move |_: &Asked| Reply::ok(&answer)).await;
        let read = server.reader();
        let between = CommitRange {
            base: &sha(OTHER),
            head: &sha(HEAD),
        };
        let read = read.merge_base(&pull().repo, between).await;
        assert_eq!(read.map_err(|failure| failure.class), expected);
    }
    let said = json!({ "sha": HEAD, "message": "One\n\nTwo", "tree": { "sha": TIP } });
    let server = Server::start(move |_: &Asked| Reply::ok(&said)).await;
    let read = server
        .reader()
        .commit_details(&pull().repo, &sha(HEAD))
        .await
        .unwrap();
    assert_eq!((&*read.message, &*read.tree), ("One\n\nTwo", TIP));
}

#[tokio::test]
async fn bytes_become_blobs_and_what_is_there_is_named() {
    let script = |asked: &Asked| match asked.line().as_str() {
        "POST /repos/acme/shop/git/blobs" => Reply::json(201, &json!({ "sha": BLOB })),
        "POST /repos/acme/shop/git/trees" => Reply::json(201, &json!({ "sha": INNER })),
        "POST /repos/acme/shop/git/commits" => {
            Reply::json(201, &json!({ "sha": TIP, "tree": { "sha": INNER } }))
        }
        _ => Reply::ok(&json!({ "sha": HEAD, "tree": { "sha": FOLDER } })),
    };
    let server = Server::start(script).await;
    let place = |path: &str, mode, text| {
        let entry = Entry { mode, id: id(text) };
        Edit::Place(path.parse().unwrap(), entry)
    };
    let commit = NewCommit {
        parents: vec![sha(HEAD)],
        files_of: sha(HEAD),
        edits: vec![
            Edit::Put("a".parse().unwrap(), Mode::Executable, vec![0, 255]),
            place("b", Mode::Symlink, BLOB),
            place("c", Mode::Submodule, OTHER),
        ],
        kept: Vec::new(),
        message: "Weave".to_owned(),
        names_tree: true,
    };
    let made = server.writer().commit(&pull().repo, &commit).await.unwrap();
    assert_eq!(made, sha(TIP));
    let bodies: Vec<_> = server.asked().into_iter().map(|asked| asked.body).collect();
    assert_eq!(
        bodies[1],
        json!({ "content": "AP8=", "encoding": "base64" })
    );
    let entries = json!([
        { "path": "a", "mode": "100755", "type": "blob", "sha": BLOB },
        { "path": "b", "mode": "120000", "type": "blob", "sha": BLOB },
        { "path": "c", "mode": "160000", "type": "commit", "sha": OTHER },
    ]);
    assert_eq!(bodies[2], json!({ "base_tree": FOLDER, "tree": entries }));
    let message = format!("Weave\nGaffer-Tree: {INNER}");
    let commit = json!({ "message": message, "tree": INNER, "parents": [HEAD] });
    assert_eq!(bodies[3], commit);
}

#[tokio::test]
async fn a_branch_moves_forward_and_a_pull_request_is_edited() {
    let server = Server::start(|_: &Asked| Reply::ok(&json!({}))).await;
    let (writer, repo) = (server.writer(), pull().repo);
    let branch = "weave/one".parse().unwrap();
    writer
        .move_branch(&repo, &branch, &sha(HEAD))
        .await
        .unwrap();
    writer.edit_pull(&pull(), "Title", "Body").await.unwrap();
    let asked = server.asked();
    let [.., moved, edited] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert_eq!(
        moved.line(),
        "PATCH /repos/acme/shop/git/refs/heads/weave/one"
    );
    assert_eq!(moved.body, json!({ "sha": HEAD, "force": false }));
    assert_eq!(edited.line(), "PATCH /repos/acme/shop/pulls/7");
    assert_eq!(edited.body, json!({ "title": "Title", "body": "Body" }));
    let refusal = Reply::refusal(422, "Update is not a fast forward");
    let server = Server::start(move |_: &Asked| refusal.clone()).await;
    let moved = server
        .writer()
        .move_branch(&repo, &branch, &sha(HEAD))
        .await;
    assert_eq!(moved.unwrap_err().class, FailureClass::Conflict);
}

#[tokio::test]
async fn a_label_that_is_not_there_is_off() {
    for (status, expected) in [
        (200, Ok(())),
        (404, Ok(())),
        (403, Err(FailureClass::Forbidden)),
    ] {
        let server = Server::start(move |_: &Asked| Reply::json(status, &json!([]))).await;
        let taken = server.writer().unlabel(&pull(), "jules/1 a").await;
        assert_eq!(taken.map_err(|failure| failure.class), expected);
        assert_eq!(
            server.lines(),
            ["DELETE /repos/acme/shop/issues/7/labels/jules%2F1%20a"]
        );
    }
}
