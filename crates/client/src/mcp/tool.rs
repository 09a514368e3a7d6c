//! The tools: their names, and their descriptions for models.

mod schemas;

use std::sync::{Arc, LazyLock};

use rmcp::model::ToolAnnotations;

use super::toolset::Toolset;

/// The descriptions of all tools, in the order of [`Tool::ALL`], made once.
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
    /// Shows the jobs of a repository, or of all.
    ListJobs,
    /// Says in one letter whether the job waits.
    Check,
    /// Shows the messages.
    GetMessages,
    /// Sends a message to a session.
    SendMessage,
    /// Approves a plan.
    ApprovePlan,
    /// Shows the results.
    GetArtifacts,
    /// Shows the pull request alone.
    ExtractPr,
    /// Lets the pull request be merged.
    MergePr,
    /// Retries a job that ended, in another session.
    RequestRetry,
    /// Cancels a job.
    CancelJob,
    /// Waits for the next event.
    WaitEvent,
    /// Says that an event is dealt with.
    AckEvent,
    /// Reports the present state of everything.
    Status,
    /// Explains why a job does not move.
    Why,
    /// Lists a job's events.
    ListEvents,
    /// Takes wakes out of an inbox.
    TakeWakes,
    /// Holds a wake for longer.
    ExtendWake,
    /// Gives a wake back undone.
    ReturnWake,
    /// Lists deliveries.
    DeliveryList,
    /// Shows one delivery.
    DeliveryGet,
    /// Creates a delivery.
    DeliveryCreate,
    /// Begins a delivery.
    DeliveryStart,
    /// Sends the plan of a delivery.
    DeliveryPlan,
    /// Splits a delivery.
    DeliverySplit,
    /// Lets a delivery go on.
    DeliveryApprove,
    /// Sends a delivery back.
    DeliveryReject,
    /// Says what a review came to.
    DeliveryVerdict,
    /// Tries a failed phase again.
    DeliveryRetry,
    /// Calls off what a delivery does.
    DeliveryCancel,
    /// Shows what was said and done in a run.
    DeliveryTranscript,
    /// Sends mail.
    MailSend,
    /// Lists the mail of a persona.
    MailInbox,
    /// Shows a message.
    MailRead,
    /// Puts a tag on a message.
    MailTag,
    /// Shows a sprint.
    SprintStatus,
    /// Starts a sprint.
    SprintStart,
    /// Calls a sprint off.
    SprintAbort,
}

/// What calling a tool does to the world.
enum Does {
    /// Nothing.
    Reads,
    /// It writes, each time.
    Writes,
    /// It writes, but a repeated call does so once.
    WritesOnce,
    /// It cannot be undone; a repeated call does it once.
    Ends,
}

impl Tool {
    /// All of them in the order of the list: first those that are always listed.
    pub(super) const ALL: [Self; 40] = [
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
        Self::Status,
        Self::Why,
        Self::ListEvents,
        Self::TakeWakes,
        Self::ExtendWake,
        Self::ReturnWake,
        Self::DeliveryList,
        Self::DeliveryGet,
        Self::DeliveryCreate,
        Self::DeliveryStart,
        Self::DeliveryPlan,
        Self::DeliverySplit,
        Self::DeliveryApprove,
        Self::DeliveryReject,
        Self::DeliveryVerdict,
        Self::DeliveryRetry,
        Self::DeliveryCancel,
        Self::DeliveryTranscript,
        Self::MailSend,
        Self::MailInbox,
        Self::MailRead,
        Self::MailTag,
        Self::SprintStatus,
        Self::SprintStart,
        Self::SprintAbort,
    ];

