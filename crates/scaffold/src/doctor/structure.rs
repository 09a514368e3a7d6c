//! Structure: what has to be there, what may not, and what kind of file it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::ids::StreamName;
use domain::layer::Layer;
use domain::redact::holds_secret;

use super::finding::{Report, Rule};
use crate::assets::{self, Asset};
use crate::config::{self, Config, Unusable};
use crate::exchange::label_names;
use crate::layout::{CONFIG, CONTROL, Layout, Paths, SYSTEM, of_system};
use crate::pin::{self, PIN};
use crate::prompt::Trees;
use crate::setup;
use crate::tree::{Content, Entry, TEXT_BYTES_MAX, Tree, TreePath};
use crate::yaml;

/// The version that wrote the user's files, which the older generation does without, and what git may not have of them.
pub(super) fn control(report: &mut Report, trees: &Trees, ours: &str) {
    let tree = &trees.target;
    // What is there and cannot be read is found among the files.
    if !tree.has(PIN) && !Layout::is_older(&trees.worker) {
        report.add(Rule::MissingControl, PIN, 1, "the file is not there");
    }
    let secret = [
        (tree, setup::SECRETS),
        (tree, setup::ENV),
        (&trees.worker, setup::OLDER_ENV),
    ];
    for (_, file) in secret.into_iter().filter(|(tree, file)| tree.has(file)) {
        report.add(Rule::TrackedSecrets, file, 1, "git tracks the secrets");
    }
    let checked = tree.text(PIN).map(|text| pin::check(text, ours));
    if let Some(Err(error)) = checked {
        report.add(Rule::Version, PIN, 1, error.to_string());
    }
}

/// The settings, if they can be used.
pub(super) fn config(report: &mut Report, trees: &Trees) -> Option<Config> {
    match config::read_with(&trees.target, &trees.worker) {
        Ok(config) => return Some(config),
        Err(Unusable::Missing) if trees.target.has(CONFIG) => {}
        Err(Unusable::Missing) => {
            report.add(Rule::MissingControl, CONFIG, 1, "the file is not there");
        }
        Err(Unusable::Faulty(faults)) => {
            for fault in faults {
                report.add(Rule::Config, &fault.file, fault.line, fault.what);
            }
        }
    }
    None
}

/// Every file below both folders: regular, text, without a twin and without a secret.
pub(super) fn files(report: &mut Report, trees: &Trees) {
    let control = trees.target.below(CONTROL);
    let system = trees.worker.below(SYSTEM);
    let mut seen = BTreeMap::new();
    let unusable = [&trees.target, &trees.worker];
    for (path, why) in unusable.iter().flat_map(|tree| tree.unusable()) {
        report.add(Rule::Path, path, 1, why.to_string());
    }
    for (path, entry) in control.chain(system) {
        file(report, path, entry);
        let folded = path.as_str().to_lowercase();
        if let Some(twin) = seen.insert(folded, path) {
            let what = format!("`{twin}` differs from it in the case of letters only");
            report.add(Rule::CaseTwins, path.as_str(), 1, what);
        }
    }
}

pub(super) fn file(report: &mut Report, path: &TreePath, entry: &Entry) {
    let path = path.as_str();
    if !entry.mode.is_regular() {
        report.add(
            Rule::Irregular,
            path,
            1,
            "it is a link or another repository",
        );
        return;
    }
    match &entry.content {
        Content::NotText => report.add(Rule::NotText, path, 1, "it is not UTF-8"),
        Content::TooLarge => {
            let what = format!("it has more than {TEXT_BYTES_MAX} bytes");
            report.add(Rule::NotText, path, 1, what);
        }
        Content::Text(text) if holds_secret(text) => {
            let lines = (1..).zip(text.lines());
            let line = lines.into_iter().find(|(_, line)| holds_secret(line));
            let line = line.map_or(1, |(line, _)| line);
            report.add(
                Rule::Secret,
                path,
                line,
                "the line holds what looks like a secret",
            );
        }
        Content::Text(_) => {}
    }
}

