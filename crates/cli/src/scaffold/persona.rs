//! `gaffer persona`: the personas of sprints, as the working tree has them.

use ::scaffold::assets::{self, Asset};
use ::scaffold::fault::Fault;
use ::scaffold::layout::PERSONAS;
use ::scaffold::persona::{self, PersonaFile, Personas, path_of};
use ::scaffold::tree::Tree;
use anyhow::{Context, Result};
use domain::ids::PersonaName;
use domain::nearest::nearest;
use serde_json::{Value, json};

use super::init::must_be_apart;
use super::{disk, here};
use crate::args::persona::{PersonaCommand, RepositoryArgs};
use crate::error::Error;
use crate::git::Git;
use crate::render::{self, Answer};

/// Who may read and write a persona's file.
const FILE_MODE: u32 = 0o644;

/// How many files that differ are named.
const NAMED_MAX: usize = 5;

pub(super) fn run(command: &PersonaCommand, as_json: bool) -> Result<()> {
    let answer = match command {
        PersonaCommand::Init { of, replace } => init(&repository(of)?, *replace)?,
        PersonaCommand::List(of) => list(&personas(of)?),
        PersonaCommand::Show { id, of } => show(&personas(of)?, id)?,
        PersonaCommand::Validate(of) => return validate(&personas(of)?, as_json),
    };
    render::answer(&answer, as_json).context("writing the answer")
}

fn repository(of: &RepositoryArgs) -> Result<Git> {
    of.dir.as_deref().map_or_else(here, Git::at)
}

fn personas(of: &RepositoryArgs) -> Result<Personas> {
    let tree = disk::tree(repository(of)?.root(), PERSONAS)?;
    Ok(persona::read(&tree))
}

/// Writes what is missing, and what differs only where that is wanted: all of it, or nothing.
fn init(git: &Git, replace: bool) -> Result<Answer> {
    must_be_apart(git)?;
    let tree = disk::tree(git.root(), PERSONAS)?;
    let pack = assets::personas();
    let is_same = |file: &&Asset| tree.text(file.path.as_str()) == Some(file.text);
    let (same, other): (Vec<_>, Vec<_>) = pack.iter().partition(is_same);
    if !replace {
        must_be_missing(&tree, &other)?;
    }
    for file in &other {
        disk::replace(git.root(), file.path.as_str(), file.text, FILE_MODE)?;
    }
    let written: Vec<&str> = other.iter().map(|file| file.path.as_str()).collect();
    let answer = Answer::new(json!({ "written": written, "unchanged": same.len() }));
    if written.is_empty() {
        let count = same.len();
        return Ok(answer.line(format!("All {count} personas are there already.")));
    }
    let answer = written.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} is written."))
    });
    Ok(answer.line(format!(
        "Change them as you like, delete those that you do not need, and commit `{PERSONAS}/`."
    )))
}

/// Refuses to write over what a person changed.
fn must_be_missing(tree: &Tree, files: &[&Asset]) -> Result<()> {
    let there = files.iter().filter(|file| tree.get(&file.path).is_some());
    let there: Vec<&str> = there.map(|file| file.path.as_str()).collect();
    let more = match there.len().saturating_sub(NAMED_MAX) {
        _ if there.is_empty() => return Ok(()),
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = there[..there.len().min(NAMED_MAX)].join(", ");
    let what = format!("{named}{more} differ from what would be written");
    let next = "nothing is written; keep them, or write over them with `--replace`";
    Err(Error::unfit("changed", what, next).into())
}

fn list(personas: &Personas) -> Answer {
    let files: Vec<Value> = personas.files.iter().map(to_json).collect();
    let json = json!({ "personas": files, "faults": faults(&personas.faults) });
    let cells = |persona: &PersonaFile| {
        let starts = if persona.is_in_batch() { "starts" } else { "" };
        let what = format!("{} {}", persona.emoji, persona.description);
        [persona.id.as_str(), starts, what.trim()]
            .map(str::to_owned)
            .to_vec()
    };
    let rows = personas.files.iter().map(cells).collect();
    let none = "There are no personas: `gaffer persona init` writes some.";
    let answer = Answer::new(json).table(&["PERSONA", "SPRINT", "WHAT"], rows, none);
    with_faults(answer, &personas.faults)
}

fn show(personas: &Personas, id: &PersonaName) -> Result<Answer> {
    if let Some(persona) = personas.get(id) {
        let mut json = to_json(persona);
        json["prompt"] = persona.body.as_str().into();
        return Ok(Answer::new(json).line(&persona.body));
    }
    let file = path_of(id.as_str());
    if let Some(fault) = personas.faults.iter().find(|fault| fault.file == file) {
        let next = "correct the line, and try again";
        return Err(Error::unfit("faulty_persona", fault.to_string(), next).into());
    }
    must_be_some(personas)?;
    let names: Vec<&str> = personas.files.iter().map(|it| it.id.as_str()).collect();
    let next = match nearest(id.as_str(), names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`gaffer persona list` shows every persona".to_owned(),
    };
    let what = format!("there is no persona `{id}`: {file} is missing");
    Err(Error::unfit("no_persona", what, next).into())
}

fn validate(personas: &Personas, as_json: bool) -> Result<()> {
    must_be_some(personas)?;
    let (count, batch) = (personas.files.len(), personas.batch().count());
    let answer = Answer::new(json!({
        "personas": count, "in_batch": batch, "faults": faults(&personas.faults),
    }));
    let answer = with_faults(answer, &personas.faults).line(format!(
        "Personas that can be used: {count}; that start with a sprint: {batch}."
    ));
    render::answer(&answer, as_json).context("writing the answer")?;
    if personas.faults.is_empty() {
        return Ok(());
    }
    let what = "a persona cannot be used as it is";
    let next = "correct the lines, and run it again";
    Err(Error::refused("faulty_persona", what, next).into())
}

fn must_be_some(personas: &Personas) -> Result<()> {
    if !personas.files.is_empty() || !personas.faults.is_empty() {
        return Ok(());
    }
    let what = format!("there are no personas below `{PERSONAS}/`");
    let next = "write some with `gaffer persona init`";
    Err(Error::unfit("no_personas", what, next).into())
}

fn with_faults(answer: Answer, faults: &[Fault]) -> Answer {
    let lines = faults.iter().map(ToString::to_string);
    lines.fold(answer, Answer::line)
}

fn faults(faults: &[Fault]) -> Vec<Value> {
    let told = faults
        .iter()
        .map(|it| json!({ "file": it.file, "line": it.line, "what": it.what }));
    told.collect()
}

/// A persona for programs.
fn to_json(persona: &PersonaFile) -> Value {
    json!({
        "id": persona.id, "emoji": persona.emoji, "description": persona.description,
        "scheduled": persona.scheduled, "in_batch": persona.is_in_batch(), "file": path_of(persona.id.as_str()),
    })
}
