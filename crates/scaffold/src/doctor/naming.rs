//! Names: those of files in the exchange, and those that files say they have.

use domain::layer::{Cast, Layer};

use super::artefacts::{ArtefactKind, Artefacts};
use super::finding::{Report, Rule};
use super::form::Form;
use crate::assets::role_form;
use crate::exchange::is_slug;
use crate::layout::{OWN_ROLES, Paths};
use crate::tree::{Tree, TreePath};
use crate::yaml::{self, Node};

/// Files of the exchange are YAML with a name in lower case; proposals begin with their role.
pub(super) fn exchange(report: &mut Report, tree: &Tree, paths: &Paths) {
    let streams = paths.of_streams(tree);
    let folders = streams.iter().flat_map(|paths| {
        let folders = paths.folders().into_iter();
        folders.map(move |folder| (paths, folder))
    });
    for (paths, folder) in folders.chain([(paths, paths.proposals)]) {
        for (path, _) in tree.below(folder) {
            if path.file_name() == ".gitkeep" {
                continue;
            }
            let is_yaml = path.as_str().ends_with(".yml");
            let lies_here = path.folder() == folder
                || (folder == paths.requirements && paths.holds_requirement(path));
            if !is_yaml || !is_slug(path.stem()) || !lies_here {
                let what = format!("`{}` is no name of a file here", path.file_name());
                report.add(Rule::FileName, path.as_str(), 1, what);
            } else if folder == paths.proposals {
                proposal(report, tree, path);
            }
        }
    }
}

/// A proposal's file is named after its persona and a few words.
fn proposal(report: &mut Report, tree: &Tree, path: &TreePath) {
    let Some(node) = parsed(tree, path.as_str()) else {
        return;
    };
    let role = node.get("persona").or_else(|| node.get("role"));
    let role = role.and_then(Node::text).unwrap_or_default();
    let prefix = format!("{}-", role.replace('_', "-"));
    let slug = path.stem().strip_prefix(&prefix);
    if slug.is_none_or(str::is_empty) {
        let what = format!("the name does not begin with `{prefix}` and go on");
        report.add(Rule::FileName, path.as_str(), 1, what);
    }
}

/// A layer's contracts are those of its folder, with its own branches.
pub(super) fn contracts(report: &mut Report, tree: &Tree, paths: &Paths) {
    for layer in Layer::ALL {
        let file = paths.contracts(tree, layer);
        // One that is missing or cannot be read is told elsewhere.
        let Some(node) = parsed(tree, &file) else {
            continue;
        };
        let said = node.get("layer").and_then(Node::text).unwrap_or_default();
        if said != layer.name() && said != layer.plural() {
            let what = format!("the layer is `{said}`, and the folder that of {layer}");
            report.add(Rule::Contracts, &file, line(&node, "layer"), what);
        }
        let prefix = node.get("branch_prefix").and_then(Node::text);
        let prefix = prefix.unwrap_or_default();
        if prefix != layer.branch_prefix() {
            let what = format!("the prefix is `{prefix}`, not `{}`", layer.branch_prefix());
            report.add(Rule::Contracts, &file, line(&node, "branch_prefix"), what);
        }
        let purpose = node.get("purpose").and_then(Node::text).unwrap_or_default();
        let constraints = node.get("constraints").and_then(Node::list);
        for (key, is_there) in [
            ("purpose", !purpose.trim().is_empty()),
            ("constraints", constraints.is_some()),
        ] {
            if !is_there {
                let what = format!("the contracts have no `{key}`");
                report.add(Rule::Contracts, &file, line(&node, key), what);
            }
        }
    }
}

/// A role of the user's own says the role and the layer of its folders.
pub(super) fn roles(report: &mut Report, tree: &Tree) {
    let files = tree.below(OWN_ROLES).map(|(path, _)| path);
    for path in files.filter(|path| path.file_name() == "role.yml") {
        let rest = path.below(OWN_ROLES).unwrap_or_default();
        let parts: Vec<_> = rest.split('/').collect();
        let layer = Layer::ALL
            .into_iter()
            .find(|layer| parts.first() == Some(&layer.name()));
        match (layer, layer.map(Layer::cast), parts.as_slice()) {
            (Some(layer), Some(Cast::Multi), [_, role, _]) => {
                role_file(report, tree, path, layer, Some(role));
            }
            (Some(layer), Some(Cast::Single), [_, _]) => {
                role_file(report, tree, path, layer, None);
            }
            (_, _, _) => {
                let what = "no layer has a role in this folder";
                report.add(Rule::Role, path.as_str(), 1, what);
            }
        }
    }
}

pub(super) fn role_file(
    report: &mut Report,
    tree: &Tree,
    path: &TreePath,
    layer: Layer,
    role: Option<&str>,
) {
    let file = path.as_str();
    let Some(text) = tree.text(file) else { return };
    let node = match yaml::parse(file, text.as_bytes()) {
        Ok(node) => node,
        Err(fault) => return report.add(Rule::Unreadable, file, fault.line, fault.what),
    };
    let wanted = [("layer", Some(layer.name())), ("role", role)];
    for (key, wanted) in wanted {
        let said = node.get(key).and_then(Node::text);
        if let (Some(said), Some(wanted)) = (said, wanted)
            && said != wanted
        {
            let what = format!("`{key}` is `{said}`, and the folder that of {wanted}");
            report.add(Rule::Role, file, line(&node, key), what);
        }
    }
    // A layer without roles may be told anything; a role is what its form asks for.
    if let (Some(_), Ok(form)) = (role, yaml::parse("form.yml", role_form().as_bytes())) {
        let mut comparison = Form {
            report,
            file,
            aliases: &[],
        };
        comparison.compare(&form, &node, "");
    }
}

/// What a role remembers is its own: the file names the role whose folder it lies in.
pub(super) fn perspectives(report: &mut Report, artefacts: &Artefacts) {
    for it in artefacts.of_kinds(&[ArtefactKind::Observer, ArtefactKind::Innovator]) {
        let key = if it.kind == ArtefactKind::Innovator {
            "persona"
        } else {
            "observer"
        };
        let mut folders = it.file.rsplit('/').skip(1);
        let folder = folders.next().unwrap_or_default();
        let said = it.text(key);
        if !said.is_empty() && said != folder {
            let what = format!("`{key}` is `{said}`, and the folder that of {folder}");
            report.add(Rule::Role, &it.file, it.line(key), what);
        }
    }
}

fn line(node: &Node, key: &str) -> usize {
    node.entry(key).map_or(1, |entry| entry.line)
}

fn parsed(tree: &Tree, path: &str) -> Option<Node> {
    yaml::parse(path, tree.text(path)?.as_bytes()).ok()
}
