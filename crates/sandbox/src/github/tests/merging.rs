//! Merging, its refusals, conflicts, and bringing branches up to date.

use serde_json::{Value, json};

use super::Stand;
use super::stand::{REPO, new_pull};
use crate::github::{
    ChangedFile, CheckSetup, CheckState, CiSetup, Conclusion, MergeMethod, NewCommit, NewPull,
    Outcome, Protection, PullState, RepoSetup, RequiredCheck,
};

fn required(context: &str) -> CiSetup {
    CiSetup {
        checks: vec![CheckSetup::new("build", Outcome::Success)],
        required: vec![RequiredCheck::any(context)],
        ..CiSetup::default()
    }
}

#[tokio::test]
async fn a_merge_happens_once_and_moves_the_base() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    let (head, before) = (stand.head(n), stand.github.branch(REPO, "main").unwrap());

    let merged = stand.merge(n).await;
    assert_eq!(merged.status, 200);
    assert_eq!(merged.body["merged"], true);
    let sha = merged.body["sha"].as_str().unwrap().to_owned();
    assert_eq!(stand.github.branch(REPO, "main"), Some(sha.clone()));
    let view = stand.github.pull(REPO, n).unwrap();
    assert_eq!(view.state, PullState::Merged);
    assert_eq!(view.merged_sha, Some(head));
    assert_eq!(view.merged_by.as_deref(), Some("octo-owner"));

    let again = stand.merge(n).await;
    again.says(405, "Pull Request is not mergeable");
    let counters = stand.counters.counters();
    assert_eq!((counters.merges, counters.merge_calls), (1, 2));

    let shown = stand.shown(n).await;
    assert_eq!(shown["merged"], true);
    assert_eq!(shown["state"], "closed");
    assert_eq!(shown["merge_commit_sha"], sha);
    assert_eq!(
        shown["base"]["sha"], before,
        "the base of a merged pull request stays as it was"
    );
    assert_eq!(shown["mergeable"], Value::Null);
    assert_eq!(shown["changed_files"], 1);
    assert_eq!(stand.repo(&format!("/pulls/{n}/merge")).await.status, 204);
}

#[tokio::test]
async fn another_head_than_judged_is_never_merged() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    let judged = stand.head(n);
    stand
        .github
        .push(stand.now(), REPO, "a", "slipped in", "ada");

    let got = stand
        .put(&format!("/pulls/{n}/merge"), json!({ "sha": judged }))
        .await;
    assert_eq!(got.status, 409);
    assert_eq!(
        got.message(),
        "Head branch was modified. Review and try the merge again."
    );
    assert_eq!(stand.github.pull(REPO, n).unwrap().state, PullState::Open);
    assert_eq!(stand.counters.counters().merges, 0);
}

#[tokio::test]
async fn drafts_closed_ones_and_methods_not_allowed_are_refused() {
    let setup = RepoSetup {
        merge_methods: vec![MergeMethod::Squash],
        ..RepoSetup::new(REPO)
    };
    let stand = Stand::with(setup).await;
    let n = stand.github.open_pull(
        stand.now(),
        REPO,
        NewPull {
            draft: true,
            ..new_pull("a", "a.rs")
        },
    );
    assert_eq!(stand.shown(n).await["mergeable_state"], "draft");
    let draft = stand.merge(n).await;
    draft.says(405, "Pull Request is still a draft");

    stand.github.set_draft(REPO, n, false);
    let method = stand
        .put(
            &format!("/pulls/{n}/merge"),
            json!({ "merge_method": "rebase" }),
        )
        .await;
    method.says(405, "Rebase merges are not allowed on this repository.");

    stand
        .patch(&format!("/pulls/{n}"), json!({ "state": "closed" }))
        .await;
    assert_eq!(stand.merge(n).await.status, 405);
    assert_eq!(stand.github.pull(REPO, n).unwrap().state, PullState::Closed);
    assert_eq!(stand.counters.counters().merges, 0);
}

#[tokio::test]
async fn required_checks_block_until_they_have_passed() {
    let stand = Stand::with_ci(required("build")).await;
    let n = stand.open("a", "a.rs");
    let blocked = stand.merge(n).await;
    assert_eq!(blocked.status, 405);
    assert!(
        blocked
            .message()
            .contains("Required status check \"build\""),
        "{}",
        blocked.message()
    );
    assert_eq!(stand.shown(n).await["mergeable_state"], "blocked");

    stand.pass(2);
    assert_eq!(stand.shown(n).await["mergeable_state"], "clean");
    assert_eq!(stand.merge(n).await.status, 200);
}

