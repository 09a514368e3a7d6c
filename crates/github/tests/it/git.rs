//! Files, commits and branches as they are read.

use domain::failure::FailureClass;
use domain::ids::CommitSha;
use engine::ports::{CommitRange, Comparison, FoundPull, GitRead};
use scaffold::scope::{ChangeKind, FileChange};
use scaffold::tree::{Content, Mode, TEXT_BYTES_MAX, Tree};
use serde_json::{Value, json};

use crate::server::{Asked, Reply, Server, pull};
use crate::world::{HEAD, OTHER, TIP};

fn sha(text: &str) -> CommitSha {
    text.parse().unwrap()
}

fn file(name: &str, text: &str) -> Value {
    let object = json!({ "oid": OTHER, "byteSize": text.len(), "isBinary": false, "isTruncated": false, "text": text });
    json!({ "name": name, "mode": 33_188, "type": "blob", "object": object })
}

fn folder(name: &str, entries: &[Value]) -> Value {
    json!({ "name": name, "mode": 16_384, "type": "tree", "object": { "entries": entries } })
}

fn root(entries: &[Value]) -> Value {
    json!({ "entries": entries })
}

fn answer(root: &Value) -> Reply {
    let commit = json!({ "__typename": "Commit", "oid": HEAD });
    let repository = json!({ "databaseId": 5, "commit": commit, "root": root });
    Reply::ok(&json!({ "data": { "repository": repository } }))
}

async fn tree(root: Value) -> Result<Tree, FailureClass> {
    let server = Server::start(move |_: &Asked| answer(&root)).await;
    let read = server.reader();
    let read = read.tree(&pull().repo, &sha(HEAD), &[".jules"]).await;
    read.map_err(|failure| failure.class)
}

#[tokio::test]
async fn a_folder_is_read_in_one_query() {
    let script = |asked: &Asked| {
        let path = asked.body["variables"]["path"].as_str().unwrap();
        match path.split_once(':').unwrap().1 {
            ".jules" => {
                let exchange = folder("exchange", &[file("changes.yml", "a: 1\n")]);
                answer(&root(&[file("JULES.md", "Read."), exchange]))
            }
            ".jlo" => answer(&Value::Null),
            other => panic!("{other}"),
        }
    };
    let server = Server::start(script).await;
    let reader = server.reader();
    let tree = reader
        .tree(&pull().repo, &sha(HEAD), &[".jules", ".jlo"])
        .await
        .unwrap();
    assert_eq!(tree.text(".jules/JULES.md"), Some("Read."));
    assert_eq!(tree.text(".jules/exchange/changes.yml"), Some("a: 1\n"));
    assert_eq!(tree.len(), 2);
    let blobs: Vec<_> = tree.iter().map(|(_, it)| it.blob.as_deref()).collect();
    assert_eq!(blobs, [Some(OTHER); 2]);
    assert_eq!(server.lines(), ["POST /graphql"; 2]);
    let asked = server.asked();
    assert_eq!(
        asked[0].body["variables"],
        json!({ "owner": "acme", "name": "shop", "commit": HEAD, "path": format!("{HEAD}:.jules") })
    );
    let document = asked[0].body["query"].as_str().unwrap();
    assert_eq!(document.matches("... on Tree{entries{").count(), 7);
    assert_eq!(document.matches('{').count(), document.matches('}').count());
}

#[tokio::test]
async fn what_is_no_text_is_told_apart() {
    let odd = |name: &str, mode: u32, object: Value| json!({ "name": name, "mode": mode, "type": "blob", "object": object });
    let blob = |size: usize, text: Value| json!({ "oid": OTHER, "byteSize": size, "isBinary": null, "isTruncated": false, "text": text });
    let cut = json!({ "oid": OTHER, "byteSize": 9, "isBinary": false, "isTruncated": true, "text": "begin" });
    let binary = json!({ "oid": OTHER, "byteSize": 2, "isBinary": true, "isTruncated": false, "text": null });
    let large = "x".repeat(TEXT_BYTES_MAX + 1);
    let tree = tree(root(&[
        odd("binary", 33_188, binary),
        odd("cut", 33_188, cut),
        odd("large", 33_188, blob(large.len(), json!(large))),
        odd("latin", 33_188, blob(1, json!("ä"))),
        odd("link", 40_960, blob(2, json!("up"))),
        odd("run.sh", 33_261, blob(2, json!("ls"))),
        json!({ "name": "other", "mode": 57_344, "type": "commit", "object": null }),
    ]))
    .await
    .unwrap();
    let shown: Vec<_> = tree
        .iter()
        .map(|(path, it)| (path.file_name(), it.mode, it.content.clone()))
        .collect();
    let text = |text: &str| Content::Text(text.to_owned());
    assert_eq!(
        shown,
        [
            ("binary", Mode::File, Content::NotText),
            ("cut", Mode::File, Content::TooLarge),
            ("large", Mode::File, Content::TooLarge),
            ("latin", Mode::File, Content::NotText),
            ("link", Mode::Link, text("up")),
            ("other", Mode::Submodule, Content::NotText),
            ("run.sh", Mode::Executable, text("ls")),
        ]
    );
    assert_eq!(tree.text(".jules/link"), None);
}

