//! A reader's progress, kept in a small file that is replaced as a whole.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::stdin;

/// Only their owner reads a state and the events beside it, which contain what others wrote to an agent.
pub(super) const FILE_MODE: u32 = 0o600;

/// Longest state, in bytes.
const BYTES_MAX: u64 = 256 * 1024;

/// Reads a state; `None` when there is no file, or nothing in it. `key` is what names the file in `config.json`.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, key: &str) -> Result<Option<T>> {
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(None);
    }
    let text = stdin::of_file(path, BYTES_MAX).with_context(|| format!("reading `{key}`"))?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let state = serde_json::from_str(&text).map_err(|error| {
        let path = path.display();
        let what = format!("{path}, which is `{key}`, holds no state of ours: {error}");
        Error::usage(what, "name another file there, or take it away")
    })?;
    Ok(Some(state))
}

/// Replaces a state: an interruption leaves the old one or the new one.
pub(crate) fn write(path: &Path, state: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(state).context("writing down how far it has come")?;
    replaced(path, &text).with_context(|| format!("writing {}", path.display()))
}

fn replaced(path: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(&beside)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    fs::rename(&beside, path)
}
