//! The files of the exchange, read once, and what their fields have to be.

use std::collections::BTreeSet;

use domain::ids::{ArtefactId, StreamName};
use domain::layer::Layer;

use super::finding::{Report, Rule};
use super::form::{Alias, Form};
use crate::assets;
use crate::exchange::{label_names, needs_planning};
use crate::layout::{Paths, stream_of};
use crate::tree::{InvalidPath, Tree, TreePath};
use crate::yaml::{self, Node};

/// How many entries a summary of changes has.
const CHANGES: usize = 5;

/// How many goals a perspective has at most, as its contracts say.
const GOALS_MAX: usize = 3;

/// How many entries the log of a perspective keeps.
const LOG_MAX: usize = 5;

/// How many proposals a persona remembers.
const RECENT_MAX: usize = 15;

/// What a file of the exchange is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArtefactKind {
    Changes,
    /// The same in the older form.
    OlderChanges,
    Pending,
    Decided,
    Requirement,
    Proposal,
    /// What an observer remembers.
    Observer,
    /// What an innovator remembers.
    Innovator,
}

/// Names that the older generation has for keys.
const ALIASES: [Alias; 5] = [
    ("issue_id", "requirement_id"),
    ("verification_criteria", "verification_commands"),
    ("implementation_ready", "requires_deep_analysis"),
    ("planner_request_reason", "deep_analysis_reason"),
    ("role", "persona"),
];

/// One file of the exchange.
#[derive(Debug)]
pub(super) struct Artefact {
    pub(super) file: String,
    /// The stream that it lies in.
    pub(super) stream: StreamName,
    pub(super) kind: ArtefactKind,
    pub(super) node: Node,
}

impl Artefact {
    /// The value of a key, under its name or an older one.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.node.get(key).or_else(|| {
            let aliases = ALIASES.iter().filter(|(_, newer)| *newer == key);
            aliases
                .into_iter()
                .find_map(|(older, _)| self.node.get(older))
        })
    }

    /// The text of a key, empty where there is none.
    pub(super) fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Node::text).unwrap_or_default()
    }

    /// The entries of a list, none where there is no list.
    pub(super) fn list(&self, key: &str) -> &[Node] {
        self.get(key).and_then(Node::list).unwrap_or_default()
    }

    /// The line of a key, or of the file if it has none.
    pub(super) fn line(&self, key: &str) -> usize {
        self.get(key).map_or(self.node.line, |node| node.line)
    }

    /// Whether a requirement wants deep analysis.
    pub(super) fn wants_analysis(&self) -> bool {
        needs_planning(&self.node) == Some(true)
    }
}

/// All files of the exchange that can be read.
#[derive(Debug)]
pub(super) struct Artefacts(pub(super) Vec<Artefact>);

impl Artefacts {
    /// Reads them; one that cannot be read is a finding.
    pub(super) fn read(report: &mut Report, tree: &Tree, paths: &Paths) -> Self {
        let streams = paths.of_streams(tree);
        let of_streams = streams.iter().flat_map(|paths| {
            [
                (&*paths.pending, ArtefactKind::Pending),
                (&*paths.decided, ArtefactKind::Decided),
                (&*paths.requirements, ArtefactKind::Requirement),
                (&*paths.workstations, ArtefactKind::Observer),
            ]
        });
        let mut folders: Vec<_> = of_streams
            .chain([(paths.proposals, ArtefactKind::Proposal)])
            .collect();
        // In the older generation roles remember for all streams.
        let mut seen = BTreeSet::new();
        folders.retain(|(folder, _)| seen.insert(*folder));
        let in_folders = folders.into_iter().flat_map(|(folder, kind)| {
            let files = tree.below(folder).map(|(path, _)| path);
            let files = files.filter(|path| path.as_str().ends_with(".yml"));
            files.map(move |path| (path.as_str(), kind))
        });
        let changes = tree
            .has(paths.changes)
            .then_some((paths.changes, ArtefactKind::Changes));
        let read = changes.into_iter().chain(in_folders);
        let found = read.filter_map(|(file, kind)| {
            let text = tree.text(file)?;
            match yaml::parse(file, text.as_bytes()) {
                Ok(node) => Some(Artefact {
                    stream: file
                        .parse()
                        .map_or_else(|_| StreamName::default(), |path| stream_of(&path)),
                    kind: exact(kind, &node),
                    file: file.to_owned(),
                    node,
                }),
                Err(fault) => {
                    report.add(Rule::Unreadable, file, fault.line, fault.what);
                    None
                }
            }
        });
        Self(found.collect())
    }