#[tokio::test]
async fn a_part_of_a_tree_is_none() {
    let mut deepest = file("f", "");
    for _ in 0..6 {
        deepest = folder("d", &[deepest]);
    }
    let fits = tree(root(std::slice::from_ref(&deepest))).await.unwrap();
    assert!(fits.has(".jules/d/d/d/d/d/d/f"));
    let unlisted = json!({ "name": "d", "mode": 16_384, "type": "tree", "object": {} });
    let many: Vec<_> = (0..2_001).map(|n| file(&n.to_string(), "")).collect();
    let text = "x".repeat(TEXT_BYTES_MAX);
    let heavy: Vec<_> = (0..129).map(|n| file(&n.to_string(), &text)).collect();
    for odd in [
        vec![folder("d", &[deepest])],
        vec![unlisted],
        vec![file("..", "")],
        vec![file("a/b", "")],
        vec![file("a\u{202e}b", "")],
        vec![json!({ "name": "f", "mode": 33_188, "type": "blob", "object": null })],
        vec![json!({ "name": "f", "mode": 1, "type": "blob", "object": { "oid": OTHER } })],
        many,
        heavy,
    ] {
        let first = odd[0].to_string();
        assert_eq!(
            tree(root(&odd)).await,
            Err(FailureClass::Garbled),
            "{first:.200}"
        );
    }
}

#[tokio::test]
async fn a_missing_commit_is_no_empty_folder() {
    for (commit, id, class) in [
        (Value::Null, 5, FailureClass::NotFound),
        (
            json!({ "__typename": "Tree", "oid": HEAD }),
            5,
            FailureClass::NotFound,
        ),
        (
            json!({ "__typename": "Commit", "oid": HEAD }),
            6,
            FailureClass::Conflict,
        ),
    ] {
        let repository = json!({ "databaseId": id, "commit": commit, "root": null });
        let script = move |asked: &Asked| match asked.method.as_str() {
            "POST" => Reply::ok(&json!({ "data": { "repository": repository } })),
            _ => Reply::ok(&json!({ "id": 5, "full_name": "acme/shop" })),
        };
        let reader = Server::start(script).await.reader();
        engine::ports::PullsRead::identify(&reader, &pull().repo)
            .await
            .unwrap();
        let read = reader.tree(&pull().repo, &sha(HEAD), &[".jules"]).await;
        assert_eq!(read.unwrap_err().class, class);
    }
}

#[tokio::test]
async fn a_branch_has_a_tip_or_is_not_there() {
    let reference =
        |name: &str| json!({ "ref": format!("refs/heads/{name}"), "object": { "sha": HEAD } });
    let several = json!([reference("jules-2"), reference("jules-3")]);
    for (reply, tip) in [
        (Reply::ok(&reference("jules")), Some(sha(HEAD))),
        (Reply::ok(&several), None),
        (Reply::refusal(404, "Not Found"), None),
    ] {
        let script = move |asked: &Asked| match asked.line().as_str() {
            "GET /repos/acme/shop/git/ref/heads/jules" => reply.clone(),
            _ => Reply::ok(&json!({ "default_branch": "main" })),
        };
        let reader = Server::start(script).await.reader();
        let read = reader.tip(&pull().repo, &"jules".parse().unwrap()).await;
        assert_eq!(read.unwrap(), tip);
    }
}

fn commit(sha: &str, message: &str) -> Value {
    let committer = json!({ "name": "a", "date": "2026-11-21T12:00:00Z" });
    json!({ "sha": sha, "commit": { "message": message, "committer": committer } })
}

fn compared(commits: &[Value], total: usize, files: &Value) -> Value {
    json!({ "merge_base_commit": { "sha": TIP }, "total_commits": total, "commits": commits, "files": files })
}

