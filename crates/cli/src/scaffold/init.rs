//! `gaffer scaffold init`: the user's first files, and none over another.

use std::fs;
use std::io::Write;
use std::path::Path;

use ::scaffold::assets;
use ::scaffold::layout::{CONTROL, SYSTEM, of_system};
use ::scaffold::pin::PIN;
use anyhow::{Context, Result};
use serde_json::json;

use super::place::{Branches, must_be_inside};
use super::{CONFIG, OURS};
use crate::error::Error;
use crate::git::Git;
use crate::render::Answer;

/// Writes the first files into the working tree.
pub(super) fn run(git: &Git) -> Result<Answer> {
    must_be_new(git)?;
    must_be_apart(git)?;
    let files = first();
    for (path, text) in &files {
        write_new(git.root(), path, text)?;
    }
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let answer = Answer::new(json!({ "written": paths }));
    let answer = paths.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} is written."))
    });
    Ok(answer.line(format!(
        "Commit `{CONTROL}/`, then make the worker branch with `gaffer scaffold bootstrap`."
    )))
}

/// The files that a repository begins with.
pub(super) fn first() -> Vec<(String, String)> {
    let files = assets::control().into_iter();
    let files = files.map(|file| (file.path.to_string(), file.text.to_owned()));
    let pin = (PIN.to_owned(), format!("{OURS}\n"));
    files.chain([pin]).collect()
}

/// A file that is there stays as it is, whatever its kind.
fn must_be_new(git: &Git) -> Result<()> {
    let folder = git.root().join(CONTROL);
    if fs::symlink_metadata(&folder).is_err() {
        return Ok(());
    }
    let what = format!("{} is there already", folder.display());
    let next = "change its files as you like; `gaffer scaffold upgrade` adds what is missing";
    Err(Error::unfit("begun_already", what, next).into())
}

/// Refuses on the worker branch, which is the system's, and on another one with files of the system.
pub(super) fn must_be_apart(git: &Git) -> Result<()> {
    let worker = Branches::here(git).worker;
    let branch = git.branch()?.unwrap_or_else(|| "HEAD".to_owned());
    if branch == worker.as_str() {
        let what = format!("`{branch}` is the worker branch, which has no files of yours");
        let next = format!("switch to the branch that people work on; {CONFIG} names both");
        return Err(Error::unfit("on_worker_branch", what, next).into());
    }
    let Some(head) = git.commit("HEAD")? else {
        return Ok(());
    };
    let tree = git.tree(&head, &[SYSTEM])?;
    let Some(file) = of_system(&tree).next() else {
        return Ok(());
    };
    let what = format!(
        "`{branch}` has {file}, which belongs to the system, on the worker branch `{worker}`"
    );
    let next = format!(
        "switch to the branch that people work on; if this is the one, take the system's files off it with `git rm`, and commit; {CONFIG} names both branches"
    );
    Err(Error::unfit("has_system_files", what, next).into())
}

/// Writes a file of the working tree, unless one is there.
pub(super) fn write_new(root: &Path, path: &str, text: &str) -> Result<()> {
    must_be_inside(root, path)?;
    let path = root.join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let made = fs::File::create_new(&path);
    let made = made.and_then(|mut file| file.write_all(text.as_bytes()));
    made.with_context(|| format!("writing {}", path.display()))
}
