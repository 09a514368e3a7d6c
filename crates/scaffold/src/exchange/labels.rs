//! The labels that requirements can have, and how they look on GitHub.

use domain::redact::presentable;

use crate::assets;
use crate::layout::Paths;
use crate::tree::Tree;

/// Longest name of a label that GitHub takes, in characters.
const LABEL_CHARS_MAX: usize = 50;

/// Longest description of a label that GitHub takes, in characters.
const LOOK_CHARS_MAX: usize = 100;

/// The colour of labels that GitHub makes by itself.
const USUAL_COLOUR: &str = "ededed";

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
pub fn labels(tree: &Tree, paths: &Paths) -> Vec<Label> {
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

/// The names of the labels that requirements may have.
pub(crate) fn label_names(tree: &Tree, paths: &Paths) -> Vec<String> {
    let found = labels(tree, paths).into_iter();
    found.map(|label| label.name).collect()
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
