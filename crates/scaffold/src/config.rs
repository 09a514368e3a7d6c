//! `.jlo/config.toml`: what a repository asks for, checked whole, with every fault and its line.
//!
//! Nothing in it reaches an address or a key: `[jules_api]` is checked and never obeyed.

mod agents;
mod reader;
mod stored;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use domain::ids::{BranchName, RoleName, StreamName};
use domain::pipeline::MEMBERS_MAX;
use toml_edit::{Document, Item, TableLike};

use crate::fault::{Fault, line_at, shown};
use crate::timetable;
use reader::Reader;

pub(crate) use agents::of_older;
pub use agents::{DecidedBy, StreamAgents, agents, role_that_decides};
pub use stored::{Unusable, read, read_with};

/// The longest wait for a step in minutes: a day, after which a person has looked.
const WAIT_MINUTES_MAX: u32 = 24 * 60;

/// How long a step is waited for if the file does not say, in minutes.
const WAIT_MINUTES: u32 = 30;

/// Longest name of a branch in the settings, in bytes.
const BRANCH_BYTES_MAX: usize = 200;

/// How long the label of a machine may be, as GitHub has it.
const LABEL_CHARS_MAX: usize = 256;

/// A repository's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The branch that people work on; `.jlo/` is read from it.
    pub target_branch: BranchName,
    /// The branch that holds `.jules/`.
    pub worker_branch: BranchName,
    /// When the pipeline runs, and on whose clock.
    pub workflow: Workflow,
    /// The observers, in the order of the file.
    pub observers: Vec<Scheduled>,
    /// The innovators, in the order of the file.
    pub innovators: Vec<Scheduled>,
    /// The streams beside `generic`, by name.
    pub workstreams: BTreeMap<StreamName, Workstream>,
}

/// `[workflow]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Whose clock starts the pipeline.
    pub clock: Clock,
    /// The machines that Actions runs on.
    pub runner_mode: Runner,
    /// The times as cron expressions; [`timetable`] says when they come.
    pub cron: Vec<CronExpression>,
    /// The zone of the schedules by its IANA name; UTC without one.
    pub timezone: Option<String>,
    /// The longest wait for a step, in minutes.
    pub wait_minutes: u32,
}

/// What names machines.
const RUNNERS: &str = "is `remote`, `self-hosted` or the label of a machine, which has letters, digits, `.`, `_` and `-`";

/// Which machines run the workflows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Runner {
    /// GitHub's own.
    #[default]
    Remote,
    /// Any of the repository's own.
    SelfHosted,
    /// Those with a label.
    Label(String),
}

/// A text that names no machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the machine of the workflows {RUNNERS}")]
pub struct InvalidRunner;

impl FromStr for Runner {
    type Err = InvalidRunner;

    fn from_str(text: &str) -> Result<Self, InvalidRunner> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        match text {
            "remote" => Ok(Self::Remote),
            "self-hosted" => Ok(Self::SelfHosted),
            _ if text.len() <= LABEL_CHARS_MAX
                && text.chars().all(fits)
                && text.starts_with(|c: char| c.is_ascii_alphanumeric()) =>
            {
                Ok(Self::Label(text.to_owned()))
            }
            _ => Err(InvalidRunner),
        }
    }
}

impl fmt::Display for Runner {
    /// The label that Actions finds them by.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Remote => "ubuntu-latest",
            Self::SelfHosted => "self-hosted",
            Self::Label(label) => label,
        })
    }
}

/// Who starts the pipeline: two clocks would double its sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clock {
    /// Gaffer's own schedule.
    #[default]
    Gaffer,
    /// A generated workflow of GitHub Actions.
    Actions,
}

/// One cron expression and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronExpression {
    /// The expression as written.
    pub expression: String,
    /// Its line.
    pub line: usize,
}

/// A role that a layer runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduled {
    /// The role.
    pub name: RoleName,
    /// Whether it runs.
    pub enabled: bool,
    /// Its line.
    pub line: usize,
}

/// `[workstreams.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workstream {
    /// Whether the stream runs.
    pub enabled: bool,
    /// Its observers.
    pub observers: Vec<Scheduled>,
    /// Its deciders.
    pub deciders: Vec<Scheduled>,
}

