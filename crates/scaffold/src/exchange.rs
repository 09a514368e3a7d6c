//! What waits in the exchange of a repository: events, requirements, and when the last summary was made.

mod labels;
mod line;
mod named;
mod removal;
#[cfg(test)]
mod tests;
mod trial;

use domain::delivery::{
    CRITERIA_BYTES_MAX, CRITERIA_MAX, CRITERION_CHARS_MAX, DESCRIPTION_BYTES_MAX,
};
use domain::fence::encoded_len;
use domain::ids::{ArtefactId, EffectId, RoleName};
use domain::pipeline::{FoundRequirement, RequirementRef};
use domain::redact::{presentable, storable};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::config::{Config, Scheduled};
use crate::layout::{CONTROL, Paths, SYSTEM};
use crate::tree::{Tree, TreePath};
use crate::yaml::{self, Node};

pub use labels::{Label, labels};
pub(crate) use labels::{is_slug, label_names};
pub(crate) use line::{replaced, with_requirement};
pub(crate) use named::nearest_requirement;
pub use named::{NoRequirement, named, of_trial, real};
pub use removal::removal;
pub(crate) use trial::marked;
pub use trial::trial_of;

/// What is shown of a title, in characters. A delivery takes one more, which is the mark of the cut.
const TITLE_CHARS_MAX: usize = domain::delivery::TITLE_CHARS_MAX - 1;

/// How many events a requirement is linked with: what Gaffer removes with it is a short list.
const EVENTS_MAX: usize = 24;

/// The events that no decider has seen, the oldest first, so that none waits for ever. Those of trial runs are left out.
pub fn pending(tree: &Tree, paths: &Paths) -> Vec<TreePath> {
    let events = pending_with_trials(tree, paths).into_iter();
    events.filter(|path| is_real(tree, path)).collect()
}

/// The same with those of trial runs.
pub(crate) fn pending_with_trials(tree: &Tree, paths: &Paths) -> Vec<TreePath> {
    let files = tree.below(&paths.pending).map(|(path, _)| path);
    let files = files.filter(|path| path.as_str().ends_with(".yml"));
    let mut events: Vec<_> = files
        .map(|path| {
            let node = parsed(tree, path);
            let created = node
                .as_ref()
                .and_then(|node| node.get("created_at")?.text());
            // One that cannot be read is not older than those that can.
            let created = created.map_or("~".to_owned(), str::to_owned);
            (created, path.clone())
        })
        .collect();
    events.sort();
    events.into_iter().map(|(_, path)| path).collect()
}

/// Whether no trial run made a file up.
pub(crate) fn is_real(tree: &Tree, path: &TreePath) -> bool {
    trial_of(tree, path).is_none()
}

/// The requirements of all streams, in order of path, without those of trial runs. What cannot be read is left out: the doctor names
/// it.
pub fn requirements(tree: &Tree, paths: &Paths) -> Vec<FoundRequirement> {
    let of_stream = |paths: Paths| {
        let files = tree.below(&paths.requirements).map(|(path, _)| path);
        let files = files.filter(|path| paths.holds_requirement(path) && is_real(tree, path));
        let found = files.filter_map(|path| requirement(tree, &paths, path));
        found.collect::<Vec<_>>()
    };
    let streams = paths.of_streams(tree).into_iter();
    streams.flat_map(of_stream).collect()
}

/// The files where requirements lie that cannot be read as one.
pub fn unreadable(tree: &Tree, paths: &Paths) -> Vec<TreePath> {
    let of_stream = |paths: Paths| {
        let files = tree.below(&paths.requirements).map(|(path, _)| path);
        let files = files.filter(|path| paths.holds_requirement(path));
        let files = files.filter(|path| path.as_str().ends_with(".yml"));
        let odd = files.filter(|path| requirement(tree, &paths, path).is_none());
        odd.cloned().collect::<Vec<_>>()
    };
    let streams = paths.of_streams(tree).into_iter();
    streams.flat_map(of_stream).collect()
}