    /// Those of some kinds, in order of path.
    pub(super) fn of_kinds(
        &self,
        kinds: &'static [ArtefactKind],
    ) -> impl Iterator<Item = &Artefact> {
        self.0.iter().filter(|it| kinds.contains(&it.kind))
    }

    /// Compares each with its schema and checks what no schema says.
    pub(super) fn check_fields(&self, report: &mut Report, tree: &Tree, paths: &Paths) {
        let labels = label_names(tree, paths);
        for artefact in &self.0 {
            if let Some(schema) = schema(artefact.kind, tree, paths) {
                let mut form = Form {
                    report,
                    file: &artefact.file,
                    aliases: aliases(artefact.kind),
                };
                form.compare(&schema, &artefact.node, "");
            }
            counts(report, artefact);
            match artefact.kind {
                ArtefactKind::Pending | ArtefactKind::Decided => state(report, artefact),
                ArtefactKind::Requirement => requirement(report, artefact, &labels),
                ArtefactKind::Changes
                | ArtefactKind::OlderChanges
                | ArtefactKind::Proposal
                | ArtefactKind::Observer
                | ArtefactKind::Innovator => {}
            }
        }
    }
}

/// The kind that a file's own keys show.
fn exact(kind: ArtefactKind, node: &Node) -> ArtefactKind {
    match kind {
        ArtefactKind::Changes if node.get("summaries").is_none() && node.get("range").is_some() => {
            ArtefactKind::OlderChanges
        }
        ArtefactKind::Observer if node.get("persona").is_some() => ArtefactKind::Innovator,
        ArtefactKind::Changes
        | ArtefactKind::OlderChanges
        | ArtefactKind::Pending
        | ArtefactKind::Decided
        | ArtefactKind::Requirement
        | ArtefactKind::Proposal
        | ArtefactKind::Observer
        | ArtefactKind::Innovator => kind,
    }
}

/// The older names of keys. A persona is never called a role in its own perspective.
fn aliases(kind: ArtefactKind) -> &'static [Alias] {
    match kind {
        ArtefactKind::Pending
        | ArtefactKind::Decided
        | ArtefactKind::Requirement
        | ArtefactKind::Proposal => &ALIASES,
        ArtefactKind::Changes
        | ArtefactKind::OlderChanges
        | ArtefactKind::Observer
        | ArtefactKind::Innovator => &[],
    }
}

/// The schema of a kind, from the tree or as it comes with Gaffer.
fn schema(kind: ArtefactKind, tree: &Tree, paths: &Paths) -> Option<Node> {
    let (layer, name) = match kind {
        ArtefactKind::OlderChanges => {
            return yaml::parse("change.yml", assets::older_changes()?.as_bytes()).ok();
        }
        ArtefactKind::Changes => (Layer::Narrator, "changes.yml"),
        ArtefactKind::Pending | ArtefactKind::Decided => (Layer::Observers, "event.yml"),
        ArtefactKind::Requirement => (Layer::Decider, "issue.yml"),
        ArtefactKind::Proposal => (Layer::Innovators, "proposal.yml"),
        ArtefactKind::Observer => (Layer::Observers, "perspective.yml"),
        ArtefactKind::Innovator => (Layer::Innovators, "perspective.yml"),
    };
    let file = format!("{}/{name}", paths.schemas(tree, layer));
    let own = || assets::system_file(&format!(".jules/roles/{layer}/schemas/{name}"));
    let text = tree.text(&file).or_else(own)?;
    yaml::parse(&file, text.as_bytes()).ok()
}

