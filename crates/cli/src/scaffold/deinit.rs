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

/// Removes the files that git knows. What git does not know could not be brought back, so it stays, and so does the list
/// that has git ignore it.
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
    let tracked = git.tracked(CONTROL)?.into_iter();
    let (lists, mut removed): (Vec<String>, Vec<String>) = tracked.partition(|it| is_list(it));
    removed.extend(workflows.into_iter().map(str::to_owned));
    remove(git.root(), &removed)?;
    let unknown = left(git.root(), &lists)?;
    // Last of all, and only where nothing needs it any more: no moment leaves a secret to git.
    let (needed, idle): (Vec<String>, Vec<String>) =
        lists.into_iter().partition(|it| guards(it, &unknown));
    remove(git.root(), &idle)?;
    left(git.root(), &needed)?;
    removed.extend(idle);
    let tip = git.delete(&worker)?;
    Ok(answer(&removed, &unknown, &needed, &worker, tip))
}

/// Whether a file says what git ignores.
fn is_list(path: &str) -> bool {
    path.ends_with("/.gitignore")
}

/// Whether a list of ignored files is above one that stays, and keeps it out of git.
fn guards(list: &str, unknown: &[String]) -> bool {
    let folder = list.strip_suffix(".gitignore").unwrap_or(list);
    unknown.iter().any(|path| path.starts_with(folder))
}

fn remove(root: &Path, paths: &[String]) -> Result<()> {
    for path in paths {
        must_be_inside(root, path)?;
        let path = root.join(path);
        fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
    }
    Ok(())
}

/// The files that are left but for these, in folders that are not empty; the empty ones are removed.
fn left(root: &Path, but: &[String]) -> Result<Vec<String>> {
    let mut left = Vec::new();
    remove_empty(&root.join(CONTROL), root, &mut left)?;
    left.retain(|path| !but.contains(path));
    Ok(left)
}

fn answer(
    removed: &[String],
    unknown: &[String],
    needed: &[String],
    worker: &BranchName,
    tip: Option<CommitSha>,
) -> Answer {
    let kept = [unknown, needed].concat();
    let told = json!({ "removed": removed, "kept": kept, "branch": worker, "commit": tip });
    let answer = removed.iter().fold(Answer::new(told), |answer, path| {
        answer.line(format!("{path} is removed."))
    });
    let answer = unknown.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} stays, since git does not know it."))
    });
    let answer = needed.iter().fold(answer, |answer, path| {
        answer.line(format!(
            "{path} stays, since it keeps that out of git: remove it once that is gone, not before."
        ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_ignored_files_guards_what_lies_below_its_folder() {
        let list = ".jlo/setup/.gitignore";
        for (unknown, expected) in [
            (".jlo/setup/secrets.toml", true),
            (".jlo/setup/deep/vars.toml", true),
            (".jlo/setup.toml", false),
            (".jlo/roles/notes.txt", false),
        ] {
            assert_eq!(guards(list, &[unknown.to_owned()]), expected, "{unknown}");
        }
        assert!(guards(
            ".jlo/.gitignore",
            &[".jlo/setup/secrets.toml".to_owned()]
        ));
        assert!(!guards(list, &[]));
    }
}
