//! `gaffer events`: events as JSON lines, printed or appended to a file.

use std::time::Duration;

use anyhow::{Context, Result};
use domain::event::EventCursor;
use engine::backend::Backend;
use serde_json::json;
use tokio::time::timeout;

use super::config::Config;
use super::copy::Copy;
use super::stream::Stream;
use crate::args::files::{EventsCommand, EventsExportArgs};
use crate::context::CommandContext;
use crate::render::{self, Answer, value};
use crate::site::Site;
use crate::up::told_to_stop;

pub(crate) async fn run(
    command: EventsCommand,
    here: &CommandContext,
    as_json: bool,
) -> Result<()> {
    let EventsCommand::Export(args) = command;
    let config = super::settings(&args.config, here)?;
    let backend = Site::load(here).await?.backend;
    if args.append {
        return to_file(&backend, &config, args.follow, as_json).await;
    }
    to_stdout(&backend, args, config.watcher_poll, as_json).await
}

async fn to_stdout(
    backend: &Backend,
    args: EventsExportArgs,
    every: Duration,
    as_json: bool,
) -> Result<()> {
    let mut stop = std::pin::pin!(told_to_stop());
    let mut at = args.after;
    loop {
        at = printed(backend, at).await?;
        if !args.follow {
            break;
        }
        if let Ok(told) = timeout(every, &mut stop).await {
            told?;
            break;
        }
        if render::reader_is_gone() {
            return Ok(());
        }
    }
    let at = at.map(|at| at.to_string()).unwrap_or_default();
    if as_json {
        render::note(&json!({ "cursor": at }).to_string());
    } else if !at.is_empty() {
        render::note(&format!("next: gaffer events export --after {at}"));
    }
    Ok(())
}

/// Prints everything after a cursor, and returns the new cursor.
async fn printed(backend: &Backend, after: Option<EventCursor>) -> Result<Option<EventCursor>> {
    let mut stream = Stream::from(backend, after.clone());
    let mut at = after;
    loop {
        let page = stream.next().await?;
        for event in &page.events {
            render::json_line(&value(event)).context("writing the events")?;
        }
        let any = !page.events.is_empty();
        at = if any { Some(page.cursor) } else { at };
        if !page.more {
            return Ok(at);
        }
    }
}

async fn to_file(backend: &Backend, config: &Config, follow: bool, as_json: bool) -> Result<()> {
    let mut stop = std::pin::pin!(told_to_stop());
    let mut file = Appending::open(config)?;
    let mut count = file.catch_up(backend).await?;
    if follow {
        loop {
            if let Ok(told) = timeout(config.watcher_poll, &mut stop).await {
                told?;
                break;
            }
            count += file.catch_up(backend).await?;
        }
    }
    let path = config.events_path.display().to_string();
    let answer = Answer::new(json!({ "appended": count, "events_path": path }))
        .line(format!("{count} events were appended to {path}."));
    render::answer(&answer, as_json).context("writing the answer")
}

/// The file of events, reopened whenever it is not the opened one any more.
pub(super) struct Appending<'a> {
    config: &'a Config,
    copy: Option<Copy>,
}

impl<'a> Appending<'a> {
    pub(super) fn open(config: &'a Config) -> Result<Self> {
        let copy = Copy::open(&config.events_path, &config.monitor_state_path)?;
        Ok(Self {
            config,
            copy: Some(copy),
        })
    }

    /// Appends all missing events; returns how many those were.
    pub(super) async fn catch_up(&mut self, backend: &Backend) -> Result<usize> {
        // After a failed write the file is reopened, which cuts off a half-written line.
        let mut copy = match self.copy.take().filter(Copy::is_there) {
            Some(copy) => copy,
            None => Copy::open(&self.config.events_path, &self.config.monitor_state_path)?,
        };
        let mut stream = Stream::from(backend, copy.cursor());
        let mut count = 0;
        loop {
            let page = stream.next().await?;
            count += copy.append(&page.events, &page.cursor)?;
            if !page.more {
                self.copy = Some(copy);
                return Ok(count);
            }
        }
    }
}

#[cfg(test)]
mod tests;
