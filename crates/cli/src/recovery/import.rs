//! `gaffer import`: an export of everything becomes the store of another Gaffer, here or on AWS.

use std::sync::Arc;

use anyhow::{Context, Result};
use engine::backend::Backend;
use engine::import::{self, ImportError, Importing};
use engine::machine::{RandomIds, SystemClock};
use engine::ports::{Clock, Key, ListKey, Queue, Record, Records};
use engine::store::{BODY_SCHEMA, Store};
use jiff::Timestamp;
use local::{Database, FolderLock, LocalQueue};
use serde::Deserialize;
use serde_json::{Value, json};
use server::data::WORK_QUEUE;

use crate::args::recovery::ImportArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::recovery::export::EXPORT_SCHEMA;
use crate::render::{Answer, moment};
use crate::stdin;

/// Largest export, in bytes: it is held in memory, and a hundred thousand records have about so many.
const EXPORT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Number of records that are read to determine whether the store is in use: more than a first start leaves there.
const LOOK_AT: usize = 5;

/// One line of an export.
#[derive(Debug, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum ImportLine {
    Export {
        of: String,
        schema: u32,
        bodies: u32,
        at: Timestamp,
    },
    Record {
        pk: String,
        sk: String,
        due: Option<Timestamp>,
        list: Option<ImportPosition>,
        forget: Option<Timestamp>,
        body: Value,
    },
    End {
        lines: u64,
    },
    Job {},
}

#[derive(Debug, Deserialize)]
struct ImportPosition {
    name: String,
    sort: String,
    word: Option<String>,
}

/// Everything of an export.
struct Export {
    at: Timestamp,
    records: Vec<Record>,
}

/// A store to be filled.
struct Target {
    records: Arc<dyn Records>,
    /// The queue that goes with it.
    queue: Arc<dyn Queue>,
    /// A few of its records.
    some: Vec<Record>,
    /// Where it is, for people.
    place: String,
}

/// Fills an empty store.
pub(crate) async fn run(args: ImportArgs, here: &CommandContext) -> Result<Answer> {
    let text = read(&args)?;
    let export = parsed(&text)?;
    let Some(stack) = &here.stack else {
        local::prepare_folder(&here.folder)
            .with_context(|| format!("preparing the data folder {}", here.folder.display()))?;
        // Held to the end: no process may work on a half-filled store.
        let _lock = FolderLock::take(&here.folder)?;
        return fill(&export, &folder(here).await?).await;
    };
    fill(&export, &on_aws(stack).await?).await
}

fn read(args: &ImportArgs) -> Result<String> {
    let Some(file) = args.file.as_ref().filter(|file| file.as_os_str() != "-") else {
        return stdin::of_stdin(EXPORT_BYTES_MAX).context("reading the export from standard input");
    };
    stdin::of_file(file, EXPORT_BYTES_MAX)
}

fn refused(what: impl Into<String>) -> Error {
    let next = "make it anew with `gaffer export --all`, and hand over the whole of it";
    Error::usage(what, next)
}

/// Reads an export, and refuses what is not one of everything, of a newer gaffer, or only a part.
fn parsed(text: &str) -> Result<Export, Error> {
    let mut lines = (1_usize..).zip(text.lines());
    let first = lines.next().map_or("", |(_, line)| line);
    let Ok(ImportLine::Export {
        of,
        schema,
        bodies,
        at,
    }) = serde_json::from_str(first)
    else {
        return Err(refused("this is no export: its first line does not say so"));
    };
    if of != "records" {
        return Err(refused(format!(
            "this is an export of {of}, not of everything"
        )));
    }
    if schema > EXPORT_SCHEMA || bodies > BODY_SCHEMA {
        let what = format!(
            "a newer gaffer made this export (schema {schema}, bodies {bodies}; this one knows {EXPORT_SCHEMA} and {BODY_SCHEMA})"
        );
        return Err(Error::usage(what, "upgrade this gaffer"));
    }
    let mut records = Vec::new();
    for (number, line) in lines {
        let read: ImportLine = serde_json::from_str(line)
            .map_err(|error| refused(format!("line {number} of the export: {error}")))?;
        match read {
            ImportLine::Record {
                pk,
                sk,
                due,
                list,
                forget,
                body,
            } => records.push(record(Key { pk, sk }, due, list, forget, &body)),
            ImportLine::End { lines } if lines == records.len() as u64 => {
                return Ok(Export { at, records });
            }
            ImportLine::End { lines } => {
                let what = format!(
                    "the export says that it has {lines} records, and has {}",
                    records.len()
                );
                return Err(refused(what));
            }
            ImportLine::Export { .. } | ImportLine::Job {} => {
                return Err(refused(format!("line {number} of the export is no record")));
            }
        }
    }
    Err(refused("the export has no end: it is only a part"))
}

