//! `gaffer doctor`.

use agents::HostRule;
use clap::Args;
use domain::ids::RepoName;
use url::Url;

use super::value;

/// What the doctor looks at.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = "Examples:\n  gaffer doctor\n  gaffer doctor --source acme/shop --json\n  gaffer doctor --webhook-url https://gaffer.example.com/github/webhook\n\nExit codes: 0 no error was found, 1 some were. docs/doctor.md lists every code."
)]
pub(crate) struct DoctorArgs {
    /// Look at this source only, and at what it needs.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) source: Option<RepoName>,

    /// Where Jules is [default: where `gaffer init` was told, else Google's].
    #[arg(long, env = "JULES_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::jules_base)]
    pub(crate) jules_base: Option<String>,

    /// Where GitHub's API is [default: where `gaffer init` was told, else GitHub's].
    #[arg(long, env = "GITHUB_API_BASE", hide_env_values = true, value_name = "URL", value_parser = value::github_base)]
    pub(crate) github_base: Option<String>,

    /// Sign in to GitHub as this App, as `gaffer up` does.
    #[arg(long, env = "GITHUB_APP_ID", value_name = "ID", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) github_app_id: Option<u64>,

    /// Where GitHub's webhooks should go: the public address of Gaffer's door, with /github/webhook.
    #[arg(long, value_name = "URL", value_parser = value::base)]
    pub(crate) webhook_url: Option<Url>,

    /// An agent's host that may be private, as `gaffer up` has it. Can be given several times.
    #[arg(
        long = "allow-host",
        env = "GAFFER_ALLOW_HOSTS",
        value_name = "HOST[:PORT]",
        value_delimiter = ',',
        value_parser = value::host_rule
    )]
    pub(crate) allow_hosts: Vec<HostRule>,
}
