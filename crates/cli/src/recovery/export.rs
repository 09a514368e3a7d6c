//! `gaffer export`: the stored records as JSON lines, page by page, as of one moment.

use std::sync::Arc;

use anyhow::{Context, Result};
use async_trait::async_trait;
use domain::pipeline::{Pipeline, Requirement};
use domain::policy::Source;
use domain::redact::redact;
use engine::job_export::{DeliveryExport, JobExport};
use engine::machine::SystemClock;
use engine::ports::{Clock, Key, Record, Records, RecordsError};
use engine::store::{BODY_SCHEMA, Store};
use local::Database;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::recovery::{ExportArgs, ExportFormat};
use crate::context::CommandContext;
use crate::render;

/// The version of the lines' own form: it grows when a field changes its meaning or goes away.
pub(crate) const EXPORT_SCHEMA: u32 = 1;

/// Records or jobs read at once: a page of the largest bodies has 6 MB.
const PAGE: usize = 100;

/// Deliveries read at once: each has its transcripts with it, of at most 192 KB a run.
const DELIVERIES_AT_ONCE: usize = 10;

/// Prints everything that was asked for.
pub(crate) async fn run(args: ExportArgs, here: &CommandContext) -> Result<()> {
    let now = SystemClock.now();
    let whole: Arc<dyn Whole> = match &here.stack {
        Some(name) => on_aws(name).await?,
        None => {
            let path = here.database()?;
            let database = Database::open_as_it_is(&path)
                .with_context(|| format!("reading {}", path.display()))?;
            Arc::new(local::Store::new(&database))
        }
    };
    let what = if args.all { "records" } else { "jobs" };
    match args.format {
        ExportFormat::Jsonl => line(json!({
            "line": "export", "of": what, "schema": EXPORT_SCHEMA, "bodies": BODY_SCHEMA,
            "at": now, "gaffer": env!("CARGO_PKG_VERSION"),
        }))?,
    }
    let lines = if args.all {
        export_records(whole.as_ref()).await?
    } else {
        let store = Store::new(whole);
        let sources = export_sources(&store).await?;
        let jobs = export_jobs(&store).await?;
        let deliveries = export_deliveries(&store).await?;
        sources + jobs + deliveries + export_pipelines(&store).await?
    };
    // Without this last line an export is incomplete.
    line(json!({ "line": "end", "lines": lines }))
}

/// A store that can be read from one end to the other.
#[async_trait]
pub(crate) trait Whole: Records {
    /// A page of all records, and where the next one begins.
    async fn page(
        &self,
        after: Option<After>,
    ) -> Result<(Vec<Record>, Option<After>), RecordsError>;
}

/// Where a page of all records begins.
pub(crate) enum After {
    /// After this record.
    Key(Key),
    /// Where the table said.
    #[cfg(feature = "aws")]
    Token(engine::ports::PageToken),
}

impl After {
    fn key(self) -> Option<Key> {
        match self {
            Self::Key(key) => Some(key),
            #[cfg(feature = "aws")]
            Self::Token(_) => None,
        }
    }
}

#[async_trait]
impl Whole for local::Store {
    async fn page(
        &self,
        after: Option<After>,
    ) -> Result<(Vec<Record>, Option<After>), RecordsError> {
        let after = after.and_then(After::key);
        let page = self.scan(after, PAGE).await?;
        let last = page.last().map(|last| After::Key(last.key.clone()));
        Ok((page, last))
    }
}

#[cfg(feature = "aws")]
#[async_trait]
impl Whole for aws::Table {
    /// A scan is no snapshot: concurrent changes may be in it or not.
    async fn page(
        &self,
        after: Option<After>,
    ) -> Result<(Vec<Record>, Option<After>), RecordsError> {
        let after = after.and_then(|after| match after {
            After::Token(token) => Some(token),
            After::Key(_) => None,
        });
        let page = self.scan(after, PAGE).await?;
        Ok((page.records, page.next.map(After::Token)))
    }
}

#[cfg(feature = "aws")]
async fn on_aws(name: &str) -> Result<Arc<dyn Whole>> {
    let cloud = crate::cloud::Cloud::find(name).await?;
    Ok(Arc::new(cloud.stack.table()))
}

#[cfg(not(feature = "aws"))]
async fn on_aws(name: &str) -> Result<Arc<dyn Whole>> {
    Err(crate::site::without_aws(name).into())
}

