//! Options of `gaffer pull`.

use clap::{Args, Subcommand};
use domain::ids::{PullRef, RepoName};
use url::Url;

use super::value;

/// `gaffer pull`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gaffer pull list")]
pub(crate) struct PullArgs {
    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, global = true, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: PullCommand,
}

/// What to do with pull requests.
#[derive(Debug, Subcommand)]
pub(crate) enum PullCommand {
    /// List open pull requests of jobs, the oldest first.
    ///
    /// One that was closed stays for ten minutes, in which it can be reopened.
    #[command(
        after_help = "Examples:\n  gaffer pull list\n  gaffer pull list --repo acme/shop --json"
    )]
    List {
        /// Only this repository's.
        #[arg(long, value_name = "OWNER/REPO")]
        repo: Option<RepoName>,
    },
    /// Explain why a pull request is not merged, or not even read, and what happens next.
    #[command(after_help = "Example:\n  gaffer pull why 'acme/shop#7'")]
    Why {
        /// Which pull request.
        #[arg(value_name = "OWNER/REPO#NUMBER")]
        pull: PullRef,
    },
}