/// Lists have as many entries as their contracts say.
fn counts(report: &mut Report, artefact: &Artefact) {
    const MANY: usize = usize::MAX;
    let limits: &[(&str, usize, usize)] = match artefact.kind {
        ArtefactKind::Changes => &[("summaries", CHANGES, CHANGES)],
        ArtefactKind::OlderChanges => &[("commits", 1, MANY)],
        ArtefactKind::Pending | ArtefactKind::Decided => &[("evidence", 1, MANY)],
        ArtefactKind::Requirement => &[
            ("source_events", 1, MANY),
            ("affected_areas", 1, MANY),
            ("acceptance_criteria", 1, MANY),
            ("verification_commands", 1, MANY),
        ],
        ArtefactKind::Proposal => &[
            ("impact_surface", 1, MANY),
            ("consistency_risks", 1, MANY),
            ("verification_signals", 1, MANY),
        ],
        ArtefactKind::Observer => &[("goals", 1, GOALS_MAX), ("log", 0, LOG_MAX)],
        ArtefactKind::Innovator => &[("recent_proposals", 0, RECENT_MAX)],
    };
    for (key, least, most) in limits {
        let count = artefact.list(key).len();
        if count < *least || count > *most {
            let wanted = match (*least, *most) {
                (least, MANY) => format!("at least {least}"),
                (least, most) if least == most => format!("exactly {most}"),
                (least, most) => format!("{least} to {most}"),
            };
            let what = format!("`{key}` has {count} entries, and {wanted} are wanted");
            report.add(Rule::Entries, &artefact.file, artefact.line(key), what);
        }
    }
    let places = artefact.list("evidence").iter();
    for place in places.filter(|it| {
        it.get("loc")
            .and_then(Node::list)
            .is_none_or(<[_]>::is_empty)
    }) {
        let what = "`loc` names no place in the file";
        report.add(Rule::Entries, &artefact.file, place.line, what);
    }
    let paths = artefact.list("evidence").iter();
    for path in paths.filter_map(|it| it.get("path")) {
        match path.text().unwrap_or_default().parse::<TreePath>() {
            // A folder may end in a slash.
            Ok(_) | Err(InvalidPath::EmptyPart) => {}
            Err(
                why @ (InvalidPath::Absolute
                | InvalidPath::Upwards
                | InvalidPath::Character
                | InvalidPath::Long),
            ) => {
                let what = format!("`path` names no file of the repository: {why}");
                report.add(Rule::Value, &artefact.file, path.line, what);
            }
        }
    }
}

/// A pending event belongs to no requirement, and a decided one to one.
fn state(report: &mut Report, event: &Artefact) {
    let id = event.text("requirement_id");
    let line = event.line("requirement_id");
    let what = match (event.kind == ArtefactKind::Pending, id.is_empty()) {
        (true, false) => format!("a pending event names the requirement `{id}`"),
        (false, true) => "a decided event names no requirement".to_owned(),
        (true, true) => return,
        (false, false) if id.parse::<ArtefactId>().is_ok() => return,
        (false, false) => {
            let what = format!("`{id}` is no id");
            return report.add(Rule::Id, &event.file, line, what);
        }
    };
    report.add(Rule::State, &event.file, line, what);
}

/// A requirement has a label that there is, and a reason where it asks for analysis.
fn requirement(report: &mut Report, it: &Artefact, labels: &[String]) {
    let label = it.text("label");
    if !labels.iter().any(|known| known == label) {
        let what = match labels.is_empty() {
            true => format!("there is no label `{label}`, since the repository has none"),
            false => format!("the label `{label}` is none of {}", labels.join(", ")),
        };
        report.add(Rule::Label, &it.file, it.line("label"), what);
    }
    if it.wants_analysis() && it.text("deep_analysis_reason").trim().is_empty() {
        let line = it.line("requires_deep_analysis");
        let what = "deep analysis is wanted without a reason";
        report.add(Rule::Reason, &it.file, line, what);
    }
    for event in it.list("source_events") {
        let id = event.text().unwrap_or_default();
        if id.parse::<ArtefactId>().is_err() {
            let what = format!("`{id}` is no id of an event");
            report.add(Rule::Id, &it.file, event.line, what);
        }
    }
}