async fn export_records(whole: &dyn Whole) -> Result<u64> {
    let (mut after, mut lines) = (None, 0);
    loop {
        let page = whole.page(after).await;
        let (page, next) = page.context("reading the records")?;
        for record in &page {
            line(of_record(record))?;
            lines += 1;
        }
        after = next;
        if after.is_none() {
            return Ok(lines);
        }
    }
}

fn of_record(record: &Record) -> Value {
    let list = record.list.as_ref();
    // Only another program can have put invalid JSON there; it is shown as text.
    let body = serde_json::from_str(&record.body).unwrap_or_else(|_| json!(record.body));
    json!({
        "line": "record", "pk": record.key.pk, "sk": record.key.sk, "version": record.version, "due": record.due,
        "list": list.map(|list| json!({ "name": list.name, "sort": list.sort, "word": list.word })), "forget": record.forget, "body": body,
    })
}

async fn export_jobs(store: &Store) -> Result<u64> {
    let (mut after, mut lines) = (None, 0);
    loop {
        let (page, next) = store
            .job_exports(after, PAGE)
            .await
            .context("reading the jobs")?;
        for export in &page {
            line(of_job(export))?;
            lines += 1;
        }
        after = next;
        if after.is_none() {
            return Ok(lines);
        }
    }
}

async fn export_sources(store: &Store) -> Result<u64> {
    let mut lines = 0;
    for found in store.sources().await.context("reading the sources")? {
        line(of_source(&found.value))?;
        lines += 1;
    }
    Ok(lines)
}

fn of_source(source: &Source) -> Value {
    json!({ "line": "source", "repo": source.repo, "source": render::value(source) })
}

async fn export_deliveries(store: &Store) -> Result<u64> {
    let (mut after, mut lines) = (None, 0);
    loop {
        let page = store.delivery_exports(after, DELIVERIES_AT_ONCE).await;
        let (page, next) = page.context("reading the deliveries")?;
        for export in &page {
            line(of_delivery(export))?;
            lines += 1;
        }
        after = next;
        if after.is_none() {
            return Ok(lines);
        }
    }
}

/// The runs of each source, and its requirements.
async fn export_pipelines(store: &Store) -> Result<u64> {
    let mut lines = 0;
    for source in store.sources().await.context("reading the sources")? {
        let repo = &source.value.repo;
        let runs = store.pipelines_of(repo).await;
        for run in &runs.context("reading the runs of pipelines")? {
            line(of_pipeline(run))?;
            lines += 1;
        }
        let found = store.requirements_of(repo).await;
        for requirement in &found.context("reading the requirements")? {
            line(of_requirement(requirement))?;
            lines += 1;
        }
    }
    Ok(lines)
}

fn of_pipeline(run: &Pipeline) -> Value {
    json!({
        "line": "pipeline", "id": run.id, "repo": run.repo, "state": run.word(), "created_at": run.created_at,
        "pipeline": render::value(run),
    })
}

fn of_requirement(found: &Requirement) -> Value {
    json!({
        "line": "requirement", "id": found.reference.id, "repo": found.repo, "state": found.state.word(),
        "created_at": found.created_at, "requirement": render::value(found),
    })
}

/// A delivery at a glance, then as it is stored. Its runs and its plan are in it, and what was said in its runs is beside it.
fn of_delivery(export: &DeliveryExport) -> Value {
    let delivery = &export.delivery;
    let glance = json!({
        "line": "delivery", "id": delivery.id, "repo": delivery.repo, "summary": delivery.summary,
        "created_at": delivery.created_at, "phase": delivery.phase, "run_status": delivery.run_status,
        "job": delivery.task.job,
    });
    with_parts(glance, export)
}

/// A job at a glance, then as it is stored.
fn of_job(export: &JobExport) -> Value {
    let job = &export.job;
    let glance = json!({
        "line": "job", "id": job.id, "state": engine::job_state::state_of(job), "repo": job.repo, "title": job.title,
        "created_at": job.created_at, "attempt": job.attempt, "session": job.session(), "pull": job.pull(),
    });
    with_parts(glance, export)
}

fn with_parts(mut line: Value, export: &impl Serialize) -> Value {
    if let (Some(fields), Value::Object(parts)) = (line.as_object_mut(), render::value(export)) {
        fields.extend(parts);
    }
    line
}

/// Prints one line. Stored data should contain nothing that looks like a secret; if it does, it is masked.
fn line(value: Value) -> Result<()> {
    render::json_line(&without_secrets(value)).context("writing the export")
}

fn without_secrets(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(without_secrets).collect()),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| (name, without_secrets(value)))
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
