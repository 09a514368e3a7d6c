//! What to do next: the orders and settings that an answer advises. Each surface names them in its own way: a command, a tool or a route.

use crate::job::Order;
use crate::redact::presentable;

/// Longest subject that an advice repeats, in characters: a command that begins a run again fits, with a repository, a file and a task.
const ABOUT_CHARS_MAX: usize = 800;

/// One thing to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Send a message to a job's session.
    Say,
    /// Approve a job's plan.
    Approve,
    /// Approve the head of a job's pull request.
    Merge,
    /// Give a job another session.
    Retry,
    /// Cancel a job.
    Cancel,
    /// Create a job in a repository.
    CreateJob,
    /// Hand over a session of a repository.
    Adopt,
    /// List the jobs.
    ListJobs,
    /// Read a job's events.
    Events,
    /// Take wakes out of an agent's inbox.
    TakeWakes,
    /// Lift the pause of everything.
    Resume,
    /// Lift the pause of a source.
    ResumeSource,
    /// Pause a source.
    PauseSource,
    /// Add a source.
    AddSource,
    /// Name the checks that a source requires.
    RequireCheck,
    /// Accept the number that a source's repository has now.
    RenumberSource,
    /// Add an account.
    AddAccount,
    /// Replace an account's key.
    ReplaceKey,
    /// Add an agent.
    AddAgent,
    /// Let an agent take wakes again.
    EnableAgent,
    /// Give an agent an inbox.
    GiveInbox,
    /// Make a token of a scope.
    CreateToken,
    /// Start a sprint of a repository.
    StartSprint,
    /// Call off the newest sprint of a repository.
    AbortSprint,
    /// Have the newest sprint of a repository weave without those who still work.
    IntegrateSprint,
    /// See what the newest sprint of a repository waits for.
    WhySprint,
    /// Begin a run of a repository's pipeline again.
    StartPipeline,
    /// Call a run of a pipeline off.
    CancelPipeline,
    /// Cancel what a delivery is doing.
    CancelDelivery,
}

/// What stands before the repository in the name of its newest sprint, where none was ever started.
pub const NO_NEWEST: &str = "latest` of `";

/// An advised order, and its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// What to do.
    pub advice: Advice,
    /// The job, repository, account, agent or scope, or the command that begins a run again ([`crate::pipeline::Pipeline::again`]); empty
    /// where there is nothing to name.
    pub about: String,
}

