//! The doctor: what is wrong with the files of a repository's pipeline, and what to do about it.
//!
//! It reads two trees that its caller has read, which may be one, and changes nothing.

mod artefacts;
mod finding;
mod form;
mod merged;
mod naming;
mod prompts;
mod quality;
mod relations;
mod structure;
#[cfg(test)]
mod tests;

use domain::ids::{RoleName, StreamName};
use domain::layer::Layer;
use jiff::civil::Date;

use crate::assets::Asset;
use crate::config::Config;
use crate::layout::{EXCHANGE, Layout, LayoutError, own_role};
use crate::prompt::Trees;
use crate::tree::Tree;
use artefacts::Artefacts;
use finding::Report;

pub use finding::{Finding, Level, Rule};
pub use merged::{merged, new_errors};

/// What the doctor has to be told besides the files.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// Today in UTC, by which waiting is measured.
    pub today: Date,
    /// The version of this Gaffer, by which a repository of a newer one is known.
    pub version: String,
}

/// Everything that is wrong, in order of file and line.
pub fn examine(trees: &Trees, circumstances: &Circumstances) -> Vec<Finding> {
    let mut report = Report::default();
    structure::control(&mut report, trees, &circumstances.version);
    structure::files(&mut report, trees);
    structure::apart(&mut report, trees);
    let config = structure::config(&mut report, trees);
    naming::roles(&mut report, &trees.target);
    // Also before there are files of the system; those of the older generation name their roles themselves.
    if !Layout::is_older(&trees.worker) {
        prompts::scheduled_roles(&mut report, &trees.target, config.as_ref());
    }
    match Layout::paths(&trees.worker) {
        Err(error) => report.add(Rule::Layout, ".jules", 1, error.to_string()),
        Ok(paths) => {
            let streams = config.as_ref().map(streams).unwrap_or_default();
            structure::system(&mut report, &trees.worker, paths, &streams);
            structure::readable(&mut report, &trees.worker, paths);
            naming::contracts(&mut report, &trees.worker, paths);
            naming::exchange(&mut report, &trees.worker, paths);
            let artefacts = Artefacts::read(&mut report, &trees.worker, paths);
            artefacts.check_fields(&mut report, &trees.worker, paths);
            naming::perspectives(&mut report, &artefacts);
            relations::check(&mut report, &artefacts, circumstances.today);
            quality::check(&mut report, &artefacts);
            prompts::check(&mut report, trees, paths, config.as_ref(), &artefacts);
            if paths.is_older() {
                report.move_first();
            }
        }
    }
    report.sorted()
}

/// What is wrong with the file of one role in a layer of roles.
pub fn role(target: &Tree, layer: Layer, role: &RoleName) -> Vec<Finding> {
    let mut report = Report::default();
    if let Ok(path) = own_role(layer, Some(role)).parse() {
        if let Some(entry) = target.get(&path) {
            structure::file(&mut report, &path, entry);
        }
        naming::role_file(&mut report, target, &path, layer, Some(role.as_str()));
    }
    report.sorted()
}

/// What a caller ends with: 0 if nothing stops the work, 1 after errors, 2 after warnings where it is strict.
pub fn exit_code(findings: &[Finding], strict: bool) -> u8 {
    let has = |level| findings.iter().any(|it| it.level == level);
    if has(Level::Error) {
        1
    } else if strict && has(Level::Warning) {
        2
    } else {
        0
    }
}

/// The streams whose folders have to be there: those of the settings that run.
pub fn streams(config: &Config) -> Vec<StreamName> {
    config.streams().map(|(stream, _)| stream.clone()).collect()
}

/// The system's files and folders that are not there, with those of these streams: all that the doctor ever writes.
pub fn fixes(worker: &Tree, streams: &[StreamName]) -> Vec<Asset> {
    let Ok(paths) = Layout::newer(worker) else {
        return Vec::new();
    };
    let mut missing = structure::expected(worker, paths, streams);
    missing.retain(|asset| !worker.has(asset.path.as_str()));
    missing.retain(|asset| !is_kept_open(worker, asset));
    missing
}

/// The system's files where a tree has them, or gets them, with the folders of these streams: what bootstrap compares and writes. The older
/// generation gets none, since a tree is of one generation only.
pub fn system(worker: &Tree, streams: &[StreamName]) -> Result<Vec<Asset>, LayoutError> {
    let paths = match Layout::paths(worker) {
        Ok(paths) if paths.is_older() => return Ok(Vec::new()),
        Ok(paths) => paths,
        Err(LayoutError::Missing) => &EXCHANGE,
        Err(
            error @ (LayoutError::Both { .. }
            | LayoutError::Workstreams(_)
            | LayoutError::NoStream { .. }),
        ) => return Err(error),
    };
    let mut files = structure::expected(worker, paths, streams);
    files.retain(|file| !is_kept_open(worker, file));
    Ok(files)
}

/// Whether a file only keeps a folder that other files keep as well.
fn is_kept_open(worker: &Tree, file: &Asset) -> bool {
    let others = worker.has_folder(file.path.folder()) && !worker.has(file.path.as_str());
    file.path.file_name() == ".gitkeep" && others
}
