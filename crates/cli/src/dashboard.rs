//! `gaffer dashboard`: a link that signs in to the dashboard of a running Gaffer.

use anyhow::{Context, Result};
use domain::web_page::WebPage;
use serde_json::json;

use crate::args::dashboard::DashboardArgs;
use crate::context::CommandContext;
use crate::job::browser;
use crate::render::Answer;
use crate::site;

/// Prints a link that is good for a minute, and opens it if asked to.
pub(crate) async fn run(args: DashboardArgs, here: &CommandContext) -> Result<Answer> {
    let base = site::base(args.url.as_ref(), here)?;
    let client = site::api_client(args.url, here).await?;
    let link = client.dashboard_link().await;
    let link = link.context("asking for a link to the dashboard")?;
    let page = base.join(&link.path).context("reading the link")?;
    let opened =
        args.open && WebPage::from_service(page.as_str()).is_some_and(|page| browser::open(&page));
    let told = json!({ "url": page.as_str(), "until": link.until, "opened": opened });
    Ok(Answer::new(told).line(page.as_str()))
}
