//! The command line: every command, option and example. What a command does is elsewhere.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use secrecy::SecretString;

use crate::run::{cost, dashboard, dlq};
use stack::StackArgs;

pub(crate) mod account;
pub(crate) mod agent;
pub(crate) mod delivery;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod files;
pub(crate) mod github;
pub(crate) mod groups;
pub(crate) mod init;
pub(crate) mod job;
pub(crate) mod mail;
pub(crate) mod mcp;
pub(crate) mod operations;
pub(crate) mod outside;
pub(crate) mod persona;
pub(crate) mod pipeline;
pub(crate) mod pull;
pub(crate) mod recovery;
pub(crate) mod scaffold;
pub(crate) mod secret;
pub(crate) mod service;
pub(crate) mod source;
pub(crate) mod sprint;
pub(crate) mod stack;
pub(crate) mod token;
pub(crate) mod top;
pub(crate) mod value;
pub(crate) mod wake;
pub(crate) mod watch;
pub(crate) mod weave;

/// The foreman of Google's Jules coding agent: hand it work and go idle.
///
/// It watches Jules, wakes your own agent only when a decision is needed, waits for checks, and merges what is green if you let it.
#[derive(Debug, Parser)]
#[command(name = "gaffer", version, after_help = EXAMPLES)]
pub(crate) struct CommandLine {
    /// The data folder [default: `gaffer` in the platform's folder for data].
    #[arg(long, global = true, env = "GAFFER_DATA", value_name = "DIR", value_parser = value::folder, help_heading = "Everywhere")]
    pub(crate) data: Option<PathBuf>,

    /// Answer in JSON: results on stdout, errors on stderr.
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,

