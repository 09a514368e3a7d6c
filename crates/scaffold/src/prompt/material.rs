//! What a prompt is made of besides files: pending events, titles of what is there, and the requirement at hand.

use domain::fence::fence;
use domain::ids::ArtefactId;
use domain::layer::Layer;
use domain::redact::presentable;

use super::{Ask, PromptError};
use crate::assets;
use crate::exchange::{is_real, nearest_requirement, needs_planning};
use crate::layout::Paths;
use crate::tree::{TEXT_BYTES_MAX, Tree, TreePath};
use crate::yaml::{self, Node};

/// What is shown of a title, in characters.
const TITLE_CHARS_MAX: usize = 200;

/// What a list of titles takes of a prompt at most, in bytes: a quarter, so that no heap of them stops a layer.
const TITLES_BYTES_MAX: usize = 8_000;

/// Longest name of a label that GitHub takes, in characters.
const LABEL_CHARS_MAX: usize = 50;

/// Longest description of a label that GitHub takes, in characters.
const LOOK_CHARS_MAX: usize = 100;

/// The colour of labels that GitHub makes by itself.
const USUAL_COLOUR: &str = "ededed";

/// What the name of a branch takes of a requirement's file name, in characters.
const SLUG_CHARS_MAX: usize = 40;

/// The pending events, the oldest first, so that none waits for ever.
pub(crate) fn pending(tree: &Tree, paths: &Paths) -> Vec<TreePath> {
    let mut events: Vec<_> = artefacts(tree, &paths.pending)
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

/// The titles of the files below a folder but for those that are left out, fenced, since sessions wrote them. Empty if there is none.
pub(super) fn titles(tree: &Tree, folder: &str, left_out: &[TreePath]) -> String {
    let mut room = TITLES_BYTES_MAX;
    let mut lines = Vec::new();
    // Only what is shown is read: there may be thousands.
    for path in shown(tree, folder, left_out) {
        let node = parsed(tree, path);
        let title = node.as_ref().and_then(|node| node.get("title")?.text());
        let title = title.unwrap_or("(its title cannot be read)");
        let title = presentable(&title.replace('\n', " "), TITLE_CHARS_MAX);
        let line = format!("{path}: {title}");
        if line.len() > room {
            break;
        }
        room -= line.len();
        lines.push(line);
    }
    let left = shown(tree, folder, left_out).count() - lines.len();
    if left > 0 {
        lines.push(format!("({left} more have no room here)"));
    }
    if lines.is_empty() {
        return String::new();
    }
    let text = presentable(&lines.join("\n"), TEXT_BYTES_MAX);
    fence(folder, &text, TEXT_BYTES_MAX)
}

/// The files whose titles are shown: none that a trial run made up.
fn shown<'a>(
    tree: &'a Tree,
    folder: &'a str,
    left_out: &'a [TreePath],
) -> impl Iterator<Item = &'a TreePath> {
    let real = artefacts(tree, folder).filter(move |path| is_real(tree, path));
    real.filter(move |path| !left_out.contains(path))
}

/// The YAML files of a folder, in order of path.
fn artefacts<'a>(tree: &'a Tree, folder: &'a str) -> impl Iterator<Item = &'a TreePath> {
    let files = tree.below(folder).map(|(path, _)| path);
    files.filter(|path| path.as_str().ends_with(".yml"))
}

fn parsed(tree: &Tree, path: &TreePath) -> Option<Node> {
    let text = tree.text(path.as_str())?;
    yaml::parse(path.as_str(), text.as_bytes()).ok()
}

/// The requirement that a planner or an implementer works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedRequirement {
    pub(super) path: TreePath,
    pub(super) id: ArtefactId,
    pub(super) label: String,
    /// A few words of its file's name, for the name of a branch.
    pub(super) slug: String,
}