#[tokio::test]
async fn a_required_check_of_another_app_or_one_that_never_starts_blocks() {
    let ci = CiSetup {
        required: vec![RequiredCheck {
            context: "build".to_owned(),
            app_id: Some(7),
        }],
        ..required("build")
    };
    let stand = Stand::with_ci(ci).await;
    let n = stand.open("a", "a.rs");
    stand.pass(10);
    stand.refuses(n, "is expected").await;

    stand.github.set_ci(REPO, required("deploy"));
    let path = format!("/statuses/{}", stand.head(n));
    let post = |state: &str| stand.post(&path, json!({ "state": state, "context": "deploy" }));
    stand.refuses(n, "\"deploy\" is expected").await;
    post("failure").await;
    stand.refuses(n, "\"deploy\" is failing").await;
    post("success").await;
    assert_eq!(stand.merge(n).await.status, 200);
}

#[tokio::test]
async fn a_failed_check_that_nobody_requires_makes_the_state_unstable_only() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    let failed = CheckState::Completed(Conclusion::Failure);
    stand
        .github
        .set_check(stand.now(), REPO, (&stand.head(n), "extra"), failed);
    assert_eq!(stand.shown(n).await["mergeable_state"], "unstable");
    assert_eq!(stand.merge(n).await.status, 200);
}

#[tokio::test]
async fn reviews_and_the_merge_queue_block() {
    let stand = Stand::with(RepoSetup {
        reviews_required: 1,
        collaborators: [("octo-owner".to_owned(), "write".to_owned())].into(),
        ..RepoSetup::new(REPO)
    })
    .await;
    let n = stand.open("a", "a.rs");
    stand.refuses(n, "At least 1 approving review").await;

    // Anyone may review a public repository, and has no say by that.
    let stranger = ("stranger", "APPROVED", "fine by me");
    stand.github.review(stand.now(), REPO, n, stranger);
    stand.refuses(n, "At least 1 approving review").await;

    let path = format!("/pulls/{n}/reviews");
    let got = stand
        .post(&path, json!({ "event": "REQUEST_CHANGES", "body": "no" }))
        .await;
    assert_eq!(got.body["state"], "CHANGES_REQUESTED");
    stand.refuses(n, "Changes were requested").await;
    stand.post(&path, json!({ "event": "APPROVE" })).await;
    assert_eq!(
        stand.repo(&path).await.each("", "state"),
        ["APPROVED", "CHANGES_REQUESTED", "APPROVED"]
    );

    stand
        .github
        .change_repo(REPO, |setup| setup.merge_queue = true);
    stand.refuses(n, "merge queue").await;
    stand
        .github
        .change_repo(REPO, |setup| setup.protection = Protection::Off);
    assert_eq!(stand.merge(n).await.status, 200);
}

#[tokio::test]
async fn overlapping_files_conflict_after_the_other_side_is_merged() {
    let stand = Stand::start().await;
    let (one, other, third) = (
        stand.open("a", "same.rs"),
        stand.open("b", "same.rs"),
        stand.open("c", "c.rs"),
    );
    assert_eq!(stand.merge(one).await.status, 200);

    let shown = stand.shown(other).await;
    assert_eq!(
        (&shown["mergeable"], &shown["mergeable_state"]),
        (&json!(false), &json!("dirty"))
    );
    assert_eq!(stand.merge(other).await.status, 405);
    let update = stand
        .put(&format!("/pulls/{other}/update-branch"), json!({}))
        .await;
    update.says(422, "merge conflict between base and head");

    let stays = NewCommit {
        message: "no help".to_owned(),
        author_login: "ada".to_owned(),
        files: vec![ChangedFile::modified("d.rs")],
        ..NewCommit::default()
    };
    stand.github.push_commit(stand.now(), REPO, "b", stays);
    assert!(stand.github.pull(REPO, other).unwrap().conflicts);
    stand
        .github
        .push(stand.now(), REPO, "b", "resolve the conflict", "ada");
    assert!(!stand.github.pull(REPO, other).unwrap().conflicts);
    assert_eq!(stand.merge(other).await.status, 200);
    assert_eq!(
        stand.merge(third).await.status,
        200,
        "what does not overlap never conflicts"
    );
}

#[tokio::test]
async fn a_declared_conflict_lasts_until_the_head_moves() {
    let stand = Stand::start().await;
    let n = stand.open("a", "a.rs");
    stand.github.set_conflict(stand.now(), REPO, n, true);
    assert_eq!(stand.shown(n).await["mergeable"], false);
    stand.github.push(stand.now(), REPO, "a", "resolve", "ada");
    assert_eq!(stand.shown(n).await["mergeable"], true);
}

