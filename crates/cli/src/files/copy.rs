//! The file that events are appended to: whole lines only, each event once, whenever the writer is killed.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use domain::event::EventCursor;
use domain::wake::ActionableEvent;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::state;
use crate::error::Error;

/// What names the file and its state in `config.json`.
const FILE_KEY: &str = "events_path";
const STATE_KEY: &str = "monitor_state_path";

/// How far the events of a store were appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Standing {
    /// After which event; none before the first.
    cursor: Option<String>,
    /// How long the file was then, in bytes.
    bytes: u64,
}

/// A file of events, and its progress. No other process appends to it while this is held.
pub(super) struct Copy {
    path: PathBuf,
    state: PathBuf,
    file: File,
    standing: Standing,
    /// Events in the file beyond the recorded length.
    there: BTreeSet<String>,
}

impl Copy {
    /// Opens the file and repairs what a killed writer left: half a line is cut off, and what was appended without
    /// being recorded is not appended again.
    ///
    /// A file that is shorter than it was, or gone, is begun anew.
    pub(super) fn open(path: &Path, state: &Path) -> Result<Self> {
        let file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .mode(state::FILE_MODE)
            .open(path)
            .map_err(|error| {
                let what = format!(
                    "{}, which is `{FILE_KEY}`, cannot be written: {error}",
                    path.display()
                );
                Error::usage(what, "name another file there, or make its folder")
            })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(path).into()),
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("locking {}", path.display()));
            }
        }
        let standing = state::read(state, STATE_KEY)?;
        let mut copy = Self {
            path: path.to_owned(),
            state: state.to_owned(),
            file,
            standing: standing.unwrap_or(Standing {
                cursor: None,
                bytes: 0,
            }),
            there: BTreeSet::new(),
        };
        copy.mend()
            .with_context(|| format!("looking how far {} has come", path.display()))?;
        Ok(copy)
    }

    /// After which event the next one comes.
    pub(super) fn cursor(&self) -> Option<EventCursor> {
        // An unreadable cursor means a full pass; the present lines stay untouched.
        self.standing.cursor.as_ref()?.parse().ok()
    }

    /// Whether the file is still the opened one, with the same length.
    pub(super) fn is_there(&self) -> bool {
        let (Ok(named), Ok(held)) = (fs::metadata(&self.path), self.file.metadata()) else {
            return false;
        };
        let same = (named.dev(), named.ino()) == (held.dev(), held.ino());
        same && named.len() >= self.standing.bytes
    }

    /// Appends missing events and records the end of the file; returns how many those were.
    pub(super) fn append(
        &mut self,
        events: &[ActionableEvent],
        cursor: &EventCursor,
    ) -> Result<usize> {
        if events.is_empty() {
            return Ok(0);
        }
        let (mut text, mut count) = (String::new(), 0);
        for event in events {
            if self.there.remove(event.event_id.as_str()) {
                continue;
            }
            text.push_str(&serde_json::to_string(event).context("writing an event")?);
            text.push('\n');
            count += 1;
        }
        let appended = self.write(&text);
        appended.with_context(|| format!("appending to {}", self.path.display()))?;
        self.standing.cursor = Some(cursor.to_string());
        state::write(&self.state, &self.standing)?;
        Ok(count)
    }

    fn write(&mut self, text: &str) -> std::io::Result<()> {
        if !text.is_empty() {
            self.file.write_all(text.as_bytes())?;
            self.file.sync_data()?;
        }
        self.standing.bytes = self.file.metadata()?.len();
        Ok(())
    }

    fn mend(&mut self) -> std::io::Result<()> {
        let length = self.file.metadata()?.len();
        if length < self.standing.bytes {
            self.standing = Standing {
                cursor: None,
                bytes: 0,
            };
        }
        let mut tail = Vec::new();
        self.file.seek(SeekFrom::Start(self.standing.bytes))?;
        self.file.read_to_end(&mut tail)?;
        let whole = tail
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let (lines, rest) = tail.split_at(whole);
        self.there
            .extend(lines.split(|byte| *byte == b'\n').filter_map(event_id));
        if !rest.is_empty() {
            self.end_line(rest, whole as u64)?;
        }
        self.standing.bytes = self.file.metadata()?.len();
        Ok(())
    }

    /// Ends a whole last line, which another program may write without an end, and cuts off half of one of ours.
    /// Foreign content is kept.
    fn end_line(&mut self, rest: &[u8], whole: u64) -> std::io::Result<()> {
        let is_ours = rest.starts_with(BEGINS) || BEGINS.starts_with(rest);
        if !is_ours || serde_json::from_slice::<Value>(rest).is_ok() {
            self.there.extend(event_id(rest));
            return self.file.write_all(b"\n");
        }
        self.file.set_len(self.standing.bytes + whole)
    }
}

/// How a line of ours begins: the first field of an event.
const BEGINS: &[u8] = b"{\"event\":";

fn event_id(line: &[u8]) -> Option<String> {
    let line: Value = serde_json::from_slice(line).ok()?;
    Some(line["event_id"].as_str()?.to_owned())
}

fn held(path: &Path) -> Error {
    Error::refused(
        "in_use",
        format!("another process appends to {}", path.display()),
        "stop it first, or name another file as `events_path` with `--config FILE`",
    )
}

#[cfg(test)]
mod tests;