const TREE: &str =
    "GET /repos/acme/shop/git/trees/1111111111111111111111111111111111111111?recursive=1";

async fn compare(files: Value, tree: Value) -> (Result<Comparison, FailureClass>, Vec<String>) {
    let script = move |asked: &Asked| match asked.line().as_str() {
        TREE => Reply::ok(&tree),
        _ => Reply::ok(&compared(&[commit(OTHER, "Add a\n\nWhy.")], 1, &files)),
    };
    let server = Server::start(script).await;
    let reader = server.reader();
    let between = CommitRange {
        base: &sha(OTHER),
        head: &sha(HEAD),
    };
    let read = reader.compare(&pull().repo, between).await;
    let read = read.map_err(|failure| failure.class);
    (read, server.lines())
}

fn whole_tree() -> Value {
    let entries = json!([
        { "path": "new", "mode": "120000", "type": "blob", "sha": HEAD },
        { "path": "kept", "mode": "100755", "type": "blob", "sha": HEAD },
        { "path": "copy", "mode": "100644", "type": "blob", "sha": HEAD },
    ]);
    json!({ "sha": HEAD, "tree": entries, "truncated": false })
}

#[tokio::test]
async fn the_modes_of_a_large_repository_are_read_in_the_folders_of_what_changed() {
    const FOLDER: &str = "4444444444444444444444444444444444444444";
    let entry = |path: &str, mode: &str, id: &str| json!({ "path": path, "mode": mode, "type": "blob", "sha": id });
    let listed = |truncated: bool, entries: &[Value]| {
        Reply::ok(&json!({ "sha": HEAD, "tree": entries, "truncated": truncated }))
    };
    let files = json!([
        { "filename": "src/deep/run.sh", "status": "added" },
        { "filename": "top", "status": "modified" },
        { "filename": "src/gone", "status": "removed" },
        { "filename": "srcs/odd", "status": "modified" },
    ]);
    let script = move |asked: &Asked| match asked.line().as_str() {
        TREE => listed(true, &[entry("lost", "100644", TIP)]),
        line if line.ends_with(&format!("/git/trees/{HEAD}")) => {
            let top = entry("top", "120000", TIP);
            let folders = ["src", "docs"].map(|path| entry(path, "040000", OTHER));
            listed(false, &[&folders[..], &[top]].concat())
        }
        line if line.ends_with(&format!("/git/trees/{OTHER}")) => {
            listed(false, &[entry("deep", "040000", FOLDER)])
        }
        line if line.ends_with(&format!("/git/trees/{FOLDER}")) => {
            listed(false, &[entry("run.sh", "100755", TIP)])
        }
        _ => Reply::ok(&compared(&[commit(OTHER, "Add a")], 1, &files)),
    };
    let server = Server::start(script).await;
    let between = CommitRange {
        base: &sha(OTHER),
        head: &sha(HEAD),
    };
    let read = server.reader().compare(&pull().repo, between).await;
    let modes: Vec<_> = read.unwrap().files.iter().map(|it| it.mode).collect();
    let known = [Some(Mode::Executable), Some(Mode::Link), None, None];
    assert_eq!(modes, known);
    let lines = server.lines();
    assert_eq!(
        lines.len(),
        5,
        "no folder without a change is read: {lines:?}"
    );
}

#[tokio::test]
async fn a_comparison_says_what_became_of_each_file() {
    let files = json!([
        { "filename": "new", "status": "renamed", "previous_filename": "old" },
        { "filename": "kept", "status": "modified" },
        { "filename": "copy", "status": "copied", "previous_filename": "kept" },
        { "filename": "gone", "status": "removed" },
        { "filename": "odd", "status": "unchanged" },
    ]);
    let change = |path: &str, old: Option<&str>, kind, mode| FileChange {
        path: path.to_owned(),
        old_path: old.map(str::to_owned),
        kind,
        mode,
    };
    let (read, lines) = compare(files, whole_tree()).await;
    let read = read.unwrap();
    assert_eq!(
        read.files,
        [
            change("new", Some("old"), ChangeKind::Added, Some(Mode::Link)),
            change("kept", None, ChangeKind::Changed, Some(Mode::Executable)),
            change("copy", None, ChangeKind::Added, Some(Mode::File)),
            change("gone", None, ChangeKind::Removed, None),
            change("odd", None, ChangeKind::Changed, None),
        ]
    );
    assert_eq!(read.merge_base, sha(TIP));
    let line = &read.commits[0];
    assert_eq!(
        (line.sha.clone(), line.subject.as_str()),
        (sha(OTHER), "Add a")
    );
    assert_eq!(line.at, "2026-11-21T12:00:00Z".parse().unwrap());
    assert_eq!(
        lines,
        [
            format!("GET /repos/acme/shop/compare/{OTHER}...{HEAD}"),
            TREE.to_owned()
        ]
    );
    let removed = json!([{ "filename": "gone", "status": "removed" }]);
    let (_, lines) = compare(removed, whole_tree()).await;
    assert_eq!(lines.len(), 1, "no mode is needed: {lines:?}");
}

