//! Check runs, suites, workflow runs, jobs and commit statuses.

use serde_json::{Value, json};

use super::super::checks::{Check, Phase, Run, Standing, Status, Suite};
use super::super::records::User;
use super::super::setup::Outcome;
use super::super::world::{Repo, node_id};
use super::{Pen, WEB, time, time_or_null};

/// The visible form of a phase.
pub(crate) fn standing_of(phase: Phase) -> Standing {
    match phase {
        Phase::Planned | Phase::Queued => Standing::Queued,
        Phase::InProgress => Standing::InProgress,
        Phase::Completed(conclusion) => Standing::Completed(conclusion),
    }
}

impl Pen<'_> {
    pub(crate) fn check_run(&self, repo: &Repo, check: &Check) -> Value {
        let (url, id) = (self.repo_url(repo), check.id);
        let standing = standing_of(check.phase);
        let ended = standing.conclusion().and(check.ends_at);
        let html = self.job_page(repo, check);
        json!({
            "id": id,
            "node_id": node_id("CR", id),
            "name": check.name,
            "head_sha": check.sha,
            "external_id": format!("{id:08x}"),
            "url": format!("{url}/check-runs/{id}"),
            "html_url": html,
            "details_url": html,
            "status": standing.status(),
            "conclusion": standing.conclusion(),
            "started_at": time(check.begins_at),
            "completed_at": time_or_null(ended),
            "output": self.output(repo, check),
            "check_suite": { "id": check.suite },
            "app": self.app(&check.app),
            "pull_requests": self.pulls_of(repo, &check.sha),
        })
    }

    /// Actions leaves the output empty; other apps write what went wrong.
    fn output(&self, repo: &Repo, check: &Check) -> Value {
        let annotations = self.annotations(repo, check).len();
        let told = (!check.app.is_actions())
            .then_some(check.phase)
            .map(standing_of);
        let summary = told
            .and_then(Standing::conclusion)
            .map(|word| format!("{}: {word}", check.name));
        json!({
            "title": summary.as_ref().map(|_| check.name.clone()),
            "summary": summary,
            "text": told.and_then(Standing::conclusion).map(|_| log_of(check)),
            "annotations_count": annotations,
            "annotations_url": format!("{}/check-runs/{}/annotations", self.repo_url(repo), check.id),
        })
    }

    /// A failed job has one annotation, as Actions writes it.
    pub(crate) fn annotations(&self, repo: &Repo, check: &Check) -> Vec<Value> {
        let failed = matches!(check.phase, Phase::Completed(conclusion) if !conclusion.passed());
        let note = json!({
            "path": ".github",
            "blob_href": format!("{WEB}/{}/blob/{}/.github", repo.full_name(), check.sha),
            "start_line": 12,
            "start_column": null,
            "end_line": 12,
            "end_column": null,
            "annotation_level": "failure",
            "title": "",
            "message": "Process completed with exit code 1.",
            "raw_details": "",
        });
        if failed { vec![note] } else { Vec::new() }
    }

    fn job_page(&self, repo: &Repo, check: &Check) -> String {
        let suite = repo.suites.iter().find(|suite| suite.id == check.suite);
        let web = format!("{WEB}/{}", repo.full_name());
        match suite.and_then(|suite| suite.run.as_ref()) {
            Some(run) => format!("{web}/actions/runs/{}/job/{}", run.id, check.id),
            None => format!("{web}/runs/{}", check.id),
        }
    }

    pub(crate) fn suite(&self, repo: &Repo, suite: &Suite) -> Value {
        let url = format!("{}/check-suites/{}", self.repo_url(repo), suite.id);
        let standing = suite.told.unwrap_or(Standing::Queued);
        let runs = repo
            .checks
            .iter()
            .filter(|check| check.suite == suite.id && is_shown(check));
        json!({
            "id": suite.id,
            "node_id": node_id("CS", suite.id),
            "head_branch": suite.branch,
            "head_sha": suite.sha,
            "status": standing.status(),
            "conclusion": standing.conclusion(),
            "url": url,
            "before": self.parent(&suite.sha),
            "after": suite.sha,
            "pull_requests": self.pulls_of(repo, &suite.sha),
            "app": self.app(&suite.app),
            "created_at": time(suite.created_at),
            "updated_at": time(suite.updated_at),
            "rerequestable": true,
            "runs_rerequestable": true,
            "latest_check_runs_count": runs.count(),
            "check_runs_url": format!("{url}/check-runs"),
            "head_commit": self.head_commit(&suite.sha),
        })
    }

    fn parent(&self, sha: &str) -> Option<String> {
        self.world
            .commits
            .get(sha)
            .and_then(|commit| commit.parents.first().cloned())
    }

    pub(crate) fn workflow_run(&self, repo: &Repo, suite: &Suite, run: &Run) -> Value {
        let (url, html) = (
            self.repo_url(repo),
            format!("{WEB}/{}/actions/runs/{}", repo.full_name(), run.id),
        );
        let standing = suite.told.unwrap_or(Standing::Queued);
        let actor = self
            .world
            .commits
            .get(&suite.sha)
            .map(|commit| commit.author.clone());
        let actor = actor.map_or(Value::Null, |actor| self.user(&actor));
        let own = format!("{url}/actions/runs/{}", run.id);
        let workflow = workflow_id(repo, &run.workflow);
        json!({
            "id": run.id,
            "name": run.workflow,
            "node_id": node_id("WFR", run.id),
            "check_suite_id": suite.id,
            "check_suite_node_id": node_id("CS", suite.id),
            "head_branch": suite.branch,
            "head_sha": suite.sha,
            "path": workflow_path(&run.workflow),
            "display_title": run.workflow,
            "run_number": run.number,
            "run_attempt": run.attempt,
            "event": self.trigger(repo, suite),
            "status": standing.status(),
            "conclusion": standing.conclusion(),
            "workflow_id": workflow,
            "url": own,
            "html_url": html,
            "pull_requests": self.pulls_of(repo, &suite.sha),
            "created_at": time(suite.created_at),
            "updated_at": time(suite.updated_at),
            "run_started_at": time(suite.created_at),
            "actor": actor,
            "triggering_actor": actor,
            "jobs_url": format!("{own}/jobs"),
            "logs_url": format!("{own}/logs"),
            "check_suite_url": format!("{url}/check-suites/{}", suite.id),
            "artifacts_url": format!("{own}/artifacts"),
            "cancel_url": format!("{own}/cancel"),
            "rerun_url": format!("{own}/rerun"),
            "previous_attempt_url": null,
            "workflow_url": format!("{url}/actions/workflows/{workflow}"),
            "referenced_workflows": [],
            "head_commit": self.head_commit(&suite.sha),
            "repository": self.repo(repo),
            "head_repository": self.repo(repo),
        })
    }

    /// The event that started a run: a dispatch, its pull request, else the push.
    fn trigger(&self, repo: &Repo, suite: &Suite) -> &'static str {
        if suite.run.as_ref().is_some_and(|run| run.dispatched) {
            return "workflow_dispatch";
        }
        let of_pull = repo
            .pulls
            .values()
            .any(|pull| pull.head_ref == suite.branch);
        if of_pull { "pull_request" } else { "push" }
    }

    pub(crate) fn workflow(&self, repo: &Repo, name: &str) -> Value {
        let (id, path) = (workflow_id(repo, name), workflow_path(name));
        json!({
            "id": id,
            "node_id": node_id("W", id),
            "name": name,
            "path": path,
            "state": "active",
            "created_at": time(repo.created_at),
            "updated_at": time(repo.created_at),
            "url": format!("{}/actions/workflows/{id}", self.repo_url(repo)),
            "html_url": format!("{WEB}/{}/blob/{}/{path}", repo.full_name(), repo.setup.default_branch),
            "badge_url": format!("{WEB}/{}/workflows/{name}/badge.svg", repo.full_name()),
        })
    }

    /// A job of a workflow run; its id is that of its check run.
    pub(crate) fn job(&self, repo: &Repo, suite: &Suite, check: &Check) -> Value {
        let standing = standing_of(check.phase);
        let run = suite.run.as_ref();
        let url = self.repo_url(repo);
        json!({
            "id": check.id,
            "run_id": run.map(|run| run.id),
            "run_url": run.map(|run| format!("{url}/actions/runs/{}", run.id)),
            "node_id": node_id("CR", check.id),
            "head_sha": check.sha,
            "head_branch": check.branch,
            "url": format!("{url}/actions/jobs/{}", check.id),
            "html_url": self.job_page(repo, check),
            "status": standing.status(),
            "conclusion": standing.conclusion(),
            "created_at": time(check.appears_at),
            "started_at": time(check.begins_at),
            "completed_at": time_or_null(standing.conclusion().and(check.ends_at)),
            "name": check.name,
            "workflow_name": run.map(|run| run.workflow.clone()),
            "run_attempt": check.attempt,
            "check_run_url": format!("{url}/check-runs/{}", check.id),
            "labels": ["ubuntu-latest"],
            "runner_id": null,
            "runner_name": null,
            "runner_group_id": null,
            "runner_group_name": null,
            "steps": [],
        })
    }

    pub(crate) fn status(&self, repo: &Repo, status: &Status) -> Value {
        json!({
            "url": format!("{}/statuses/{}", self.repo_url(repo), status.sha),
            "avatar_url": format!("https://avatars.githubusercontent.com/u/{}?v=4", status.creator.id),
            "id": status.id,
            "node_id": node_id("SC", status.id),
            "state": status.state,
            "description": status.description,
            "target_url": status.target_url,
            "context": status.context,
            "created_at": time(status.at),
            "updated_at": time(status.at),
            "creator": self.user(&status.creator),
        })
    }

    /// One word for all contexts of a commit; `pending` when there is none.
    pub(crate) fn combined_state(&self, statuses: &[&Status]) -> &'static str {
        let any = |states: &[&str]| {
            statuses
                .iter()
                .any(|status| states.contains(&status.state.as_str()))
        };
        if any(&["failure", "error"]) {
            "failure"
        } else if statuses.is_empty() || any(&["pending"]) {
            "pending"
        } else {
            "success"
        }
    }
}

/// Whether readers can see a check run.
pub(crate) fn is_shown(check: &Check) -> bool {
    check.phase != Phase::Planned && check.outcome != Outcome::ApprovalPending
}

/// What a job's log says.
pub(crate) fn log_of(check: &Check) -> String {
    if !check.log.is_empty() {
        return check.log.clone();
    }
    let end = match check.phase {
        Phase::Completed(conclusion) if conclusion.passed() => "Finished.",
        Phase::Completed(_) => "##[error]Process completed with exit code 1.",
        Phase::Planned | Phase::Queued | Phase::InProgress => "Running.",
    };
    let at = time(check.begins_at);
    format!(
        "{at} ##[group]Run {}\n{at} checking out {}\n{at} {end}\n",
        check.name, check.sha
    )
}

pub(crate) fn workflow_id(repo: &Repo, name: &str) -> u64 {
    repo.id * 1_000 + User::named(name).id % 1_000
}

pub(crate) fn workflow_path(name: &str) -> String {
    format!(
        ".github/workflows/{}.yml",
        name.to_ascii_lowercase().replace(' ', "-")
    )
}
