//! Requests and answers of the HTTP API, as JSON.
//!
//! Requests refuse unknown fields, so that a typing error is reported, except where others define the fields; answers
//! may gain fields at any time.

mod constraints;
mod deliveries;
mod events;
mod form;
mod inbox;
mod job;
mod mail;
mod orders;
mod outcome;
mod pipelines;
mod problem;
mod push;
mod report;
mod schedule;
mod sources;
mod sprints;
mod workers;

pub use constraints::{Constraints, InvalidConstraint, ParsedConstraints};
pub use deliveries::{
    AnalysisRequest, AnalysisView, ApproveDelivery, CancelDelivery, ChildView, CollectRequest,
    CreateDelivery, DELIVERIES_LIMIT, DELIVERIES_LIMIT_MAX, Deliveries, DeliveryCard, DeliveryRun,
    DeliveryView, DeliveryWhy, EditDelivery, EntryView, ExecuteDelivery, FixDelivery,
    ISSUE_NUMBER_MAX, IssueView, PartRequest, PhaseRunView, PlanRequest, PlanView, RefRequest,
    RefView, RejectDelivery, RetryDelivery, RunView, SplitRequest, StartDelivery,
    TRANSCRIPT_PAGE_MAX, Transcript, VerdictRequest,
};
pub use events::{EVENTS_LIMIT, EVENTS_LIMIT_MAX, EventPage};
pub use inbox::{
    Extend, Extended, GiveBack, GivenBack, RETRY_AFTER_SECONDS_MAX, TAKE_LIMIT, TAKE_LIMIT_MAX,
    TakeRequest, Taken, TakenWake, WAIT_SECONDS_MAX, WHY_BYTES_MAX,
};
pub use job::{
    AsRead, CreateJob, Ended, JobView, Jobs, OrderView, PlanStepView, PullView, Pulls, Waiting,
    WaitsFor,
};
pub use mail::{
    ImportMail, MAIL_LOG_PAGE_MAX, MAILBOX_LIMIT_MAX, MailCounts, MailImported, MailLog,
    MailMessage, MailRebuilt, MailSealed, MailSent, MailStats, MailVerified, Mailbox, MarkMail,
    SendMail, SentMessage, TagMail,
};
pub use orders::{
    Acknowledge, AdoptRequest, ApproveRequest, CancelRequest, MergeRequest, Message,
    RegisterRequest, RetryRequest,
};
pub use outcome::{
    Acknowledged, Artifacts, DashboardLink, EffectView, Events, Merged, MessageView, Messages,
    Pending, Registered,
};
pub use pipelines::{
    CancelPipeline, DeliveryGlimpse, MemberView, PIPELINES_LIMIT, PIPELINES_LIMIT_MAX,
    PipelineView, PipelineWhy, Pipelines, RequirementView, Requirements, StartPipeline,
    StartRequirement, StepView, StepWhy,
};
pub use problem::{Next, PROBLEM_JSON, Problem, Reason};
pub use push::{InvalidSessionName, PushTaken, PushedSession, SessionName};
pub use report::{
    AccountView, BudgetView, CheckView, DeliveryLogView, GitHubView, Health, PlannedStep,
    QueueView, SpendingView, Status, UsageView, Used, WebhookCounts, WebhookFeedView, Why,
};
pub use schedule::{LeftOutTime, ScheduleErrorView, ScheduleView, ScheduledRun};
pub use sources::{
    CreateSource, DeliverySettings, EditSource, PipelineSettings, SourceRemoved, SourceView,
    Sources, SprintSettings,
};
pub use sprints::{
    IntegrateSprint, OrderSprint, PlaceView, SPRINTS_LIMIT, SPRINTS_LIMIT_MAX, SprintFigures,
    SprintGlimpse, SprintMemberView, SprintMemberWhy, SprintPlanView, SprintView, SprintWhy,
    Sprints, StartSprint, VerdictView, WeaveView, WovenView,
};
pub use workers::{IntakeResult, WorkerView, Workers};

/// The header in which a client says through which surface an order was given, for the record: one of
/// [`Through::ALL`]. Any other value, or none, counts as HTTP; it grants nothing, and is recorded beside the token.
pub const THROUGH: &str = "gaffer-through";

/// Through what an order was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Through {
    /// The command line.
    CommandLine,
    /// A tool of the MCP server.
    Mcp,
    /// A form of the dashboard.
    Dashboard,
    /// Any other caller of the API.
    #[default]
    Http,
}

impl Through {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::CommandLine, Self::Mcp, Self::Dashboard, Self::Http];

    /// The value of the header.
    pub const fn word(self) -> &'static str {
        match self {
            Self::CommandLine => "command-line",
            Self::Mcp => "mcp",
            Self::Dashboard => "dashboard",
            Self::Http => "http",
        }
    }
}

/// The header that names a request: the same name with the same body is carried out once.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Longest such name, in bytes.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;

/// The last page that the pieces of a patch can have.
pub const ARTIFACTS_PAGE_MAX: u32 = 99;

/// How many jobs a list holds when nothing else is asked for.
pub const JOBS_LIMIT: u32 = 50;

/// How many jobs a list holds at most.
pub const JOBS_LIMIT_MAX: u32 = 200;

#[cfg(test)]
mod tests;
