//! `gaffer demo`: plays the demo's story and prints what came of it.

mod chaos;

use anyhow::Result;

use crate::args::DemoArgs;
use crate::render;

pub(crate) use chaos::child;
pub(crate) use chaos::moment::Moment;

/// Plays the story, and fails when it breaks a promise.
pub(crate) async fn run(args: DemoArgs) -> Result<()> {
    if let Some(seed) = args.chaos {
        return chaos::run(seed, &args).await;
    }
    if args.deliveries {
        return deliveries(&args).await;
    }
    let show = |line: &str| match args.json {
        true => Ok(()),
        false => Ok(render::line(line)?),
    };
    let report = demo::play(!args.no_webhooks, show).await?;
    if args.json {
        render::json_line(&render::value(&report))?;
    } else {
        for line in report.lines(args.no_webhooks) {
            render::line(&line)?;
        }
    }
    report.verdict()
}

/// Plays the story of deliveries.
async fn deliveries(args: &DemoArgs) -> Result<()> {
    let show = |line: &str| match args.json {
        true => Ok(()),
        false => Ok(render::line(line)?),
    };
    let stay = async |at: demo::Address| {
        if args.stay {
            render::line(&format!("Dashboard: {}/dashboard", at.url))?;
            render::line(&format!("Token to sign in with: {}", at.token))?;
            render::line("It runs until Ctrl-C.")?;
            tokio::signal::ctrl_c().await?;
        }
        Ok(())
    };
    let report = demo::play_deliveries(!args.no_webhooks, show, stay).await?;
    if args.json {
        render::json_line(&render::value(&report))?;
    } else {
        for line in report.lines() {
            render::line(&line)?;
        }
    }
    report.verdict()
}