fn record(
    key: Key,
    due: Option<Timestamp>,
    list: Option<ImportPosition>,
    forget: Option<Timestamp>,
    body: &Value,
) -> Record {
    Record {
        key,
        version: 0,
        body: body.to_string(),
        due,
        list: list.map(|place| ListKey {
            name: place.name,
            sort: place.sort,
            word: place.word,
        }),
        forget,
    }
}

async fn folder(here: &CommandContext) -> Result<Target> {
    let path = here.folder.join(local::DATABASE_FILE);
    let database = Database::open(&path).with_context(|| format!("opening {}", path.display()))?;
    let records = local::Store::new(&database);
    Ok(Target {
        some: records.scan(None, LOOK_AT).await?,
        records: Arc::new(records),
        queue: Arc::new(LocalQueue::new(
            &database,
            WORK_QUEUE,
            Arc::new(SystemClock),
        )),
        place: here.folder.display().to_string(),
    })
}

#[cfg(feature = "aws")]
async fn on_aws(name: &str) -> Result<Target> {
    let stack = crate::cloud::Cloud::find(name).await?.stack;
    let table = stack.table();
    let page = table.scan(None, LOOK_AT).await;
    let page = page.with_context(|| format!("reading the table of the stack {name}"))?;
    Ok(Target {
        records: Arc::new(table),
        queue: Arc::new(stack.work()),
        some: page.records,
        place: format!("the stack {name}"),
    })
}

#[cfg(not(feature = "aws"))]
async fn on_aws(name: &str) -> Result<Target> {
    Err(crate::site::without_aws(name).into())
}

async fn fill(export: &Export, target: &Target) -> Result<Answer> {
    let records = target.records.as_ref();
    let importing = Importing {
        from: export.at,
        records: export.records.len() as u64,
    };
    let begun = import::begin(records, &target.some, importing).await;
    begun.map_err(|error| import_error(error, &target.place))?;
    let now = SystemClock.now();
    let filled = import::fill(records, &export.records, now).await;
    filled.map_err(|error| import_error(error, &target.place))?;
    let known = Store::new(target.records.clone()).installation().await?;
    let Some(known) = known else {
        return Err(refused("the export names no installation: that Gaffer was never used").into());
    };
    let backend = Backend::new(
        target.records.clone(),
        target.queue.clone(),
        Arc::new(SystemClock),
        Arc::new(RandomIds),
        known.id,
    );
    let doubted = backend.end_import(&export.records, export.at).await;
    let doubted = doubted.map_err(|error| import_error(error, &target.place))?;
    Ok(answer(export, target, doubted))
}

fn import_error(error: ImportError, place: &str) -> anyhow::Error {
    match &error {
        ImportError::Occupied { .. } => Error::refused(
            "occupied",
            format!("{place}: {error}"),
            "import into an empty folder (`--data DIR`) or a new stack; `gaffer restore --replace` puts a backup in place of what is there",
        )
        .into(),
        ImportError::Another { .. } => Error::refused(
            "another_import",
            format!("{place}: {error}"),
            "finish that one with its own file, or begin with an empty store",
        )
        .into(),
        ImportError::Ended => Error::refused(
            "ended",
            format!("{place}: {error}"),
            "look at it with `gaffer status`: everything is there",
        )
        .into(),
        ImportError::Store(_) => anyhow::Error::new(error).context(format!("importing into {place}")),
    }
}

fn answer(export: &Export, target: &Target, doubted: u64) -> Answer {
    let count = export.records.len();
    Answer::new(json!({
        "place": target.place, "records": count, "made_at": export.at, "in_doubt": doubted,
    }))
    .line(format!(
        "{count} records are in {}, as they were at {}.",
        target.place,
        moment(export.at)
    ))
    .line(format!(
        "{doubted} things that were not over then are looked for before they are done."
    ))
    .line("Secrets are never exported: give this Gaffer its own, and make sure that the other one runs no more.")
}
