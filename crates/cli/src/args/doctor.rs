//! `gaffer doctor`.

use clap::Args;
use domain::ids::RepoName;
use url::Url;

use super::outside::OutsideArgs;
use super::value;

/// What the doctor checks.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = "Examples:\n  gaffer doctor\n  gaffer doctor --source acme/shop --json\n  gaffer doctor --webhook-url https://gaffer.example.com/github/webhook\n\nExit codes: 0 no error was found, 1 some were. docs/doctor.md lists every code."
)]
pub(crate) struct DoctorArgs {
    /// Check only this source, and what it needs.
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) source: Option<RepoName>,

    #[command(flatten)]
    pub(crate) outside: OutsideArgs,

    /// Where GitHub's webhooks should go: the public address of Gaffer, with /github/webhook.
    #[arg(long, value_name = "URL", value_parser = value::base)]
    pub(crate) webhook_url: Option<Url>,
}