    /// Its set; `None` for those that are always listed.
    pub(super) fn toolset(self) -> Option<Toolset> {
        match self {
            Self::CreateJob
            | Self::RegisterJob
            | Self::GetJob
            | Self::ListJobs
            | Self::Check
            | Self::GetMessages
            | Self::SendMessage
            | Self::ApprovePlan
            | Self::GetArtifacts
            | Self::ExtractPr
            | Self::MergePr
            | Self::RequestRetry
            | Self::CancelJob
            | Self::WaitEvent
            | Self::AckEvent => None,
            Self::Status | Self::Why | Self::ListEvents => Some(Toolset::Insight),
            Self::TakeWakes | Self::ExtendWake | Self::ReturnWake => Some(Toolset::Inbox),
            Self::DeliveryList
            | Self::DeliveryGet
            | Self::DeliveryCreate
            | Self::DeliveryStart
            | Self::DeliveryPlan
            | Self::DeliverySplit
            | Self::DeliveryApprove
            | Self::DeliveryReject
            | Self::DeliveryVerdict
            | Self::DeliveryRetry
            | Self::DeliveryCancel
            | Self::DeliveryTranscript => Some(Toolset::Deliveries),
            Self::MailSend | Self::MailInbox | Self::MailRead | Self::MailTag => {
                Some(Toolset::Mail)
            }
            Self::SprintStatus | Self::SprintStart | Self::SprintAbort => Some(Toolset::Sprint),
        }
    }

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
            Self::Status => "jules_status",
            Self::Why => "jules_why",
            Self::ListEvents => "jules_list_events",
            Self::TakeWakes => "jules_take_wakes",
            Self::ExtendWake => "jules_extend_wake",
            Self::ReturnWake => "jules_return_wake",
            Self::DeliveryList => "delivery_list",
            Self::DeliveryGet => "delivery_get",
            Self::DeliveryCreate => "delivery_create",
            Self::DeliveryStart => "delivery_start",
            Self::DeliveryPlan => "delivery_plan",
            Self::DeliverySplit => "delivery_split",
            Self::DeliveryApprove => "delivery_approve",
            Self::DeliveryReject => "delivery_reject",
            Self::DeliveryVerdict => "delivery_verdict",
            Self::DeliveryRetry => "delivery_retry",
            Self::DeliveryCancel => "delivery_cancel",
            Self::DeliveryTranscript => "delivery_transcript",
            Self::MailSend => "mail_send",
            Self::MailInbox => "mail_inbox",
            Self::MailRead => "mail_read",
            Self::MailTag => "mail_tag",
            Self::SprintStatus => "sprint_status",
            Self::SprintStart => "sprint_start",
            Self::SprintAbort => "sprint_abort",
        }
    }

    /// Whether calling it may take as long as its caller likes.
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::WaitEvent | Self::TakeWakes)
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
                "Watch a job, or a session begun elsewhere, and record notes about it."
            }
            Self::GetJob => "Show a job: where it stands, and what waits for an answer.",
            Self::ListJobs => "List jobs, the newest first.",
            Self::Check => {
                "Tell in one letter how a job, or the newest of a repository, stands: Q needs input, C completed, F failed, N nothing to do."
            }
            Self::GetMessages => "Read what was said between Jules and its people.",
            Self::SendMessage => "Answer a question of Jules, or tell it something else.",
            Self::ApprovePlan => "Approve the plan that a job waits with.",
            Self::GetArtifacts => "Show what a job has produced.",
            Self::ExtractPr => "Show a job's pull request.",
            Self::MergePr => {
                "Let a job's pull request be merged. It is merged once its checks have passed, by itself; nothing can be forced."
            }
            Self::RequestRetry => "Retry a job that ended, in another session under the same id.",
            Self::CancelJob => "Cancel a job and archive its session.",
            Self::WaitEvent => "Wait for what needs you. Call it again with its cursor to go on.",
            Self::AckEvent => "Acknowledge an event, so that it is not delivered again.",
            Self::Status => "Tell what is going on: jobs, accounts, and what stands in the way.",
            Self::Why => {
                "Tell why a job or a pull request does not move, and what will be done when."
            }
            Self::ListEvents => "List a job's events.",
            Self::TakeWakes => {
                "Take wakes out of an inbox, each on a lease: acknowledge, extend or return them."
            }
            Self::ExtendWake => "Extend the lease of a wake that was taken.",
            Self::ReturnWake => "Return a wake that was taken and could not be handled.",
            Self::DeliveryList => {
                "List deliveries, issues on their way to a merge, the newest first."
            }
            Self::DeliveryGet => "Show a delivery: its plan, its head, and what you may do now.",
            Self::DeliveryCreate => "Create a delivery from an issue or your own words.",
            Self::DeliveryStart => "Begin a delivery that waits at its plan.",
            Self::DeliveryPlan => "Send the plan of a delivery, where you plan.",
            Self::DeliverySplit => "Split a delivery being planned into 1 to 20 smaller ones.",
            Self::DeliveryApprove => {
                "Let a delivery go on from a checkpoint. Most sources keep this for people."
            }
            Self::DeliveryReject => "Send a delivery back from a checkpoint.",
            Self::DeliveryVerdict => "Say what your review of a head came to.",
            Self::DeliveryRetry => "Try the failed phase of a delivery again.",
            Self::DeliveryCancel => "Cancel what a delivery is doing.",
            Self::DeliveryTranscript => "Show what was said and done in a run.",
            Self::MailSend => "Send mail to another persona of a repository.",
            Self::MailInbox => "List the mail of a persona, the oldest first.",
            Self::MailRead => "Show a message and mark it read.",
            Self::MailTag => "Put a tag on a message, or take it off.",
            Self::SprintStatus => "Show a sprint, and what it and its members wait for.",
            Self::SprintStart => "Start a sprint of a repository: its personas work at once.",
            Self::SprintAbort => "Abort a sprint with its jobs.",
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
            | Self::WaitEvent
            | Self::Status
            | Self::Why
            | Self::ListEvents
            | Self::DeliveryList
            | Self::DeliveryGet
            | Self::DeliveryTranscript
            | Self::MailInbox
            | Self::SprintStatus => Does::Reads,
            Self::DeliveryCreate
            | Self::CreateJob
            | Self::SendMessage
            | Self::TakeWakes
            | Self::ExtendWake
            | Self::MailSend
            | Self::SprintStart => Does::Writes,
            Self::RegisterJob
            | Self::ApprovePlan
            | Self::RequestRetry
            | Self::AckEvent
            | Self::ReturnWake
            | Self::DeliveryStart
            | Self::DeliveryPlan
            | Self::DeliverySplit
            | Self::DeliveryApprove
            | Self::DeliveryReject
            | Self::DeliveryVerdict
            | Self::DeliveryRetry
            | Self::MailRead
            | Self::MailTag => Does::WritesOnce,
            Self::MergePr | Self::CancelJob | Self::DeliveryCancel | Self::SprintAbort => {
                Does::Ends
            }
        }
    }

    /// Its description for clients.
    fn described(self) -> rmcp::model::Tool {
        let tool = rmcp::model::Tool::new(self.name(), self.description(), self.takes())
            .with_annotations(self.does().hints());
        match self.answers() {
            Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
            None => tool,
        }
    }
}

impl Does {
    /// What is not said means that a tool may write: MCP's specification (`ToolAnnotations`).
    fn hints(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::Reads => hints.read_only(true),
            Self::Writes => hints.destructive(false),
            Self::WritesOnce => hints.destructive(false).idempotent(true),
            Self::Ends => hints.destructive(true).idempotent(true),
        }
    }
}
