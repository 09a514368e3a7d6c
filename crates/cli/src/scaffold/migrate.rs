//! `gaffer scaffold migrate`: the worker branch in the newer layout, as one commit, and roles of the user's own beside it.

use std::fs;

use ::scaffold::layout::SYSTEM;
use ::scaffold::migration::{Migration, migrate};
use ::scaffold::tree::{Tree, TreePath};
use anyhow::{Context, Result};
use domain::ids::{BranchName, CommitSha};
use serde_json::{Value, json};

use super::bootstrap::{must_be_ours, written};
use super::init::{must_be_apart, write_new};
use super::place::{
    Place, bad_layout, must_be_free, must_be_inside, must_be_there, must_be_up_to_date, must_tip,
};
use crate::git::{Git, Rearranged, Written};
use crate::render::Answer;

/// Moves everything, or says what would be moved.
pub(super) fn run(git: &Git, dry_run: bool) -> Result<Answer> {
    must_be_there(git.root())?;
    must_be_apart(git)?;
    let place = Place::read(git)?;
    must_be_ours(&place.control)?;
    let worker = &place.branches.worker;
    must_be_free(git, worker)?;
    must_be_up_to_date(git, worker)?;
    let tip = must_tip(git, worker)?;
    let tree = git.tree(&tip, &[SYSTEM])?;
    let migration = migrate(&tree).map_err(|error| bad_layout(&error))?;
    if migration.is_empty() {
        let json = to_json(&migration, worker, &[], None);
        return Ok(Answer::new(json).line(format!(
            "The branch {worker} is in the newer layout already."
        )));
    }
    let roles = new_roles(git, &migration)?;
    let commit = if dry_run {
        None
    } else {
        let files = rearranged(&migration, &tree)?;
        let subject = "Move the files to the layout with one exchange";
        let put = git.rearrange(worker, &tip, &files, subject)?;
        for (path, text) in &roles {
            write_new(git.root(), path.as_str(), text)?;
        }
        Some(put.tip)
    };
    let paths: Vec<&TreePath> = roles.iter().map(|(path, _)| path).collect();
    Ok(answer(&migration, worker, &paths, commit))
}

/// The roles whose file the user does not have yet.
fn new_roles<'m>(git: &Git, migration: &'m Migration) -> Result<Vec<&'m (TreePath, String)>> {
    let mut roles = Vec::new();
    for role in &migration.roles {
        let path = role.0.as_str();
        must_be_inside(git.root(), path)?;
        if fs::symlink_metadata(git.root().join(path)).is_err() {
            roles.push(role);
        }
    }
    Ok(roles)
}

/// The commit's files: what is moved keeps its mode and its blob, whatever it holds.
fn rearranged(migration: &Migration, tree: &Tree) -> Result<Rearranged> {
    let moved = migration.moved.iter().map(|it| -> Result<_> {
        let entry = tree.get(&it.from);
        let blob = entry.and_then(|entry| Some((entry.mode, entry.blob.clone()?)));
        let (mode, blob) = blob.with_context(|| format!("git named no blob of {}", it.from))?;
        Ok((it.to.clone(), mode, blob))
    });
    let labelled = migration.labelled.iter().map(|it| Written {
        path: it.to.clone(),
        text: it.text.clone(),
    });
    let from = migration.moved.iter().map(|it| &it.from);
    let from = from.chain(migration.labelled.iter().map(|it| &it.from));
    Ok(Rearranged {
        removed: from.chain(&migration.dropped).cloned().collect(),
        placed: moved.collect::<Result<_>>()?,
        written: written(migration.written.clone())
            .into_iter()
            .chain(labelled)
            .collect(),
    })
}

fn to_json(
    migration: &Migration,
    worker: &BranchName,
    roles: &[&TreePath],
    commit: Option<&CommitSha>,
) -> Value {
    let paths =
        |paths: &[TreePath]| -> Vec<String> { paths.iter().map(ToString::to_string).collect() };
    let pair = |from: &TreePath, to: &TreePath| json!({ "from": from.as_str(), "to": to.as_str() });
    let moved = migration.moved.iter().map(|it| pair(&it.from, &it.to));
    let labelled = migration.labelled.iter().map(|it| pair(&it.from, &it.to));
    let written = migration.written.iter().map(|it| it.path.as_str());
    json!({
        "branch": worker, "commit": commit, "moved": moved.collect::<Vec<_>>(),
        "labelled": labelled.collect::<Vec<_>>(), "dropped": paths(&migration.dropped),
        "written": written.collect::<Vec<_>>(), "schedules": paths(&migration.schedules),
        "roles": roles.iter().map(|path| path.as_str()).collect::<Vec<_>>(),
        "left": paths(&migration.left),
    })
}

fn answer(
    migration: &Migration,
    worker: &BranchName,
    roles: &[&TreePath],
    commit: Option<CommitSha>,
) -> Answer {
    let answer = Answer::new(to_json(migration, worker, roles, commit.as_ref()));
    let moved = migration.moved.iter().map(|it| (&it.from, &it.to, ""));
    let labelled = migration.labelled.iter();
    let labelled = labelled.map(|it| (&it.from, &it.to, ", with its label in it"));
    let answer = moved
        .chain(labelled)
        .fold(answer, |answer, (from, to, how)| {
            answer.line(format!("{from} goes to {to}{how}."))
        });
    let answer = migration.dropped.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} goes, since it is empty."))
    });
    let answer = migration.left.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} stays where it is, since it is not known."))
    });
    let answer = roles.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} is a role of your own, for you to commit."))
    });
    let answer = migration.schedules.iter().fold(answer, |answer, path| {
        answer.line(format!(
            "{path} has the older schedule: arrange yours with `gaffer role add` and `gaffer role delete`."
        ))
    });
    answer.line(match commit {
        Some(commit) => {
            format!("The branch {worker} is in the newer layout, at {commit}. Push it.")
        }
        None => "Nothing is written: this was a dry run.".to_owned(),
    })
}
