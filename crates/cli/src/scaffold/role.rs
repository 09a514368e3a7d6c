//! `gaffer role`: the roles of a repository, as its working tree has them.

use std::fs;

use ::scaffold::config;
use ::scaffold::doctor::{Finding, Level};
use ::scaffold::layout::OWN_ROLES;
use ::scaffold::roles::{self, RoleError, Row};
use ::scaffold::tree::Tree;
use anyhow::{Context, Result};
use domain::ids::RoleName;
use domain::layer::Layer;
use serde_json::json;

use super::bootstrap::must_write_here;
use super::init::write_new;
use super::place::{must_be_inside, must_be_there, not_begun};
use super::{CONFIG, disk};
use crate::args::scaffold::{OneRole, RoleCommand};
use crate::error::Error;
use crate::git::Git;
use crate::render::{self, Answer, value};

/// Who may read and write the settings.
const SETTINGS_MODE: u32 = 0o644;

/// When innovators run: the schedule begins the other layers only.
const BY_HAND: &str =
    "No clock begins the innovators: `gaffer pipeline start OWNER/REPO --from innovators` does.";

pub(super) fn run(git: &Git, command: &RoleCommand, as_json: bool) -> Result<()> {
    must_be_there(git.root())?;
    let tree = disk::tree(git.root(), OWN_ROLES)?;
    let answer = match command {
        RoleCommand::Add(it) => add(git, &tree, it)?,
        RoleCommand::Create(it) => create(git, &tree, it)?,
        RoleCommand::Delete(it) => delete(git, &tree, it)?,
        RoleCommand::List { layer } => list(git, &tree, *layer)?,
        RoleCommand::Show(it) => show(&tree, it)?,
        RoleCommand::Validate { layer, role } => {
            return validate(git, &tree, *layer, role.as_ref(), as_json);
        }
    };
    render::answer(&answer, as_json).context("writing the answer")
}

fn add(git: &Git, tree: &Tree, it: &OneRole) -> Result<Answer> {
    must_write_here(git)?;
    let text = roles::add(tree, &settings(git)?, it.layer, &it.role).map_err(refusal)?;
    disk::replace(git.root(), CONFIG, &text, SETTINGS_MODE)?;
    let told = json!({ "layer": it.layer, "role": it.role });
    let answer = Answer::new(told).line(format!(
        "The role {} of {} takes part from now on; commit {CONFIG}.",
        it.role, it.layer
    ));
    Ok(match it.layer {
        Layer::Innovators => answer.line(BY_HAND),
        Layer::Narrator
        | Layer::Observers
        | Layer::Decider
        | Layer::Planner
        | Layer::Implementer => answer,
    })
}

fn create(git: &Git, tree: &Tree, it: &OneRole) -> Result<Answer> {
    must_write_here(git)?;
    let (path, text) = roles::create(tree, it.layer, &it.role).map_err(refusal)?;
    write_new(git.root(), path.as_str(), &text)?;
    let told = json!({ "layer": it.layer, "role": it.role, "file": path.as_str() });
    Ok(Answer::new(told)
        .line(format!("{path} is written: fill it in."))
        .line(format!(
            "Check it with `gaffer role validate {0} {1}`, then have it take part with `gaffer role add {0} {1}`.",
            it.layer, it.role
        )))
}

fn delete(git: &Git, tree: &Tree, it: &OneRole) -> Result<Answer> {
    must_write_here(git)?;
    let deleted = roles::delete(tree, &settings(git)?, it.layer, &it.role);
    let deleted = deleted.map_err(refusal)?;
    // First the schedule: a role that is gone and scheduled would stop every pipeline.
    let unscheduled = disk::replace(git.root(), CONFIG, &deleted.config, SETTINGS_MODE)?;
    if let Some(path) = &deleted.file {
        must_be_inside(git.root(), path.as_str())?;
        let file = git.root().join(path.as_str());
        fs::remove_file(&file).with_context(|| format!("removing {path}"))?;
        // A folder that holds more stays.
        let _ = file.parent().map(fs::remove_dir);
    }
    let file = deleted.file.as_ref().map(|path| path.as_str());
    let told =
        json!({ "layer": it.layer, "role": it.role, "unscheduled": unscheduled, "removed": file });
    let answer = Answer::new(told);
    let answer = match unscheduled {
        true => answer.line(format!("The role {} takes part no more.", it.role)),
        false => answer,
    };
    Ok(match file {
        Some(file) => answer.line(format!("{file} is removed.")),
        None => answer,
    })
}

