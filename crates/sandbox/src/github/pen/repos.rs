//! Repositories, branches, commits and rules.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::records::{Commit, User};
use super::super::setup::{MergeMethod, Protection};
use super::super::world::{Repo, node_id};
use super::{Pen, WEB, put, time};

/// Addresses of a repository that are its own plus a tail: field and tail.
const TAILS: [(&str, &str); 37] = [
    ("archive_url", "/{archive_format}{/ref}"),
    ("assignees_url", "/assignees{/user}"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("branches_url", "/branches{/branch}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("comments_url", "/comments{/number}"),
    ("commits_url", "/commits{/sha}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("contents_url", "/contents/{+path}"),
    ("contributors_url", "/contributors"),
    ("deployments_url", "/deployments"),
    ("downloads_url", "/downloads"),
    ("events_url", "/events"),
    ("forks_url", "/forks"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("hooks_url", "/hooks"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("issue_events_url", "/issues/events{/number}"),
    ("issues_url", "/issues{/number}"),
    ("keys_url", "/keys{/key_id}"),
    ("labels_url", "/labels{/name}"),
    ("languages_url", "/languages"),
    ("merges_url", "/merges"),
    ("milestones_url", "/milestones{/number}"),
    (
        "notifications_url",
        "/notifications{?since,all,participating}",
    ),
    ("pulls_url", "/pulls{/number}"),
    ("releases_url", "/releases{/id}"),
    ("stargazers_url", "/stargazers"),
    ("statuses_url", "/statuses/{sha}"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("tags_url", "/tags"),
    ("teams_url", "/teams"),
    ("trees_url", "/git/trees{/sha}"),
    ("url", ""),
];

/// Addresses to clone a repository by.
const CLONED_BY: [&str; 4] = ["git_url", "ssh_url", "clone_url", "svn_url"];

impl Pen<'_> {
    /// The address of a repository in the API.
    pub(crate) fn repo_url(&self, repo: &Repo) -> String {
        format!("{}/repos/{}", self.api, repo.full_name())
    }

    pub(crate) fn repo(&self, repo: &Repo) -> Value {
        let mut whole = self.repo_facts(repo);
        for part in [repo_settings(repo), repo_numbers(repo)] {
            if let (Value::Object(fields), Value::Object(part)) = (&mut whole, part) {
                fields.extend(part);
            }
        }
        self.put_addresses(repo, &mut whole);
        whole
    }

    fn put_addresses(&self, repo: &Repo, into: &mut Value) {
        let url = self.repo_url(repo);
        for (field, tail) in TAILS {
            put(into, field, Value::String(format!("{url}{tail}")));
        }
    }

    fn repo_facts(&self, repo: &Repo) -> Value {
        let name = repo.full_name();
        json!({
            "id": repo.id,
            "node_id": node_id("R", repo.id),
            "name": repo.name(),
            "full_name": name,
            "private": repo.setup.private,
            "visibility": if repo.setup.private { "private" } else { "public" },
            "owner": self.user(&User::named(repo.owner())),
            "html_url": format!("{WEB}/{name}"),
            "description": null,
            "fork": repo.fork_of.is_some(),
            "created_at": time(repo.created_at),
            "updated_at": time(self.moved_at(repo, [&repo.setup.default_branch])),
            "pushed_at": time(self.moved_at(repo, repo.branches.keys())),
            "git_url": format!("git://github.com/{name}.git"),
            "ssh_url": format!("git@github.com:{name}.git"),
            "clone_url": format!("{WEB}/{name}.git"),
            "svn_url": format!("{WEB}/{name}"),
        })
    }

    /// When the newest commit at the tip of these branches was made.
    fn moved_at<'a>(
        &self,
        repo: &Repo,
        branches: impl IntoIterator<Item = &'a String>,
    ) -> Timestamp {
        let tips = branches.into_iter().filter_map(|it| repo.branches.get(it));
        let commits = tips.filter_map(|sha| self.world.commits.get(sha));
        let newest = commits.map(|commit| commit.at).max();
        newest.map_or(repo.created_at, |at| at.max(repo.created_at))
    }

    /// A repository as parts of other answers show it: without settings, numbers, times and clone addresses.
    pub(crate) fn repo_minimal(&self, repo: &Repo) -> Value {
        let mut minimal = self.repo_facts(repo);
        if let Value::Object(fields) = &mut minimal {
            fields.retain(|name, _| !name.ends_with("_at") && !CLONED_BY.contains(&name.as_str()));
        }
        self.put_addresses(repo, &mut minimal);
        minimal
    }

    /// The three fields by which a check's pull request names a repository.
    pub(crate) fn repo_brief(&self, repo: &Repo) -> Value {
        json!({ "id": repo.id, "url": self.repo_url(repo), "name": repo.name() })
    }

    pub(crate) fn commit(&self, repo: &Repo, commit: &Commit) -> Value {
        let url = self.repo_url(repo);
        let person = json!({
            "name": commit.author.login,
            "email": format!("{}+{}@users.noreply.github.com", commit.author.id, commit.author.login),
            "date": time(commit.at),
        });
        let parents = commit
            .parents
            .iter()
            .map(|sha| json!({ "sha": sha, "url": format!("{url}/commits/{sha}") }));
        json!({
            "sha": commit.sha,
            "node_id": format!("C_kwDO{}", commit.sha),
            "commit": {
                "author": person,
                "committer": person,
                "message": commit.message,
                "tree": { "sha": commit.tree(), "url": format!("{url}/git/trees/{}", commit.tree()) },
                "url": format!("{url}/git/commits/{}", commit.sha),
                "comment_count": 0,
                "verification": { "verified": false, "reason": "unsigned", "signature": null, "payload": null },
            },
            "url": format!("{url}/commits/{}", commit.sha),
            "html_url": format!("{WEB}/{}/commit/{}", repo.full_name(), commit.sha),
            "comments_url": format!("{url}/commits/{}/comments", commit.sha),
            "author": self.user(&commit.author),
            "committer": self.user(&commit.author),
            "parents": parents.collect::<Vec<_>>(),
        })
    }

    /// The short form of a commit in pushes, suites and runs.
    pub(crate) fn head_commit(&self, sha: &str) -> Value {
        let Some(commit) = self.world.commits.get(sha) else {
            return Value::Null;
        };
        let email = format!("{}@users.noreply.github.com", commit.author.login);
        let person = json!({ "name": commit.author.login, "email": email });
        json!({
            "id": commit.sha,
            "tree_id": commit.tree(),
            "message": commit.message,
            "timestamp": time(commit.at),
            "author": person,
            "committer": person,
        })
    }

    /// A commit as pushes list it, with its files.
    pub(crate) fn pushed_commit(&self, repo: &Repo, sha: &str) -> Value {
        let mut pushed = self.head_commit(sha);
        let files = self
            .world
            .commits
            .get(sha)
            .map(|commit| commit.files.as_slice());
        let of = |status: &str| {
            let files = files.unwrap_or_default().iter();
            let names = files
                .filter(|file| file.status == status)
                .map(|file| file.filename.clone());
            Value::from(names.collect::<Vec<_>>())
        };
        let lists = [
            ("added", of("added")),
            ("removed", of("removed")),
            ("modified", of("modified")),
        ];
        for (field, names) in lists {
            put(&mut pushed, field, names);
        }
        put(&mut pushed, "distinct", Value::Bool(true));
        let url = format!("{WEB}/{}/commit/{sha}", repo.full_name());
        put(&mut pushed, "url", Value::String(url));
        pushed
    }

    pub(crate) fn branch(&self, repo: &Repo, name: &str) -> Value {
        let protected = name == repo.setup.default_branch
            && match repo.setup.protection {
                Protection::Off => false,
                Protection::Classic => true,
                Protection::Rulesets => !self.rules(repo, name).is_empty(),
            };
        let commit = self
            .world
            .commits
            .get(repo.tip(name))
            .map_or(Value::Null, |commit| self.commit(repo, commit));
        json!({
            "name": name,
            "commit": commit,
            "_links": {
                "self": format!("{}/branches/{name}", self.repo_url(repo)),
                "html": format!("{WEB}/{}/tree/{name}", repo.full_name()),
            },
            "protected": protected,
            "protection": { "enabled": protected && repo.setup.protection == Protection::Classic },
            "protection_url": format!("{}/branches/{name}/protection", self.repo_url(repo)),
        })
    }

    /// The active rules of a branch, from rulesets only.
    pub(crate) fn rules(&self, repo: &Repo, branch: &str) -> Vec<Value> {
        let setup = &repo.setup;
        if setup.protection != Protection::Rulesets || branch != setup.default_branch {
            return Vec::new();
        }
        let mut rules = Vec::new();
        if !setup.ci.required.is_empty() {
            let checks = setup
                .ci
                .required
                .iter()
                .map(|required| match required.app_id {
                    Some(id) => json!({ "context": required.context, "integration_id": id }),
                    None => json!({ "context": required.context }),
                });
            rules.push(rule(
                repo,
                "required_status_checks",
                json!({
                    "strict_required_status_checks_policy": setup.ci.strict,
                    "do_not_enforce_on_create": false,
                    "required_status_checks": checks.collect::<Vec<_>>(),
                }),
            ));
        }
        if setup.reviews_required > 0 {
            rules.push(rule(
                repo,
                "pull_request",
                json!({
                    "required_approving_review_count": setup.reviews_required,
                    "dismiss_stale_reviews_on_push": false,
                    "require_code_owner_review": false,
                    "require_last_push_approval": false,
                    "required_review_thread_resolution": false,
                    "allowed_merge_methods": setup.merge_methods,
                }),
            ));
        }
        if setup.merge_queue {
            rules.push(rule(repo, "merge_queue", merge_queue()));
        }
        rules
    }

    /// Classic protection of the default branch; `None` when the branch has no such protection.
    pub(crate) fn protection(&self, repo: &Repo, branch: &str) -> Option<Value> {
        let setup = &repo.setup;
        if setup.protection != Protection::Classic || branch != setup.default_branch {
            return None;
        }
        let url = format!("{}/branches/{branch}/protection", self.repo_url(repo));
        let contexts: Vec<&String> = setup
            .ci
            .required
            .iter()
            .map(|required| &required.context)
            .collect();
        let checks: Vec<Value> = setup
            .ci
            .required
            .iter()
            .map(|required| json!({ "context": required.context, "app_id": required.app_id }))
            .collect();
        let mut answer = json!({
            "url": url,
            "enforce_admins": { "url": format!("{url}/enforce_admins"), "enabled": !setup.admin.admins_bypass },
            "required_linear_history": { "enabled": false },
            "allow_force_pushes": { "enabled": false },
            "allow_deletions": { "enabled": false },
            "required_conversation_resolution": { "enabled": false },
        });
        if !contexts.is_empty() {
            let checks = json!({
                "url": format!("{url}/required_status_checks"),
                "strict": setup.ci.strict,
                "contexts": contexts,
                "contexts_url": format!("{url}/required_status_checks/contexts"),
                "checks": checks,
            });
            put(&mut answer, "required_status_checks", checks);
        }
        if setup.reviews_required > 0 {
            let reviews = json!({
                "url": format!("{url}/required_pull_request_reviews"),
                "dismiss_stale_reviews": false,
                "require_code_owner_reviews": false,
                "required_approving_review_count": setup.reviews_required,
                "require_last_push_approval": false,
            });
            put(&mut answer, "required_pull_request_reviews", reviews);
        }
        Some(answer)
    }
}

fn repo_settings(repo: &Repo) -> Value {
    let allows = |method| repo.setup.merge_methods.contains(&method);
    json!({
        "homepage": null,
        "language": "Rust",
        "has_issues": true,
        "has_projects": true,
        "has_downloads": true,
        "has_wiki": true,
        "has_pages": false,
        "has_discussions": false,
        "mirror_url": null,
        "archived": repo.setup.admin.archived,
        "disabled": false,
        "license": null,
        "allow_forking": true,
        "is_template": false,
        "web_commit_signoff_required": false,
        "topics": [],
        "default_branch": repo.setup.default_branch,
        "allow_merge_commit": allows(MergeMethod::Merge),
        "allow_squash_merge": allows(MergeMethod::Squash),
        "allow_rebase_merge": allows(MergeMethod::Rebase),
        "allow_auto_merge": false,
        "delete_branch_on_merge": repo.setup.delete_branch_on_merge,
    })
}

fn repo_numbers(repo: &Repo) -> Value {
    let open = repo
        .issues
        .values()
        .filter(|issue| issue.closed_at.is_none())
        .count();
    json!({
        "size": 1,
        "stargazers_count": 0,
        "watchers_count": 0,
        "forks_count": 0,
        "open_issues_count": open,
        "forks": 0,
        "open_issues": open,
        "watchers": 0,
    })
}

fn rule(repo: &Repo, kind: &str, parameters: Value) -> Value {
    json!({
        "type": kind,
        "parameters": parameters,
        "ruleset_source_type": "Repository",
        "ruleset_source": repo.full_name(),
        "ruleset_id": repo.id + 7,
    })
}

fn merge_queue() -> Value {
    json!({
        "check_response_timeout_minutes": 60,
        "grouping_strategy": "ALLGREEN",
        "max_entries_to_build": 5,
        "max_entries_to_merge": 5,
        "merge_method": "SQUASH",
        "min_entries_to_merge": 1,
        "min_entries_to_merge_wait_minutes": 5,
    })
}