#[tokio::test]
async fn a_comparison_that_may_be_cut_is_none() {
    let file = |n: usize| json!({ "filename": n.to_string(), "status": "removed" });
    let files = |count: usize| Value::from((0..count).map(file).collect::<Vec<_>>());
    let (fits, _) = compare(files(299), Value::Null).await;
    assert_eq!(fits.unwrap().files.len(), 299);
    for odd in [
        files(300),
        Value::Null,
        json!([{ "filename": "a", "status": "swapped" }]),
        json!([{ "filename": "a", "status": "renamed" }]),
    ] {
        let (read, _) = compare(odd, Value::Null).await;
        assert_eq!(read, Err(FailureClass::Garbled));
    }
}

#[tokio::test]
async fn commits_of_a_comparison_come_in_pages() {
    for (last, total) in [(50, Ok(250)), (49, Err(FailureClass::Garbled))] {
        let script = move |asked: &Asked| {
            let page = asked.query.split("page=").last().unwrap();
            let (page, count) = match page {
                "2" => (2, 100),
                "3" => (3, last),
                _ => (1, 100),
            };
            let commits: Vec<_> = (0..count)
                .map(|n| commit(&format!("{page:04x}{n:036x}"), "x"))
                .collect();
            let files = if page == 1 { json!([]) } else { Value::Null };
            let reply = Reply::ok(&compared(&commits, 250, &files));
            let next = format!(
                "{}{}?per_page=100&page={}",
                asked.base,
                asked.path,
                page + 1
            );
            match page {
                3 => reply,
                _ => reply.with("link", format!("<{next}>; rel=\"next\"")),
            }
        };
        let reader = Server::start(script).await.reader();
        let between = CommitRange {
            base: &sha(OTHER),
            head: &sha(HEAD),
        };
        let read = reader.compare(&pull().repo, between).await;
        let read = read.map_err(|failure| failure.class);
        assert_eq!(read.map(|read| read.commits.len()), total);
    }
}

#[tokio::test]
async fn the_newest_commits_are_listed() {
    let list = json!([commit(HEAD, "Two\r\nmore"), commit(OTHER, "")]);
    let server = Server::start(move |_: &Asked| Reply::ok(&list)).await;
    let reader = server.reader();
    let log = reader.log(&pull().repo, &sha(HEAD), 2).await.unwrap();
    let subjects: Vec<_> = log.iter().map(|line| line.subject.as_str()).collect();
    assert_eq!(subjects, ["Two", ""]);
    assert!(
        reader
            .log(&pull().repo, &sha(HEAD), 0)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        server.lines(),
        [format!(
            "GET /repos/acme/shop/commits?sha={HEAD}&per_page=2"
        )]
    );
}

#[tokio::test]
async fn a_pull_request_is_found_by_its_branch() {
    let item = |number: u64, state: &str, head: Value| {
        let base =
            json!({ "ref": "main", "sha": TIP, "repo": { "id": 5, "full_name": "acme/shop" } });
        json!({ "number": number, "state": state, "head": { "ref": "jules/a", "sha": HEAD, "repo": head }, "base": base })
    };
    let own = json!({ "id": 5, "full_name": "acme/shop" });
    let fork = json!({ "id": 6, "full_name": "acme/fork" });
    let list = json!([
        item(9, "open", fork),
        item(8, "open", Value::Null),
        item(7, "closed", own.clone()),
        item(3, "open", own),
    ]);
    let server = Server::start(move |_: &Asked| Reply::ok(&list)).await;
    let reader = server.reader();
    let found = reader
        .pull_of(&pull().repo, &"jules/a".parse().unwrap())
        .await;
    assert_eq!(
        found.unwrap(),
        Some(FoundPull {
            pull: pull(),
            head: sha(HEAD),
            base: "main".parse().unwrap(),
            is_open: false
        })
    );
    assert_eq!(
        server.lines(),
        ["GET /repos/acme/shop/pulls?head=acme%3Ajules%2Fa&state=all&sort=created&direction=desc"]
    );
}
