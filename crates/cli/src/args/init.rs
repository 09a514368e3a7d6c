//! `gaffer init`.

use std::path::PathBuf;

use clap::Args;
use domain::ids::{AccountName, AgentName, BranchName, RepoName};
use url::Url;

use super::source::{PolicyArgs, TimingArgs};
use super::value;

/// Everything that a first pull request needs; missing options are asked for at a terminal.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer init\n  gaffer init --repo acme/shop --merge on-green\n  cat .env | gaffer init --repo acme/shop --secrets-stdin\n\nSecrets are never arguments. They come from a file, from standard input, from JULES_API_KEY and GITHUB_TOKEN in the environment, or from a hidden question, and are kept as files that only you can read.\n\nExit codes: 0 nothing stands in the way, 1 something failed or the doctor found errors, 2 something is missing. What was stored by then stays."
)]
pub(crate) struct InitArgs {
    /// The repository to work on.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: Option<RepoName>,

    /// The name of the Jules account.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) account: AccountName,

    /// Read the Jules key from a file.
    #[arg(long, value_name = "FILE", value_parser = value::file)]
    pub(crate) key_file: Option<PathBuf>,

    /// Read the GitHub token from a file.
    #[arg(long, value_name = "FILE", value_parser = value::file)]
    pub(crate) github_token_file: Option<PathBuf>,

    /// Read lines `JULES_API_KEY=…` and `GITHUB_TOKEN=…` from standard input; other lines are ignored.
    #[arg(long, conflicts_with_all = ["key_file", "github_token_file"])]
    pub(crate) secrets_stdin: bool,

    /// The agent that is woken when a decision is needed; without one a person looks.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,

    /// Where that agent's wakes go, if it is a new one; it is called `helper` unless `--agent` names it.
    #[arg(long, value_name = "URL", value_parser = value::agent_url)]
    pub(crate) agent_url: Option<Url>,

    /// The base branch of jobs that name none [at first: the repository's default branch].
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<BranchName>,

    /// Ask nothing, also at a terminal.
    #[arg(long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) upstreams: UpstreamArgs,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    #[command(flatten)]
    pub(crate) timing: TimingArgs,
}

/// Where Jules and GitHub are, where that is not the usual place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Where Jules and GitHub are")]
pub(crate) struct UpstreamArgs {
    /// Where Jules is; stored [default: the stored address, else Google's].
    #[arg(long, env = "JULES_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::jules_base)]
    pub(crate) jules_base: Option<String>,

    /// Where GitHub's API is; stored [default: the stored address, else GitHub's].
    #[arg(long, env = "GITHUB_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::github_base)]
    pub(crate) github_base: Option<String>,
}
