//! `gaffer logs`: the journal of one job, of one delivery or of one run of a pipeline, in order.

use anyhow::{Context, Result};
use domain::redact::presentable;
use engine::journal::{Entry, EntryKind};
use serde_json::{Value, json};

use crate::args::operations::LogsArgs;
use crate::context::CommandContext;
use crate::pipeline;
use crate::render::{Answer, moment, or_dash};
use crate::site::Site;

/// Most of a text that is shown in a line, in characters.
const LINE_CHARS_MAX: usize = 200;

/// Most of a text that programs get, in characters.
const TEXT_CHARS_MAX: usize = 2_000;

/// Prints the journal.
pub(crate) async fn run(args: LogsArgs, here: &CommandContext) -> Result<Answer> {
    let site = Site::load(here).await?;
    let (entries, mut told) = Box::pin(journal(&site, args)).await?;
    told["entries"] = entries.iter().map(entry_json).collect();
    let answer = Answer::new(told);
    let head = ["at", "what", "", "over", "outcome"];
    let rows = entries.iter().map(row).collect();
    Ok(answer.table(&head, rows, "Nothing yet."))
}

/// The journal that is asked for, and what names it for programs.
async fn journal(site: &Site, args: LogsArgs) -> Result<(Vec<Entry>, Value)> {
    if let Some(name) = args.pipeline {
        let run = pipeline::named_in_store(&site.backend, name).await?;
        let entries = site.backend.run_journal(&run).await;
        let entries = entries.with_context(|| format!("reading what was done in run {run}"))?;
        return Ok((entries, json!({ "pipeline_id": run })));
    }
    if let Some(name) = args.delivery {
        let reading = || format!("reading what was done for delivery {name}");
        let named = site.backend.find_delivery(name.as_str()).await;
        let id = named.with_context(reading)?;
        let entries = site.backend.delivery_journal(&id).await;
        return Ok((entries.with_context(reading)?, json!({ "delivery_id": id })));
    }
    // The command line asks for one of them.
    let Some(id) = args.id else {
        return Ok((Vec::new(), json!({})));
    };
    let reading = || format!("reading what was done for job {id}");
    let named = site.backend.find(id.as_str()).await;
    let job = named.with_context(reading)?.job;
    let entries = site.backend.journal(&job).await.with_context(reading)?;
    Ok((entries, json!({ "job_id": job })))
}

fn about(entry: &Entry) -> &'static str {
    match entry.about {
        EntryKind::Step => "step",
        EntryKind::Phase => "phase",
        EntryKind::Job => "job",
        EntryKind::Event => "event",
        EntryKind::Effect => "effect",
        EntryKind::Wake => "wake",
    }
}

/// An entry as JSON; text from others is cut, without hidden characters and secrets.
fn entry_json(entry: &Entry) -> Value {
    json!({
        "at": entry.at, "over_at": entry.over_at, "about": about(entry), "id": entry.id,
        "what": presentable(&entry.what, TEXT_CHARS_MAX),
        "outcome": presentable(&entry.outcome, TEXT_CHARS_MAX),
    })
}

fn row(entry: &Entry) -> Vec<String> {
    let one_line = |text: &str| presentable(&text.replace('\n', " "), LINE_CHARS_MAX);
    vec![
        moment(entry.at),
        about(entry).to_owned(),
        one_line(&entry.what),
        or_dash(entry.over_at.map(moment)),
        one_line(&entry.outcome),
    ]
}