/// None of the system's files lies on the target branch. One tree may stand for both branches.
pub(super) fn apart(report: &mut Report, trees: &Trees) {
    if Arc::ptr_eq(&trees.target, &trees.worker) {
        return;
    }
    let mut strays = of_system(&trees.target);
    if let Some(first) = strays.next() {
        let what = match strays.count() {
            0 => "the file of the system is on the target branch".to_owned(),
            more => format!("the file and {more} more of the system are on the target branch"),
        };
        report.add(Rule::StraySystem, first.as_str(), 1, what);
    }
}

/// The system's files and the folders of the exchange are there.
pub(super) fn system(report: &mut Report, tree: &Tree, paths: &Paths, streams: &[StreamName]) {
    for asset in expected(tree, paths, streams) {
        let path = asset.path.as_str();
        if asset.path.file_name() == ".gitkeep" {
            let folder = asset.path.folder();
            if !tree.has_folder(folder) {
                report.add(Rule::MissingSystem, folder, 1, "the folder is not there");
            }
        } else if !tree.has(path) {
            report.add(Rule::MissingSystem, path, 1, "the file is not there");
        }
    }
}

/// The labels, of which there is one at least, and every YAML file of a layer can be read: without them nothing else could be checked.
pub(super) fn readable(report: &mut Report, tree: &Tree, paths: &Paths) {
    let file = tree.text(paths.labels).unwrap_or("{}");
    match serde_json::from_str::<serde_json::Value>(file) {
        Err(error) => {
            let what = error.to_string();
            report.add(Rule::Unreadable, paths.labels, error.line(), what);
        }
        Ok(_) if label_names(tree, paths).is_empty() => {
            let what = "`issue_labels` names no label, and a requirement has one";
            report.add(Rule::Entries, paths.labels, 1, what);
        }
        Ok(_) => {}
    }
    let mut folders: Vec<_> = Layer::ALL
        .into_iter()
        .flat_map(|layer| [paths.layer(tree, layer), paths.schemas(tree, layer)])
        .collect();
    folders.sort();
    let files = folders.iter().flat_map(|folder| tree.below(folder));
    for (path, _) in files.filter(|(path, _)| path.as_str().ends_with(".yml")) {
        let text = tree.text(path.as_str()).unwrap_or_default();
        if let Err(fault) = yaml::parse(path.as_str(), text.as_bytes()) {
            report.add(Rule::Unreadable, &fault.file, fault.line, fault.what);
        }
    }
}

/// The system's files where this tree has them, or would have them, with the folders of these streams.
pub(super) fn expected(tree: &Tree, paths: &Paths, streams: &[StreamName]) -> Vec<Asset> {
    let moved = |asset: Asset| {
        let path = place(tree, paths, &asset.path);
        let path = path.and_then(|path| path.parse().ok());
        Asset {
            path: path.unwrap_or(asset.path),
            text: asset.text,
        }
    };
    let mut files = assets::system();
    if paths.is_older() {
        files.retain(|asset| asset.path.as_str() == paths.rules);
    }
    files
        .into_iter()
        .map(moved)
        .chain(of_streams(tree, paths, streams))
        .collect()
}

/// What keeps the folders of streams. In the older generation they are people's.
fn of_streams(tree: &Tree, paths: &Paths, streams: &[StreamName]) -> Vec<Asset> {
    if paths.is_older() {
        return Vec::new();
    }
    let folders = streams.iter().flat_map(|stream| {
        let paths = paths.of_stream(tree, stream);
        paths.folders().map(|folder| format!("{folder}/.gitkeep"))
    });
    let kept = folders.filter_map(|path| {
        let path = path.parse().ok()?;
        Some(Asset { path, text: "" })
    });
    kept.collect()
}

/// Where a tree has a file of a layer, if its layers lie elsewhere.
fn place(tree: &Tree, paths: &Paths, path: &TreePath) -> Option<String> {
    let (layer, rest) = path.below(".jules/roles")?.split_once('/')?;
    let layer: Layer = layer.parse().ok()?;
    Some(match rest.strip_prefix("schemas/") {
        Some(schema) => format!("{}/{schema}", paths.schemas(tree, layer)),
        None => format!("{}/{rest}", paths.layer(tree, layer)),
    })
}
