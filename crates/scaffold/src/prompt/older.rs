//! Prompts of the older generation: a `prompt.yml` lists the files that make one, from the general to the particular.
//!
//! The files are put into the prompt in their order. Whatever else the list says, such as an order to read them, falls away.

use domain::ids::{RoleName, StreamName};
use domain::layer::{Cast, Layer};
use domain::redact::presentable;

use super::PromptError;
use super::inclusion::Shelf;
use crate::fault::Fault;
use crate::layout::Paths;
use crate::tree::{Tree, TreePath};
use crate::yaml::{self, Node};

/// What is shown of why a text names no stream, in characters.
const STREAM_CHARS_MAX: usize = 200;

/// One list of files.
pub(super) struct List {
    pub(super) file: String,
    /// The stream that it names.
    pub(super) stream: Option<StreamName>,
    /// The files with their lines, each once.
    pub(super) contracts: Vec<(String, usize)>,
}

/// The lists of a layer with their roles: one of the layer itself has none.
pub(crate) fn lists(tree: &Tree, paths: &Paths, layer: Layer) -> Vec<(Option<RoleName>, TreePath)> {
    let folder = paths.layer(tree, layer);
    let files = tree.below(&folder).map(|(path, _)| path);
    let lists = files.filter_map(|path| match path.below(&folder)?.split_once('/') {
        None if path.file_name() == "prompt.yml" => Some((None, path.clone())),
        Some((role, "prompt.yml")) => Some((Some(role.parse().ok()?), path.clone())),
        None | Some(_) => None,
    });
    lists.collect()
}

impl List {
    /// The list of a role, or the only one of a layer.
    pub(super) fn read(
        tree: &Tree,
        paths: &Paths,
        layer: Layer,
        role: Option<&RoleName>,
    ) -> Result<Self, PromptError> {
        let lists = lists(tree, paths, layer);
        let known = || lists.iter().filter_map(|(role, _)| role.clone()).collect();
        let own = lists.iter().find(|(of, _)| of.as_ref() == role);
        let file = match (role, own, lists.as_slice()) {
            (_, Some((_, file)), _) => file,
            (None, None, [(_, file)]) if layer.cast() == Cast::Single => file,
            (None, None, []) => {
                let folder = paths.layer(tree, layer);
                return Err(PromptError::NoList(format!("{folder}/prompt.yml")));
            }
            (None, None, _) => {
                let roles = known();
                return Err(PromptError::RoleWanted { layer, roles });
            }
            (Some(role), None, _) => {
                return Err(PromptError::UnknownRole {
                    layer,
                    role: role.clone(),
                    roles: known(),
                });
            }
        };
        Self::parse(tree, file)
    }

    /// Refuses what cannot be put in with the line of the list; the template has no line for it.
    pub(super) fn refuse_missing(&self, shelf: &Shelf) -> Result<(), PromptError> {
        for (path, line) in &self.contracts {
            if let Err(why) = shelf.required(path) {
                let (file, line) = (self.file.clone(), *line);
                return Err(PromptError::Include { file, line, why });
            }
        }
        Ok(())
    }

    fn parse(tree: &Tree, file: &TreePath) -> Result<Self, PromptError> {
        let text = tree.text(file.as_str()).unwrap_or_default();
        let node = yaml::parse(file.as_str(), text.as_bytes()).map_err(PromptError::List)?;
        let stream = node.get("workstream").and_then(Node::text);
        let stream = stream.map(str::parse::<StreamName>).transpose();
        let stream = stream.map_err(|error| {
            let line = node.entry("workstream").map_or(1, |entry| entry.line);
            let what = presentable(&error.to_string(), STREAM_CHARS_MAX);
            PromptError::List(Fault::new(file.as_str(), line, what))
        })?;
        let mut contracts: Vec<(String, usize)> = Vec::new();
        let listed = node.get("contracts").and_then(Node::list);
        for item in listed.unwrap_or_default() {
            // A word in brackets may say whose rules they are.
            let path = item.text().and_then(|text| text.split_whitespace().next());
            let path = path.unwrap_or_default().to_owned();
            if !contracts.iter().any(|(known, _)| *known == path) {
                contracts.push((path, item.line));
            }
        }
        if contracts.is_empty() {
            let line = node.entry("contracts").map_or(1, |entry| entry.line);
            let what = "`contracts` lists no file to make a prompt of";
            return Err(PromptError::List(Fault::new(file.as_str(), line, what)));
        }
        let file = file.to_string();
        Ok(Self {
            file,
            stream,
            contracts,
        })
    }
}
