//! `gaffer workflow generate`: the workflows for GitHub Actions, as the settings in the working tree want them.

use std::fs;

use ::scaffold::config::Runner;
use ::scaffold::kit::{self, DOCTOR, KitError, RELAY, WorkflowFile};
use anyhow::{Context, Result};
use serde_json::json;

use super::bootstrap::must_write_here;
use super::place::{must_be_there, not_begun, settings};
use super::{CONFIG, disk};
use crate::error::Error;
use crate::git::Git;
use crate::render::Answer;

/// Who may read and write a workflow.
const MODE: u32 = 0o644;

/// Writes what the settings want, and removes what was generated for others. No file of a person's is touched.
pub(super) fn generate(git: &Git, runner: Option<&Runner>) -> Result<Answer> {
    must_be_there(git.root())?;
    must_write_here(git)?;
    let text = disk::read(git.root(), CONFIG)?.ok_or_else(|| not_begun(CONFIG))?;
    let settings = settings(CONFIG, &text)?;
    let workflows = kit::workflows(&settings, runner.cloned()).map_err(refusal)?;
    for workflow in &workflows {
        must_be_ours(git, workflow)?;
    }
    let (mut written, mut removed) = (Vec::new(), Vec::new());
    for WorkflowFile { path, text } in &workflows {
        let changed = match text {
            Some(text) => disk::replace(git.root(), path, text, MODE)?.then_some(&mut written),
            None => remove(git, path)?.then_some(&mut removed),
        };
        if let Some(changed) = changed {
            changed.push(*path);
        }
    }
    let relays = workflows
        .iter()
        .any(|it| it.path == RELAY && it.text.is_some());
    Ok(answer(&written, &removed, relays))
}

fn answer(written: &[&str], removed: &[&str], relays: bool) -> Answer {
    let answer = Answer::new(json!({ "written": written, "removed": removed }));
    let answer = written.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} is written."))
    });
    let answer = removed.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} is removed, since `clock` is `gaffer`."))
    });
    if written.is_empty() && removed.is_empty() {
        return answer.line("Everything is up to date.");
    }
    let answer = answer
        .line("Commit that on the branch that people work on, and put it on the worker branch too.")
        .line("Where the machine has no gaffer, set the variable GAFFER_GIT of the repository on GitHub to the address that it is built from.");
    if relays {
        answer.line("Set the variable GAFFER_URL to the address of Gaffer there, and the secret GAFFER_TOKEN to a token of `gaffer token create`.")
    } else {
        answer
    }
}

/// The workflows in the working tree that were generated.
pub(super) fn generated(git: &Git) -> Result<Vec<&'static str>> {
    let mut found = Vec::new();
    for path in [DOCTOR, RELAY] {
        if disk::read(git.root(), path)?.is_some_and(|text| kit::is_generated(&text)) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Refuses to replace or remove a file that a person wrote.
fn must_be_ours(git: &Git, workflow: &WorkflowFile) -> Result<()> {
    let path = workflow.path;
    let there = disk::read(git.root(), path)?;
    let is_theirs = there.is_some_and(|text| !kit::is_generated(&text));
    if !is_theirs || workflow.text.is_none() {
        return Ok(());
    }
    let what = format!("{path} is a workflow of your own");
    let next = "move it to another name, and try again";
    Err(Error::unfit("own_workflow", what, next).into())
}

/// Removes a file that was generated.
fn remove(git: &Git, path: &str) -> Result<bool> {
    let there = disk::read(git.root(), path)?;
    if !there.is_some_and(|text| kit::is_generated(&text)) {
        return Ok(false);
    }
    fs::remove_file(git.root().join(path)).with_context(|| format!("removing {path}"))?;
    Ok(true)
}

fn refusal(error: KitError) -> Error {
    let next = "correct the settings, and try again";
    Error::unfit("workflow", error.to_string(), next)
}
