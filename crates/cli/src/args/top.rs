//! `gaffer top`.

use clap::Args;
use url::Url;

use super::value;

/// How it is shown.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer top\n  gaffer top --once\n  gaffer top --once --json\n\n`j` and `k` or the arrows choose a job; `a` approves its plan, `s` answers, `m` merges, `c` cancels, each after a question, and `o` opens its page. `q` or Ctrl-C ends it. Where no terminal reads it, it is shown once."
)]
pub(crate) struct TopArgs {
    /// Show it once, and end.
    #[arg(long)]
    pub(crate) once: bool,

    /// Where the HTTP API of Gaffer is [default: as the data folder says].
    #[arg(long, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,
}
