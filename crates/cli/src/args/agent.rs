//! `gaffer agent`.

use clap::{Args, Subcommand};
use domain::ids::AgentName;
use domain::wake::{Channel, Resume};
use jiff::SignedDuration;
use url::Url;

use super::value::{self, Word};

/// What to do with agents.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Add an agent. With an address, the secret that signs its wakes is shown once; without one, its wakes wait in
    /// its inbox.
    #[command(
        after_help = "Examples:\n  gaffer agent add bot --url https://bot.example.com/wake\n  gaffer agent add bot --url https://bot.example.com/wake --channel http --channel inbox\n  gaffer agent add bot\n  gaffer agent add me --notify desktop\n  gaffer agent add me --notify - < address-of-a-slack-webhook"
    )]
    Add {
        /// Its name: a-z, 0-9 and `-`, a letter first.
        name: AgentName,
        /// Where its wakes go; without one they wait in its inbox.
        #[arg(long, value_name = "URL", value_parser = value::agent_url)]
        url: Option<Url>,
        #[command(flatten)]
        ways: DeliveryWays,
        /// Show it every event that waits for a person: `desktop`, the address of a Slack or Discord webhook or of an
        /// ntfy topic, or `-` to read that address from stdin, so that no list of processes shows it.
        #[arg(long, value_name = "desktop|URL|-", value_parser = NotifyTo::parse, conflicts_with_all = ["url", "channel"])]
        notify: Option<NotifyTo>,
    },
    /// Change where an agent's wakes go, or let one that was disabled take wakes again.
    Set(SetAgentArgs),
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
    /// Show an agent: where its wakes go, which of them wait, and which sources wake it.
    #[command(after_help = "Example:\n  gaffer agent show bot")]
    Show {
        /// Which agent.
        name: AgentName,
    },
    /// Give an agent a new signing secret; both sign until `--finish`.
    Rotate(RotateArgs),
    /// Remove an agent and its secret.
    #[command(after_help = "Example:\n  gaffer agent remove bot")]
    Remove {
        /// Which agent.
        name: AgentName,
    },
}

/// Where a person's notices go, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotifyTo {
    /// The desktop of the machine that `gaffer up` runs on.
    Desktop,
    /// The address that is read from stdin.
    Stdin,
    /// An address.
    Url(Url),
}

impl NotifyTo {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "desktop" => Ok(Self::Desktop),
            "-" => Ok(Self::Stdin),
            address => value::agent_url(address).map(Self::Url),
        }
    }
}

/// Which ways wakes go, one after the other.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DeliveryWays {
    /// A channel of its wakes; given several times, a wake takes the next one when the previous one fails.
    #[arg(long, value_name = "WAY", value_parser = value::one_of(&CHANNELS))]
    pub(crate) channel: Vec<Channel>,
}

/// The ways to an agent.
const CHANNELS: [Word<Channel>; 2] = [
    ("http", Channel::Http, "A signed message to its address"),
    ("inbox", Channel::Inbox, "It waits until it is fetched"),
];

/// A change of an agent.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer agent set bot --url https://bot.example.com/wake\n  gaffer agent set bot --channel http --channel inbox\n  gaffer agent set bot --resume 7f3a2b\n  gaffer agent set bot --enable"
)]
pub(crate) struct SetAgentArgs {
    /// Which agent.
    pub(crate) name: AgentName,

    /// Where its wakes go from now on.
    #[arg(long, value_name = "URL", value_parser = value::agent_url, required_unless_present_any = ["enable", "channel", "resume", "no_resume"])]
    pub(crate) url: Option<Url>,

    #[command(flatten)]
    pub(crate) ways: DeliveryWays,

    /// A value for each of its wakes, for example the id of the agent's own session: 1 to 200 characters.
    #[arg(long, value_name = "ID", conflicts_with = "no_resume")]
    pub(crate) resume: Option<Resume>,

    /// Send nothing of that kind any more.
    #[arg(long)]
    pub(crate) no_resume: bool,

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
