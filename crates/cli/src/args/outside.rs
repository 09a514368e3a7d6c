//! Where Jules, GitHub and agents are, for the commands that work.

use agents::HostRule;
use clap::Args;

use super::value;

/// Where the world outside is.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OutsideArgs {
    /// Where Jules is [default: the address stored by `gaffer init`, else Google's].
    #[arg(long, env = "JULES_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::jules_base)]
    pub(crate) jules_base: Option<String>,

    /// Where GitHub's API is [default: the address stored by `gaffer init`, else GitHub's].
    #[arg(long, env = "GITHUB_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::github_base)]
    pub(crate) github_base: Option<String>,

    /// Sign in to GitHub as this App, with the private key in the secret `github` (or GITHUB_APP_KEY).
    #[arg(long, env = "GITHUB_APP_ID", value_name = "ID", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) github_app_id: Option<u64>,

    /// An agent's host that may be woken although it is private, speaks plain HTTP or listens on another port than
    /// 443. Can be given several times.
    #[arg(
        long = "allow-host",
        env = "GAFFER_ALLOW_HOSTS",
        value_name = "HOST[:PORT]",
        value_delimiter = ',',
        value_parser = value::host_rule
    )]
    pub(crate) allow_hosts: Vec<HostRule>,
}
