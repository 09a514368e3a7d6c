//! What GitHub's REST API answers: only the fields we use, and all of them required unless GitHub documents a null.
//!
//! A field that is missing or of another type makes the whole page unreadable, which counts as "cannot know".

pub(crate) mod deployments;
pub(crate) mod git;
pub(crate) mod issues;

use serde::Deserialize;

use crate::client::Page;

/// `GET /repos/{owner}/{repo}`.
#[derive(Debug, Deserialize)]
pub(crate) struct Repository {
    pub(crate) default_branch: String,
}

/// The same, only as far as it says which repository it is.
#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    pub(crate) id: u64,
    pub(crate) full_name: String,
}

/// `GET /repos/{owner}/{repo}/pulls/{number}`.
#[derive(Debug, Deserialize)]
pub(crate) struct Pull {
    pub(crate) number: u64,
    pub(crate) node_id: String,
    pub(crate) state: String,
    pub(crate) merged: bool,
    pub(crate) merge_commit_sha: Option<String>,
    #[serde(default)]
    pub(crate) merged_by: Option<User>,
    pub(crate) draft: bool,
    pub(crate) mergeable: Option<bool>,
    /// GitHub's state of what blocks a merge; it documents no list of them, so none is required.
    #[serde(default)]
    pub(crate) mergeable_state: Option<String>,
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    pub(crate) user: Option<User>,
    pub(crate) labels: Vec<Label>,
    pub(crate) head: End,
    pub(crate) base: End,
    pub(crate) changed_files: u64,
    #[serde(default)]
    pub(crate) created_at: Option<String>,
    /// The stack it belongs to.
    #[serde(default)]
    pub(crate) stack: Option<Stack>,
}

/// A pull request's place in a stack, a preview that earlier came without a position.
#[derive(Debug, Deserialize)]
pub(crate) struct Stack {
    #[serde(default)]
    pub(crate) position: Option<u64>,
}

/// One end of a pull request.
#[derive(Debug, Deserialize)]
pub(crate) struct End {
    #[serde(rename = "ref")]
    pub(crate) branch: String,
    pub(crate) sha: String,
    pub(crate) repo: Option<Named>,
}

/// A person, an organisation or a bot.
#[derive(Debug, Deserialize)]
pub(crate) struct User {
    pub(crate) login: String,
    pub(crate) id: u64,
    /// `User`, `Organization` or `Bot`; a person cannot sign up as the last.
    #[serde(default, rename = "type")]
    pub(crate) kind: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Label {
    pub(crate) name: String,
}

/// A page of `GET /repos/{owner}/{repo}/commits/{sha}/check-runs`.
#[derive(Debug, Deserialize)]
pub(crate) struct CheckRuns {
    total_count: u64,
    check_runs: Vec<CheckRun>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CheckRun {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) head_sha: String,
    pub(crate) status: String,
    pub(crate) conclusion: Option<String>,
    pub(crate) completed_at: Option<String>,
    pub(crate) app: Option<App>,
    pub(crate) check_suite: Option<Suite>,
}

/// The check suite of a check run: one for each App and event.
#[derive(Debug, Deserialize)]
pub(crate) struct Suite {
    pub(crate) id: u64,
}

/// The App that wrote a check run.
#[derive(Debug, Deserialize)]
pub(crate) struct App {
    pub(crate) id: u64,
}

impl Page for CheckRuns {
    type Item = CheckRun;

    fn total(&self) -> Option<u64> {
        Some(self.total_count)
    }

    fn items(self) -> Vec<CheckRun> {
        self.check_runs
    }
}

/// `GET /repos/{owner}/{repo}/check-runs/{id}`: what it says of itself.
#[derive(Debug, Deserialize)]
pub(crate) struct CheckRunDetail {
    pub(crate) output: CheckOutput,
}

/// The words of a check run.
#[derive(Debug, Deserialize)]
pub(crate) struct CheckOutput {
    pub(crate) title: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) text: Option<String>,
}

/// A page of `GET /repos/{owner}/{repo}/commits/{sha}/status`: the newest status of each context.
#[derive(Debug, Deserialize)]
pub(crate) struct Statuses {
    total_count: u64,
    statuses: Vec<Status>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Status {
    pub(crate) id: u64,
    pub(crate) context: String,
    pub(crate) state: String,
    pub(crate) created_at: Option<String>,
}

impl Page for Statuses {
    type Item = Status;

    fn total(&self) -> Option<u64> {
        Some(self.total_count)
    }

