//! Arguments of the tools. Models read the comment above a field; a field whose name is clear has none: the server's
//! instructions explain `job_id`.
//!
//! Unknown names are refused: a model that misspells one must not believe that it had an effect.

use domain::ids::{AgentName, BranchName, CommitSha, EventId, PlanId, RepoName};
use domain::policy::MergeMethod;
use domain::priority::Priority;
use domain::redact::presentable;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::tool_error::{SHOWN_MAX, ToolError};
use crate::in_plain_words;
use crate::wire::Constraints;

/// Reads arguments, and names the one that is wrong.
pub(super) fn read<T: DeserializeOwned>(given: Value) -> Result<T, ToolError> {
    if !given.is_object() {
        return Err(ToolError::argument(
            "arguments",
            "they have to be an object",
        ));
    }
    serde_path_to_error::deserialize(given).map_err(|error| {
        let path = error.path().to_string();
        let wrong = in_plain_words(&error.into_inner().to_string());
        let field = if path == "." { "arguments" } else { &path };
        ToolError::argument(&presentable(field, SHOWN_MAX), wrong)
    })
}

/// `jules_create_job`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateJobArgs {
    /// `owner/name`.
    pub(super) repo: RepoName,
    /// To start from, if not the usual one.
    #[serde(default)]
    pub(super) branch: Option<BranchName>,
    /// The task.
    pub(super) prompt: String,
    /// Further terms: a text, a list of texts, or named ones; `require_plan_approval` and `automation_mode` are obeyed.
    #[serde(default)]
    pub(super) constraints: Option<Constraints>,
    #[serde(default)]
    pub(super) title: Option<String>,
    /// Who is woken.
    #[serde(default)]
    pub(super) agent: Option<AgentName>,
    /// 0 to 9; 9 goes first.
    #[serde(default)]
    pub(super) priority: Option<Priority>,
    /// The same key is carried out once.
    #[serde(default)]
    pub(super) idempotency_key: Option<String>,
}

/// A tool that is about one job and needs no more.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneJob {
    pub(super) job_id: String,
}

/// `jules_approve_plan`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovePlan {
    pub(super) job_id: String,
    /// The plan you read.
    pub(super) plan_id: Option<PlanId>,
}

/// `jules_register_job`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RegisterJob {
    pub(super) job_id: String,
    /// Not needed: Gaffer keeps the registry.
    #[serde(default)]
    pub(super) jobs_path: Option<String>,
    /// Notes over what is there; null takes one out.
    #[serde(default)]
    pub(super) metadata: Map<String, Value>,
    /// For a session begun elsewhere: `owner/name`.
    #[serde(default)]
    pub(super) repo: Option<RepoName>,
}

/// `jules_get_job`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetJob {
    pub(super) job_id: String,
    /// Ask Jules now; seldom needed.
    #[serde(default)]
    pub(super) fresh: bool,
}

/// `jules_get_messages`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetMessages {
    pub(super) job_id: String,
    /// From the last call.
    #[serde(default)]
    pub(super) cursor: Option<String>,
}

/// `jules_list_jobs`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListJobs {
    /// `owner/name`; all without it.
    #[serde(default)]
    pub(super) repo: Option<RepoName>,
    /// 1 to 200; 50 without it.
    #[serde(default)]
    pub(super) limit: Option<u32>,
}

/// `jules_check`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    #[serde(default)]
    pub(super) job_id: Option<String>,
    /// `owner/name`, for the newest job there.
    #[serde(default)]
    pub(super) repo: Option<RepoName>,
    /// Only jobs of this branch.
    #[serde(default)]
    pub(super) branch: Option<BranchName>,
}

/// `jules_send_message`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SendMessage {
    pub(super) job_id: String,
    /// The words.
    pub(super) message: WordsArg,
    /// The same key is said once.
    #[serde(default)]
    pub(super) idempotency_key: Option<String>,
}

/// Words, in either spelling.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it has to be a text, or an object with the text in `content`"
)]
pub(super) enum WordsArg {
    /// As they are.
    Plain(String),
    /// In an object.
    Content { content: String },
}

impl WordsArg {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Plain(text) | Self::Content { content: text } => text,
        }
    }
}

/// `jules_get_artifacts`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetArtifacts {
    pub(super) job_id: String,
    /// How much to show.
    #[serde(default)]
    pub(super) show: Show,
    /// With `file`: which.
    #[serde(default)]
    pub(super) path: Option<String>,
    /// With `file`: most bytes; 8192 without it, 65536 at most.
    #[serde(default)]
    pub(super) max_bytes: Option<u32>,
    /// From `next_offset`.
    #[serde(default)]
    pub(super) offset: Option<u32>,
}

/// How much of what was made is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Show {
    /// Links, sizes, and the files that changed most.
    #[default]
    Summary,
    /// All files that changed.
    Tree,
    /// The change of one file.
    File,
}

/// `jules_merge_pr`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MergePr {
    pub(super) job_id: String,
    #[serde(default)]
    pub(super) payload: Option<MergePayload>,
}

/// What a merge is to be like.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MergePayload {
    /// The head that was reviewed.
    #[serde(default)]
    pub(super) sha: Option<CommitSha>,
    /// merge, squash or rebase.
    #[serde(default)]
    pub(super) merge_method: Option<MergeMethod>,
    #[serde(default)]
    pub(super) commit_title: Option<String>,
    #[serde(default)]
    pub(super) delete_branch: Option<bool>,
    // Cannot be true, so models need no description of it.
    #[serde(default)]
    #[schemars(skip)]
    pub(super) force: bool,
}

/// `jules_wait_event`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitEvent {
    /// From the last call; without it, all that is not acknowledged.
    #[serde(default)]
    pub(super) cursor: Option<String>,
    /// Only events of this job.
    #[serde(default)]
    pub(super) job_id: Option<String>,
    /// How long, 1 to 45; 45 without it.
    #[serde(default)]
    pub(super) seconds: Option<u32>,
}

/// `jules_ack_event`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AckEvent {
    pub(super) event_id: EventId,
    /// The agent that is done with it.
    pub(super) agent: AgentName,
}
