//! `gaffer scaffold deinit`: takes the user's files, generated workflows and the local worker branch away, and says what stays.

use std::fs;
use std::path::Path;

use ::scaffold::layout::CONTROL;
use anyhow::{Context, Result};
use domain::ids::{BranchName, CommitSha};
use serde_json::json;

use super::init::must_be_apart;
use super::place::{Branches, must_be_free, must_be_inside, must_be_there};
use super::workflow;
use crate::error::Error;
use crate::git::Git;
use crate::render::Answer;

/// What the branches of test runs begin with; they are taken away by what made them.
const TEST_PREFIX: &str = "jules-test-";

/// Removes the files that git knows. What git does not know could not be brought back, so it stays.
pub(super) fn run(git: &Git) -> Result<Answer> {
    must_be_there(git.root())?;
    must_be_apart(git)?;
    must_be_no_test(git)?;
    let workflows = workflow::generated(git)?;
    for place in [CONTROL].iter().chain(&workflows) {
        must_be_committed(git, place)?;
    }
    let worker = Branches::here(git).worker;
    must_be_free(git, &worker)?;
    let mut removed = git.tracked(CONTROL)?;
    removed.extend(workflows.into_iter().map(str::to_owned));
    for path in &removed {
        must_be_inside(git.root(), path)?;
        let path = git.root().join(path);
        fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
    }
    let folder = git.root().join(CONTROL);
    let mut kept = Vec::new();
    remove_empty(&folder, git.root(), &mut kept)?;
    let tip = git.delete(&worker)?;
    Ok(answer(&removed, &kept, (&worker, tip)))
}

fn answer(
    removed: &[String],
    kept: &[String],
    (worker, tip): (&BranchName, Option<CommitSha>),
) -> Answer {
    let told = json!({ "removed": removed, "kept": kept, "branch": worker, "commit": tip });
    let answer = removed.iter().fold(Answer::new(told), |answer, path| {
        answer.line(format!("{path} is removed."))
    });
    let answer = kept.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} stays, since git does not know it."))
    });
    let answer = match tip {
        Some(tip) => answer.line(format!(
            "The branch {worker} is deleted here; it was at {tip}."
        )),
        None => answer,
    };
    answer
        .line(format!("The branch {worker} on GitHub stays: delete it with `git push origin --delete {worker}`."))
        .line("Secrets stay: those of Actions in the repository's settings on GitHub, and Gaffer's keys, which `gaffer secret list` lists.")
}

fn must_be_no_test(git: &Git) -> Result<()> {
    let branch = git.branch()?.unwrap_or_default();
    if !branch.starts_with(TEST_PREFIX) {
        return Ok(());
    }
    let what = format!("`{branch}` is a branch of a test run");
    let next = "switch to the branch that people work on";
    Err(Error::unfit("on_test_branch", what, next).into())
}

fn must_be_committed(git: &Git, place: &str) -> Result<()> {
    if !git.is_changed(place)? {
        return Ok(());
    }
    let what = format!("{place} has changes that are not committed");
    let next = "commit or undo them, so that everything removed can be found again";
    Err(Error::unfit("uncommitted", what, next).into())
}

/// Removes folders without files, and notes the files of the others.
fn remove_empty(folder: &Path, root: &Path, kept: &mut Vec<String>) -> Result<()> {
    let doing = || format!("looking into {}", folder.display());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(doing),
    };
    let before = kept.len();
    for entry in entries {
        let entry = entry.with_context(doing)?;
        if entry.file_type().with_context(doing)?.is_dir() {
            remove_empty(&entry.path(), root, kept)?;
        } else {
            let path = entry.path();
            let path = path.strip_prefix(root).unwrap_or(&path);
            kept.push(path.display().to_string());
        }
    }
    if kept.len() == before {
        fs::remove_dir(folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    Ok(())
}
