//! `gaffer watch` and `gaffer handle-event`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use domain::ids::AgentName;
use jiff::SignedDuration;
use url::Url;

use super::files::ConfigArgs;
use super::value;

/// Who watches, and what is run.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer watch --agent me -- ./on-event.sh\n  gaffer watch --agent me\n  gaffer watch --agent me --once -- sh -c 'echo \"$JULES_EVENT\"'\n  gaffer watch --events zai_events.jsonl -- ./on-event.sh"
)]
pub(crate) struct WatchArgs {
    /// Whose inbox.
    #[arg(long, value_name = "NAME", required_unless_present = "events")]
    pub(crate) agent: Option<AgentName>,

    /// Take the events of a file instead, one after the other, and remember how far in `watcher_state_path`.
    #[arg(long, value_name = "FILE", value_parser = value::file, conflicts_with_all = ["agent", "at_once"])]
    pub(crate) events: Option<PathBuf>,

    /// Where the state is, and what is run without a command.
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// How many events are handled at a time; those of one job never are.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) at_once: u8,

    /// How long the command may take for one event; it is ended then, and the event comes again.
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = value::duration)]
    pub(crate) timeout: SignedDuration,

    /// Handle the present events, and end.
    #[arg(long)]
    pub(crate) once: bool,

    /// Where the HTTP API of Gaffer is [default: as the data folder says].
    #[arg(long, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// The command to run for each event [default: `gaffer handle-event`]. Exit code 0 says that the event is done;
    /// after any other it comes again.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    /// Whether to answer in JSON, from `--json`.
    #[arg(skip)]
    pub(crate) json: bool,
}

/// What the default handler may do itself.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer handle-event --auto-approve-plans\n  gaffer watch --agent me -- gaffer handle-event --auto-approve-plans"
)]
pub(crate) struct HandleArgs {
    /// The event, as `gaffer watch` gives it [default: what is read from standard input].
    #[arg(long, env = "JULES_EVENT", hide_env_values = true, value_name = "JSON")]
    pub(crate) event: Option<String>,

    /// Approve every plan that is shown.
    #[arg(long)]
    pub(crate) auto_approve_plans: bool,

    /// Where the HTTP API of Gaffer is [default: as the data folder says].
    #[arg(long, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,
}
