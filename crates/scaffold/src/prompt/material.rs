//! What a prompt is made of besides files: titles of what is there, and the requirement at hand.

use domain::fence::fence;
use domain::ids::ArtefactId;
use domain::layer::Layer;
use domain::redact::presentable;

use super::{Ask, PromptError};
use crate::exchange::{is_real, label_names, nearest_requirement, needs_planning};
use crate::layout::Paths;
use crate::tree::{TEXT_BYTES_MAX, Tree, TreePath};
use crate::yaml::{self, Node};

/// What is shown of a title, in characters.
const TITLE_CHARS_MAX: usize = 200;

/// What a list of titles takes of a prompt at most, in bytes: a quarter, so that no heap of them stops a layer.
const TITLES_BYTES_MAX: usize = 8_000;

/// What the name of a branch takes of a requirement's file name, in characters.
const SLUG_CHARS_MAX: usize = 40;

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
        let labels = label_names(tree, paths);
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
