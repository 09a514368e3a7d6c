//! `gaffer jobs`: the list of jobs is read from a file and printed as one.

use anyhow::{Context, Result};
use domain::job::Job;
use domain::notes::Notes;
use domain::redact::presentable;
use engine::job_state::state_of;
use serde_json::{Value, json};

use super::{entries, taken};
use crate::args::files::{JobsCommand, JobsImportArgs};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{self, Answer};
use crate::site::Site;
use crate::stdin;

/// Longest list, in bytes: some ten thousand entries.
pub(super) const LIST_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Jobs read at once.
const PAGE: usize = 100;

/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 1_000;

pub(crate) async fn run(command: JobsCommand, here: &CommandContext, as_json: bool) -> Result<()> {
    match command {
        JobsCommand::Import(args) => import(args, here, as_json).await,
        JobsCommand::Export { active } => export(active, here).await,
    }
}

async fn import(args: JobsImportArgs, here: &CommandContext, as_json: bool) -> Result<()> {
    let from = args.file.display();
    let bytes = match args.file.as_os_str() == "-" {
        true => {
            stdin::bytes_of_stdin(LIST_BYTES_MAX).context("reading the list from standard input")?
        }
        false => stdin::bytes_of_file(&args.file, LIST_BYTES_MAX)
            .with_context(|| format!("reading the list from {from}"))?,
    };
    let entries = entries::read(&bytes);
    let backend = Site::load(here).await?.backend;
    let all = entries.len();
    let taken = taken::take(&backend, entries, &args.adopted).await?;
    let answer = taken
        .lines()
        .into_iter()
        .fold(Answer::new(taken.json()), Answer::line);
    render::answer(&answer, as_json).context("writing the answer")?;
    let wrong = taken.wrong.len();
    if wrong > 0 {
        let what = format!("{wrong} of {all} entries could not be taken");
        let next = "mend them and import the list again: what is known already stays as it is";
        return Err(Error::refused("entries_wrong", what, next).into());
    }
    Ok(())
}

async fn export(active: bool, here: &CommandContext) -> Result<()> {
    let backend = Site::load(here).await?.backend;
    let mut after = None;
    loop {
        let page = backend.store.all_jobs(after, PAGE).await;
        let (jobs, next) = page.context("reading the jobs")?;
        for job in jobs.iter().filter(|job| !active || !job.is_ended()) {
            let notes = backend.notes(&job.id).await.context("reading the notes")?;
            render::json_line(&shown(job, &notes)).context("writing the list")?;
        }
        after = next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// A job as a list names it. What is beside `job_id` and `metadata` is for readers.
fn shown(job: &Job, notes: &Notes) -> Value {
    json!({
        "job_id": job.id, "metadata": notes.kept, "session_id": job.session(), "repo": job.repo,
        "agent": job.agent, "state": state_of(job), "title": presentable(&job.title, TITLE_CHARS_MAX),
        "pull_request": job.pull(), "created_at": job.created_at,
    })
}
