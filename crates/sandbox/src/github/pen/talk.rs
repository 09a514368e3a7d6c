//! Issues, comments, labels and reviews.

use serde_json::{Value, json};

use super::super::records::{Comment, Issue, Review, User};
use super::super::world::{Repo, node_id};
use super::{Pen, WEB, time, time_or_null};

impl Pen<'_> {
    pub(crate) fn label(&self, repo: &Repo, name: &str) -> Value {
        let id = User::named(name).id;
        json!({
            "id": id,
            "node_id": node_id("LA", id),
            "url": format!("{}/labels/{name}", self.repo_url(repo)),
            "name": name,
            "description": null,
            "color": "ededed",
            "default": false,
        })
    }

    /// An issue; pull requests are issues with one field more.
    pub(crate) fn issue(&self, repo: &Repo, issue: &Issue) -> Value {
        let (url, web, number) = (
            self.repo_url(repo),
            format!("{WEB}/{}", repo.full_name()),
            issue.number,
        );
        let own = format!("{url}/issues/{number}");
        let pull = repo.pulls.get(&number);
        let kind = if pull.is_some() { "pull" } else { "issues" };
        let comments = repo
            .comments
            .iter()
            .filter(|comment| comment.number == number)
            .count();
        let mut answer = json!({
            "url": own,
            "repository_url": url,
            "labels_url": format!("{own}/labels{{/name}}"),
            "comments_url": format!("{own}/comments"),
            "events_url": format!("{own}/events"),
            "html_url": format!("{web}/{kind}/{number}"),
            "id": issue.id,
            "node_id": node_id("I", issue.id),
            "number": number,
            "title": issue.title,
            "user": self.user(&issue.author),
            "labels": issue.labels.iter().map(|label| self.label(repo, label)).collect::<Vec<_>>(),
            "state": if issue.closed_at.is_some() { "closed" } else { "open" },
            "state_reason": issue.state_reason,
            "locked": false,
            "assignee": null,
            "assignees": [],
            "milestone": null,
            "comments": comments,
            "created_at": time(issue.created_at),
            "updated_at": time(issue.updated_at),
            "closed_at": time_or_null(issue.closed_at),
            "closed_by": issue.closed_by.as_ref().map(|closer| self.user(closer)),
            "author_association": issue.association,
            "active_lock_reason": null,
            "body": issue.body,
        });
        if let (Value::Object(fields), Some(pull)) = (&mut answer, pull) {
            let html = format!("{web}/pull/{number}");
            let merged = time_or_null(pull.merged.as_ref().map(|merged| merged.at));
            fields.insert("draft".to_owned(), json!(pull.draft));
            fields.insert(
                "pull_request".to_owned(),
                json!({
                    "url": format!("{url}/pulls/{number}"),
                    "html_url": html,
                    "diff_url": format!("{html}.diff"),
                    "patch_url": format!("{html}.patch"),
                    "merged_at": merged,
                }),
            );
        }
        answer
    }

    pub(crate) fn comment(&self, repo: &Repo, comment: &Comment) -> Value {
        let (url, number) = (self.repo_url(repo), comment.number);
        let kind = if repo.pulls.contains_key(&number) {
            "pull"
        } else {
            "issues"
        };
        json!({
            "url": format!("{url}/issues/comments/{}", comment.id),
            "html_url": format!("{WEB}/{}/{kind}/{number}#issuecomment-{}", repo.full_name(), comment.id),
            "issue_url": format!("{url}/issues/{number}"),
            "id": comment.id,
            "node_id": node_id("IC", comment.id),
            "user": self.user(&comment.author),
            "created_at": time(comment.created_at),
            "updated_at": time(comment.updated_at),
            "author_association": comment.association,
            "body": comment.body,
            "performed_via_github_app": null,
        })
    }

    pub(crate) fn review(&self, repo: &Repo, review: &Review) -> Value {
        let pull = format!("{}/pulls/{}", self.repo_url(repo), review.number);
        let html = format!(
            "{WEB}/{}/pull/{}#pullrequestreview-{}",
            repo.full_name(),
            review.number,
            review.id
        );
        json!({
            "id": review.id,
            "node_id": node_id("PRR", review.id),
            "user": self.user(&review.author),
            "body": review.body,
            "state": review.state,
            "html_url": html,
            "pull_request_url": pull,
            "author_association": review.association,
            "_links": { "html": { "href": html }, "pull_request": { "href": pull } },
            "submitted_at": time(review.at),
            "commit_id": review.commit,
        })
    }
}