/// One requirement, if its file can be read.
pub fn requirement(tree: &Tree, paths: &Paths, path: &TreePath) -> Option<FoundRequirement> {
    let node = parsed(tree, path)?;
    let text = |key: &str| node.get(key).and_then(Node::text);
    let needs = needs_planning(&node)?;
    let id: ArtefactId = text("id")?.parse().ok()?;
    let sources = node.get("source_events").and_then(Node::list);
    let sources = sources.unwrap_or_default().iter().filter_map(Node::text);
    let sources: Vec<&str> = sources.collect();
    let label = text("label").or_else(|| paths.label_of(path));
    Some(FoundRequirement {
        reference: RequirementRef {
            id,
            path: path.to_string(),
            events: events(tree, paths, &sources),
        },
        title: presentable(&on_one_line(text("title")?), TITLE_CHARS_MAX),
        label: known_label(tree, paths, label.unwrap_or_default()),
        needs_planning: needs,
    })
}

/// A label that the repository has, else none: no requirement makes a new one up.
fn known_label(tree: &Tree, paths: &Paths, label: &str) -> String {
    let mut known = label_names(tree, paths).into_iter();
    known.find(|known| known == label).unwrap_or_default()
}

/// Whether a requirement asks for deep analysis, if it says so. The older mark says the opposite.
pub(crate) fn needs_planning(requirement: &Node) -> Option<bool> {
    let mark = |key: &str| requirement.get(key).and_then(Node::boolean);
    let older = || mark("implementation_ready").map(|ready| !ready);
    mark("requires_deep_analysis").or_else(older)
}

/// The text of a requirement as a delivery takes it: cut and without secrets. Its session gets the file itself.
pub fn description(text: &str) -> String {
    storable(text.trim(), DESCRIPTION_BYTES_MAX)
}

