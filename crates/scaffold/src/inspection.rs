//! What is in the exchange of a repository, for people who look into it: every file with what it says in short.
//!
//! A file that cannot be read is named and says nothing; what is wrong with it, the doctor tells.

#[cfg(test)]
mod tests;

use domain::ids::{RoleName, StreamName};
use domain::redact::presentable;
use jiff::Timestamp;
use serde::Serialize;

use crate::config::{self, Config, Scheduled};
use crate::exchange;
use crate::layout::{Layout, LayoutError, streams};
use crate::tree::{Tree, TreePath};
use crate::yaml::{self, Node};

/// What is shown of a text, in characters.
const TEXT_CHARS_MAX: usize = 200;

/// One stream of the exchange of a repository. Summary and proposals are those of all streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// The stream.
    pub stream: StreamName,
    /// The streams there are.
    pub streams: Vec<StreamName>,
    /// The roles of the settings, by layer.
    pub schedule: Schedule,
    /// The summary of what changed lately, if there is one.
    pub changes: Option<Changes>,
    /// The events.
    pub events: Events,
    /// The requirements, in order of path.
    pub requirements: Vec<Requirement>,
    /// The proposals that are not published, in order of path.
    pub proposals: Vec<Proposal>,
    /// The files that cannot be read.
    pub unreadable: Vec<String>,
}

/// The roles that the settings name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schedule {
    /// The observers.
    pub observers: Vec<Role>,
    /// The innovators.
    pub innovators: Vec<Role>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Role {
    /// Its name.
    pub name: RoleName,
    /// Whether it runs.
    pub enabled: bool,
}

/// The summary of what changed lately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Its file.
    pub path: String,
    /// When it was made, if it says so.
    pub created_at: Option<Timestamp>,
}

/// The events by their state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Events {
    /// Those that no decider has seen, the oldest first.
    pub pending: Vec<Event>,
    /// Those that belong to a requirement, in order of path.
    pub decided: Vec<Event>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Its file.
    pub path: String,
    /// Its id, as the file has it.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Who saw it.
    pub role: String,
    /// When, as the file has it.
    pub created_at: String,
    /// The requirement it belongs to, empty while it is pending.
    pub requirement: String,
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// Its file.
    pub path: String,
    /// Its id, as the file has it.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its label.
    pub label: String,
    /// Whether a planner has to think it through first; nothing where the file does not say.
    pub requires_deep_analysis: Option<bool>,
    /// The ids of the events that led to it.
    pub source_events: Vec<String>,
}

/// One proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// Its file.
    pub path: String,
    /// Its id, as the file has it.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Who made it.
    pub role: String,
}

/// Looks into one stream of the exchange of the worker branch.
///
/// # Errors
/// When the tree has no layout, or no such stream.
pub fn inspect(
    worker: &Tree,
    config: &Config,
    stream: &StreamName,
) -> Result<Inspection, LayoutError> {
    let paths = &*Layout::paths_of(worker, stream)?;
    let mut reader = ExchangeReader {
        tree: worker,
        unreadable: Vec::new(),
    };
    let changes = worker.has(paths.changes).then(|| Changes {
        path: paths.changes.to_owned(),
        created_at: exchange::summed_up_at(worker, paths),
    });
    let pending = exchange::pending_with_trials(worker, paths);
    let events = Events {
        pending: reader.each(pending.iter(), event),
        decided: reader.each(artefacts(worker, &paths.decided), event),
    };
    let requirements = artefacts(worker, &paths.requirements);
    let requirements = requirements.filter(|path| paths.holds_requirement(path));
    let requirements = reader.each(requirements, requirement);
    let proposals = reader.each(artefacts(worker, paths.proposals), proposal);
    Ok(Inspection {
        stream: stream.clone(),
        streams: streams(worker),
        schedule: schedule(worker, config, stream),
        changes,
        events,
        requirements,
        proposals,
        unreadable: reader.unreadable,
    })
}

/// The roles that run in a stream; innovators are in none. A schedule that cannot be read names none.
fn schedule(worker: &Tree, config: &Config, stream: &StreamName) -> Schedule {
    let agents = config::agents(config, worker).unwrap_or_default();
    let own = agents.iter().find(|it| it.stream == *stream);
    let observers = own.map(|it| it.observers.as_slice()).unwrap_or_default();
    let roles = |roles: &[Scheduled]| {
        let roles = roles.iter().map(|role| Role {
            name: role.name.clone(),
            enabled: role.enabled,
        });
        roles.collect()
    };
    Schedule {
        observers: roles(observers),
        innovators: roles(&config.innovators),
    }
}

/// The YAML files of a folder, in order of path.
fn artefacts<'t>(tree: &'t Tree, folder: &'t str) -> impl Iterator<Item = &'t TreePath> {
    let files = tree.below(folder).map(|(path, _)| path);
    files.filter(|path| path.as_str().ends_with(".yml"))
}

struct ExchangeReader<'t> {
    tree: &'t Tree,
    unreadable: Vec<String>,
}

impl ExchangeReader<'_> {
    /// Reads files; those that cannot be read are noted.
    fn each<'p, T>(
        &mut self,
        files: impl Iterator<Item = &'p TreePath>,
        read: impl Fn(&TreePath, &Node) -> T,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for path in files {
            let text = self.tree.text(path.as_str());
            let node = text.and_then(|text| yaml::parse(path.as_str(), text.as_bytes()).ok());
            match node {
                Some(node) => found.push(read(path, &node)),
                None => self.unreadable.push(path.to_string()),
            }
        }
        found
    }
}

fn event(path: &TreePath, node: &Node) -> Event {
    Event {
        path: path.to_string(),
        id: text(node, &["id"]),
        title: text(node, &["title"]),
        role: text(node, &["author_role"]),
        created_at: text(node, &["created_at"]),
        requirement: text(node, &["requirement_id", "issue_id"]),
    }
}

fn requirement(path: &TreePath, node: &Node) -> Requirement {
    let sources = node.get("source_events").and_then(Node::list);
    let sources = sources.unwrap_or_default().iter().filter_map(Node::text);
    Requirement {
        path: path.to_string(),
        id: text(node, &["id"]),
        title: text(node, &["title"]),
        label: text(node, &["label"]),
        requires_deep_analysis: exchange::needs_planning(node),
        source_events: sources.map(shown).collect(),
    }
}

fn proposal(path: &TreePath, node: &Node) -> Proposal {
    Proposal {
        path: path.to_string(),
        id: text(node, &["id"]),
        title: text(node, &["title"]),
        role: text(node, &["persona", "role"]),
    }
}

/// The text of the first of some keys that is there, fit to be printed.
fn text(node: &Node, keys: &[&str]) -> String {
    let found = keys.iter().find_map(|key| node.get(key)?.text());
    shown(found.unwrap_or_default())
}

fn shown(text: &str) -> String {
    presentable(&text.replace('\n', " "), TEXT_CHARS_MAX)
}
