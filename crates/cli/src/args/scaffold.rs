//! Options of `gaffer scaffold` and `gaffer run`.

use clap::{Args, Subcommand};
use domain::ids::{BranchName, RepoName, RoleName, StreamName};
use domain::layer::Layer;
use domain::pipeline::MockTag;
use jiff::SignedDuration;
use scaffold::config::Runner;
use scaffold::tree::TreePath;
use url::Url;

use super::job::JobOrSession;
use super::value;

/// `gaffer scaffold`.
#[derive(Debug, Subcommand)]
pub(crate) enum ScaffoldCommand {
    /// Put the first `.jlo/` files into this repository, for you to change and commit.
    #[command(alias = "i", after_help = "Example:\n  gaffer scaffold init")]
    Init,
    /// Commit the system's `.jules/` files to the worker branch, without touching the working tree.
    #[command(after_help = "Example:\n  gaffer scaffold bootstrap")]
    Bootstrap,
    /// Add what is missing of your `.jlo/` files, and note this version in them.
    #[command(alias = "u", after_help = "Example:\n  gaffer scaffold upgrade")]
    Upgrade,
    /// Move the worker branch from the older layout with workstreams to the newer one, as one commit.
    #[command(
        after_help = "Examples:\n  gaffer scaffold migrate --dry-run\n  gaffer scaffold migrate"
    )]
    Migrate {
        /// Say where each file would go, and write nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove your `.jlo/` files, generated workflows and the local worker branch, and say what stays.
    #[command(after_help = "Example:\n  gaffer scaffold deinit")]
    Deinit,
    /// Check the committed files: exit code 0 without errors, 1 with errors, 2 with warnings where it is strict.
    #[command(
        after_help = "Examples:\n  gaffer scaffold doctor\n  gaffer scaffold doctor --strict --ref origin/jules\n  gaffer scaffold doctor --fix"
    )]
    Doctor(ExamineArgs),
}

/// `gaffer scaffold doctor`.
#[derive(Debug, Args)]
pub(crate) struct ExamineArgs {
    /// Check the files of this revision in place of the branch that has them.
    #[arg(long = "ref", value_name = "REV", value_parser = value::words)]
    pub(crate) revision: Option<String>,

    /// Fail after warnings too.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Commit missing folders and files of the system to the worker branch, and nothing else.
    #[arg(long, conflicts_with = "revision")]
    pub(crate) fix: bool,
}

/// `gaffer run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gaffer run narrator --repo acme/shop\n  gaffer run observers --role qa --wait --within 30m\n  gaffer run narrator --prompt-preview\n  gaffer run observers --role qa --prompt-preview\n  gaffer run observers --prompt-preview --job 01j00000000000000000000000\n  gaffer run observers --role qa --mock mock-1\n  gaffer run planner .jules/exchange/requirements/k3v9qd-slow-search.yml --prompt-preview"
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) of: LayerArgs,

    /// For a preview: the branch or the SHA to start from, instead of the branch that `.jlo/config.toml` names.
    #[arg(long, value_name = "BRANCH", requires = "prompt_preview")]
    pub(crate) branch: Option<BranchName>,

    /// For a preview: the job whose session got the prompt, which is put together again of the same commits and with the same ids.
    #[arg(long, value_name = "JOB", requires = "prompt_preview", conflicts_with_all = ["branch", "requirement", "requirement_file", "role", "stream", "task", "repo"])]
    pub(crate) job: Option<JobOrSession>,

    /// Run nothing: print the prompt, and what is in it on stderr.
    #[arg(long, conflicts_with_all = ["mock", "keep_files"])]
    pub(crate) prompt_preview: bool,

    /// Wait for the end of the run, and print each step as it ends.
    #[arg(long, conflicts_with = "prompt_preview")]
    pub(crate) wait: bool,

    /// How long to wait at most.
    #[arg(long, value_name = "DURATION", default_value = "1h", requires = "wait", value_parser = value::duration)]
    pub(crate) within: SignedDuration,
}

/// What a run of one layer works on, and where.
#[derive(Debug, Args)]
pub(crate) struct LayerArgs {
    /// Which layer: narrator, observers, decider, planner, implementer or innovators, or `n o d p i x`.
    pub(crate) layer: Layer,