impl AskedRequirement {
    /// Reads the requirement, if its layer may work on it now.
    pub(super) fn read(
        tree: &Tree,
        paths: &Paths,
        ask: &Ask,
        path: &TreePath,
    ) -> Result<Self, PromptError> {
        if !paths.holds_requirement(path) || !path.as_str().ends_with(".yml") {
            return Err(PromptError::RequirementOutside {
                path: path.clone(),
                folder: paths.requirements.to_string(),
            });
        }
        let text = tree.text(path.as_str());
        let text = text.ok_or_else(|| PromptError::RequirementMissing {
            path: path.clone(),
            nearest: nearest_requirement(tree, paths, path),
        })?;
        let node = yaml::parse(path.as_str(), text.as_bytes()).map_err(PromptError::Requirement)?;
        ready(ask, path, &node)?;
        let id = node.get("id").and_then(|id| id.text()?.parse().ok());
        let id: ArtefactId = id.ok_or_else(|| PromptError::RequirementId(path.clone()))?;
        let label = node.get("label").and_then(Node::text);
        let label = label.or_else(|| paths.label_of(path)).unwrap_or_default();
        let labels = labels(tree, paths);
        if !labels.iter().any(|known| known == label) {
            return Err(PromptError::UnknownLabel {
                path: path.clone(),
                label: presentable(label, TITLE_CHARS_MAX),
                labels,
            });
        }
        Ok(Self {
            slug: slug(path, &id),
            path: path.clone(),
            id,
            label: label.to_owned(),
        })
    }
}

/// Refuses a planner what is ready, and an implementer what is not, unless it is to be taken as it is.
fn ready(ask: &Ask, path: &TreePath, node: &Node) -> Result<(), PromptError> {
    match (ask.layer, needs_planning(node)) {
        (Layer::Implementer, Some(true)) if !ask.records.as_it_is => {
            Err(PromptError::NotReady(path.clone()))
        }
        (Layer::Planner, Some(false)) => Err(PromptError::Ready(path.clone())),
        (_, None) => Err(PromptError::NoMark(path.clone())),
        (
            Layer::Narrator
            | Layer::Observers
            | Layer::Decider
            | Layer::Planner
            | Layer::Implementer
            | Layer::Innovators,
            Some(_),
        ) => Ok(()),
    }
}

/// The names of the labels that requirements may have.
pub(crate) fn labels(tree: &Tree, paths: &Paths) -> Vec<String> {
    let found = labels_with_looks(tree, paths).into_iter();
    found.map(|label| label.name).collect()
}

/// A label of requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Its colour, as six hex digits.
    pub colour: String,
    /// What it means; empty where nothing is said.
    pub description: String,
}

/// The labels that a requirement can have, with how they look. What is no colour is GitHub's usual one.
pub(crate) fn labels_with_looks(tree: &Tree, paths: &Paths) -> Vec<Label> {
    // The older generation may do without the file; in the newer one the doctor misses it.
    let embedded = || assets::system_file(paths.labels);
    let file = tree
        .text(paths.labels)
        .or_else(embedded)
        .unwrap_or_default();
    let file: serde_json::Value = serde_json::from_str(file).unwrap_or_default();
    let labels = file.get("issue_labels").and_then(|it| it.as_object());
    let named = labels.into_iter().flatten();
    let named = named.filter(|(name, _)| is_slug(name) && name.len() <= LABEL_CHARS_MAX);
    let label = |(name, look): (&String, &serde_json::Value)| {
        let text = |key: &str| look.get(key).and_then(|it| it.as_str());
        Label {
            name: name.clone(),
            colour: text("color")
                .filter(|it| is_colour(it))
                .unwrap_or(USUAL_COLOUR)
                .to_owned(),
            description: presentable(text("description").unwrap_or_default(), LOOK_CHARS_MAX),
        }
    };
    named.map(label).collect()
}

fn is_colour(text: &str) -> bool {
    text.len() == 6 && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Whether a text is fit for a part of a branch's name: lower case words with hyphens.
pub(crate) fn is_slug(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.split('-')
        .all(|word| !word.is_empty() && word.chars().all(letter))
}

/// The words of a file's name without the id before them.
fn slug(path: &TreePath, id: &ArtefactId) -> String {
    let stem = path.stem().to_ascii_lowercase();
    let own = format!("{id}-");
    let stem = stem.strip_prefix(&own).unwrap_or(&stem);
    let plain: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(SLUG_CHARS_MAX)
        .collect();
    let words: Vec<_> = plain.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        id.to_string()
    } else {
        words.join("-")
    }
}
