//! `gaffer dlq`.

use clap::{Args, Subcommand, ValueEnum};

use super::value;

/// What to do with dead letters.
#[derive(Debug, Args)]
pub(crate) struct DlqArgs {
    /// Which queue's.
    #[arg(long, global = true, value_enum, value_name = "QUEUE", default_value_t = QueueName::Work)]
    pub(crate) queue: QueueName,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: DlqCommand,
}

/// A queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueueName {
    /// Wake-ups.
    Work,
    /// Ticks, which only a stack has.
    Ticks,
}

/// What to do with dead letters.
#[derive(Debug, Subcommand)]
pub(crate) enum DlqCommand {
    /// List them, the oldest first.
    #[command(
        after_help = "Examples:\n  gaffer dlq list\n  gaffer dlq list --stack gaffer --queue ticks"
    )]
    List,
    /// Show one as sent.
    #[command(after_help = "Example:\n  gaffer dlq show 7")]
    Show(OneLetter),
    /// Put one back to work, or all that can be read.
    #[command(after_help = "Examples:\n  gaffer dlq redrive 7\n  gaffer dlq redrive --all")]
    Redrive(RedriveArgs),
    /// Delete one.
    #[command(after_help = "Example:\n  gaffer dlq drop 7")]
    Drop(OneLetter),
}

/// Which message.
#[derive(Debug, Clone, Args)]
pub(crate) struct OneLetter {
    /// The id that `gaffer dlq list` shows.
    #[arg(value_parser = value::words)]
    pub(crate) id: String,
}

/// Which messages go back to work.
#[derive(Debug, Clone, Args)]
pub(crate) struct RedriveArgs {
    /// The id that `gaffer dlq list` shows.
    #[arg(required_unless_present = "all", conflicts_with = "all", value_parser = value::words)]
    pub(crate) id: Option<String>,

    /// All that can be read; malformed ones stay.
    #[arg(long)]
    pub(crate) all: bool,
}
