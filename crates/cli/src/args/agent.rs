//! `gaffer agent`.

use clap::{Args, Subcommand};
use domain::ids::AgentName;
use jiff::SignedDuration;
use url::Url;

use super::value;

/// What to do with agents.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Add an agent and show, once, the secret that its wakes are signed with.
    #[command(
        after_help = "Examples:\n  gaffer agent add bot --url https://bot.example.com/wake\n  gaffer agent add bot --url http://127.0.0.1:9000/wake"
    )]
    Add {
        /// Its name: a-z, 0-9 and `-`, a letter first.
        name: AgentName,
        /// Where its wakes go.
        #[arg(long, value_name = "URL", value_parser = value::agent_url)]
        url: Url,
    },
    /// Change where an agent's wakes go, or let one that was disabled take wakes again.
    Set(SetArgs),
    /// Send an agent a signed test message through the running `gaffer up`.
    #[command(after_help = "Example:\n  gaffer agent test bot")]
    Test {
        /// Which agent.
        name: AgentName,
        /// How long to wait for its acknowledgement.
        #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = value::short_wait)]
        within: SignedDuration,
    },
    /// List agents.
    #[command(after_help = "Example:\n  gaffer agent list --json")]
    List,
    /// Give an agent a new signing secret; both sign until `--finish`.
    Rotate(RotateArgs),
    /// Remove an agent and its secret.
    #[command(after_help = "Example:\n  gaffer agent remove bot")]
    Remove {
        /// Which agent.
        name: AgentName,
    },
}

/// A change of an agent.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer agent set bot --url https://bot.example.com/wake\n  gaffer agent set bot --enable"
)]
pub(crate) struct SetArgs {
    /// Which agent.
    pub(crate) name: AgentName,

    /// Where its wakes go from now on.
    #[arg(long, value_name = "URL", value_parser = value::agent_url, required_unless_present = "enable")]
    pub(crate) url: Option<Url>,

    /// Let it take wakes again after its receiver answered 410.
    #[arg(long)]
    pub(crate) enable: bool,
}

/// A step of a rotation.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer agent rotate bot\n  gaffer agent rotate bot --finish\n  gaffer agent rotate bot --undo"
)]
pub(crate) struct RotateArgs {
    /// Which agent.
    pub(crate) name: AgentName,

    /// The receiver knows the new secret: drop the old one.
    #[arg(long, conflicts_with = "undo")]
    pub(crate) finish: bool,

    /// The new secret is lost or not wanted: drop it and keep the old one.
    #[arg(long)]
    pub(crate) undo: bool,
}