    /// Which Gaffer.
    #[command(flatten)]
    pub(crate) stack: StackArgs,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  gaffer demo
  gaffer init --repo acme/shop
  gaffer up
  gaffer job create --repo acme/shop --prompt 'Add a search box'

`gaffer help COMMAND` tells more about a command.
Exit codes: 0 done, 1 failed, 2 bad usage.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set up the first repository: key, token, source. It can be run again.
    Init(Box<init::InitArgs>),
    /// Run everything in this process: watch Jules, act, and serve the HTTP API.
    Up(Box<UpArgs>),
    /// Play a whole story against a sandbox, in seconds and without any account.
    Demo(demo::DemoArgs),
    /// Serve a small Jules and a small GitHub to try things on.
    Sandbox(demo::SandboxArgs),
    /// Accounts: Jules keys with their plans.
    #[command(subcommand, after_help = "Example:\n  gaffer account list")]
    Account(account::AccountCommand),
    /// Sources: repositories to work on, with their policies.
    #[command(subcommand, after_help = "Example:\n  gaffer source list")]
    Source(Box<source::SourceCommand>),
    /// Agents: who is woken when a decision is needed.
    #[command(subcommand, after_help = "Example:\n  gaffer agent list")]
    Agent(agent::AgentCommand),
    /// GitHub: Gaffer's App and token.
    #[command(subcommand, after_help = "Example:\n  gaffer github setup")]
    Github(github::GithubCommand),
    /// Secrets: keys and tokens, of a Gaffer here or on AWS.
    #[command(
        subcommand,
        after_help = "Example:\n  gaffer secret set github --stack gaffer < app.pem"
    )]
    Secret(secret::SecretCommand),
    /// Tokens of the HTTP API: who has access, and to do what.
    #[command(subcommand, after_help = "Example:\n  gaffer token list")]
    Token(token::TokenCommand),
    /// Jobs: pieces of work for Jules. They go through a running `gaffer up`.
    Job(job::JobArgs),
    /// Deliveries: from an issue to a merged change and a closed issue. They go through a running `gaffer up`.
    Delivery(Box<delivery::DeliveryArgs>),
    /// The files of this repository that agents of the pipeline work by.
    #[command(subcommand, after_help = "Example:\n  gaffer scaffold init")]
    Scaffold(scaffold::ScaffoldCommand),
    /// Roles: who looks at this repository in a layer of several, and when.
    #[command(subcommand, after_help = "Example:\n  gaffer role list")]
    Role(scaffold::RoleCommand),
    /// Personas: who works in the sprints of this repository, each with a prompt of its own.
    #[command(subcommand, after_help = "Example:\n  gaffer persona list")]
    Persona(persona::PersonaCommand),
    /// Setup: what a session's machine gets installed.
    #[command(subcommand, after_help = "Example:\n  gaffer setup list")]
    Setup(scaffold::SetupCommand),
    /// Exchange: what the agents of this repository's pipeline wrote for each other.
    #[command(subcommand, after_help = "Example:\n  gaffer exchange inspect")]
    Exchange(scaffold::ExchangeCommand),
    /// Labels: those of the requirements of this repository's pipeline.
    #[command(subcommand, after_help = "Example:\n  gaffer labels sync")]
    Labels(scaffold::LabelsCommand),
    /// Workflows: what GitHub Actions does for this repository's pipeline.
    #[command(subcommand, after_help = "Example:\n  gaffer workflow generate")]
    Workflow(scaffold::WorkflowCommand),
    /// Pipelines: agents that look at a repository and say what to do in it. They go through a running `gaffer up`.
    Pipeline(Box<pipeline::PipelineArgs>),
    /// Requirements: what a pipeline found to be done. They go through a running `gaffer up`.
    Requirement(pipeline::RequirementArgs),
    /// Run a layer of a pipeline, or show the prompt that it gets in this repository.
    Run(Box<scaffold::RunArgs>),
    /// Sprints: many personas at once, and one pull request of what they made. They go through a running `gaffer up`.
    Sprint(sprint::SprintArgs),
    /// Pull requests, through a running `gaffer up`.
    Pull(pull::PullArgs),
    /// Mail between personas, in a file of this repository or in a running Gaffer. `jules-mail` is the same.
    Mail(Box<mail::MailArgs>),
    /// Weave pull requests or patches together: which of them fit, and at which lines others do not.
    Weave(Box<weave::WeaveArgs>),
    /// The list of jobs, as a file.
    #[command(subcommand, after_help = "Example:\n  gaffer jobs export --active")]
    Jobs(files::JobsCommand),
    /// Events, as a file.
    #[command(subcommand, after_help = "Example:\n  gaffer events export --append")]
    Events(files::EventsCommand),
    /// Watch the jobs of a file and write events into another, without serving HTTP.
    Monitor(Box<files::MonitorArgs>),
    /// Print a link to the dashboard of a running `gaffer up`, which signs in for a minute.
    Dashboard(dashboard::DashboardArgs),
    /// Serve the tools for coding agents: an MCP server on stdin and stdout.
    Mcp(mcp::McpArgs),
    /// Wakes: events on their way to agents.
    #[command(subcommand, after_help = "Example:\n  gaffer wake list")]
    Wake(wake::WakeCommand),
    /// Run a command for each of an agent's wakes, as they come into its inbox.
    Watch(watch::WatchArgs),
    /// Handle one event in the default way: print what happened, what there is to review, and how to answer.
    HandleEvent(watch::HandleArgs),
    /// Write nothing more to Jules or GitHub until `gaffer resume`.
    ///
    /// Everything is still read: a labelled issue becomes a delivery, of which nothing is begun. While only a source is
    /// paused, its issues are not read either: those that were labelled meanwhile become deliveries once it is resumed.
    #[command(
        after_help = "Examples:\n  gaffer pause\n  gaffer pause --source acme/shop\n  gaffer pause --stack gaffer"
    )]
    Pause(operations::SwitchArgs),
    /// Go on after `gaffer pause`.
    #[command(after_help = "Examples:\n  gaffer resume\n  gaffer resume --source acme/shop")]
    Resume(operations::SwitchArgs),
    /// Show the present state.
    #[command(after_help = "Examples:\n  gaffer status --json\n  gaffer status --stack gaffer")]
    Status,
    /// Show what is going on, again and again: jobs, who is waited for, accounts and the last events.
    Top(top::TopArgs),
    /// Show what was done for one job, in order: events, effects with their outcomes, wakes.
    Logs(operations::LogsArgs),
    /// Show usage and costs on AWS, and what is left of the plans.
    Cost(cost::CostArgs),
    /// Dead letters: messages that were given up, and putting them back to work.
    #[command(after_help = "Example:\n  gaffer dlq list")]
    Dlq(dlq::DlqArgs),
    /// Check everything that this installation needs: what is wrong, why, and how to fix it.
    Doctor(Box<doctor::DoctorArgs>),
    /// Write everything stored into one file, while `gaffer up` keeps running.
    Backup(recovery::BackupArgs),
    /// Put a backup into the data folder. What happened since is not repeated.
    Restore(recovery::RestoreArgs),
    /// Print what is stored as JSON lines, while `gaffer up` keeps running. Secrets are never in it.
    Export(recovery::ExportArgs),
    /// Fill an empty store, here or on AWS, with what `gaffer export --all` printed.
    Import(recovery::ImportArgs),
    /// Print the completions for a shell.
    #[command(after_help = "Example:\n  gaffer completions bash > gaffer.bash")]
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

/// What the groups of the help are called, and their commands in the order of their use. Every other command is one of `Work`.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Agents", &["agent", "wake", "watch", "handle-event", "mcp"]),
    (
        "Repositories and accounts",
        &[
            "source", "scaffold", "role", "persona", "setup", "exchange", "labels", "workflow",
            "account", "github", "secret", "token",
        ],
    ),
    (
        "Operation",
        &[
            "up",
            "dashboard",
            "top",
            "status",
            "pause",
            "resume",
            "doctor",
            "dlq",
            "cost",
            "backup",
            "restore",
            "export",
            "import",
        ],
    ),
    ("Setup", &["init", "demo", "sandbox", "completions"]),
];

