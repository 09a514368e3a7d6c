//! `gaffer logs`.

use clap::Args;

use super::job::JobOrSession;

/// Which job is told of.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer logs 01j00000000000000000000000\n  gaffer logs 01j00000000000000000000000 --json"
)]
pub(crate) struct LogsArgs {
    /// A job or session id.
    pub(crate) id: JobOrSession,
}
