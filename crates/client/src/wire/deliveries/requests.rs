//! What can be asked of deliveries.

use domain::delivery::{Part, RefRole, RefType, Verdict};
use domain::ids::{CommitSha, PlanId, RepoName, SessionId};
use domain::priority::Priority;
use domain::web_page::WebPage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of an issue: GitHub's are far smaller.
pub const ISSUE_NUMBER_MAX: u64 = u32::MAX as u64;

/// `POST /api/deliveries`: a delivery of an issue, or of the caller's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateDelivery {
    /// The repository; it has to be a source.
    pub repo: RepoName,
    /// The number of the issue; without one, `summary` says what is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = ISSUE_NUMBER_MAX))]
    pub issue: Option<u64>,
    /// Whether an issue that had a delivery before gets another one, once that is closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// What it is about; the title of the issue without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::delivery::TITLE_CHARS_MAX))]
    pub summary: Option<String>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it is done; the `- [ ]` lines of the issue without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = domain::delivery::CRITERIA_MAX))]
    pub acceptance_criteria: Vec<String>,
    /// What it refers to, besides its issue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<RefRequest>,
    /// How much it matters, from 0 to 9; 9 goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

/// `POST /api/deliveries/{delivery}/start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartDelivery {}

/// `POST /api/deliveries/{delivery}/approve`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveDelivery {
    /// The reviewed head, at the review checkpoint: another present head refuses the approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha: Option<CommitSha>,
    /// The plan that was read; another one is not approved in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<PlanId>,
}

/// `POST /api/deliveries/{delivery}/reject`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectDelivery {
    /// What has to change.
    #[schemars(length(min = 1, max = domain::delivery::FEEDBACK_CHARS_MAX))]
    pub reason: String,
}

/// `POST /api/deliveries/{delivery}/retry`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryDelivery {
    /// What to do otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::delivery::FEEDBACK_CHARS_MAX))]
    pub reason: Option<String>,
}

/// `POST /api/deliveries/{delivery}/generate-plan`, `run-implement` and `run-review`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteDelivery {}

/// `POST /api/deliveries/{delivery}/run-fix`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixDelivery {
    /// What has to change; what the review said without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::delivery::FEEDBACK_CHARS_MAX))]
    pub reason: Option<String>,
}

/// `POST /api/deliveries/{delivery}/collect`: a session that was begun elsewhere becomes a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectRequest {
    /// The session, in Jules's spelling.
    pub session_id: SessionId,
}

/// `POST /api/deliveries/{delivery}/runs/{run}/analysis`: what a failed run came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalysisRequest {
    /// What was found out.
    #[schemars(length(min = 1, max = domain::delivery::FEEDBACK_CHARS_MAX))]
    pub analysis: String,
    /// What to do about it: offered as the reason of a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::delivery::FEEDBACK_CHARS_MAX))]
    pub suggestion: Option<String>,
}

/// `POST /api/deliveries/{delivery}/cancel`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelDelivery {}

/// `POST /api/deliveries/{delivery}/verdict`: what a review came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictRequest {
    /// `pass` or `not_pass`.
    pub verdict: Verdict,
    /// The reviewed head; another present head refuses the verdict.
    pub sha: CommitSha,
    /// In a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::delivery::SUMMARY_CHARS_MAX))]
    pub summary: Option<String>,
    /// What has to change; needed with `not_pass`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::delivery::FEEDBACK_CHARS_MAX))]
    pub feedback: Option<String>,
}

/// `POST /api/deliveries/{delivery}/plan`: a plan from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    /// The plan.
    #[schemars(length(min = 1, max = domain::delivery::PLAN_BYTES_MAX))]
    pub content: String,
    /// The files that it wants to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_files: Vec<String>,
}

/// `POST /api/deliveries/{delivery}/split`: smaller deliveries in place of this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitRequest {
    /// Which.
    #[schemars(length(min = 1, max = domain::delivery::CHILDREN_MAX))]
    pub children: Vec<PartRequest>,
}

/// A part into which a delivery is split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartRequest {
    /// What it is about.
    #[schemars(length(min = 1, max = domain::delivery::TITLE_CHARS_MAX))]
    pub summary: String,
    /// When it is done.
    // Without `default`: with it, a list of one text would pass for a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = domain::delivery::CRITERIA_MAX))]
    pub acceptance_criteria: Option<Vec<String>>,
}

impl From<Part> for PartRequest {
    fn from(part: Part) -> Self {
        Self {
            summary: part.summary,
            acceptance_criteria: Some(part.acceptance_criteria),
        }
    }
}

/// `PATCH /api/deliveries/{delivery}`: what is left out stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditDelivery {
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::delivery::TITLE_CHARS_MAX))]
    pub summary: Option<String>,
    /// When it is done, in place of what was said before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = domain::delivery::CRITERIA_MAX))]
    pub acceptance_criteria: Option<Vec<String>>,
    /// How much it matters, from 0 to 9; 9 goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// References to add: an `output` replaces the one of its type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<RefRequest>,
}

/// Something that a delivery refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefRequest {
    /// `trigger`, `output` or `parent`.
    pub role: RefRole,
    /// `jira`, `verbal`, `pr`, `commit`, `repo` or `github_issue`.
    #[serde(rename = "type")]
    pub kind: RefType,
    /// What people call it.
    #[schemars(length(min = 1, max = domain::delivery::LABEL_BYTES_MAX))]
    pub label: String,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<WebPage>,
}
