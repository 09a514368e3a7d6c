//! `gaffer mcp install`: writes the entry with which a coding agent finds the tools. Its other settings stay unchanged.

use std::path::Path;

use anyhow::{Context, Result};
use client::mcp::Toolset;
use serde_json::{Value, json};
use url::Url;

use crate::args::mcp::InstallArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::Answer;

mod clients;
mod file;
mod json;
mod toml;

use clients::{SettingsFile, SettingsFormat};

/// The name of the entry.
const NAME: &str = "gaffer";

/// What the entry starts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EntryCommand {
    command: String,
    args: Vec<String>,
}

/// The change of a file.
enum Edit {
    /// The entry is there already.
    Unchanged,
    /// The text with the entry.
    Written(String),
    /// Another entry has its name.
    Taken,
}

/// Why a file is left alone.
struct Unreadable(String);

/// Writes the entry, or shows it.
pub(super) fn run(
    args: &InstallArgs,
    url: Option<&Url>,
    toolsets: &[Toolset],
    here: &CommandContext,
) -> Result<Answer> {
    let place = clients::place(args.client, args.project, &here.environment.person)?;
    let started = started(url, toolsets, here)?;
    let entry = match &place.format {
        SettingsFormat::Json { list, typed } => json::shown(list, &started, *typed),
        SettingsFormat::Toml { list } => toml::shown(list, &started),
    };
    let outcome = if args.print {
        "shown"
    } else {
        write(&place, &started, &entry, args.replace)?
    };
    Ok(install_answer(&place, &started, &entry, outcome))
}

/// The command as the client is to start it: it knows neither our folder nor our environment.
fn started(url: Option<&Url>, toolsets: &[Toolset], here: &CommandContext) -> Result<EntryCommand> {
    let command = std::env::current_exe().context("finding out where this program is")?;
    let mut args = Vec::new();
    if let Some(stack) = &here.stack {
        args.extend(["--stack".to_owned(), stack.clone()]);
    } else if here.environment.home.as_ref() != Some(&here.folder) {
        let folder = std::path::absolute(&here.folder).context("naming the data folder")?;
        args.extend(["--data".to_owned(), utf8(&folder)?]);
    }
    args.push("mcp".to_owned());
    for set in toolsets {
        args.extend(["--toolset".to_owned(), set.to_string()]);
    }
    if let Some(url) = url {
        args.extend(["--url".to_owned(), url.to_string()]);
    }
    let command = utf8(&command)?;
    Ok(EntryCommand { command, args })
}

fn utf8(path: &Path) -> Result<String, Error> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let what = format!("{} is not UTF-8, as settings have to be", path.display());
        Error::usage(what, "move it to a path that is")
    })
}

fn write(
    place: &SettingsFile,
    started: &EntryCommand,
    entry: &str,
    replace: bool,
) -> Result<&'static str> {
    let found = file::read(&place.file)?;
    let text = found.as_deref().unwrap_or_default();
    let edited = match &place.format {
        SettingsFormat::Json { list, typed } => json::edit(text, list, started, *typed, replace),
        SettingsFormat::Toml { list } => toml::edit(text, list, started, replace),
    };
    let edit = edited.map_err(|Unreadable(why)| left_alone(&place.file, &why, entry))?;
    match edit {
        Edit::Unchanged => Ok("unchanged"),
        Edit::Taken => Err(taken(&place.file).into()),
        Edit::Written(text) => {
            file::write(&place.file, found.as_deref(), &text, place.is_shared)?;
            Ok("written")
        }
    }
}

fn left_alone(file: &Path, why: &str, entry: &str) -> Error {
    let what = format!("{} was left as it is: {why}", file.display());
    let next = format!("mend it, or paste this into it by hand: {entry}");
    Error::refused("unreadable_settings", what, next)
}

fn taken(file: &Path) -> Error {
    let what = format!(
        "{} has another entry named `{NAME}`, which was kept",
        file.display()
    );
    let next = "give `--replace` to put ours in its place, or `--print` to see it";
    Error::refused("name_taken", what, next)
}

fn install_answer(
    place: &SettingsFile,
    started: &EntryCommand,
    entry: &str,
    outcome: &str,
) -> Answer {
    let file = place.file.display().to_string();
    let line = match outcome {
        "shown" => format!("{} reads {file}; this would be written:", place.client),
        "unchanged" => format!("{file} has the entry already: unchanged."),
        _ => format!(
            "{} finds Gaffer's tools by {file}; start it anew.",
            place.client
        ),
    };
    let json = json!({
        "client": place.client,
        "file": file,
        "outcome": outcome,
        "name": NAME,
        "command": started.command,
        "args": started.args,
    });
    let answer = Answer::new(json).line(line);
    if outcome == "shown" {
        return answer.line(entry);
    }
    answer
}

impl EntryCommand {
    /// What the entry has to hold; whatever else is in it is the person's.
    fn fields(&self, typed: bool) -> Vec<(&'static str, Value)> {
        let mut fields = Vec::new();
        if typed {
            fields.push(("type", Value::from("stdio")));
        }
        fields.push(("command", Value::from(self.command.as_str())));
        fields.push(("args", Value::from(self.args.clone())));
        fields
    }
}
