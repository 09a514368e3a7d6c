//! `config.json`: where the files are, and how often they are read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use domain::fence::clip;
use jiff::SignedDuration;
use serde_json::{Map, Value};

use crate::args::value;
use crate::error::Error;
use crate::stdin;

/// Its name in the data folder.
pub(crate) const FILE: &str = "config.json";

/// Longest file, in bytes: ten keys have less than a hundredth of this.
const BYTES_MAX: u64 = 64 * 1024;

/// Longest value that an error repeats, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// Every key, in the order of the documents.
pub(crate) const KEYS: [&str; 10] = [
    "jobs_path",
    "events_path",
    "monitor_state_path",
    "watcher_state_path",
    "monitor_poll_seconds",
    "watcher_poll_seconds",
    "stuck_minutes",
    "api_base",
    "mcp_command",
    "zai_command",
];

/// Default interval of the monitor.
const MONITOR_POLL: Duration = Duration::from_secs(45);

/// Default interval for reading a file of events.
const WATCHER_POLL: Duration = Duration::from_secs(1);

/// The bounds of a number, and its unit.
struct Bounds {
    least: f64,
    most: f64,
    of: &'static str,
}

/// Less than a second only keeps a core busy, and beyond a day nothing is watched any more.
const MONITOR_BOUNDS: Bounds = Bounds {
    least: 1.0,
    most: 86_400.0,
    of: "seconds",
};

/// Reading a file costs next to nothing.
const WATCHER_BOUNDS: Bounds = Bounds {
    least: 0.01,
    most: 86_400.0,
    of: "seconds",
};

/// Up to a week.
const STUCK_BOUNDS: Bounds = Bounds {
    least: 1.0,
    most: 10_080.0,
    of: "minutes",
};

/// The settings of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// The list of jobs that `gaffer monitor` reads.
    pub(crate) jobs_path: PathBuf,
    /// Where events are appended.
    pub(crate) events_path: PathBuf,
    /// How far the events of the store were appended.
    pub(crate) monitor_state_path: PathBuf,
    /// How far the file of events was read.
    pub(crate) watcher_state_path: PathBuf,
    /// Interval of the monitor.
    pub(crate) monitor_poll: Duration,
    /// Interval for reading a file of events.
    pub(crate) watcher_poll: Duration,
    /// When a job that does not move is announced; `None` leaves each source its own.
    pub(crate) stuck_after: Option<SignedDuration>,
    /// Where Jules is.
    pub(crate) api_base: Option<String>,
    /// What is run for each event of a file.
    pub(crate) zai_command: Vec<OsString>,
}

impl Config {
    /// The defaults without a file: the files are in the data folder.
    fn usual(folder: &Path) -> Self {
        Self {
            jobs_path: folder.join("zai_jobs.jsonl"),
            events_path: folder.join("zai_events.jsonl"),
            monitor_state_path: folder.join(".zai_monitor_state.json"),
            watcher_state_path: folder.join(".zai_watcher_state.json"),
            monitor_poll: MONITOR_POLL,
            watcher_poll: WATCHER_POLL,
            stuck_after: None,
            api_base: None,
            zai_command: Vec::new(),
        }
    }

    /// The named file, else the one in the data folder, else the defaults; with warnings for a person.
    pub(crate) fn find(named: Option<&Path>, folder: &Path) -> Result<(Self, Vec<String>)> {
        let usual = folder.join(FILE);
        let file = match named {
            // A named file that does not exist means the defaults, with a warning.
            Some(file) if matches!(file.try_exists(), Ok(false)) => {
                let warning = format!("there is no {}: the defaults hold", file.display());
                return Ok((Self::usual(folder), vec![warning]));
            }
            Some(file) => file,
            None if usual.is_file() => &usual,
            None => return Ok((Self::usual(folder), Vec::new())),
        };
        let text = stdin::of_file(file, BYTES_MAX)?;
        let read = Self::read(&text, Self::usual(folder));
        read.map_err(|what| {
            let what = format!("{}: {what}", file.display());
            Error::usage(
                what,
                "mend the file, or name another one with `--config FILE`",
            )
            .into()
        })
    }

