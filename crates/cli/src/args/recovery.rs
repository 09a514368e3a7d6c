//! `gaffer backup`, `gaffer restore`, `gaffer export` and `gaffer import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::value;

/// Where a backup goes.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer backup gaffer-2026-11-22.db\n  gaffer backup --with-secrets everything.db"
)]
pub(crate) struct BackupArgs {
    /// The file to write; it must not exist yet.
    #[arg(value_parser = value::file)]
    pub(crate) file: PathBuf,

    /// Write the stored secrets into it too. Readers of the file then have your keys.
    #[arg(long)]
    pub(crate) with_secrets: bool,
}

/// The backup to restore.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer restore gaffer-2026-11-22.db\n  gaffer restore gaffer-2026-11-22.db --replace --data DIR"
)]
pub(crate) struct RestoreArgs {
    /// A file that `gaffer backup` wrote.
    #[arg(value_parser = value::file)]
    pub(crate) file: PathBuf,

    /// Replace what the data folder holds; it is kept beside.
    #[arg(long)]
    pub(crate) replace: bool,
}

/// What is exported, and how.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer export > jobs.jsonl\n  gaffer export --all > everything.jsonl\n  gaffer export --all --stack gaffer > everything.jsonl"
)]
pub(crate) struct ExportArgs {
    /// A line for each source, for each job with its events, its effects, its pull request and what that was judged
    /// by, for each delivery with its plan and its runs, and for each run of a pipeline and each requirement. This is
    /// the default.
    #[arg(long, conflicts_with = "all")]
    pub(crate) jobs: bool,

    /// A line for each stored record, as stored.
    #[arg(long)]
    pub(crate) all: bool,
    /// How the lines are written.
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub(crate) format: ExportFormat,
}

/// What is imported, and where to.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer import everything.jsonl --data DIR\n  gaffer export --all | gaffer import --stack gaffer\n  gaffer export --all --stack gaffer | gaffer import --data DIR"
)]
pub(crate) struct ImportArgs {
    /// What `gaffer export --all` printed; standard input without it, or with `-`.
    #[arg(value_parser = value::file)]
    pub(crate) file: Option<PathBuf>,
}

/// How an export is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object on each line.
    Jsonl,
}