/// When a requirement is done, as its file says it, and as a delivery takes it: what is too long is cut, and what is too much left out.
pub fn acceptance_criteria(tree: &Tree, path: &TreePath) -> Vec<String> {
    let node = parsed(tree, path);
    let list = node
        .as_ref()
        .and_then(|node| node.get("acceptance_criteria")?.list());
    let texts = list.unwrap_or_default().iter().filter_map(Node::text);
    let lines = texts.map(|text| presentable(&on_one_line(text), CRITERION_CHARS_MAX - 1));
    let lines = lines.filter(|line| !line.trim().is_empty());
    let mut left = CRITERIA_BYTES_MAX;
    let fits = |line: &String| {
        let rest = left.checked_sub(encoded_len(line));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    lines.filter(fits).take(CRITERIA_MAX).collect()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The files of decided events with these ids.
fn events(tree: &Tree, paths: &Paths, ids: &[&str]) -> Vec<String> {
    let files = tree.below(&paths.decided).map(|(path, _)| path);
    let is_named = |path: &&TreePath| {
        let node = parsed(tree, path);
        let id = node.as_ref().and_then(|node| node.get("id")?.text());
        id.is_some_and(|id| ids.contains(&id))
    };
    let named = files.filter(is_named).take(EVENTS_MAX);
    named.map(TreePath::to_string).collect()
}

fn parsed(tree: &Tree, path: &TreePath) -> Option<Node> {
    let text = tree.text(path.as_str())?;
    yaml::parse(path.as_str(), text.as_bytes()).ok()
}

/// A proposal that waits to become an issue. Its texts are an agent's: shortened, and without mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProposal {
    /// Its file.
    pub path: TreePath,
    /// Its id.
    pub id: ArtefactId,
    /// The role that made it.
    pub persona: RoleName,
    /// The title of its issue.
    pub title: String,
    /// The text of its issue.
    pub body: String,
    /// By what its issue is found again: its id, and a hash of its text, since an agent may use an id twice.
    pub marker: String,
}

impl FoundProposal {
    /// The label of its issue.
    pub fn label(&self) -> String {
        format!("innovator/{}", self.persona)
    }
}

/// The sections of an issue, each with the field that it shows.
const SECTIONS: [(&str, &str); 7] = [
    ("Problem", "problem"),
    ("Introduction", "introduction"),
    ("Importance", "importance"),
    ("Impact surface", "impact_surface"),
    ("Implementation cost", "implementation_cost"),
    ("Consistency risks", "consistency_risks"),
    ("Verification signals", "verification_signals"),
];

/// How much of one section an issue shows, in characters: all of them fit into a record.
const SECTION_CHARS_MAX: usize = 2_000;

/// Digits of the hash in a marker.
const HASH_CHARS: usize = 12;

/// The proposals that wait, in the order of their files. Those of trial runs become no issues.
pub fn proposals(tree: &Tree, paths: &Paths) -> Vec<FoundProposal> {
    let files = tree.below(paths.proposals).map(|(path, _)| path);
    let files = files.filter(|path| is_real(tree, path));
    files.filter_map(|path| proposal(tree, path)).collect()
}

/// Whether a proposal waits that no trial run made up. One that cannot be read counts, too.
pub fn has_proposal(tree: &Tree, paths: &Paths) -> bool {
    let mut files = tree.below(paths.proposals).map(|(path, _)| path);
    files.any(|path| path.as_str().ends_with(".yml") && is_real(tree, path))
}

fn proposal(tree: &Tree, path: &TreePath) -> Option<FoundProposal> {
    let node = parsed(tree, path)?;
    let text = |key: &str| node.get(key).and_then(Node::text);
    let persona: RoleName = text("persona").or_else(|| text("role"))?.parse().ok()?;
    let id: ArtefactId = text("id")?.parse().ok()?;
    let hash = EffectId::from_name(tree.text(path.as_str())?).to_string();
    let title = harmless(&text("title")?.replace('\n', " "), TITLE_CHARS_MAX);
    let sections = SECTIONS.iter().map(|(name, key)| {
        let said = node.get(key).map(said).unwrap_or_default();
        format!("## {name}\n\n{}", harmless(&said, SECTION_CHARS_MAX))
    });
    Some(FoundProposal {
        path: path.clone(),
        marker: format!("proposal:{id}:{}", hash.get(..HASH_CHARS)?),
        id,
        title: format!("[innovator/{persona}] {title}"),
        body: sections.collect::<Vec<_>>().join("\n\n"),
        persona,
    })
}

/// A text, or a list of texts as a list.
fn said(node: &Node) -> String {
    let items = node
        .list()
        .unwrap_or_default()
        .iter()
        .filter_map(Node::text);
    let items: Vec<_> = items.map(|item| format!("- {item}")).collect();
    match node.text() {
        Some(text) => text.to_owned(),
        None => items.join("\n"),
    }
}

/// Text of an agent that calls no one and hides nothing.
fn harmless(text: &str, chars_max: usize) -> String {
    let shown = presentable(text, chars_max);
    shown.replace('@', "(at)").replace('<', "&lt;")
}

/// Whether there is a summary that narrators go on from: one of a trial run is none.
pub(crate) fn has_summary(tree: &Tree, paths: &Paths) -> bool {
    let path = paths.changes.parse::<TreePath>();
    path.is_ok_and(|path| tree.get(&path).is_some() && is_real(tree, &path))
}

/// When the last summary was made that narrators go on from. Of a date, its whole day is looked at again.
pub fn last_summary(tree: &Tree, paths: &Paths) -> Option<Timestamp> {
    summed_up_at(tree, paths).filter(|_| has_summary(tree, paths))
}

/// When the summary that is there was made, by a session or in a trial.
pub(crate) fn summed_up_at(tree: &Tree, paths: &Paths) -> Option<Timestamp> {
    let changes = parsed(tree, &paths.changes.parse().ok()?)?;
    moment(changes.get("created_at")?.text()?)
}

/// A moment, or the beginning of a day.
fn moment(text: &str) -> Option<Timestamp> {
    let day = || {
        let day: Date = text.parse().ok()?;
        Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    text.parse().ok().or_else(day)
}

/// Whether a file belongs to the pipeline itself, which no narrator sums up.
pub fn is_of_pipeline(path: &str) -> bool {
    [SYSTEM, CONTROL].into_iter().any(|folder| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
    })
}

/// The roles that run, in the order of the settings.
pub fn enabled(roles: &[Scheduled]) -> impl Iterator<Item = &Scheduled> {
    roles.iter().filter(|role| role.enabled)
}

/// Why the settings of a repository do not fit those of its source, if they do not.
pub fn misfit(config: &Config, target: &str, worker: &str) -> Option<String> {
    let pairs = [
        ("jlo_target_branch", config.target_branch.as_str(), target),
        ("jules_worker_branch", config.worker_branch.as_str(), worker),
    ];
    let (key, named, ours) = pairs.into_iter().find(|(_, named, ours)| named != ours)?;
    Some(format!(
        "`.jlo/config.toml` names the branch `{named}` in `{key}`, and the source has `{ours}`: make them the same"
    ))
}
