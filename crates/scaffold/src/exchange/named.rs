//! The requirement that a person names by its file, and why there is none in it.

use std::collections::BTreeMap;

use domain::nearest::nearest;
use domain::pipeline::{FoundRequirement, MockTag};
use domain::redact::presentable;

use super::{TITLE_CHARS_MAX, requirement, trial_of};
use crate::layout::{Paths, stream_of};
use crate::tree::{Tree, TreePath};

/// Why a file that a person named is no requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRequirement {
    /// It does not lie where requirements do.
    #[error("`{path}` is no requirement: they are `.yml` files below `{folder}/`")]
    Outside {
        /// What was named.
        path: String,
        /// Where requirements lie.
        folder: String,
    },
    /// It is not there.
    #[error("`{path}` is not there: {}", meant(nearest.as_ref()))]
    Missing {
        /// What was named.
        path: String,
        /// The requirement whose name is most like it.
        nearest: Option<TreePath>,
    },
    /// It does not say what a requirement says.
    #[error("`{0}` cannot be read as a requirement: `gaffer scaffold doctor` says why")]
    Unreadable(String),
    /// A trial run made it up.
    #[error("`{path}` is a file of the trial run {tag}, and only that trial works on it")]
    OfTrial {
        /// What was named.
        path: String,
        /// The trial run.
        tag: MockTag,
    },
    /// No trial run made it up, and one was to change it.
    #[error("`{0}` is real, and a trial run changes nothing that is real: name one that it made")]
    Real(String),
}

fn meant(nearest: Option<&TreePath>) -> String {
    match nearest {
        Some(path) => format!("did you mean `{path}`?"),
        None => "`gaffer exchange inspect` lists the requirements".to_owned(),
    }
}

/// The requirement whose file name is most like that of a file which is not there, if any is alike enough.
pub(crate) fn nearest_requirement(tree: &Tree, paths: &Paths, path: &TreePath) -> Option<TreePath> {
    let files = tree.below(&paths.requirements).map(|(path, _)| path);
    let files = files.filter(|path| paths.holds_requirement(path));
    let files = files.filter(|path| path.as_str().ends_with(".yml"));
    let named: BTreeMap<&str, &TreePath> = files.map(|path| (path.stem(), path)).collect();
    let name = nearest(path.stem(), named.keys().copied())?;
    named.get(name).copied().cloned()
}

/// The requirement that a person named by its file.
///
/// # Errors
/// When there is none in that file.
pub fn named(tree: &Tree, paths: &Paths, name: &str) -> Result<FoundRequirement, NoRequirement> {
    let shown = || presentable(name, TITLE_CHARS_MAX);
    let path: Option<TreePath> = name.parse().ok();
    let stream = path.as_ref().map(stream_of).unwrap_or_default();
    let paths = &paths.of_stream(tree, &stream);
    let path = path.filter(|path| paths.holds_requirement(path));
    let path = path.filter(|path| path.as_str().ends_with(".yml"));
    let path = path.ok_or_else(|| NoRequirement::Outside {
        path: shown(),
        folder: paths.requirements.to_string(),
    })?;
    if !tree.has(path.as_str()) {
        return Err(NoRequirement::Missing {
            path: shown(),
            nearest: nearest_requirement(tree, paths, &path),
        });
    }
    requirement(tree, paths, &path).ok_or_else(|| NoRequirement::Unreadable(shown()))
}

/// The same for an agent or a delivery that is real: a requirement of a trial run is none for them.
///
/// # Errors
/// When there is none in that file, or a trial run made it up.
pub fn real(tree: &Tree, paths: &Paths, name: &str) -> Result<FoundRequirement, NoRequirement> {
    let found = named(tree, paths, name)?;
    let path: Option<TreePath> = found.reference.path.parse().ok();
    match path.and_then(|path| trial_of(tree, &path)) {
        Some(tag) => Err(NoRequirement::OfTrial {
            path: found.reference.path,
            tag,
        }),
        None => Ok(found),
    }
}

/// The same for the planner of a trial run, which works on what that trial made.
///
/// # Errors
/// When there is none in that file, or it is real or of another trial run.
pub fn of_trial(
    tree: &Tree,
    paths: &Paths,
    name: &str,
    tag: &MockTag,
) -> Result<FoundRequirement, NoRequirement> {
    match real(tree, paths, name) {
        Err(NoRequirement::OfTrial { tag: made_by, .. }) if made_by == *tag => {
            named(tree, paths, name)
        }
        Err(why) => Err(why),
        Ok(found) => Err(NoRequirement::Real(found.reference.path)),
    }
}
