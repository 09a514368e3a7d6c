//! Runs the wanted sections and prints what they found: a table for people, or one JSON object.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use clap::ValueEnum;
use engine::machine::SystemClock;
use engine::ports::Clock;
use serde::Serialize;

use crate::figure::Figure;
use crate::machine::{Machine, said};
use crate::options::{Options, Section};
use crate::{
    cost, detect, files, functions, github_requests, mail, output, polls, weaving, webhook,
};

/// Everything that was found.
#[derive(Serialize)]
struct Report {
    date: String,
    machine: Machine,
    node: String,
    simulated_jobs: u32,
    figures: Vec<Figure>,
}

/// Measures and prints. What cannot be measured is an error, never left out.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut figures = Vec::new();
    for &section in Section::value_variants() {
        if options.wants(section) {
            output::aside(&format!("measuring: {section:?}"));
            figures.extend(
                measure(section, options).with_context(|| format!("measuring {section:?}"))?,
            );
        }
    }
    let report = Report {
        date: SystemClock.now().strftime("%Y-%m-%d").to_string(),
        machine: Machine::look(&options.profile),
        node: said("node", "--version"),
        simulated_jobs: options.jobs,
        figures,
    };
    if options.json {
        output::line(&serde_json::to_string_pretty(&report).context("writing the report as JSON")?);
    } else {
        output::line(&table(&report));
    }
    Ok(())
}

fn measure(section: Section, options: &Options) -> Result<Vec<Figure>> {
    match section {
        Section::Webhook => webhook::measure(options),
        Section::Polls => polls::measure(),
        Section::Detection => detect::measure(options.jobs),
        Section::Requests => github_requests::measure(),
        Section::Functions => functions::measure(options),
        Section::Cost => cost::measure(),
        Section::Files => files::measure(),
        Section::Mail => mail::measure(),
        Section::Weave => weaving::measure(),
    }
}

/// A table in Markdown, which reads as well in a terminal.
fn table(report: &Report) -> String {
    let Machine {
        cores,
        cpu,
        system,
        rustc,
        profile,
        gaffer,
    } = &report.machine;
    let mut text = format!(
        "Taken on {}, on {cores} cores of `{cpu}` ({system}), gaffer {gaffer} in the profile `{profile}`, {rustc}, node {}, {} simulated jobs each.\n\n| section | what | figure | unit | target | |\n| --- | --- | ---: | --- | --- | --- |",
        report.date, report.node, report.simulated_jobs,
    );
    for figure in &report.figures {
        let (aim, met) = figure.aim();
        let Figure {
            section,
            name,
            value,
            unit,
            ..
        } = figure;
        // Writing into a String cannot fail.
        let _ = write!(
            text,
            "\n| {section} | {name} | {value:.2} | {unit} | {aim} | {met} |"
        );
    }
    text
}
