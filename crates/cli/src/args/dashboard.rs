//! Options of `gaffer dashboard`.

use clap::Args;
use url::Url;

use super::value;

/// `gaffer dashboard`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gaffer dashboard\n  gaffer dashboard --open\n  gaffer dashboard --stack gaffer --url https://example.lambda-url.eu-west-1.on.aws"
)]
pub(crate) struct DashboardArgs {
    /// Where `gaffer up` listens [default: as the data folder says, else http://127.0.0.1:4180], or the API of a stack.
    #[arg(long, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// Open the page in a browser, too.
    #[arg(long)]
    pub(crate) open: bool,
}