/// Whether a text is an id of a tool: a folder's name, and nothing that leaves it.
pub fn is_id(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.len() <= 64
        && text.chars().all(inner)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

impl Workstream {
    /// Whether a decider looks at its events: unless each of those that are named is switched off.
    pub fn decides(&self) -> bool {
        self.deciders.is_empty() || self.deciders.iter().any(|it| it.enabled)
    }
}

impl Config {
    /// The streams that run beside `generic`, in order of name.
    pub fn streams(&self) -> impl Iterator<Item = (&StreamName, &Workstream)> {
        self.workstreams.iter().filter(|(_, it)| it.enabled)
    }
}

/// Reads the settings, or says everything that is wrong with them.
pub fn parse(file: &str, text: &str) -> Result<Config, Vec<Fault>> {
    let document = document(file, text)?;
    let mut reader = Reader::new(file, text);
    let config = whole(&mut reader, document.as_table());
    match reader.faults() {
        faults if faults.is_empty() => Ok(config),
        faults => Err(faults),
    }
}

/// The text as TOML, or the line in which it is none.
fn document<'t>(file: &str, text: &'t str) -> Result<Document<&'t str>, Vec<Fault>> {
    Document::parse(text).map_err(|error| {
        let line = line_at(text, error.span().map_or(0, |span| span.start));
        let what = error.message().lines().next().unwrap_or_default();
        vec![Fault::new(file, line, what)]
    })
}

fn whole(reader: &mut Reader<'_>, root: &dyn TableLike) -> Config {
    let sections = [
        "run",
        "workflow",
        "observers",
        "innovators",
        "workstreams",
        "jules_api",
    ];
    reader.known("the file", root, &sections);
    let (target_branch, worker_branch) = branches(reader, root);
    jules_api(reader, root);
    let config = Config {
        target_branch,
        worker_branch,
        workflow: workflow(reader, root),
        observers: layer(reader, root, "observers"),
        innovators: layer(reader, root, "innovators"),
        workstreams: workstreams(reader, root),
    };
    counts(reader, root, &config);
    config
}

/// A step has so many agents at most; more would be left out without a word.
fn counts(reader: &mut Reader<'_>, root: &dyn TableLike, config: &Config) {
    let named = config.streams().flat_map(|(_, stream)| &stream.observers);
    let observers = config.observers.iter().chain(named);
    let observers = observers.filter(|role| role.enabled).count();
    let innovators = config.innovators.iter().filter(|role| role.enabled).count();
    let layers = [
        ("observers", observers, " in all streams"),
        ("innovators", innovators, ""),
    ];
    for (key, count, of) in layers {
        if count > MEMBERS_MAX {
            let what = format!("has {count} enabled roles{of}: a step has at most {MEMBERS_MAX}");
            reader.fault(root, key, &what);
        }
    }
}

fn branches(reader: &mut Reader<'_>, root: &dyn TableLike) -> (BranchName, BranchName) {
    let mut target = BranchName::main();
    let mut worker = BranchName::jules();
    let Some(run) = reader.section(root, "run", &["jlo_target_branch", "jules_worker_branch"])
    else {
        return (target, worker);
    };
    for (key, branch) in [
        ("jlo_target_branch", &mut target),
        ("jules_worker_branch", &mut worker),
    ] {
        if let Some(name) = reader.text(run, key) {
            let short = Some(&name).filter(|name| name.len() <= BRANCH_BYTES_MAX);
            match short.and_then(|name| name.parse().ok()) {
                Some(name) => *branch = name,
                None => reader.fault(run, key, "is no name of a branch"),
            }
        }
    }
    if target == worker {
        let key = ["jules_worker_branch", "jlo_target_branch"]
            .into_iter()
            .find(|key| run.contains_key(key));
        let what = "is the same branch as the other one; the worker branch is one of its own";
        reader.fault(run, key.unwrap_or_default(), what);
    }
    (target, worker)
}

