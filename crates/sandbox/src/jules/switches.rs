//! One switch for each question about the live service that public material leaves open.
//! The defaults are what most sources say; a test turns each one the other way.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// How the sandbox's Jules behaves where the real one is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Switches {
    /// The handling of `filter` on activities.
    pub activity_filter: ActivityFilter,
    /// The handling of `filter` on sessions.
    pub session_filter: SessionFilter,
    /// The handling of `fields=` and `X-Goog-FieldMask`.
    pub field_mask: FieldMask,
    /// Whether create takes `sourceContext.environmentVariablesEnabled`.
    pub env_variables_on_create: bool,
    /// Where create takes `workingBranch`.
    pub working_branch: WorkingBranch,
    /// Body of approvePlan, sendMessage and delete.
    pub empty_body: EmptyBody,
    /// Whether archive and unarchive answer the session instead of nothing.
    pub archive_answers_session: bool,
    /// Whether approvePlan refuses a body of `null`.
    pub null_body_refused: bool,
    /// What delete does.
    pub delete: Delete,
    /// Whether a deleted session that was still working gives its slot back at once.
    pub delete_frees_slot: bool,
    /// Whether sessions that wait for a person hold a slot.
    pub awaiting_holds_slot: bool,
    /// Whether a message counts as a task of the rolling 24 hours.
    pub messages_count_as_tasks: bool,
    /// How a create over the quota is refused.
    pub quota_refusal: QuotaRefusal,
    /// Requests a minute and account; more are answered 429.
    pub requests_per_minute: Option<u32>,
    /// Creates within one second and account; more are answered a misleading 404.
    pub creates_per_second: Option<u32>,
    /// How a missing or wrong key is refused.
    pub bad_key: BadKey,
    /// Accounts whose key was disabled because it leaked: every call is refused.
    pub disabled_accounts: Vec<String>,
    /// What a message to a `FAILED` session does.
    pub message_to_failed: MessageEffect,
    /// What a message to a `PAUSED` session does.
    pub message_to_paused: MessageEffect,
    /// Whether approvePlan answers 200, doing nothing, when no plan waits.
    pub approve_without_plan_accepted: bool,
    /// Whether a session whose plan waits shows `COMPLETED` instead of `AWAITING_PLAN_APPROVAL`.
    pub waiting_plan_shows_completed: bool,
    /// Plans that wait are approved by a timer of the web product after this long.
    pub auto_approve_after: Option<SignedDuration>,
    /// Whether create refuses approval off together with the unspecified automation mode.
    pub unspecified_mode_needs_approval: bool,
    /// Bytes a prompt may have.
    pub prompt_limit: Option<usize>,
    /// Bytes a message may have.
    pub message_limit: Option<usize>,
    /// How `originator` is written.
    pub originator: OriginatorCase,
    /// Whether `outputs[].pullRequest` carries `baseRef` and `headRef`.
    pub pull_refs: bool,
    /// Whether activities carry `bashOutput` artifacts.
    pub bash_output: bool,
    /// Whether sessions carry `generatedFiles`.
    pub generated_files: bool,
    /// Whether sessions echo `requirePlanApproval` and `automationMode`.
    pub echo_inputs: bool,
    /// Whether the answer to create carries `state`.
    pub state_on_create: bool,
    /// What the patch of one activity holds.
    pub activity_patches: PatchScope,
    /// Order of the activity list.
    pub activity_order: Order,
    /// Order of the session list.
    pub session_order: Order,
    /// The form of `url`.
    pub session_url: SessionUrl,
    /// How long a `COMPLETED` session takes to go back to work after a message.
    pub wake_after: SignedDuration,
    /// How long after completion `outputs` stay missing.
    pub outputs_late: SignedDuration,
    /// Whether a plain comment on its pull request wakes a `COMPLETED` session.
    pub comments_wake: bool,
    /// How many fixes Jules itself pushes at most for each pull request with failed checks.
    pub ci_fixer_cap: u32,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            activity_filter: ActivityFilter::Accepted,
            session_filter: SessionFilter::ArchivedOnly,
            field_mask: FieldMask::Honoured,
            env_variables_on_create: true,
            working_branch: WorkingBranch::Refused,
            empty_body: EmptyBody::NoBytes,
            archive_answers_session: false,
            null_body_refused: true,
            delete: Delete::Removes,
            delete_frees_slot: true,
            awaiting_holds_slot: true,
            messages_count_as_tasks: false,
            quota_refusal: QuotaRefusal::Precondition,
            requests_per_minute: None,
            creates_per_second: None,
            bad_key: BadKey::Unauthenticated,
            disabled_accounts: Vec::new(),
            message_to_failed: MessageEffect::Ignored,
            message_to_paused: MessageEffect::Resumes,
            approve_without_plan_accepted: false,
            waiting_plan_shows_completed: false,
            auto_approve_after: None,
            unspecified_mode_needs_approval: false,
            prompt_limit: None,
            message_limit: None,
            originator: OriginatorCase::Lower,
            pull_refs: true,
            bash_output: false,
            generated_files: false,
            echo_inputs: false,
            state_on_create: true,
            activity_patches: PatchScope::Full,
            activity_order: Order::OldestFirst,
            session_order: Order::NewestFirst,
            session_url: SessionUrl::Session,
            wake_after: SignedDuration::from_secs(2),
            outputs_late: SignedDuration::ZERO,
            comments_wake: false,
            ci_fixer_cap: 0,
        }
    }
}

