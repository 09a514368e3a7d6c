//! Prompts of the older generation: a `prompt.yml` lists the files that make one, from the general to the particular.
//!
//! The files are put into the prompt in their order. Whatever else the list says, such as an order to read them, falls away.

use std::collections::BTreeSet;

use domain::ids::{RoleName, StreamName};
use domain::layer::Layer;
use domain::redact::presentable;

use super::PromptError;
use super::inclusion::Shelf;
use crate::fault::Fault;
use crate::layout::{Layout, Paths};
use crate::tree::{Tree, TreePath};
use crate::yaml::{self, Node};

/// What is shown of why a text names no stream, in characters.
const STREAM_CHARS_MAX: usize = 200;

/// One list of files.
pub(super) struct List {
    pub(super) file: String,
    /// The stream that it names, and the line.
    stream: Option<(StreamName, usize)>,
    /// The files with their lines, each once.
    pub(super) contracts: Vec<(String, usize)>,
}

/// The lists of a layer with their roles, which lie in the layer's folder or below `roles/` in it: one of the layer itself has none.
pub(crate) fn lists(tree: &Tree, paths: &Paths, layer: Layer) -> Vec<(Option<RoleName>, TreePath)> {
    let folder = paths.layer(tree, layer);
    let files = tree.below(&folder).map(|(path, _)| path);
    let lists = files.filter_map(|path| {
        let parts: Vec<&str> = path.below(&folder)?.split('/').collect();
        let role: Option<RoleName> = match parts.as_slice() {
            ["prompt.yml"] => None,
            [role, "prompt.yml"] | ["roles", role, "prompt.yml"] => Some(role.parse().ok()?),
            _ => return None,
        };
        Some((role, path.clone()))
    });
    lists.collect()
}

/// The roles of a layer that have a list, each once and with the stream that its list names.
pub(crate) fn listed(
    tree: &Tree,
    paths: &Paths,
    layer: Layer,
) -> Vec<(RoleName, Option<StreamName>)> {
    let lists = lists(tree, paths, layer).into_iter();
    let mut seen = BTreeSet::new();
    let listed = lists.filter_map(|(role, file)| {
        let role = role.filter(|role| seen.insert(role.clone()))?;
        // One that cannot be read is told where its prompt is put together.
        let stream = List::parse(tree, &file).ok().and_then(|list| list.stream);
        Some((role, stream.map(|(stream, _)| stream)))
    });
    listed.collect()
}

/// The stream that the list of a role names, in the older generation.
pub fn stream_of_role(worker: &Tree, layer: Layer, role: &RoleName) -> Option<StreamName> {
    let paths = Layout::paths(worker)
        .ok()
        .filter(|paths| paths.is_older())?;
    let mut listed = listed(worker, paths, layer).into_iter();
    listed.find(|(of, _)| of == role)?.1
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
            (None, None, [(_, file), others @ ..]) if serves(layer, others.len()) => file,
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

    /// The stream that its agent works in: where the list names one, no other one.
    pub(super) fn stream(
        self,
        asked: Option<&StreamName>,
    ) -> Result<Option<StreamName>, PromptError> {
        match (self.stream, asked) {
            (Some((own, line)), Some(asked)) if own != *asked => {
                let what = format!("the list is of the stream `{own}`, and not of `{asked}`");
                Err(PromptError::List(Fault::new(&self.file, line, what)))
            }
            (_, Some(asked)) => Ok(Some(asked.clone())),
            (own, None) => Ok(own.map(|(stream, _)| stream)),
        }
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
        let line = node.entry("workstream").map_or(1, |entry| entry.line);
        let stream = node.get("workstream").and_then(Node::text);
        let stream = stream.map(str::parse::<StreamName>).transpose();
        let stream = stream.map_err(|error| {
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
            stream: stream.map(|stream| (stream, line)),
            contracts,
        })
    }
}

/// Whether the first list of a layer serves where no role is named.
fn serves(layer: Layer, others: usize) -> bool {
    match layer {
        // Summaries and requirements are the layer's and not those of one of its roles.
        Layer::Narrator | Layer::Planner | Layer::Implementer => true,
        Layer::Decider => others == 0,
        Layer::Observers | Layer::Innovators => false,
    }
}
