//! The tools: their names, what they tell models about themselves, and the shapes they take and answer.

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{answers, arguments};

/// What clients are told about all tools, made once.
pub(super) fn described() -> &'static [rmcp::model::Tool] {
    static ALL: LazyLock<Vec<rmcp::model::Tool>> =
        LazyLock::new(|| Tool::ALL.into_iter().map(Tool::described).collect());
    &ALL
}

/// One tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// Hands work over.
    CreateJob,
    /// Has a job or a session watched.
    RegisterJob,
    /// Shows one job.
    GetJob,
    /// Shows the jobs of a repository.
    ListJobs,
    /// Tells in one letter whether something waits.
    Check,
    /// Shows what was said.
    GetMessages,
    /// Says something to a session.
    SendMessage,
    /// Approves a plan.
    ApprovePlan,
    /// Shows what was made.
    GetArtifacts,
    /// Shows the pull request alone.
    ExtractPr,
    /// Lets the pull request be merged.
    MergePr,
    /// Gives a job that ended another session.
    RequestRetry,
    /// Calls a job off.
    CancelJob,
    /// Waits for the next event.
    WaitEvent,
    /// Says that an event is dealt with.
    AckEvent,
}

/// What calling a tool does to the world.
enum Does {
    /// Nothing.
    Reads,
    /// Something, each time.
    Writes,
    /// Something, but the same call twice does it once.
    WritesOnce,
    /// Something that cannot be taken back; the same call twice does it once.
    Ends,
}

