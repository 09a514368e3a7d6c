//! Heads that are nothing but GitHub's own merge of the base.

use domain::ids::CommitSha;
use engine::ports::{CommitRange, PullsRead};
use serde_json::{Value, json};

use crate::server::{Asked, Reply, Server, pull};

const BEFORE: &str = "1111111111111111111111111111111111111111";
const MERGED: &str = "2222222222222222222222222222222222222222";
const HEAD: &str = "3333333333333333333333333333333333333333";
const BASE: &str = "4444444444444444444444444444444444444444";

/// The merge that GitHub makes of the base.
fn merge() -> Value {
    json!({
        "sha": HEAD, "tree": { "sha": HEAD }, "message": "Merge branch 'main'",
        "parents": [{ "sha": BEFORE }, { "sha": MERGED }],
        "committer": { "name": "GitHub", "email": "noreply@github.com", "date": "2026-11-21T12:00:00Z" },
        "verification": { "verified": true, "reason": "valid" },
    })
}

/// Whether the head is taken for a merge of the base, and how many commits of the other parent the base lacks.
async fn is_base_merge(commit: Value, lacking: u64) -> bool {
    let commit_line = format!("GET /repos/acme/shop/git/commits/{HEAD}");
    let compare_line = format!("GET /repos/acme/shop/compare/{MERGED}...{BASE}?per_page=1");
    let server = Server::start(move |asked: &Asked| {
        let line = asked.line();
        if line == commit_line {
            Reply::ok(&commit)
        } else if line == compare_line {
            Reply::ok(&json!({ "behind_by": lacking }))
        } else {
            Reply::refusal(404, "Not Found")
        }
    })
    .await;
    let sha = |text: &str| text.parse::<CommitSha>().unwrap();
    let (before, head) = (sha(BEFORE), sha(HEAD));
    let between = CommitRange {
        base: &before,
        head: &head,
    };
    let reader = server.reader();
    let (repo, target) = (pull().repo, sha(BASE));
    let read = reader.is_base_merge(&repo, &target, between).await;
    read.unwrap()
}

#[tokio::test]
async fn only_what_github_merged_of_the_base_is_a_merge_of_the_base() {
    assert!(is_base_merge(merge(), 0).await);
    assert!(!is_base_merge(merge(), 1).await, "of another branch");
    let parents = |all: &[&str]| {
        let all: Vec<Value> = all.iter().map(|sha| json!({ "sha": sha })).collect();
        json!(all)
    };
    for (field, value) in [
        ("/parents", parents(&[MERGED, BEFORE])),
        ("/parents", parents(&[BEFORE])),
        ("/parents", parents(&[BEFORE, MERGED, BASE])),
        ("/verification/verified", json!(false)),
        ("/committer/name", json!("mallory")),
        ("/committer/email", json!("mallory@example.com")),
    ] {
        let mut odd = merge();
        *odd.pointer_mut(field).unwrap() = value;
        assert!(!is_base_merge(odd.clone(), 0).await, "{odd}");
    }
}
