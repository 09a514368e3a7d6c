//! `gaffer demo`: plays one of the demo's stories and prints what came of it.

mod pipeline;

use anyhow::Result;
use serde::Serialize;

use crate::args::demo::DemoArgs;
use crate::render;
use crate::up::told_to_stop;

/// Plays the story, and fails when it breaks a promise.
pub(crate) async fn run(args: DemoArgs) -> Result<()> {
    if args.pipeline {
        return pipeline::run(&args).await;
    }
    if args.deliveries {
        return deliveries(&args).await;
    }
    if args.sprint {
        return sprint(&args).await;
    }
    let report = demo::play(!args.no_webhooks, shower(&args)).await?;
    tell(&args, &report, &report.lines(args.no_webhooks))?;
    report.verdict()
}

/// Plays the story of deliveries.
async fn deliveries(args: &DemoArgs) -> Result<()> {
    let stay = async |at| stay(args, at).await;
    let report = demo::play_deliveries(!args.no_webhooks, shower(args), stay).await?;
    tell(args, &report, &report.lines())?;
    report.verdict()
}

/// Plays the story of a sprint.
async fn sprint(args: &DemoArgs) -> Result<()> {
    let stay = async |at| stay(args, at).await;
    let report = demo::play_sprint(!args.no_webhooks, shower(args), stay).await?;
    tell(args, &report, &report.lines())?;
    report.verdict()
}

/// Shows people what happens on the way, and programs nothing.
fn shower(args: &DemoArgs) -> impl Fn(&str) -> Result<()> {
    let is_shown = !args.json;
    move |line| match is_shown {
        true => Ok(render::line(line)?),
        false => Ok(()),
    }
}

/// Goes on running until it is told to stop, if that is wanted; then the story still reports.
async fn stay(args: &DemoArgs, at: demo::Address) -> Result<()> {
    if args.stay {
        let stop = told_to_stop();
        render::line(&format!("Dashboard: {}/dashboard", at.url))?;
        render::line(&format!("Token to sign in with: {}", at.token))?;
        render::line("It runs until Ctrl-C.")?;
        stop.await?;
    }
    Ok(())
}

fn tell(args: &DemoArgs, report: &impl Serialize, lines: &[String]) -> Result<()> {
    if args.json {
        return Ok(render::json_line(&render::value(report))?);
    }
    for line in lines {
        render::line(line)?;
    }
    Ok(())
}