impl Command {
    /// Whether it can be about the Gaffer of a stack instead of the data folder's.
    pub(crate) fn works_on_stacks(&self) -> bool {
        match self {
            Self::Up(_)
            | Self::Account(_)
            | Self::Source(_)
            | Self::Agent(_)
            | Self::Secret(_)
            | Self::Token(_)
            | Self::Github(github::GithubCommand::Setup(_))
            | Self::Job(_)
            | Self::Delivery(_)
            | Self::Pipeline(_)
            | Self::Requirement(_)
            | Self::Sprint(_)
            | Self::Jobs(_)
            | Self::Events(_)
            | Self::Pull(_)
            | Self::Labels(_)
            | Self::Workflow(scaffold::WorkflowCommand::Run(_))
            | Self::Dashboard(_)
            | Self::Mcp(_)
            | Self::Wake(_)
            | Self::Watch(_)
            | Self::HandleEvent(_)
            | Self::Pause(_)
            | Self::Resume(_)
            | Self::Status
            | Self::Top(_)
            | Self::Logs(_)
            | Self::Cost(_)
            | Self::Dlq(_)
            | Self::Export(_)
            | Self::Import(_) => true,
            // A prompt is made here, a run is begun there, and so is a job.
            Self::Run(args) => !args.prompt_preview || args.job.is_some(),
            Self::Mail(args) => args.repo.is_some(),
            Self::Init(_)
            | Self::Monitor(_)
            | Self::Demo(_)
            | Self::Sandbox(_)
            | Self::Scaffold(_)
            | Self::Role(_)
            | Self::Persona(_)
            | Self::Setup(_)
            | Self::Exchange(_)
            | Self::Workflow(scaffold::WorkflowCommand::Generate { .. })
            | Self::Weave(_)
            | Self::Github(github::GithubCommand::Token(_))
            | Self::Doctor(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::Completions { .. } => false,
        }
    }
}

/// How `gaffer up` runs.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer up\n  gaffer up --observe-only\n  gaffer up --aws\n  gaffer up --no-webhooks --service\n  gaffer up --listen 127.0.0.1:4180 --data data --jules-base http://127.0.0.1:4190/jules/v1alpha --github-base http://127.0.0.1:4190/github"
)]
pub(crate) struct UpArgs {
    /// Where the HTTP API listens.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4180", value_parser = value::listen)]
    pub(crate) listen: SocketAddr,

    /// Watch only: write nothing to Jules or GitHub.
    #[arg(long)]
    pub(crate) observe_only: bool,

    /// Print a unit of systemd, or a property list of launchd, that runs this very command, and end.
    #[arg(long, value_enum, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = service::USUAL)]
    pub(crate) service: Option<service::ServiceKind>,

    /// Do not serve `POST /github/webhook`; pull requests are then read at intervals only.
    #[arg(long)]
    pub(crate) no_webhooks: bool,

    /// How much is logged.
    #[command(flatten)]
    pub(crate) loudness: LoudnessArgs,

    /// Where the world outside is.
    #[command(flatten)]
    pub(crate) outside: outside::OutsideArgs,

    /// The stack to run on instead of a data folder, from `--stack` or `--aws`.
    #[arg(skip)]
    pub(crate) stack: Option<String>,

    /// The data folder, from `--data`.
    #[arg(skip)]
    pub(crate) data: PathBuf,

    /// Secrets that the environment sets, by their path.
    #[arg(skip)]
    pub(crate) overlay: BTreeMap<String, SecretString>,

    /// Whether to answer in JSON, from `--json`.
    #[arg(skip)]
    pub(crate) json: bool,
}

/// How much is logged on stderr. Without either, RUST_LOG says it, and without that what happens to jobs is.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LoudnessArgs {
    /// Log more: HTTP requests, and how things were decided.
    #[arg(short, long, conflicts_with = "quiet")]
    verbose: bool,

    /// Log warnings and errors only.
    #[arg(short, long)]
    quiet: bool,
}

impl LoudnessArgs {
    /// The chosen loudness.
    pub(crate) fn chosen(self) -> Loudness {
        match (self.verbose, self.quiet) {
            (true, _) => Loudness::Verbose,
            (false, true) => Loudness::Quiet,
            (false, false) => Loudness::Usual,
        }
    }
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loudness {
    /// What happens to jobs, warnings and errors.
    Usual,
    /// Also HTTP requests and decisions.
    Verbose,
    /// Warnings and errors.
    Quiet,
}

#[cfg(test)]
mod tests;
