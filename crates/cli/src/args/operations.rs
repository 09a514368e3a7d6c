//! `gaffer logs`, `gaffer pause` and `gaffer resume`.

use clap::Args;
use domain::ids::RepoName;

use super::delivery::DeliveryName;
use super::job::JobOrSession;
use super::pipeline::RunName;

/// The job or the run to show.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer logs 01j00000000000000000000000\n  gaffer logs 01j00000000000000000000000 --json\n  gaffer logs --delivery acme/shop#12\n  gaffer logs --pipeline 01k0000000000000000000000a\n  gaffer logs --pipeline latest"
)]
pub(crate) struct LogsArgs {
    /// Which job: its id or the beginning of it, a session's id, OWNER/REPO#N, or `latest`.
    #[arg(required_unless_present_any = ["pipeline", "delivery"])]
    pub(crate) id: Option<JobOrSession>,

    /// A run of a pipeline in place of a job, by its id or `latest`: its steps, and all that was done for its jobs.
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    pub(crate) pipeline: Option<RunName>,

    /// A delivery in place of a job, by any of its names: its phases, and all that was done for its jobs.
    #[arg(long, value_name = "DELIVERY", conflicts_with_all = ["id", "pipeline"])]
    pub(crate) delivery: Option<DeliveryName>,
}

/// What to pause or resume.
#[derive(Debug, Clone, Args)]
pub(crate) struct SwitchArgs {
    /// Only this source, instead of everything.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) source: Option<RepoName>,
}
