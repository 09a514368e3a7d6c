//! `gaffer jobs`, `gaffer events` and `gaffer monitor`: what works on the files of jobs and events.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::event::EventCursor;
use domain::ids::{AgentName, RepoName};

use super::outside::OutsideArgs;
use super::value;

/// Which settings hold.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConfigArgs {
    /// Where the files are and how often they are read [default: `config.json` in the data folder, if there is one].
    #[arg(long, value_name = "FILE", value_parser = value::file)]
    pub(crate) config: Option<PathBuf>,
}

/// What to do with the list of jobs.
#[derive(Debug, Subcommand)]
pub(crate) enum JobsCommand {
    /// Watch the jobs and sessions of a list: jobs of ours get its notes, sessions that no job watches yet are
    /// adopted.
    ///
    /// A list is a JSON array, or has one entry on each line: `{"job_id": ID, "metadata": {..}}` or only an id, which
    /// is a job's or a session's. Duplicates count once. A wrong entry is reported with its number, and the others go
    /// on; the command then ends with exit code 1.
    Import(JobsImportArgs),
    /// Print the list of jobs as JSON lines, the oldest first.
    #[command(
        after_help = "Examples:\n  gaffer jobs export\n  gaffer jobs export --active > zai_jobs.jsonl"
    )]
    Export {
        /// Only jobs that have not ended.
        #[arg(long)]
        active: bool,
    },
}

/// Which list.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer jobs import zai_jobs.jsonl\n  gaffer jobs import zai_jobs.jsonl --repo acme/shop --agent me\n  gaffer jobs export --active | gaffer jobs import -"
)]
pub(crate) struct JobsImportArgs {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE", value_parser = value::file)]
    pub(crate) file: PathBuf,

    /// What adopted sessions belong to.
    #[command(flatten)]
    pub(crate) adopted: AdoptedArgs,
}

/// What adopted sessions belong to.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AdoptedArgs {
    /// The repository of sessions whose entry names none [default: the only source, if there is only one].
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repo: Option<RepoName>,

    /// Who is woken for them; the source's agent without one.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
}

/// What to do with events.
#[derive(Debug, Subcommand)]
pub(crate) enum EventsCommand {
    /// Print events as JSON lines, the oldest first, as agents get them.
    ///
    /// The new cursor is printed on stderr: it goes into `--after` of the next run. With `--append` it is kept in a
    /// file.
    Export(EventsExportArgs),
}

/// Which events, and where to.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer events export\n  gaffer events export --after e1.1767225600000000000.\n  gaffer events export --append\n  gaffer events export --append --follow --config config.json"
)]
pub(crate) struct EventsExportArgs {
    /// Only events after this place.
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<EventCursor>,

    /// Append missing ones to `events_path` instead.
    #[arg(long, conflicts_with = "after")]
    pub(crate) append: bool,

    /// Go on with new ones, until stopped.
    #[arg(long)]
    pub(crate) follow: bool,

    /// The files.
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// How the monitor runs.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer monitor --once\n  gaffer monitor --loop --config config.json\n  gaffer monitor --loop --observe-only",
    group = clap::ArgGroup::new("how").required(true).args(["once", "in_a_loop"])
)]
pub(crate) struct MonitorArgs {
    /// Do what is due now, and end.
    #[arg(long)]
    pub(crate) once: bool,

    /// Go on until stopped, every `monitor_poll_seconds`.
    #[arg(long = "loop")]
    pub(crate) in_a_loop: bool,

    /// The files.
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// What adopted sessions belong to.
    #[command(flatten)]
    pub(crate) adopted: AdoptedArgs,

    /// Watch only: write nothing to Jules or GitHub.
    #[arg(long)]
    pub(crate) observe_only: bool,

    /// Where the world outside is.
    #[command(flatten)]
    pub(crate) outside: OutsideArgs,

    /// Whether to answer in JSON, from `--json`.
    #[arg(skip)]
    pub(crate) json: bool,
}
