//! The command line: one seed, several of them, or the process that is killed.

use std::path::PathBuf;

use agents::HostRule;
use clap::{Args, Parser};

use crate::moment::Moment;

/// Plays jobs with every fault on, and kills and restarts Gaffer where a seed says.
#[derive(Debug, Parser)]
#[command(name = "chaos")]
pub(crate) enum ChaosLine {
    /// Play one seed.
    Seed(SeedArgs),
    /// Play several seeds, and print where they killed.
    Seeds(SeedsArgs),
    /// The process that is killed and started again.
    #[command(hide = true)]
    Child(ChildArgs),
}

/// How one seed is played.
#[derive(Debug, Args)]
pub(crate) struct SeedArgs {
    /// Which one.
    pub(crate) seed: u64,

    /// Keep the killed Gaffer's data folder with its log, and what the sandbox saw, and say where.
    #[arg(long)]
    pub(crate) keep: bool,

    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How several seeds are played.
#[derive(Debug, Args)]
pub(crate) struct SeedsArgs {
    /// The first one.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) from: u64,

    /// How many.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) count: u64,

    /// How many are played at the same time.
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) at_once: u16,

    /// Stop at the first seed that fails.
    #[arg(long)]
    pub(crate) until_failure: bool,

    /// Print what they came to as JSON, and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the process that is killed runs. No person types this.
#[derive(Debug, Args)]
pub(crate) struct ChildArgs {
    /// The data folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,

    /// The file that tells the time.
    #[arg(long, value_name = "FILE")]
    pub(crate) clock: PathBuf,

    /// Draws what becomes of messages, and ids.
    #[arg(long)]
    pub(crate) seed: u64,

    /// Where Jules is.
    #[arg(long, value_name = "URL")]
    pub(crate) jules_base: String,

    /// Where GitHub is.
    #[arg(long, value_name = "URL")]
    pub(crate) github_base: String,

    /// The agents' host.
    #[arg(long = "allow-host", value_name = "HOST[:PORT]")]
    pub(crate) allow_hosts: Vec<HostRule>,

    /// Moments at which to stop dead.
    #[arg(long, value_name = "KIND:PLACE")]
    pub(crate) die_at: Vec<Moment>,
}
