//! `gaffer dashboard`: a link that signs in to the dashboard of a running Gaffer.

use anyhow::{Context, Result};
use clap::Args;
use domain::web_page::WebPage;
use serde_json::json;
use url::Url;

use crate::args::value;
use crate::context::CommandContext;
use crate::job::browser;
use crate::render::Answer;
use crate::site;

/// `gaffer dashboard`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gaffer dashboard\n  gaffer dashboard --open\n  gaffer dashboard --stack gaffer --url https://example.lambda-url.eu-west-1.on.aws"
)]
pub(crate) struct DashboardArgs {
    /// Where `gaffer up` listens [default: as the data folder says], or the API of a stack.
    #[arg(long, env = "GAFFER_URL", hide_env_values = true, value_name = "URL", value_parser = value::base)]
    pub(crate) url: Option<Url>,

    /// Open the page in a browser, too.
    #[arg(long)]
    pub(crate) open: bool,
}

/// Prints a link that is good for a minute, and opens it if asked to.
pub(crate) async fn run(args: DashboardArgs, here: &CommandContext) -> Result<Answer> {
    let client = site::api_client(args.url.clone(), here).await?;
    let base = site::base(args.url.as_ref(), here)?;
    let link = client.dashboard_link().await;
    let link = link.context("asking for a link to the dashboard")?;
    let page = base.join(&link.path).context("reading the link")?;
    let opened =
        args.open && WebPage::from_service(page.as_str()).is_some_and(|page| browser::open(&page));
    let told = json!({ "url": page.as_str(), "until": link.until, "opened": opened });
    Ok(Answer::new(told).line(page.as_str()))
}