    /// The file of the requirement on the worker branch, for the planner and the implementer.
    #[arg(value_parser = tree_path)]
    pub(crate) requirement: Option<TreePath>,

    /// The same file, as an option.
    #[arg(long = "requirement", value_name = "PATH", value_parser = tree_path, conflicts_with = "requirement")]
    pub(crate) requirement_file: Option<TreePath>,

    /// Which role, in a layer that has some.
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<RoleName>,

    /// Which stream, for observers and the decider [default: all that run, or `generic` with a role].
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Option<StreamName>,

    /// Which task of the innovators.
    #[arg(long, value_name = "TASK", value_parser = value::words)]
    pub(crate) task: Option<String>,

    #[command(flatten)]
    pub(crate) on: OnGithub,

    /// Leave the files of the requirement where they are after the merge, for the implementer.
    #[arg(long, alias = "no-cleanup", conflicts_with = "mock")]
    pub(crate) keep_files: bool,

    /// A trial run of this name, which holds `mock`: no session runs, and Gaffer makes up what it would have written.
    #[arg(long, value_name = "TAG")]
    pub(crate) mock: Option<MockTag>,

    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,
}

/// Which repository.
#[derive(Debug, Args)]
pub(crate) struct OnGithub {
    /// The repository on GitHub [default: that of the remote `origin`, else GITHUB_REPOSITORY].
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: Option<RepoName>,

    /// The repository that GitHub Actions runs for.
    #[arg(
        long,
        env = "GITHUB_REPOSITORY",
        hide = true,
        value_name = "OWNER/REPO"
    )]
    pub(crate) github_repository: Option<RepoName>,
}

/// `gaffer role`.
#[derive(Debug, Subcommand)]
pub(crate) enum RoleCommand {
    /// Have a role take part in the runs of its layer, built in or your own.
    #[command(after_help = "Example:\n  gaffer role add observers qa")]
    Add(OneRole),
    /// Write the file of a new role, with the places to fill in.
    #[command(after_help = "Example:\n  gaffer role create observers billing")]
    Create(OneRole),
    /// Have a role take part no more, and take its file out of the working tree.
    #[command(after_help = "Example:\n  gaffer role delete observers billing")]
    Delete(OneRole),
    /// List every role that there is or that the settings name.
    #[command(
        alias = "ls",
        after_help = "Examples:\n  gaffer role list\n  gaffer role list innovators"
    )]
    List {
        /// Only those of this layer.
        layer: Option<Layer>,
    },
    /// Show the focus of a role, as a prompt has it.
    #[command(after_help = "Example:\n  gaffer role show observers qa")]
    Show(OneRole),
    /// Check the file of a role, or of every role of your own.
    #[command(
        after_help = "Examples:\n  gaffer role validate\n  gaffer role validate observers billing"
    )]
    Validate {
        /// Only those of this layer.
        layer: Option<Layer>,
        /// Only this one.
        role: Option<RoleName>,
    },
}

/// One role of one layer.
#[derive(Debug, Args)]
pub(crate) struct OneRole {
    /// The layer: observers or innovators.
    pub(crate) layer: Layer,

    /// The role.
    pub(crate) role: RoleName,
}

/// `gaffer setup`.
#[derive(Debug, Subcommand)]
pub(crate) enum SetupCommand {
    /// Write `.jlo/setup/install.sh` of the tools in `tools.yml`, and the files of their values.
    #[command(alias = "g", after_help = "Example:\n  gaffer setup gen")]
    Gen,
    /// List the tools there are.
    #[command(
        alias = "ls",
        after_help = "Examples:\n  gaffer setup list\n  gaffer setup list --detail gh"
    )]
    List {
        /// Show what each of them needs, takes and runs, or this one.
        #[arg(long, value_name = "TOOL", num_args = 0..=1, value_parser = value::words)]
        detail: Option<Option<String>>,
    },
}

