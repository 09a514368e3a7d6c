//! `gaffer status`, `gaffer logs` and `gaffer cost`.

use clap::Args;

use super::job::JobOrSession;
use super::stack::StackArgs;

/// Whose state is told.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  gaffer status --json\n  gaffer status --stack gaffer")]
pub(crate) struct StatusArgs {
    /// Which Gaffer.
    #[command(flatten)]
    pub(crate) stack: StackArgs,
}

/// Whose cost is told.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  gaffer cost --stack gaffer\n  gaffer cost --json")]
pub(crate) struct CostArgs {
    /// Which Gaffer.
    #[command(flatten)]
    pub(crate) stack: StackArgs,
}

/// Which job is told of.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer logs 01j00000000000000000000000\n  gaffer logs 01j00000000000000000000000 --json"
)]
pub(crate) struct LogsArgs {
    /// A job or session id.
    pub(crate) id: JobOrSession,

    /// Which Gaffer.
    #[command(flatten)]
    pub(crate) stack: StackArgs,
}