/// The handling of `filter` on activities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityFilter {
    /// `create_time>"…"` and `create_time>="…"` are taken.
    Accepted,
    /// Only `create_time>"…"` is taken, `>=` is a 400.
    GreaterOnly,
    /// Any filter is a 400.
    Refused,
}

/// The handling of `filter` on sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionFilter {
    /// Only `archived = true` and `archived = false`.
    ArchivedOnly,
    /// Also `state = X` and `source = "…"`.
    StateAndSource,
    /// Any filter is a 400.
    Refused,
}

/// The handling of a partial response mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldMask {
    /// Only the named fields are answered.
    Honoured,
    /// Everything is answered.
    Ignored,
    /// A mask is a 400.
    Refused,
}

/// Where create takes `workingBranch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkingBranch {
    /// Nowhere.
    Refused,
    /// In `sourceContext`.
    InSourceContext,
    /// In `sourceContext.githubRepoContext`.
    InGithubRepoContext,
}

/// Body of an answer that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyBody {
    /// A body of zero length.
    NoBytes,
    /// `{}`.
    EmptyObject,
}

/// What delete does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delete {
    /// The session is deleted.
    Removes,
    /// The session is only archived.
    Archives,
}

/// How a create over the quota is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum QuotaRefusal {
    /// 400 FAILED_PRECONDITION.
    Precondition,
    /// 429 RESOURCE_EXHAUSTED.
    Exhausted {
        /// A `Retry-After` header, seconds.
        #[serde(default)]
        retry_after_secs: Option<u64>,
        /// A RetryInfo detail, seconds.
        #[serde(default)]
        retry_info_secs: Option<u64>,
    },
}

/// How a missing or wrong key is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BadKey {
    /// 401 UNAUTHENTICATED.
    Unauthenticated,
    /// 400 INVALID_ARGUMENT with the reason API_KEY_INVALID.
    Invalid,
}

/// What a message does to a session that does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageEffect {
    /// It is written down and nothing follows.
    Ignored,
    /// 400 FAILED_PRECONDITION, and nothing is written.
    Refused,
    /// The session goes back to work.
    Resumes,
}

/// How `originator` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginatorCase {
    /// `agent`.
    Lower,
    /// `AGENT`.
    Upper,
    /// It is absent.
    Absent,
}

/// What the patch of one activity holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchScope {
    /// All changes since the base commit.
    Full,
    /// Only the changes of this activity.
    Delta,
}

/// Order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The newest comes first.
    NewestFirst,
    /// The oldest comes first.
    OldestFirst,
}

/// The form of a session's web address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionUrl {
    /// `https://jules.google.com/session/{id}`.
    Session,
    /// `https://jules.google.com/task/{id}`.
    Task,
}