fn workflow(reader: &mut Reader<'_>, root: &dyn TableLike) -> Workflow {
    let mut workflow = Workflow {
        clock: Clock::Gaffer,
        runner_mode: Runner::default(),
        cron: Vec::new(),
        timezone: None,
        wait_minutes: WAIT_MINUTES,
    };
    let keys = [
        "clock",
        "runner_mode",
        "cron",
        "timezone",
        "wait_minutes_default",
    ];
    let Some(section) = reader.section(root, "workflow", &keys) else {
        return workflow;
    };
    match reader.text(section, "clock").as_deref() {
        None | Some("gaffer") => {}
        Some("actions") => workflow.clock = Clock::Actions,
        Some(_) => reader.fault(section, "clock", "is `gaffer` or `actions`"),
    }
    match reader.text(section, "runner_mode").map(|text| text.parse()) {
        None => {}
        Some(Ok(runner)) => workflow.runner_mode = runner,
        Some(Err(InvalidRunner)) => reader.fault(section, "runner_mode", RUNNERS),
    }
    schedule(reader, section, &mut workflow);
    if let Some(minutes) = reader.positive(section, "wait_minutes_default", WAIT_MINUTES_MAX) {
        workflow.wait_minutes = minutes;
    }
    workflow
}

/// When runs begin: what is no time, or no zone, is a fault here and not only when a run is awaited.
fn schedule(reader: &mut Reader<'_>, section: &dyn TableLike, workflow: &mut Workflow) {
    workflow.timezone = reader.text(section, "timezone");
    if let Some(Err(why)) = workflow.timezone.as_deref().map(timetable::zone) {
        reader.fault(section, "timezone", &why);
    }
    workflow.cron = reader.texts(section, "cron");
    for written in &workflow.cron {
        if let Err(why) = timetable::cron(&written.expression) {
            reader.note(
                written.line,
                format!("`{}` {why}", shown(&written.expression)),
            );
        }
    }
    if workflow.cron.len() > timetable::CRON_MAX {
        let what = format!("has more than {} expressions", timetable::CRON_MAX);
        reader.fault(section, "cron", &what);
    }
}

/// Checks what the origin's own client was told; a repository never says where our key goes.
fn jules_api(reader: &mut Reader<'_>, root: &dyn TableLike) {
    let numbers = ["timeout_secs", "max_retries", "retry_delay_ms"];
    let keys = ["api_url", "timeout_secs", "max_retries", "retry_delay_ms"];
    let Some(section) = reader.section(root, "jules_api", &keys) else {
        return;
    };
    if let Some(url) = reader.text(section, "api_url")
        && !url.starts_with("https://")
    {
        reader.fault(section, "api_url", "starts with `https://`");
    }
    for key in numbers {
        let _checked = reader.positive(section, key, u32::MAX);
    }
}

fn layer(reader: &mut Reader<'_>, root: &dyn TableLike, name: &str) -> Vec<Scheduled> {
    match reader.section(root, name, &["roles"]) {
        Some(section) => reader.roles(section, "roles"),
        None => Vec::new(),
    }
}

fn workstreams(reader: &mut Reader<'_>, root: &dyn TableLike) -> BTreeMap<StreamName, Workstream> {
    let mut streams = BTreeMap::new();
    let Some(section) = root.get("workstreams").and_then(Item::as_table_like) else {
        if root.contains_key("workstreams") {
            reader.fault(
                root,
                "workstreams",
                "is a table of tables: `[workstreams.NAME]`",
            );
        }
        return streams;
    };
    for (name, _) in section.iter() {
        let stream = name.parse().ok();
        let Some(stream) = stream.filter(|stream: &StreamName| !stream.is_generic()) else {
            let what = "is no name for a stream: 1 to 40 of a-z, 0-9, `-`, `_`, a letter first, and not `generic`";
            reader.fault(section, name, what);
            continue;
        };
        let keys = ["enabled", "observers", "deciders"];
        if let Some(table) = reader.subsection(section, "workstreams.", name, &keys) {
            let settings = Workstream {
                enabled: reader.boolean(table, "enabled").unwrap_or(true),
                observers: reader.roles(table, "observers"),
                deciders: reader.roles(table, "deciders"),
            };
            streams.insert(stream, settings);
        }
    }
    streams
}
