//! `gaffer setup`: what a session's machine gets installed.

use ::scaffold::layout::OLDER_SETUP;
use ::scaffold::setup::{
    Catalogue, Component, ENV, Given, IGNORED, OLDER_ENV, OLDER_TOOLS, SECRETS, SetupError, TOOLS,
    VARS, Variable, plan, selected,
};
use anyhow::Result;
use serde_json::{Value, json};

use super::bootstrap::must_write_here;
use super::disk;
use super::place::{Branches, must_be_there};
use crate::args::scaffold::SetupCommand;
use crate::error::Error;
use crate::git::Git;
use crate::render::Answer;

pub(super) fn run(git: &Git, command: &SetupCommand) -> Result<Answer> {
    match command {
        SetupCommand::Gen => generate(git),
        SetupCommand::List { detail } => list(detail.as_ref().map(Option::as_deref)),
    }
}

/// Writes the script and the files of values; every value of the user's stays.
fn generate(git: &Git) -> Result<Answer> {
    must_be_there(git.root())?;
    must_write_here(git)?;
    let read = |path| disk::read(git.root(), path);
    let tools = tools(git)?.ok_or_else(|| {
        let next = "list tools in it, such as `tools: [gh]`; `gaffer setup list` shows them";
        Error::unfit("no_tools", format!("there is no {TOOLS}"), next)
    })?;
    let (vars, secrets) = (read(VARS)?, read(SECRETS)?);
    let env = match read(ENV)? {
        Some(env) => Some(env),
        None => older(git, OLDER_ENV)?,
    };
    let ignored = read(IGNORED)?;
    let given = Given {
        vars: vars.as_deref(),
        secrets: secrets.as_deref(),
        env: env.as_deref(),
        ignored: ignored.as_deref(),
    };
    let catalogue = Catalogue::embedded()?;
    let mut written = Vec::new();
    for file in plan(&catalogue, tools.as_bytes(), &given).map_err(refusal)? {
        if disk::replace(git.root(), file.path, &file.text, file.mode)? {
            written.push(file.path);
        }
    }
    let answer = Answer::new(json!({ "written": written }));
    let answer = written.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} is written."))
    });
    Ok(match written.is_empty() {
        true => answer.line("Everything is up to date."),
        false => answer.line(format!(
            "Fill in {VARS} and {SECRETS}; git ignores the second."
        )),
    })
}

/// The file that selects tools: the newer one, unless it selects none and the older one does.
fn tools(git: &Git) -> Result<Option<String>> {
    let (own, older) = (disk::read(git.root(), TOOLS)?, older(git, OLDER_TOOLS)?);
    let is_older = !selects(TOOLS, own.as_deref())? && selects(OLDER_TOOLS, older.as_deref())?;
    Ok(if is_older { older } else { own })
}

/// Whether a file selects any tool.
fn selects(file: &str, text: Option<&str>) -> Result<bool> {
    let Some(text) = text else {
        return Ok(false);
    };
    let tools = selected(file, text.as_bytes()).map_err(|fault| refusal(fault.into()))?;
    Ok(!tools.is_empty())
}

/// A file of the older generation's folder: as it lies in this folder, else as the worker branch has it.
fn older(git: &Git, path: &str) -> Result<Option<String>> {
    if let Some(text) = disk::read(git.root(), path)? {
        return Ok(Some(text));
    }
    let Some(tip) = git.tip(&Branches::here(git).worker)? else {
        return Ok(None);
    };
    let tree = git.tree(&tip, &[OLDER_SETUP])?;
    Ok(tree.text(path).map(str::to_owned))
}

/// The components, all of them in short, or one or all in detail.
fn list(detail: Option<Option<&str>>) -> Result<Answer> {
    let catalogue = Catalogue::embedded()?;
    let shown: Vec<&Component> = match detail {
        Some(Some(name)) => vec![catalogue.get(name).map_err(refusal)?],
        Some(None) | None => catalogue.all().collect(),
    };
    let components: Vec<Value> = shown.iter().map(|it| to_json(it)).collect();
    let answer = Answer::new(json!({ "components": components }));
    if detail.is_none() {
        let row = |component: &&Component| vec![component.name.clone(), component.summary.clone()];
        let rows = shown.iter().map(row).collect();
        return Ok(answer.table(&["NAME", "WHAT"], rows, "There are no components."));
    }
    Ok(shown.iter().fold(answer, |answer, component| {
        answer
            .pairs(vec![
                ("name", component.name.clone()),
                ("what", component.summary.clone()),
                ("needs", component.dependencies.join(", ")),
                ("variables", variables(&component.vars)),
                ("secrets", variables(&component.secrets)),
            ])
            .line(component.script.trim_end())
    }))
}

fn variables(variables: &[Variable]) -> String {
    let shown = variables.iter().map(|it| match &it.default {
        Some(default) => format!("{} ({}; `{default}` by itself)", it.name, it.description),
        None => format!("{} ({})", it.name, it.description),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn to_json(component: &Component) -> Value {
    let variables = |variables: &[Variable]| -> Vec<Value> {
        let rows = variables.iter().map(
            |it| json!({ "name": it.name, "description": it.description, "default": it.default }),
        );
        rows.collect()
    };
    json!({
        "name": component.name, "summary": component.summary, "dependencies": component.dependencies,
        "vars": variables(&component.vars), "secrets": variables(&component.secrets),
        "script": component.script,
    })
}

fn refusal(error: SetupError) -> Error {
    let next = match &error {
        SetupError::File(_) => "correct that line, and try again",
        SetupError::Nothing(_) | SetupError::Unknown { .. } | SetupError::Cycle(_) => {
            "`gaffer setup list` shows the tools there are"
        }
    };
    Error::unfit("setup", error.to_string(), next)
}
