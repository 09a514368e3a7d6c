//! `gaffer wake`.

use clap::{Args, Subcommand, ValueEnum};
use domain::ids::AgentName;
use jiff::SignedDuration;

use super::job::JobOrSession;
use super::value;

/// What to do with wakes.
#[derive(Debug, Subcommand)]
pub(crate) enum WakeCommand {
    /// List wakes, the newest first.
    #[command(
        after_help = "Examples:\n  gaffer wake list\n  gaffer wake list --state given-up --since 2d\n  gaffer wake list --agent me --json"
    )]
    List(ListWakesArgs),
    /// Show a wake as it is sent, and its progress.
    #[command(after_help = "Example:\n  gaffer wake show evt_6f1c0a2b3c4d5e6f708192a3b4c5d6e7")]
    Show {
        /// Which event: its id, or the first 4 or more characters of that.
        #[arg(value_parser = value::event)]
        event: String,
    },
    /// Restart a wake that was given up, or that waits; one that was acknowledged stays so.
    #[command(
        after_help = "Examples:\n  gaffer wake replay evt_6f1c0a2b3c4d5e6f708192a3b4c5d6e7\n  gaffer wake replay --since 2h\n  gaffer wake replay --since 1d --agent me"
    )]
    Replay(ReplayArgs),
}

/// Which wakes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ListWakesArgs {
    /// Only wakes of this agent.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,

    /// Only wakes of this job.
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<JobOrSession>,

    /// Only wakes that are so far.
    #[arg(long, value_enum, value_name = "STATE")]
    pub(crate) state: Option<WakeFilter>,

    /// Only wakes of events that were seen at most this long ago.
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) since: Option<SignedDuration>,

    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) limit: u16,
}

/// Which wakes are sent again.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReplayArgs {
    /// Which event: its id, or the first 4 or more characters of that.
    #[arg(required_unless_present = "since", conflicts_with = "since", value_parser = value::event)]
    pub(crate) event: Option<String>,

    /// All given-up wakes of events that were seen at most this long ago.
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) since: Option<SignedDuration>,

    /// Only wakes of this agent.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
}

/// How far a wake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WakeFilter {
    /// It waits for its next attempt, or in an inbox.
    Waiting,
    /// It is being sent.
    Sending,
    /// It was received and is not acknowledged yet.
    Taken,
    /// It was acknowledged.
    Acknowledged,
    /// It was given up: a person has to see it.
    GivenUp,
}

impl WakeFilter {
    /// The word used in input and output.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sending => "sending",
            Self::Taken => "taken",
            Self::Acknowledged => "acknowledged",
            Self::GivenUp => "given-up",
        }
    }
}
