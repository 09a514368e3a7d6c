//! `gaffer probe`.

use std::path::PathBuf;

use clap::Args;
use domain::ids::{AccountName, BranchName, RepoName};
use jiff::SignedDuration;

use super::value;

/// How Jules is asked what nobody has written down.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer probe --repo acme/shop\n  gaffer probe --repo acme/shop --yes --transcript jules.jsonl --json\n\nIt spends at most two tasks, opens no pull request, and deletes the sessions it began. The transcript holds no keys, addresses or texts of yours; `gaffer sandbox --replay FILE` plays it."
)]
pub(crate) struct ProbeArgs {
    /// The repository that the two tasks are about; nothing is pushed to it.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: RepoName,

    /// The Jules account whose tasks are spent.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) account: AccountName,

    /// The branch that the tasks start from.
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub(crate) branch: BranchName,

    /// Spend the tasks and delete the sessions without asking.
    #[arg(long)]
    pub(crate) yes: bool,

    /// Leave the sessions where they are.
    #[arg(long)]
    pub(crate) keep: bool,

    /// Where the transcript goes; a file that is there is replaced.
    #[arg(long, value_name = "FILE", value_parser = value::file, default_value = "gaffer-probe.jsonl")]
    pub(crate) transcript: PathBuf,

    /// How long to wait for Jules at each step.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = value::duration)]
    pub(crate) patience: SignedDuration,

    /// How long to wait between two looks.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = value::blink)]
    pub(crate) every: SignedDuration,

    /// How many cheap requests to make in a row at the end, to meet a limit; 0 makes none.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(0..=600))]
    pub(crate) burst: u32,

    /// Where Jules is [default: what `gaffer init` remembered, else Google's].
    #[arg(long, env = "JULES_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::jules_base)]
    pub(crate) jules_base: Option<String>,
}
