//! The settings as a repository has them. Without them nothing is checked, bootstrapped or run: they name the branches.

use super::{Config, parse};
use crate::fault::Fault;
use crate::layout::{CONFIG, Layout};
use crate::tree::Tree;

/// Why the settings of a repository cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// There are none.
    #[error("`{CONFIG}` is not there: make it with `gaffer scaffold init`, and commit it")]
    Missing,
    /// They do not say what settings say.
    #[error("{}", joined_faults(.0))]
    Faulty(Vec<Fault>),
}

fn joined_faults(faults: &[Fault]) -> String {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    faults.join("; ")
}

/// The settings among the user's files.
///
/// # Errors
/// When they are not there, or cannot be used.
pub fn read(control: &Tree) -> Result<Config, Unusable> {
    let text = control.text(CONFIG).ok_or(Unusable::Missing)?;
    parse(CONFIG, text).map_err(Unusable::Faulty)
}

/// The settings of a repository with this worker branch. The older generation does without a file, and has what counts without one.
///
/// # Errors
/// When they are not there, or cannot be used.
pub fn read_with(control: &Tree, worker: &Tree) -> Result<Config, Unusable> {
    match read(control) {
        Err(Unusable::Missing) if !control.has(CONFIG) && Layout::is_older(worker) => {
            parse(CONFIG, "").map_err(Unusable::Faulty)
        }
        settings => settings,
    }
}
