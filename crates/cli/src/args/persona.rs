//! Options of `gaffer persona`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::ids::PersonaName;

use super::value;

/// `gaffer persona`.
#[derive(Debug, Subcommand)]
pub(crate) enum PersonaCommand {
    /// Write 23 personas to `.jules/personas/`, for you to change and commit.
    #[command(
        after_help = "Examples:\n  gaffer persona init\n  gaffer persona init ../shop --replace"
    )]
    Init {
        /// Where.
        #[command(flatten)]
        of: RepositoryArgs,
        /// Replace those that are there and differ.
        #[arg(long)]
        replace: bool,
    },
    /// List the personas, and which of them start with a sprint.
    #[command(
        alias = "ls",
        after_help = "Examples:\n  gaffer persona list\n  gaffer persona list --json"
    )]
    List(RepositoryArgs),
    /// Show the prompt of a persona, with its places to fill in.
    #[command(after_help = "Example:\n  gaffer persona show curator")]
    Show {
        /// Which.
        id: PersonaName,
        /// Where.
        #[command(flatten)]
        of: RepositoryArgs,
    },
    /// Check the file of every persona: exit code 1 if one cannot be used.
    #[command(
        after_help = "Examples:\n  gaffer persona validate\n  gaffer persona validate ../shop"
    )]
    Validate(RepositoryArgs),
}

/// The repository whose working tree is read and written.
#[derive(Debug, Args)]
pub(crate) struct RepositoryArgs {
    /// A folder of the repository [default: the present one].
    #[arg(value_parser = value::folder)]
    pub(crate) dir: Option<PathBuf>,
}