/// `gaffer workflow`.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Write `.github/workflows/jules-doctor.yml`, and `jules-relay.yml` if Actions' clock begins the runs.
    #[command(
        alias = "g",
        after_help = "Examples:\n  gaffer workflow generate\n  gaffer workflow generate self-hosted\n  gaffer workflow generate big-machines"
    )]
    Generate {
        /// Which machines run them: remote, self-hosted, or the label of some [default: `runner_mode` of the settings, else remote].
        #[arg(value_name = "MACHINES")]
        runner: Option<Runner>,
    },
    /// Run a layer, wait for its end, and print a report in JSON.
    #[command(
        alias = "r",
        after_help = "Examples:\n  gaffer workflow run narrator --repo acme/shop\n  gaffer workflow run observers --role qa --mock mock-1 --within 30m"
    )]
    Run(Box<ReportedRun>),
}

/// `gaffer workflow run`.
#[derive(Debug, Args)]
pub(crate) struct ReportedRun {
    #[command(flatten)]
    pub(crate) of: LayerArgs,

    /// How long to wait at most.
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = value::duration)]
    pub(crate) within: SignedDuration,
}

/// `gaffer exchange`.
#[derive(Debug, Subcommand)]
pub(crate) enum ExchangeCommand {
    /// List what the agents wrote for each other: summary, events, requirements, proposals.
    #[command(
        after_help = "Examples:\n  gaffer exchange inspect\n  gaffer exchange inspect --ref origin/jules --json"
    )]
    Inspect {
        /// Look into this revision in place of the worker branch.
        #[arg(long = "ref", value_name = "REV", value_parser = value::words)]
        revision: Option<String>,
        /// Look into this stream [default: generic].
        #[arg(long, value_name = "STREAM")]
        stream: Option<StreamName>,
    },
    /// Open each proposal that waits as an issue, and remove its file: all of them, or none while one is not in order.
    #[command(
        after_help = "Examples:\n  gaffer exchange publish-proposals\n  gaffer exchange publish-proposals --repo acme/shop --wait"
    )]
    PublishProposals(ExchangeRun),
    /// Remove a requirement, or what trial runs made.
    #[command(
        subcommand,
        after_help = "Examples:\n  gaffer exchange clean requirement .jules/exchange/requirements/k3v9qd-slow-search.yml\n  gaffer exchange clean mock --tag mock-1"
    )]
    Clean(CleanCommand),
}

/// `gaffer exchange clean`.
#[derive(Debug, Subcommand)]
pub(crate) enum CleanCommand {
    /// Remove the file of a requirement, with the events that led to it, by one pull request.
    #[command(
        after_help = "Example:\n  gaffer exchange clean requirement .jules/exchange/requirements/k3v9qd-slow-search.yml --wait"
    )]
    Requirement {
        /// Its file on the worker branch.
        #[arg(value_name = "PATH", value_parser = tree_path)]
        path: TreePath,

        #[command(flatten)]
        run: ExchangeRun,
    },
    /// Close the open pull requests of a trial run, delete their branches, and remove the files that were merged.
    #[command(after_help = "Example:\n  gaffer exchange clean mock --tag mock-1 --wait")]
    Mock {
        /// The name of the trial run.
        #[arg(long, value_name = "TAG")]
        tag: MockTag,

        #[command(flatten)]
        run: ExchangeRun,
    },
}

/// `gaffer labels`.
#[derive(Debug, Subcommand)]
pub(crate) enum LabelsCommand {
    /// Make the labels of `.jules/github-labels.json` in the repository on GitHub, and give them their colours.
    #[command(
        after_help = "Examples:\n  gaffer labels sync\n  gaffer labels sync --repo acme/shop --wait"
    )]
    Sync(ExchangeRun),
}

/// A run that changes the exchange, or the labels of its requirements.
#[derive(Debug, Args)]
pub(crate) struct ExchangeRun {
    #[command(flatten)]
    pub(crate) on: OnGithub,

    /// Wait for the end of the run, and print each step as it ends.
    #[arg(long)]
    pub(crate) wait: bool,

    /// How long to wait at most.
    #[arg(long, value_name = "DURATION", default_value = "1h", requires = "wait", value_parser = value::duration)]
    pub(crate) within: SignedDuration,

    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,
}

fn tree_path(text: &str) -> Result<TreePath, String> {
    let path = value::words(text)?;
    path.parse()
        .map_err(|error: scaffold::tree::InvalidPath| error.to_string())
}