fn list(git: &Git, tree: &Tree, layer: Option<Layer>) -> Result<Answer> {
    let settings = config::parse(CONFIG, &settings(git)?);
    let settings = settings.map_err(|faults| refusal(RoleError::Config(faults)))?;
    let mut rows = roles::list(tree, &settings);
    rows.retain(|row| layer.is_none_or(|layer| row.layer == layer));
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "layer": row.layer, "role": row.role, "own": row.is_own,
                "built_in": row.is_built_in, "scheduled": row.scheduled,
            })
        })
        .collect();
    let cells = |row: &Row| {
        let takes_part = match row.scheduled {
            Some(true) => "yes",
            Some(false) => "off",
            None => "",
        };
        let file = match (row.is_own, row.is_built_in) {
            (true, _) => "own",
            (false, true) => "built in",
            (false, false) => "missing",
        };
        [row.layer.name(), row.role.as_str(), file, takes_part]
            .map(str::to_owned)
            .to_vec()
    };
    let rows = rows.iter().map(cells).collect();
    let head = ["LAYER", "ROLE", "FILE", "TAKES PART"];
    Ok(Answer::new(json!({ "roles": told })).table(&head, rows, "There are no roles."))
}

fn show(tree: &Tree, it: &OneRole) -> Result<Answer> {
    let text = roles::show(tree, it.layer, &it.role).map_err(refusal)?;
    let told = json!({ "layer": it.layer, "role": it.role, "text": text });
    Ok(Answer::new(told).line(text.trim_end()))
}

/// Examines one role, or every role that has a file.
fn validate(
    git: &Git,
    tree: &Tree,
    layer: Option<Layer>,
    role: Option<&RoleName>,
    as_json: bool,
) -> Result<()> {
    let findings: Vec<Finding> = match (layer, role) {
        (Some(layer), Some(role)) => roles::validate(tree, layer, role).map_err(refusal)?,
        (_, _) => {
            let settings = config::parse(CONFIG, &settings(git)?);
            let settings = settings.map_err(|faults| refusal(RoleError::Config(faults)))?;
            let mut rows = roles::list(tree, &settings);
            rows.retain(|row| row.is_own && layer.is_none_or(|layer| row.layer == layer));
            let found = rows
                .iter()
                .map(|row| roles::validate(tree, row.layer, &row.role));
            let found: Result<Vec<_>, _> = found.collect();
            found.map_err(refusal)?.concat()
        }
    };
    let errors = findings.iter().filter(|it| it.level == Level::Error);
    let errors = errors.count();
    let answer = Answer::new(json!({ "findings": value(&findings), "errors": errors }));
    let answer = findings
        .iter()
        .fold(answer, |answer, finding| answer.line(finding.to_string()));
    let answer = match findings.is_empty() {
        true => answer.line("Nothing is wrong."),
        false => answer,
    };
    render::answer(&answer, as_json).context("writing the answer")?;
    match errors {
        0 => Ok(()),
        _ => {
            let next = "correct the lines, and run it again";
            Err(Error::refused("errors", "a role cannot be used as it is", next).into())
        }
    }
}

fn settings(git: &Git) -> Result<String> {
    let text = disk::read(git.root(), CONFIG)?;
    Ok(text.ok_or_else(|| not_begun(CONFIG))?)
}

fn refusal(error: RoleError) -> Error {
    let next = match error {
        // Nothing lists roles by settings that cannot be read.
        RoleError::Config(_) => "correct the settings, and run it again",
        RoleError::SingleLayer(_)
        | RoleError::Unknown { .. }
        | RoleError::There { .. }
        | RoleError::Scheduled { .. }
        | RoleError::Nothing(_)
        | RoleError::ByHand(_) => "`gaffer role list` shows every role",
    };
    Error::unfit("role", error.to_string(), next)
}
