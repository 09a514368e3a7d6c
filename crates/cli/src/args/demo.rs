//! `gaffer demo` and `gaffer sandbox`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::value;

/// How the demo is played.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer demo\n  gaffer demo --no-webhooks --json\n  gaffer demo --deliveries\n  gaffer demo --pipeline --keep shop.git\n  gaffer demo --sprint"
)]
pub(crate) struct DemoArgs {
    /// Play it without webhooks: pull requests are read at intervals.
    #[arg(long)]
    pub(crate) no_webhooks: bool,

    /// Play three labelled issues on their way to closed deliveries.
    #[arg(long, group = "staying")]
    pub(crate) deliveries: bool,

    /// Play the pipeline of a repository, from its scaffold to a requirement that is merged and tidied away.
    #[arg(long, group = "staying")]
    pub(crate) pipeline: bool,

    /// Play a sprint of five personas, of which one conflicts with another and mends it.
    #[arg(long, group = "staying")]
    pub(crate) sprint: bool,

    /// Keep it running at the end, and print the dashboard's address and a token, until Ctrl-C.
    #[arg(long, requires = "staying")]
    pub(crate) stay: bool,

    /// With `--pipeline`: leave its repository in this folder, to be cloned.
    #[arg(long, value_name = "DIR", requires = "pipeline", value_parser = value::folder)]
    pub(crate) keep: Option<PathBuf>,

    /// Whether to answer in JSON, from `--json`.
    #[arg(skip)]
    pub(crate) json: bool,
}

/// How the sandbox is served.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer sandbox\n  gaffer sandbox --list\n  gaffer sandbox --scenario question\n  gaffer sandbox --folder .\n  gaffer sandbox --listen 127.0.0.1:4190 --scenario story.json"
)]
pub(crate) struct SandboxArgs {
    /// Where it listens; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4190", value_parser = value::listen)]
    pub(crate) listen: SocketAddr,

    /// The scenario: one of the names that `--list` shows, or a file.
    #[arg(long, value_name = "NAME|FILE", value_parser = value::file)]
    pub(crate) scenario: Option<PathBuf>,

    /// Serve this folder's files as the first repository, which then is real git: those that git tracks, where it is a
    /// repository.
    #[arg(long, value_name = "DIR", value_parser = value::folder)]
    pub(crate) folder: Option<PathBuf>,

    /// Open an issue with the label `gaffer` in the first repository.
    #[arg(long, value_name = "TITLE", value_parser = value::words)]
    pub(crate) issue: Option<String>,

    /// List the scenarios that have names, and serve nothing.
    #[arg(long, conflicts_with = "scenario")]
    pub(crate) list: bool,

    /// Whether to answer in JSON, from `--json`.
    #[arg(skip)]
    pub(crate) json: bool,
}
