//! `gaffer logs`, `gaffer pause` and `gaffer resume`.

use clap::Args;
use domain::ids::RepoName;

use super::job::JobOrSession;

/// The job to show.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer logs 01j00000000000000000000000\n  gaffer logs 01j00000000000000000000000 --json"
)]
pub(crate) struct LogsArgs {
    /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`.
    pub(crate) id: JobOrSession,
}

/// What to pause or resume.
#[derive(Debug, Clone, Args)]
pub(crate) struct SwitchArgs {
    /// Only this source, instead of everything.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) source: Option<RepoName>,
}
