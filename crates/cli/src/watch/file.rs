//! `gaffer watch --events`: takes events out of a file, line by line, and stores its progress after each.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use domain::fence::clip;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::child::Handler;
use super::problem::{Waits, paused, told_off};
use super::{WatchOutcome, handle, handler};
use crate::args::watch::WatchArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::files::{self, state};
use crate::render;

/// Longest line, in bytes: an event of ours has at most 20 kB.
const LINE_BYTES_MAX: u64 = 256 * 1024;

/// Maximum attempts of a command for one event.
const MAX_ATTEMPTS: u32 = 5;

/// Longest part of a malformed line that is shown, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// What names the state in `config.json`.
const STATE_KEY: &str = "watcher_state_path";

/// How far a file was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FileState {
    /// Up to here, in bytes.
    offset: u64,
    /// Lines that were no events.
    malformed: u64,
    /// Events whose command failed every time.
    given_up: u64,
    /// Events of kinds that this version does not know.
    unknown_event: u64,
}

/// Handles the events of the file, and later ones unless it runs once.
pub(super) async fn run(args: WatchArgs, events: PathBuf, here: &CommandContext) -> Result<()> {
    let config = files::settings(&args.config, here)?;
    let mut reader = Reader {
        standing: state::read(&config.watcher_state_path, STATE_KEY)?.unwrap_or_default(),
        state: config.watcher_state_path.clone(),
        events,
        handler: handler(&args, &config.zai_command, here)?,
        as_json: args.json,
        failed: 0,
        untold: None,
    };
    let (stop, stopped) = watch::channel(false);
    let mut work = std::pin::pin!(reader.go_on(args.once, config.watcher_poll, stopped));
    tokio::select! {
        done = &mut work => return done,
        told = crate::up::told_to_end() => told?,
    }
    stop.send_replace(true);
    work.await
}

struct Reader {
    events: PathBuf,
    state: PathBuf,
    standing: FileState,
    handler: Handler,
    as_json: bool,
    /// Given-up events of this run.
    failed: u64,
    /// Why the outcome of an event could not be reported. Finished events are stored before that ends the command.
    untold: Option<anyhow::Error>,
}

impl Reader {
    async fn go_on(
        &mut self,
        once: bool,
        every: Duration,
        mut stopped: watch::Receiver<bool>,
    ) -> Result<()> {
        while !*stopped.borrow() {
            match self.next()? {
                Some(line) => {
                    self.line(&line, &mut stopped).await?;
                    self.untold.take().map_or(Ok(()), Err)?;
                }
                None if once => break,
                None => paused(every, &mut stopped).await,
            }
        }
        if once && self.failed > 0 {
            let what = format!("{} events could not be handled", self.failed);
            let next = "what the command said stands above; the file still holds them";
            return Err(Error::refused("not_handled", what, next).into());
        }
        Ok(())
    }

    /// The next whole line; `None` while there is no file, or nothing new in it.
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let line = line_at(&self.events, &mut self.standing.offset);
        line.with_context(|| format!("reading {}", self.events.display()))
    }

    /// Handles one line, and stores that it is done.
    async fn line(&mut self, line: &[u8], stopped: &mut watch::Receiver<bool>) -> Result<()> {
        let event = serde_json::from_slice::<Value>(line).ok();
        match event.filter(|event| event["event"].is_string()) {
            Some(event) => {
                if !self.event(&event, stopped).await? {
                    return Ok(());
                }
                let name = event["event"].as_str().unwrap_or_default();
                self.standing.unknown_event += u64::from(!handle::is_known(name));
            }
            None if line.trim_ascii().is_empty() => {}
            None => {
                self.standing.malformed += 1;
                let shown = clip(&String::from_utf8_lossy(line), SHOWN_CHARS_MAX);
                let at = self.standing.offset;
                render::note(&format!(
                    "the line at byte {at} is no event and is passed over: {shown}"
                ));
            }
        }
        self.standing.offset += line.len() as u64;
        state::write(&self.state, &self.standing)
    }

    /// Runs the command until it succeeds, or has failed often enough. Returns false when it was cancelled.
    async fn event(&mut self, event: &Value, stopped: &mut watch::Receiver<bool>) -> Result<bool> {
        let text = event.to_string();
        let mut waits = Waits::default();
        for attempt in 1..=MAX_ATTEMPTS {
            let why = match self.run_once(&text, stopped).await? {
                WatchOutcome::Done => {
                    self.untold = self.report_attempt(event, attempt, "done").err();
                    return Ok(true);
                }
                WatchOutcome::Back { why } => why,
                WatchOutcome::Untried { .. } | WatchOutcome::Lost => return Ok(false),
            };
            self.untold = self.report_attempt(event, attempt, &why).err();
            if attempt < MAX_ATTEMPTS {
                if self.untold.is_some() {
                    return Ok(false);
                }
                paused(waits.next(), stopped).await;
            }
        }
        self.standing.given_up += 1;
        self.failed += 1;
        Ok(true)
    }

    async fn run_once(
        &self,
        event: &str,
        stopped: &mut watch::Receiver<bool>,
    ) -> Result<WatchOutcome> {
        if *stopped.borrow() {
            return Ok(WatchOutcome::Lost);
        }
        let running = self.handler.start(event)?;
        let off = async {
            told_off(stopped).await;
            WatchOutcome::Lost
        };
        self.handler.finish(running, event, off).await
    }

    fn report_attempt(&self, event: &Value, attempt: u32, outcome: &str) -> Result<()> {
        if self.as_json {
            let told = json!({
                "event_id": event["event_id"], "event": event["event"], "kind": event["kind"],
                "job_id": event["job_id"], "attempt": attempt, "outcome": outcome,
            });
            return render::json_line(&told).context("writing the outcome");
        }
        let id = event["event_id"].as_str().unwrap_or("an event");
        let what = event["event"].as_str().unwrap_or_default();
        let told = format!("{id} {what} (try {attempt}): {outcome}");
        render::note(&clip(&told, 4 * SHOWN_CHARS_MAX));
        Ok(())
    }
}

/// The whole line at an offset with its end, or as much of it as a line may have. A file that is shorter than the
/// offset is read from the start.
fn line_at(path: &Path, offset: &mut u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if file.metadata()?.len() < *offset {
        *offset = 0;
    }
    file.seek(SeekFrom::Start(*offset))?;
    let mut line = Vec::new();
    BufReader::new(file)
        .take(LINE_BYTES_MAX)
        .read_until(b'\n', &mut line)?;
    // Its writer may still be at it.
    let whole = line.ends_with(b"\n") || line.len() as u64 == LINE_BYTES_MAX;
    Ok(whole.then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_a_shorter_file_is_read_from_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let mut offset = 0;
        assert_eq!(line_at(&path, &mut offset).unwrap(), None);
        std::fs::write(&path, "one\ntw").unwrap();
        assert_eq!(line_at(&path, &mut offset).unwrap().unwrap(), b"one\n");
        offset = 4;
        assert_eq!(line_at(&path, &mut offset).unwrap(), None);
        std::fs::write(&path, "new\n").unwrap();
        offset = 40;
        assert_eq!(line_at(&path, &mut offset).unwrap().unwrap(), b"new\n");
        assert_eq!(offset, 0);
        let long = "x".repeat(300 * 1024);
        std::fs::write(&path, long).unwrap();
        let line = line_at(&path, &mut offset).unwrap().unwrap();
        assert_eq!(line.len() as u64, LINE_BYTES_MAX);
    }
}
