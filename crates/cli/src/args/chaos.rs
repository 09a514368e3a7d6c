//! The options of the process that `gaffer demo --chaos` kills and starts again.

use std::path::PathBuf;

use agents::HostRule;
use clap::{Args, Parser};

use super::value;
use crate::demo::Moment;

/// The command line of the process that is killed. It is no part of people's, so that no help, suggestion or completion shows it.
#[derive(Debug, Parser)]
#[command(name = "gaffer chaos-child", disable_help_flag = true)]
pub(crate) struct ChildLine {
    /// The data folder.
    #[arg(long, value_name = "DIR", value_parser = value::folder)]
    pub(crate) data: PathBuf,

    /// How it runs.
    #[command(flatten)]
    pub(crate) child: ChildArgs,
}

/// How the process that is killed runs. No person types this.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChildArgs {
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
