//! Pull requests, their files and the little pictures of them inside checks.

use serde_json::{Value, json};

use super::super::records::{Issue, Pull, User};
use super::super::setup::ChangedFile;
use super::super::world::{Repo, node_id, sha_of};
use super::{Pen, WEB, time, time_or_null};

impl Pen<'_> {
    /// A pull request as lists show it.
    pub(crate) fn pull(&self, repo: &Repo, pull: &Pull, issue: &Issue) -> Value {
        let url = self.repo_url(repo);
        let (number, html) = (
            pull.number,
            format!("{WEB}/{}/pull/{}", repo.full_name(), pull.number),
        );
        let links = self.links(repo, pull);
        let field = |name: &str| links.get(name).and_then(|link| link.get("href")).cloned();
        json!({
            "url": format!("{url}/pulls/{number}"),
            "id": pull.id,
            "node_id": node_id("PR", pull.id),
            "html_url": html,
            "diff_url": format!("{html}.diff"),
            "patch_url": format!("{html}.patch"),
            "issue_url": field("issue"),
            "number": number,
            "state": if issue.closed_at.is_some() { "closed" } else { "open" },
            "locked": false,
            "title": issue.title,
            "user": self.user(&issue.author),
            "body": issue.body,
            "created_at": time(issue.created_at),
            "updated_at": time(issue.updated_at),
            "closed_at": time_or_null(issue.closed_at),
            "merged_at": time_or_null(pull.merged.as_ref().map(|merged| merged.at)),
            "merge_commit_sha": pull.merged.as_ref().map(|merged| merged.sha.clone()),
            "assignee": null,
            "assignees": [],
            "requested_reviewers": [],
            "requested_teams": [],
            "labels": issue.labels.iter().map(|label| self.label(repo, label)).collect::<Vec<_>>(),
            "milestone": null,
            "draft": pull.draft,
            "stack": self.stack(repo, pull),
            "commits_url": field("commits"),
            "review_comments_url": field("review_comments"),
            "review_comment_url": field("review_comment"),
            "comments_url": field("comments"),
            "statuses_url": field("statuses"),
            "head": self.head(pull),
            "base": self.base(repo, pull),
            "_links": links,
            "author_association": issue.association,
            "auto_merge": null,
            "active_lock_reason": null,
        })
    }

    /// A pull request with the fields that only a single read contains.
    pub(crate) fn whole_pull(&self, repo: &Repo, pull: &Pull, issue: &Issue) -> Value {
        let files = self.files(repo, pull);
        let commits = self
            .world
            .between(&self.world.base_sha(repo, pull), &pull.head_sha)
            .len();
        let comments = repo
            .comments
            .iter()
            .filter(|comment| comment.number == pull.number)
            .count();
        let mergeable = self.world.mergeable(self.now, repo, pull);
        let mut whole = self.pull(repo, pull, issue);
        let more = json!({
            "merged": pull.merged.is_some(),
            "mergeable": mergeable,
            "rebaseable": mergeable,
            "mergeable_state": self.world.mergeable_state(self.now, repo, pull),
            "merged_by": pull.merged.as_ref().map(|merged| self.user(&merged.by)),
            "comments": comments,
            "review_comments": 0,
            "maintainer_can_modify": false,
            "commits": commits,
            "additions": files.iter().map(|file| file.additions).sum::<u64>(),
            "deletions": files.iter().map(|file| file.deletions).sum::<u64>(),
            "changed_files": files.len(),
        });
        if let (Value::Object(whole), Value::Object(more)) = (&mut whole, more) {
            whole.extend(more);
        }
        whole
    }

    /// Its place in a stack; null outside of one.
    fn stack(&self, repo: &Repo, pull: &Pull) -> Value {
        pull.stack.as_ref().map_or(Value::Null, |stack| {
            json!({
                "id": stack.id,
                "number": stack.number,
                "size": stack.size,
                "position": stack.position,
                "base": { "ref": stack.base_ref, "sha": repo.tip(&stack.base_ref) },
            })
        })
    }

    fn links(&self, repo: &Repo, pull: &Pull) -> Value {
        let (url, number) = (self.repo_url(repo), pull.number);
        let href = |address: String| json!({ "href": address });
        json!({
            "self": href(format!("{url}/pulls/{number}")),
            "html": href(format!("{WEB}/{}/pull/{number}", repo.full_name())),
            "issue": href(format!("{url}/issues/{number}")),
            "comments": href(format!("{url}/issues/{number}/comments")),
            "review_comments": href(format!("{url}/pulls/{number}/comments")),
            "review_comment": href(format!("{url}/pulls/comments{{/number}}")),
            "commits": href(format!("{url}/pulls/{number}/commits")),
            "statuses": href(format!("{url}/statuses/{}", pull.head_sha)),
        })
    }

    fn head(&self, pull: &Pull) -> Value {
        let Ok(repo) = self.world.repo(&pull.head_repo) else {
            // The fork was deleted: GitHub then shows the head without its repository.
            return json!({ "label": pull.head_ref, "ref": pull.head_ref, "sha": pull.head_sha, "user": null, "repo": null });
        };
        self.side(repo, &pull.head_ref, &pull.head_sha)
    }

    fn base(&self, repo: &Repo, pull: &Pull) -> Value {
        self.side(repo, &pull.base_ref, &self.world.base_sha(repo, pull))
    }

    fn side(&self, repo: &Repo, branch: &str, sha: &str) -> Value {
        json!({
            "label": format!("{}:{branch}", repo.owner()),
            "ref": branch,
            "sha": sha,
            "user": self.user(&User::named(repo.owner())),
            "repo": self.repo(repo),
        })
    }

    /// The files a pull request changes; those of the merge once it is merged.
    pub(crate) fn files(&self, repo: &Repo, pull: &Pull) -> Vec<ChangedFile> {
        if pull.merged.is_some() {
            return pull.merged_files.clone();
        }
        self.world
            .files_between(&self.world.base_sha(repo, pull), &pull.head_sha)
    }

    pub(crate) fn file(&self, repo: &Repo, pull: &Pull, file: &ChangedFile) -> Value {
        let (web, name) = (format!("{WEB}/{}", repo.full_name()), &file.filename);
        let mut answer = json!({
            "sha": sha_of(&["blob", name, &pull.head_sha]),
            "filename": name,
            "status": file.status,
            "additions": file.additions,
            "deletions": file.deletions,
            "changes": file.additions + file.deletions,
            "blob_url": format!("{web}/blob/{}/{name}", pull.head_sha),
            "raw_url": format!("{web}/raw/{}/{name}", pull.head_sha),
            "contents_url": format!("{}/contents/{name}?ref={}", self.repo_url(repo), pull.head_sha),
        });
        if let Value::Object(fields) = &mut answer {
            let optional = [
                ("patch", &file.patch),
                ("previous_filename", &file.previous_filename),
            ];
            for (field, value) in optional {
                if let Some(value) = value {
                    fields.insert(field.to_owned(), Value::String(value.clone()));
                }
            }
        }
        answer
    }

    /// The pull requests of a head as checks show them: those of the same repository only.
    pub(crate) fn pulls_of(&self, repo: &Repo, sha: &str) -> Vec<Value> {
        let here = repo.key();
        let of_head = |pull: &&Pull| pull.head_sha == sha && pull.head_repo == here;
        repo.pulls
            .values()
            .filter(of_head)
            .map(|pull| self.pull_brief(repo, pull))
            .collect()
    }

    fn pull_brief(&self, repo: &Repo, pull: &Pull) -> Value {
        json!({
            "url": format!("{}/pulls/{}", self.repo_url(repo), pull.number),
            "id": pull.id,
            "number": pull.number,
            "head": { "ref": pull.head_ref, "sha": pull.head_sha, "repo": self.repo_brief(repo) },
            "base": {
                "ref": pull.base_ref,
                "sha": self.world.base_sha(repo, pull),
                "repo": self.repo_brief(repo),
            },
        })
    }
}
