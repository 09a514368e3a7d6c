//! `gaffer demo` and `gaffer sandbox`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::value;

/// How the demo is played.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer demo\n  gaffer demo --no-webhooks --json\n  gaffer demo --deliveries\n  gaffer demo --pipeline --keep shop.git\n  gaffer demo --sprint\n  gaffer demo --chaos 7"
)]
pub(crate) struct DemoArgs {
    /// Play it without webhooks: pull requests are read at intervals.
    #[arg(long)]
    pub(crate) no_webhooks: bool,

    /// Play three labelled issues on their way to closed deliveries.
    #[arg(long, conflicts_with = "chaos", group = "staying")]
    pub(crate) deliveries: bool,

    /// Play the pipeline of a repository, from its scaffold to a requirement that is merged and tidied away.
    #[arg(long, groups = ["staying", "keeping"])]
    pub(crate) pipeline: bool,

    /// Play a sprint of five personas, of which one conflicts with another and mends it.
    #[arg(long, conflicts_with = "chaos", group = "staying")]
    pub(crate) sprint: bool,

    /// Keep it running at the end, and print the dashboard's address and a token, until Ctrl-C.
    #[arg(long, requires = "staying")]
    pub(crate) stay: bool,

    /// Play it with every fault on, and kill and restart Gaffer where this seed says.
    #[arg(
        long,
        value_name = "SEED",
        conflicts_with = "no_webhooks",
        group = "keeping"
    )]
    pub(crate) chaos: Option<u64>,

    /// Play so many seeds from that one on, and print where they killed.
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "chaos", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) seeds: u64,

    /// How many seeds are played at the same time.
    #[arg(long, value_name = "COUNT", default_value_t = 2, requires = "chaos", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) at_once: u16,

    /// With `--pipeline`: leave its repository in this folder, to be cloned. With `--chaos`, and without a folder: keep the
    /// killed Gaffer's data folder with its log, and what the sandbox saw, and say where.
    #[arg(long, value_name = "DIR", requires = "keeping", conflicts_with = "seeds", value_parser = value::folder)]
    pub(crate) keep: Option<Option<PathBuf>>,

    /// Stop at the first seed that fails.
    #[arg(long, requires = "chaos")]
    pub(crate) until_failure: bool,

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
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4190")]
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