impl Advice {
    /// Everything that is ever advised.
    pub const ALL: [Self; 29] = [
        Self::Say,
        Self::Approve,
        Self::Merge,
        Self::Retry,
        Self::Cancel,
        Self::CreateJob,
        Self::Adopt,
        Self::ListJobs,
        Self::Events,
        Self::TakeWakes,
        Self::Resume,
        Self::ResumeSource,
        Self::PauseSource,
        Self::AddSource,
        Self::RequireCheck,
        Self::RenumberSource,
        Self::AddAccount,
        Self::ReplaceKey,
        Self::AddAgent,
        Self::EnableAgent,
        Self::GiveInbox,
        Self::CreateToken,
        Self::StartSprint,
        Self::AbortSprint,
        Self::IntegrateSprint,
        Self::WhySprint,
        Self::StartPipeline,
        Self::CancelPipeline,
        Self::CancelDelivery,
    ];

    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Say => "say",
            Self::Approve => "approve",
            Self::Merge => "merge",
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::CreateJob => "create_job",
            Self::Adopt => "adopt",
            Self::ListJobs => "list_jobs",
            Self::Events => "events",
            Self::TakeWakes => "take_wakes",
            Self::Resume => "resume",
            Self::ResumeSource => "resume_source",
            Self::PauseSource => "pause_source",
            Self::AddSource => "add_source",
            Self::RequireCheck => "require_check",
            Self::RenumberSource => "renumber_source",
            Self::AddAccount => "add_account",
            Self::ReplaceKey => "replace_key",
            Self::AddAgent => "add_agent",
            Self::EnableAgent => "enable_agent",
            Self::GiveInbox => "give_inbox",
            Self::CreateToken => "create_token",
            Self::StartSprint => "start_sprint",
            Self::AbortSprint => "abort_sprint",
            Self::IntegrateSprint => "integrate_sprint",
            Self::WhySprint => "why_sprint",
            Self::StartPipeline => "start_pipeline",
            Self::CancelPipeline => "cancel_pipeline",
            Self::CancelDelivery => "cancel_delivery",
        }
    }

    /// The advice of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|advice| advice.word() == word)
    }

    /// Its effect, as a text after the name of a command, tool or route.
    pub fn does(self) -> &'static str {
        match self {
            Self::Say => "sends an answer, or other words, to its session",
            Self::Approve => "approves its plan",
            Self::Merge => "approves this head for merging",
            Self::Retry => "gives it another session",
            Self::Cancel => "cancels it",
            Self::CreateJob => "creates a new job",
            Self::Adopt => "hands over a session that was begun elsewhere",
            Self::ListJobs => "lists the jobs",
            Self::Events => "shows its events",
            Self::TakeWakes => "takes what is in the inbox",
            Self::Resume => "lets everything go on",
            Self::ResumeSource => "lets the source go on",
            Self::PauseSource => "pauses the source",
            Self::AddSource => "adds the source",
            Self::RequireCheck => "names a check that must pass",
            Self::RenumberSource => "accepts the repository with that number",
            Self::AddAccount => "adds the account",
            Self::ReplaceKey => "replaces the key",
            Self::AddAgent => "adds the agent",
            Self::EnableAgent => "lets the agent take wakes again",
            Self::GiveInbox => "gives the agent an inbox",
            Self::CreateToken => "makes a token that may",
            Self::StartSprint => "starts a sprint",
            Self::AbortSprint => "calls the sprint off and leaves its pull requests to people",
            Self::IntegrateSprint => "has the sprint weave now, without those who still work",
            Self::WhySprint => "says what the sprint waits for",
            Self::StartPipeline => "begins another run, which tries it again",
            Self::CancelPipeline => "calls the run off, with its jobs",
            Self::CancelDelivery => "cancels what the delivery is doing, with its job",
        }
    }

    /// Advice for a caller who named something that does not exist, if there is any.
    pub fn for_missing(what: &str, name: &str) -> Option<Next> {
        let advice = match what {
            "job" | "pull" => Self::ListJobs,
            "source" => Self::AddSource,
            "agent" => Self::AddAgent,
            "account" => Self::AddAccount,
            "sprint" => {
                let repo = name.strip_prefix(NO_NEWEST)?;
                return Some(Self::StartSprint.about(&repo));
            }
            _ => return None,
        };
        Some(advice.about(&name))
    }

    /// What ends the pause that something waits for, by the word for what it waits for.
    pub fn for_pause(waits_for: &str) -> Option<Self> {
        match waits_for {
            "hold" => Some(Self::Resume),
            "source_hold" => Some(Self::ResumeSource),
            _ => None,
        }
    }

    /// The order about a job that it is, if it is one.
    pub fn order(self) -> Option<Order> {
        match self {
            Self::Say => Some(Order::Say),
            Self::Approve => Some(Order::Approve),
            Self::Merge => Some(Order::Merge),
            Self::Retry => Some(Order::Retry),
            Self::Cancel => Some(Order::Cancel),
            Self::CreateJob
            | Self::Adopt
            | Self::ListJobs
            | Self::Events
            | Self::TakeWakes
            | Self::Resume
            | Self::ResumeSource
            | Self::PauseSource
            | Self::AddSource
            | Self::RequireCheck
            | Self::RenumberSource
            | Self::AddAccount
            | Self::ReplaceKey
            | Self::AddAgent
            | Self::EnableAgent
            | Self::GiveInbox
            | Self::CreateToken
            | Self::StartSprint
            | Self::AbortSprint
            | Self::IntegrateSprint
            | Self::WhySprint
            | Self::StartPipeline
            | Self::CancelPipeline
            | Self::CancelDelivery => None,
        }
    }

    /// Sets the subject of the advice. Masks a secret that a caller passed as a name.
    pub fn about(self, about: &impl ToString) -> Next {
        Next {
            advice: self,
            about: presentable(&about.to_string(), ABOUT_CHARS_MAX),
        }
    }
}
