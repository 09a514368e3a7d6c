//! `gaffer scaffold upgrade`: this version's files where they are missing, and its pin.

use std::fs;
use std::path::Path;

use ::scaffold::pin::PIN;
use anyhow::{Context, Result};
use serde_json::json;

use super::OURS;
use super::bootstrap::must_suit_here;
use super::init::{first, must_be_apart, write_new};
use super::place::must_be_there;
use crate::git::Git;
use crate::render::Answer;

/// Adds what is missing of the user's files; those that are there stay as they are.
pub(super) fn run(git: &Git) -> Result<Answer> {
    must_be_there(git.root())?;
    must_be_apart(git)?;
    let pinned = must_suit_here(git.root())?;
    let mut added = Vec::new();
    for (path, text) in first() {
        if path != PIN && is_missing(git.root(), &path) {
            write_new(git.root(), &path, &text)?;
            added.push(path);
        }
    }
    let text = format!("{OURS}\n");
    let advanced = pinned.as_ref() != Some(&text);
    if advanced {
        fs::write(git.root().join(PIN), &text).with_context(|| format!("writing {PIN}"))?;
    }
    Ok(answer(&added, advanced))
}

fn answer(added: &[String], advanced: bool) -> Answer {
    let told = json!({ "added": added, "version": OURS, "advanced": advanced });
    let answer = added.iter().fold(Answer::new(told), |answer, path| {
        answer.line(format!("{path} is added."))
    });
    if advanced || !added.is_empty() {
        answer
            .line(format!("{PIN} says {OURS}."))
            .line("Commit that, then bring the worker branch up to date with `gaffer scaffold bootstrap`.")
    } else {
        answer.line(format!("Everything of {OURS} is there already."))
    }
}

/// Whether a file is missing. One that only keeps a folder is not, where the folder is there.
fn is_missing(root: &Path, path: &str) -> bool {
    let path = root.join(path);
    let keeps_folder = path.file_name().is_some_and(|name| name == ".gitkeep");
    let there = if keeps_folder {
        path.parent().is_some_and(Path::is_dir)
    } else {
        fs::symlink_metadata(&path).is_ok()
    };
    !there
}