    fn read(text: &str, mut config: Self) -> Result<(Self, Vec<String>), String> {
        let keys: Map<String, Value> = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| format!("it is no JSON object: {error}"))?;
        let mut warnings = Vec::new();
        for (key, value) in &keys {
            warnings.extend(
                config
                    .take(key, value)
                    .map_err(|why| format!("`{}` is {}: {why}", shown(key), shown_value(value)))?,
            );
        }
        Ok((config, warnings))
    }

    /// Takes one key; returns what is to be said about it.
    fn take(&mut self, key: &str, value: &Value) -> Result<Option<String>, String> {
        match key {
            "jobs_path" => self.jobs_path = path(value)?,
            "events_path" => self.events_path = path(value)?,
            "monitor_state_path" => self.monitor_state_path = path(value)?,
            "watcher_state_path" => self.watcher_state_path = path(value)?,
            "monitor_poll_seconds" => {
                self.monitor_poll = Duration::from_secs_f64(number(value, &MONITOR_BOUNDS)?);
            }
            "watcher_poll_seconds" => {
                self.watcher_poll = Duration::from_secs_f64(number(value, &WATCHER_BOUNDS)?);
            }
            "stuck_minutes" => {
                let seconds = number(value, &STUCK_BOUNDS)? * 60.0;
                self.stuck_after = Some(SignedDuration::from_secs_f64(seconds.round()));
            }
            "api_base" => {
                let base = value::jules_base(text(value)?);
                self.api_base = Some(base.map_err(|why| shown(&why))?);
            }
            "mcp_command" => {
                command(value)?;
                let used = "`mcp_command` is not used: Gaffer calls its own tools, and `gaffer mcp` serves them";
                return Ok(Some(used.to_owned()));
            }
            "zai_command" => self.zai_command = command(value)?,
            unknown => return Ok(Some(strange(unknown))),
        }
        Ok(None)
    }
}

/// The warning about an unknown key.
fn strange(key: &str) -> String {
    let nearest = KEYS.iter().max_by(|a, b| {
        let far = |known: &str| strsim::jaro_winkler(key, known);
        far(a).total_cmp(&far(b))
    });
    let nearest = nearest.copied().unwrap_or_default();
    format!(
        "there is no key `{}`, and it is ignored; the nearest is `{nearest}`",
        shown(key)
    )
}

fn shown(text: &str) -> String {
    clip(text, SHOWN_CHARS_MAX)
}

fn shown_value(value: &Value) -> String {
    format!("`{}`", shown(&value.to_string()))
}

fn text(value: &Value) -> Result<&str, String> {
    let text = value.as_str().ok_or("it has to be a text")?;
    if text.is_empty() {
        return Err("it must not be empty".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("it must not hold control characters".to_owned());
    }
    Ok(text)
}

fn path(value: &Value) -> Result<PathBuf, String> {
    text(value).map(PathBuf::from)
}

fn number(value: &Value, bounds: &Bounds) -> Result<f64, String> {
    let Bounds { least, most, of } = bounds;
    let number = value
        .as_f64()
        .filter(|number| (*least..=*most).contains(number));
    number.ok_or_else(|| format!("it has to be a number of {of}, {least} to {most}"))
}

/// A program with its arguments, or one line for the shell.
fn command(value: &Value) -> Result<Vec<OsString>, String> {
    let wrong = "it has to be a list of texts, the program first, or one line for the shell";
    match value {
        Value::String(_) => Ok(["sh", "-c", text(value)?].map(OsString::from).into()),
        Value::Array(words) if !words.is_empty() => words
            .iter()
            .enumerate()
            .map(|(at, word)| match word {
                // Only a program has to have a name.
                Value::String(word) if at > 0 && word.is_empty() => Ok(OsString::new()),
                Value::String(_) => text(word).map(OsString::from),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_) => Err(wrong.to_owned()),
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(wrong.to_owned())
        }
    }
}

#[cfg(test)]
mod tests;