impl Tool {
    /// All of them, as they are listed.
    pub(super) const ALL: [Self; 15] = [
        Self::CreateJob,
        Self::RegisterJob,
        Self::GetJob,
        Self::ListJobs,
        Self::Check,
        Self::GetMessages,
        Self::SendMessage,
        Self::ApprovePlan,
        Self::GetArtifacts,
        Self::ExtractPr,
        Self::MergePr,
        Self::RequestRetry,
        Self::CancelJob,
        Self::WaitEvent,
        Self::AckEvent,
    ];

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::CreateJob => "jules_create_job",
            Self::RegisterJob => "jules_register_job",
            Self::GetJob => "jules_get_job",
            Self::ListJobs => "jules_list_jobs",
            Self::Check => "jules_check",
            Self::GetMessages => "jules_get_messages",
            Self::SendMessage => "jules_send_message",
            Self::ApprovePlan => "jules_approve_plan",
            Self::GetArtifacts => "jules_get_artifacts",
            Self::ExtractPr => "jules_extract_pr",
            Self::MergePr => "jules_merge_pr",
            Self::RequestRetry => "jules_request_retry",
            Self::CancelJob => "jules_cancel_job",
            Self::WaitEvent => "jules_wait_event",
            Self::AckEvent => "jules_ack_event",
        }
    }

    /// The tool of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    fn description(self) -> &'static str {
        match self {
            Self::CreateJob => {
                "Hand a piece of work to Jules. It is watched from then on; you need not poll."
            }
            Self::RegisterJob => {
                "Have a job, or a session begun elsewhere, watched, and note something down about it."
            }
            Self::GetJob => "Show a job: where it stands, and what waits for an answer.",
            Self::ListJobs => "List the jobs of a repository, the newest first.",
            Self::Check => {
                "Tell in one letter how a job, or the newest of a repository, stands: Q needs input, C completed, F failed, N nothing to do."
            }
            Self::GetMessages => "Read what was said between Jules and its people.",
            Self::SendMessage => "Answer a question of Jules, or tell it something else.",
            Self::ApprovePlan => "Approve the plan that a job waits with.",
            Self::GetArtifacts => {
                "Show what a job has produced: a summary, the list of changed files, or the change of one file."
            }
            Self::ExtractPr => "Show a job's pull request.",
            Self::MergePr => {
                "Let a job's pull request be merged. It is merged once its checks have passed, by itself; nothing can be forced."
            }
            Self::RequestRetry => "Give a job that ended another session, under the same id.",
            Self::CancelJob => "Call a job off and put its session away.",
            Self::WaitEvent => "Wait for what needs you. Call it again with its cursor to go on.",
            Self::AckEvent => "Say that an event is dealt with, so that it is not delivered again.",
        }
    }

    fn does(self) -> Does {
        match self {
            Self::GetJob
            | Self::ListJobs
            | Self::Check
            | Self::GetMessages
            | Self::GetArtifacts
            | Self::ExtractPr
            | Self::WaitEvent => Does::Reads,
            Self::CreateJob | Self::SendMessage => Does::Writes,
            Self::RegisterJob | Self::ApprovePlan | Self::RequestRetry | Self::AckEvent => {
                Does::WritesOnce
            }
            Self::MergePr | Self::CancelJob => Does::Ends,
        }
    }

    fn takes(self) -> JsonObject {
        match self {
            Self::CreateJob => schema::<arguments::CreateJob>(),
            Self::RegisterJob => schema::<arguments::RegisterJob>(),
            Self::GetJob => schema::<arguments::GetJob>(),
            Self::GetMessages => schema::<arguments::GetMessages>(),
            Self::ApprovePlan | Self::ExtractPr | Self::RequestRetry | Self::CancelJob => {
                schema::<arguments::OneJob>()
            }
            Self::ListJobs => schema::<arguments::ListJobs>(),
            Self::Check => schema::<arguments::Check>(),
            Self::SendMessage => schema::<arguments::SendMessage>(),
            Self::GetArtifacts => schema::<arguments::GetArtifacts>(),
            Self::MergePr => schema::<arguments::MergePr>(),
            Self::WaitEvent => schema::<arguments::WaitEvent>(),
            Self::AckEvent => schema::<arguments::AckEvent>(),
        }
    }

    fn answers(self) -> JsonObject {
        match self {
            Self::RegisterJob => schema::<answers::Registered>(),
            Self::GetJob => schema::<answers::Job>(),
            Self::GetMessages => schema::<answers::Messages>(),
            Self::CreateJob | Self::RequestRetry | Self::CancelJob => schema::<answers::Stands>(),
            Self::ListJobs => schema::<answers::Jobs>(),
            Self::Check => schema::<answers::Checked>(),
            Self::SendMessage | Self::ApprovePlan => schema::<answers::Said>(),
            Self::GetArtifacts => schema::<answers::Artifacts>(),
            Self::ExtractPr => schema::<answers::PullRequest>(),
            Self::MergePr => schema::<answers::Merge>(),
            Self::WaitEvent => schema::<answers::Waited>(),
            Self::AckEvent => schema::<answers::Acknowledged>(),
        }
    }

    /// What clients are told about it.
    fn described(self) -> rmcp::model::Tool {
        rmcp::model::Tool::new(self.name(), self.description(), self.takes())
            .with_raw_output_schema(Arc::new(self.answers()))
            .with_annotations(self.does().hints())
    }
}

impl Does {
    fn hints(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::Reads => hints.read_only(true),
            Self::Writes => hints.read_only(false).destructive(false),
            Self::WritesOnce => hints.read_only(false).destructive(false).idempotent(true),
            Self::Ends => hints.read_only(false).destructive(true).idempotent(true),
        }
    }
}

/// The schema of a type, whole and without what only costs room: every client reads it once a session.
fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.meta_schema = None;
        it.inline_subschemas = true;
    });
    let made = settings.into_generator().into_root_schema_for::<T>();
    let mut whole = made.to_value();
    slim(&mut whole);
    let mut object = whole.as_object().cloned().unwrap_or_default();
    object.remove("description");
    object
}

/// Takes out what tells a model nothing: what is meant without a value, how numbers are stored, that nothing may stand for nothing.
fn slim(schema: &mut Value) {
    let Value::Object(object) = schema else {
        return;
    };
    for idle in ["title", "default", "format", "minimum", "maximum"] {
        object.remove(idle);
    }
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            object.insert("type".to_owned(), kind);
        }
    }
    let below = ["properties", "items", "anyOf", "oneOf"];
    for name in below {
        match object.get_mut(name) {
            Some(Value::Array(all)) => all.iter_mut().for_each(slim),
            Some(Value::Object(all)) if name == "properties" => all.values_mut().for_each(slim),
            Some(other) => slim(other),
            None => {}
        }
    }
}