    fn items(self) -> Vec<Status> {
        self.statuses
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Review {
    pub(crate) user: Option<User>,
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) commit_id: Option<String>,
    /// What the reviewer is to the repository.
    #[serde(default)]
    pub(crate) author_association: String,
}

/// `GET /repos/{owner}/{repo}/collaborators/{login}/permission`.
#[derive(Debug, Deserialize)]
pub(crate) struct Collaborator {
    pub(crate) permission: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct File {
    pub(crate) filename: String,
    #[serde(default)]
    pub(crate) previous_filename: Option<String>,
}

/// One rule of `GET /repos/{owner}/{repo}/rules/branches/{branch}`.
#[derive(Debug, Deserialize)]
pub(crate) struct Rule {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) ruleset_id: Option<u64>,
    #[serde(default)]
    pub(crate) parameters: serde_json::Value,
}

/// Parameters of the rule `required_status_checks`.
#[derive(Debug, Deserialize)]
pub(crate) struct StatusChecksRule {
    pub(crate) required_status_checks: Vec<RuleCheck>,
    pub(crate) strict_required_status_checks_policy: bool,
}

/// One check that a ruleset requires.
#[derive(Debug, Deserialize)]
pub(crate) struct RuleCheck {
    pub(crate) context: String,
    #[serde(default)]
    pub(crate) integration_id: Option<i64>,
}

/// Parameters of the rule `pull_request`.
#[derive(Debug, Deserialize)]
pub(crate) struct PullRequestRule {
    pub(crate) required_approving_review_count: u32,
    #[serde(default)]
    pub(crate) allowed_merge_methods: Option<Vec<String>>,
}

/// `GET /repos/{owner}/{repo}/branches/{branch}/protection`.
#[derive(Debug, Deserialize)]
pub(crate) struct Protection {
    #[serde(default)]
    pub(crate) required_status_checks: Option<ProtectionChecks>,
    #[serde(default)]
    pub(crate) required_pull_request_reviews: Option<ProtectionReviews>,
    #[serde(default)]
    pub(crate) enforce_admins: Option<Switch>,
}

/// What classic protection requires of checks.
#[derive(Debug, Deserialize)]
pub(crate) struct ProtectionChecks {
    pub(crate) strict: bool,
    #[serde(default)]
    pub(crate) contexts: Vec<String>,
    #[serde(default)]
    pub(crate) checks: Vec<ProtectionCheck>,
}

/// One check that classic protection requires.
#[derive(Debug, Deserialize)]
pub(crate) struct ProtectionCheck {
    pub(crate) context: String,
    #[serde(default)]
    pub(crate) app_id: Option<i64>,
}

/// What classic protection requires of reviews.
#[derive(Debug, Deserialize)]
pub(crate) struct ProtectionReviews {
    #[serde(default)]
    pub(crate) required_approving_review_count: u32,
}

/// `GET /repos/{owner}/{repo}/compare/{base}...{head}`.
#[derive(Debug, Deserialize)]
pub(crate) struct Comparison {
    pub(crate) behind_by: u64,
}

/// The same, for its files.
#[derive(Debug, Deserialize)]
pub(crate) struct Difference {
    #[serde(default)]
    pub(crate) files: Option<Vec<File>>,
}

/// A page of `GET /repos/{owner}/{repo}/actions/runs`.
#[derive(Debug, Deserialize)]
pub(crate) struct WorkflowRuns {
    pub(crate) workflow_runs: Vec<WorkflowRun>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WorkflowRun {
    #[serde(default)]
    pub(crate) conclusion: Option<String>,
}

impl Page for WorkflowRuns {
    type Item = WorkflowRun;

    fn total(&self) -> Option<u64> {
        None
    }

    fn items(self) -> Vec<WorkflowRun> {
        self.workflow_runs
    }
}

/// A page of `GET /repos/{owner}/{repo}/actions/workflows`.
#[derive(Debug, Deserialize)]
pub(crate) struct Workflows {
    pub(crate) total_count: u64,
    #[serde(default)]
    workflows: Vec<Workflow>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Workflow {
    #[serde(default)]
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) path: String,
}

impl Page for Workflows {
    type Item = Workflow;

    fn total(&self) -> Option<u64> {
        Some(self.total_count)
    }

    fn items(self) -> Vec<Workflow> {
        self.workflows
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Comment {
    #[serde(default)]
    pub(crate) body: Option<String>,
}

/// One of `GET /repos/{owner}/{repo}/branches`.
#[derive(Debug, Deserialize)]
pub(crate) struct NamedBranch {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) protection: Option<Switch>,
}

/// Something that is on or off: of a branch that only a ruleset protects, classic protection is off.
#[derive(Debug, Deserialize)]
pub(crate) struct Switch {
    #[serde(default)]
    pub(crate) enabled: Option<bool>,
}

/// What a reference points at, or another object that is named.
#[derive(Debug, Deserialize)]
pub(crate) struct Object {
    pub(crate) sha: String,
}

/// Something of which only the number is counted.
#[derive(Debug, Deserialize)]
pub(crate) struct Numbered {
    #[serde(rename = "number")]
    _number: u64,
}

/// `PUT /repos/{owner}/{repo}/pulls/{number}/merge`.
#[derive(Debug, Deserialize)]
pub(crate) struct Merged {
    pub(crate) sha: String,
    pub(crate) merged: bool,
}

/// An answer of GraphQL to `markPullRequestReadyForReview`.
#[derive(Debug, Deserialize)]
pub(crate) struct GraphAnswer {
    #[serde(default)]
    pub(crate) data: Option<serde_json::Value>,
    #[serde(default)]
    pub(crate) errors: Vec<GraphError>,
}

/// One error of GraphQL, which comes with HTTP status 200.
#[derive(Debug, Deserialize)]
pub(crate) struct GraphError {
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) message: String,
}
