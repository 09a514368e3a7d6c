//! A green pull request as GitHub would show it: what tests change a little.

use serde_json::{Value, json};

use crate::server::{Asked, Reply};

/// The head of the pull request.
pub(crate) const HEAD: &str = "1111111111111111111111111111111111111111";

/// Another head.
pub(crate) const OTHER: &str = "2222222222222222222222222222222222222222";

/// The tip of its base.
pub(crate) const TIP: &str = "3333333333333333333333333333333333333333";

/// GitHub's own App for Actions.
pub(crate) const ACTIONS: u64 = 15_368;

pub(crate) const PULL: &str = "GET /repos/acme/shop/pulls/7";
pub(crate) const RUNS: &str = "GET /repos/acme/shop/commits/1111111111111111111111111111111111111111/check-runs?filter=latest";
pub(crate) const STATUS: &str =
    "GET /repos/acme/shop/commits/1111111111111111111111111111111111111111/status";
pub(crate) const REVIEWS: &str = "GET /repos/acme/shop/pulls/7/reviews";
pub(crate) const FILES: &str = "GET /repos/acme/shop/pulls/7/files";
pub(crate) const RULES: &str = "GET /repos/acme/shop/rules/branches/main";
pub(crate) const PROTECTED: &str = "GET /repos/acme/shop/branches?protected=true";
pub(crate) const PROTECTION: &str = "GET /repos/acme/shop/branches/main/protection";
pub(crate) const ACTION_RUNS: &str =
    "GET /repos/acme/shop/actions/runs?head_sha=1111111111111111111111111111111111111111";
pub(crate) const WORKFLOWS: &str = "GET /repos/acme/shop/actions/workflows?per_page=1";

/// The pull request.
pub(crate) fn pull_json() -> Value {
    json!({
        "number": 7, "node_id": "PR_kwDO7", "state": "open", "merged": false, "merge_commit_sha": OTHER,
        "draft": false, "mergeable": true, "title": "Add a cart", "body": null,
        "user": { "login": "google-labs-jules[bot]", "id": 161_369_871 },
        "labels": [{ "name": "jules" }],
        "head": { "ref": "feat/cart", "sha": HEAD, "repo": { "id": 5, "full_name": "acme/shop" } },
        "base": { "ref": "main", "sha": TIP, "repo": { "id": 5, "full_name": "Acme/Shop" } },
        "changed_files": 1,
    })
}

/// One check run of GitHub Actions.
pub(crate) fn run(id: u64, name: &str, status: &str, conclusion: Option<&str>) -> Value {
    json!({ "id": id, "name": name, "head_sha": HEAD, "status": status, "conclusion": conclusion, "app": { "id": ACTIONS } })
}

/// A page of check runs that is the whole list.
pub(crate) fn runs(list: &[Value]) -> Value {
    json!({ "total_count": list.len(), "check_runs": list })
}

/// A page of statuses that is the whole list.
pub(crate) fn statuses(list: &[Value]) -> Value {
    json!({ "state": "success", "sha": HEAD, "total_count": list.len(), "statuses": list })
}

/// What a green pull request without any rules answers.
pub(crate) fn green(asked: &Asked) -> Reply {
    let body = match asked.line().as_str() {
        PULL => pull_json(),
        RUNS => runs(&[run(1, "build", "completed", Some("success"))]),
        STATUS => statuses(&[]),
        REVIEWS | RULES => json!([]),
        FILES => json!([{ "filename": "src/cart.rs", "status": "added" }]),
        PROTECTED => json!([{ "name": "main", "protected": true }]),
        PROTECTION => return Reply::refusal(404, "Branch not protected"),
        ACTION_RUNS => json!({ "total_count": 0, "workflow_runs": [] }),
        WORKFLOWS => json!({ "total_count": 2, "workflows": [{}] }),
        unexpected => {
            return Reply::refusal(404, &format!("the test answers nothing for {unexpected}"));
        }
    };
    Reply::ok(&body)
}