#[tokio::test]
async fn strict_rules_demand_the_base_and_updating_brings_it() {
    let stand = Stand::with_ci(CiSetup {
        strict: true,
        ..required("build")
    })
    .await;
    let (one, other) = (stand.open("a", "a.rs"), stand.open("b", "b.rs"));
    stand.pass(2);
    assert_eq!(stand.merge(one).await.status, 200);
    assert_eq!(stand.shown(other).await["mergeable_state"], "behind");
    stand.refuses(other, "out of date").await;

    let (path, head) = (format!("/pulls/{other}/update-branch"), stand.head(other));
    let stale = stand
        .put(&path, json!({ "expected_head_sha": "0".repeat(40) }))
        .await;
    assert_eq!(stale.status, 422);
    assert_eq!(stand.counters.counters().branch_updates, 0);
    let updated = stand.put(&path, json!({ "expected_head_sha": head })).await;
    assert_eq!(updated.status, 202);
    assert_ne!(stand.head(other), head);
    assert_eq!(stand.counters.counters().branch_updates, 1);
    let commit = stand
        .repo(&format!("/commits/{}", stand.head(other)))
        .await
        .body;
    assert_eq!(commit["parents"].as_array().unwrap().len(), 2);
    let idle = stand.put(&path, json!({})).await;
    idle.says(422, "There are no new commits on the base branch.");

    assert!(
        stand.merge(other).await.message().contains("build"),
        "the new head needs its own checks"
    );
    stand.pass(2);
    assert_eq!(stand.merge(other).await.status, 200);
}

#[tokio::test]
async fn every_method_makes_its_kind_of_commit() {
    for (method, parents) in [("merge", 2), ("squash", 1), ("rebase", 1)] {
        let stand = Stand::start().await;
        let n = stand.open("a", "a.rs");
        let body = json!({ "merge_method": method, "commit_title": "Our title" });
        let got = stand.put(&format!("/pulls/{n}/merge"), body).await;
        let sha = got.body["sha"].as_str().unwrap();
        let commit = stand.repo(&format!("/commits/{sha}")).await.body;
        assert_eq!(
            commit["parents"].as_array().unwrap().len(),
            parents,
            "{method}"
        );
        assert_eq!(commit["commit"]["message"], "Our title");
    }
}

#[tokio::test]
async fn retargeting_moves_the_base() {
    let stand = Stand::start().await;
    let commit = NewCommit {
        message: "start".to_owned(),
        author_login: "ada".to_owned(),
        ..NewCommit::default()
    };
    let release = stand
        .github
        .push_commit(stand.now(), REPO, "release", commit);
    let n = stand.open("a", "a.rs");
    let got = stand
        .patch(&format!("/pulls/{n}"), json!({ "base": "release" }))
        .await;
    assert_eq!(
        (got.status, &got.body["base"]["sha"]),
        (200, &json!(release))
    );
    assert_eq!(
        stand
            .patch(&format!("/pulls/{n}"), json!({ "base": "none" }))
            .await
            .status,
        422
    );
    assert_eq!(stand.merge(n).await.status, 200);
    assert_ne!(stand.github.branch(REPO, "release"), Some(release));
}

#[tokio::test]
async fn github_itself_can_delete_the_branch() {
    let stand = Stand::with(RepoSetup {
        delete_branch_on_merge: true,
        ..RepoSetup::new(REPO)
    })
    .await;
    let n = stand.open("a", "a.rs");
    assert_eq!(stand.merge(n).await.status, 200);
    assert_eq!(stand.github.branch(REPO, "a"), None);
    assert_eq!(stand.github.pull(REPO, n).unwrap().state, PullState::Merged);
}

#[tokio::test]
async fn a_commit_may_put_back_what_others_merged_since() {
    let stand = Stand::start().await;
    let (one, other) = (stand.open("a", "a.rs"), stand.open("b", "b.rs"));
    let own = stand.head(other);
    assert_eq!(stand.merge(one).await.status, 200);
    let base = stand.github.branch(REPO, "main").unwrap();
    let update = stand
        .put(&format!("/pulls/{other}/update-branch"), json!({}))
        .await;
    assert_eq!(update.status, 202);
    let stale = NewCommit {
        message: "one more thing".to_owned(),
        author_login: "jules".to_owned(),
        reverts: vec!["a.rs".to_owned()],
        ..NewCommit::default()
    };
    stand.github.push_commit(stand.now(), REPO, "b", stale);
    let head = stand.head(other);
    let compared = async |from: &str, to: &str| {
        let got = stand.repo(&format!("/compare/{from}...{to}")).await;
        got.each("files", "filename")
    };
    assert_eq!(compared(&base, &head).await, [json!("a.rs"), json!("b.rs")]);
    assert_eq!(compared(&own, &base).await, [json!("a.rs")]);
    assert!(
        compared(&own, &head).await.is_empty(),
        "as if it had not been merged"
    );
    let files = stand.repo(&format!("/pulls/{other}/files")).await;
    assert_eq!(files.each("", "filename"), [json!("a.rs"), json!("b.rs")]);
}
