//! `gaffer scaffold bootstrap`: the system's files on the worker branch, by git's plumbing alone.

use std::path::Path;

use ::scaffold::assets::Asset;
use ::scaffold::doctor;
use ::scaffold::layout::{CONFIG, Layout, SYSTEM};
use ::scaffold::pin::{self, PIN};
use ::scaffold::tree::Tree;
use anyhow::Result;
use serde_json::json;

use super::init::must_be_apart;
use super::place::{Place, bad_layout, must_be_free, must_be_up_to_date, not_begun};
use super::{OURS, disk};
use crate::error::Error;
use crate::git::{Git, Written};
use crate::render::Answer;

/// Commits the system's files where they differ, and nothing where they do not. In the older layout it only makes the branch.
pub(super) fn run(git: &Git) -> Result<Answer> {
    let place = Place::read(git)?;
    let worker = &place.branches.worker;
    // A branch that was fetched is gone on with; a new one begins with the code.
    let start = git.tip(worker)?.unwrap_or_else(|| place.code.clone());
    let tree = git.tree(&start, &[SYSTEM])?;
    let is_older = Layout::is_older(&tree);
    if !is_older || place.control.has(PIN) {
        must_be_ours(&place.control)?;
    }
    must_be_free(git, worker)?;
    must_be_up_to_date(git, worker)?;
    let files = doctor::system(&tree, &doctor::streams(&place.settings))
        .map_err(|error| bad_layout(&error))?;
    let files = written(files);
    let subject = "Put the system's files up to date";
    let put = git.put(worker, &start, &files, subject)?;
    let count = files.len();
    let pushed = git.commit(&format!("refs/remotes/origin/{worker}"))?;
    let push = match pushed.as_ref() == Some(&put.tip) {
        true => "",
        false => " Push it.",
    };
    let told = json!({ "branch": worker, "commit": put.tip, "moved": put.moved, "files": count });
    Ok(Answer::new(told).line(match (put.moved, is_older) {
        (true, true) => format!(
            "The branch {worker} has the files of the older layout, at {}.{push}",
            put.tip
        ),
        (false, true) => format!(
            "The branch {worker} has the files of the older layout, beside which none is written: `gaffer scaffold migrate` moves them."
        ),
        (true, false) => format!(
            "The branch {worker} has all {count} files of the system, at {}.{push}",
            put.tip
        ),
        (false, false) => {
            format!("The branch {worker} has all {count} files of the system already.")
        }
    }))
}

/// Files as a commit gets them.
pub(super) fn written(files: Vec<Asset>) -> Vec<Written> {
    let written = files.into_iter().map(|file| Written {
        path: file.path,
        text: file.text.to_owned(),
    });
    written.collect()
}

/// Refuses where no version is named, and a newer one.
pub(super) fn must_be_ours(control: &Tree) -> Result<()> {
    match control.text(PIN) {
        Some(text) => must_suit(text),
        // `init` refuses where the folder is there.
        None if control.has(CONFIG) => {
            let next = "write it with `gaffer scaffold upgrade`, and commit it";
            Err(Error::unfit("not_begun", format!("there is no {PIN}"), next).into())
        }
        None => Err(not_begun(PIN).into()),
    }
}

/// Refuses to write the user's files on the worker branch, and beside those of a newer Gaffer.
pub(super) fn must_write_here(git: &Git) -> Result<()> {
    must_be_apart(git)?;
    must_suit_here(git.root()).map(drop)
}

/// Refuses a working tree of a newer Gaffer. Returns the version in it, if a file names one.
pub(super) fn must_suit_here(root: &Path) -> Result<Option<String>> {
    let pinned = disk::read(root, PIN)?;
    if let Some(text) = &pinned {
        must_suit(text)?;
    }
    Ok(pinned)
}

/// Refuses a repository of a newer Gaffer, whose files it would set back.
pub(super) fn must_suit(text: &str) -> Result<()> {
    Ok(pin::check(text, OURS).map_err(|error| {
        let next = "use the newer Gaffer, or write the version that wrote these files";
        Error::unfit("version", format!("{PIN}:1: {error}"), next)
    })?)
}
