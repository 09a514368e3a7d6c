//! `gaffer logs`: the journal of one job or of one run of a pipeline, in order.

use anyhow::{Context, Result};
use domain::redact::presentable;
use engine::journal::{Entry, EntryKind};
use serde_json::{Value, json};

use crate::args::operations::LogsArgs;
use crate::context::CommandContext;
use crate::render::Answer;
use crate::site::Site;
use crate::switch::moment;

/// Most of a text that is shown in a line, in characters.
const LINE_CHARS_MAX: usize = 200;

/// Most of a text that programs get, in characters.
const TEXT_CHARS_MAX: usize = 2_000;

/// Prints the journal.
pub(crate) async fn run(args: LogsArgs, here: &CommandContext) -> Result<Answer> {
    let site = Site::load(here).await?;
    let (entries, mut told) = match (args.pipeline, args.id) {
        (Some(run), _) => {
            let entries = site.backend.run_journal(&run).await;
            let entries = entries.with_context(|| format!("reading what was done in run {run}"))?;
            (entries, json!({ "pipeline_id": run }))
        }
        (None, Some(id)) => {
            let reading = || format!("reading what was done for job {id}");
            let named = site.backend.find(id.as_str()).await;
            let job = named.with_context(reading)?.job;
            let entries = site.backend.journal(&job).await.with_context(reading)?;
            (entries, json!({ "job_id": job }))
        }
        // The command line asks for one of them.
        (None, None) => (Vec::new(), json!({})),
    };
    told["entries"] = entries.iter().map(entry_json).collect();
    let answer = Answer::new(told);
    let head = ["at", "what", "", "over", "outcome"];
    let rows = entries.iter().map(row).collect();
    Ok(answer.table(&head, rows, "Nothing yet."))
}

fn about(entry: &Entry) -> &'static str {
    match entry.about {
        EntryKind::Step => "step",
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
        entry.over_at.map_or_else(|| "-".to_owned(), moment),
        one_line(&entry.outcome),
    ]
}
