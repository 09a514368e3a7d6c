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
