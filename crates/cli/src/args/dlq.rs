//! `gaffer dlq`.

use clap::{Args, Subcommand};
use engine::dead_letters::DeadLetterQueue;

use super::value::{self, Word};

/// What to do with dead letters.
#[derive(Debug, Args)]
pub(crate) struct DlqArgs {
    /// Which queue's.
    #[arg(long, global = true, value_name = "QUEUE", default_value = "work", value_parser = value::one_of(&QUEUES))]
    pub(crate) queue: DeadLetterQueue,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: DlqCommand,
}

/// The queues.
const QUEUES: [Word<DeadLetterQueue>; 2] = [
    ("work", DeadLetterQueue::Work, "Wake-ups"),
    (
        "ticks",
        DeadLetterQueue::Ticks,
        "Ticks, which only a stack has",
    ),
];

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
