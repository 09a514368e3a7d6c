//! `gaffer top`: the present state, refreshed whenever something happens and every few seconds.

mod actions;
mod cursor;
mod frame;
mod keys;

use std::time::Duration;

use anyhow::{Context, Result};
use client::wire::{DELIVERIES_LIMIT_MAX, EventPage};
use client::{Client, DeliveryQuery, Error as CallError, EventQuery};
use console::Term;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::args::top::TopArgs;
use crate::context::CommandContext;
use crate::render::{self, Answer};
use crate::site;
use crate::up::told_to_stop;
use cursor::{Cursor, Pressed};
use frame::TopView;
use keys::Keys;

/// Longest time between two refreshes, and the time of a long poll: what is no event, such as a budget, changes too.
const REFRESH_EVERY: Duration = Duration::from_secs(5);

/// Shortest time between two refreshes.
const BREATH: Duration = Duration::from_millis(500);

/// Number of jobs to read: as many as the API returns at once.
const JOBS_MAX: u32 = 200;

const EVENTS_SHOWN: u32 = 8;

/// Shows it once, or until stopped.
pub(crate) async fn run(args: TopArgs, here: &CommandContext, as_json: bool) -> Result<()> {
    let client = site::api_client(args.url, here).await?;
    let term = Term::stdout();
    let first = look(&client).await.context("asking what is going on")?;
    if args.once || as_json || !term.is_term() {
        return render::answer(&first.answer(), as_json).context("writing the answer");
    }
    watch(&client, &term, first).await
}

/// Shows it again after each event or key, until stopped.
async fn watch(client: &Client, term: &Term, first: TopView) -> Result<()> {
    let mut keys = Keys::listen();
    let mut stop = std::pin::pin!(told_to_stop());
    let mut cursor = Cursor::default();
    let mut deeds = JoinSet::new();
    let mut seen = Ok(first);
    let mut place = None;
    let mut waiting = Box::pin(news(client, place.clone()));
    loop {
        render::screen(&frame(&seen, &cursor), term).context("writing to the terminal")?;
        let is_news = tokio::select! {
            told = &mut stop => return told,
            key = keys.next() => {
                let jobs = seen.as_ref().map(TopView::open).unwrap_or_default();
                match cursor.press(key, &jobs) {
                    Pressed::Quit => return Ok(()),
                    Pressed::Seen => {}
                    Pressed::Do(job, action) => {
                        cursor.set_note("It is being done.".to_owned());
                        deeds.spawn(actions::carry_out(client.clone(), job, action));
                    }
                }
                false
            }
            Some(done) = deeds.join_next() => {
                cursor.set_note(done.context("doing it")?);
                true
            }
            next = &mut waiting => {
                place = next;
                waiting = Box::pin(news(client, place.clone()));
                true
            }
        };
        if is_news {
            seen = look(client).await;
        }
    }
}

/// Everything that is shown: the jobs with the cursor first, so that a small terminal shows these.
fn frame(seen: &Result<TopView, CallError>, cursor: &Cursor) -> Answer {
    let empty = Answer::new(serde_json::Value::Null);
    let shown = match seen {
        Ok(seen) => {
            let list = cursor.lines(&seen.open()).into_iter();
            list.fold(empty, Answer::line).line("").and(seen.answer())
        }
        Err(error) => empty.line(format!("{error}")).line("It is tried again."),
    };
    shown.line("").line("`q` ends this.")
}

async fn look(client: &Client) -> Result<TopView, CallError> {
    let asked = EventQuery {
        after: None,
        job: None,
        open: false,
        limit: EVENTS_SHOWN,
        wait_seconds: 0,
    };
    let mut deliveries = Vec::new();
    for party in ["person", "agent"] {
        let asked = DeliveryQuery {
            needs: Some(party.to_owned()),
            limit: Some(DELIVERIES_LIMIT_MAX),
            ..DeliveryQuery::default()
        };
        deliveries.extend(client.deliveries(&asked).await?.deliveries);
    }
    Ok(TopView {
        status: client.status().await?,
        jobs: client.jobs(None, Some(JOBS_MAX)).await?,
        deliveries,
        events: client.events_after(&asked).await?.events,
    })
}

/// Resolves when something happened, and after a while in any case.
///
/// Returns the cursor, which may be the old one.
async fn news(client: &Client, mut cursor: Option<String>) -> Option<String> {
    let began = Instant::now();
    let held = REFRESH_EVERY.as_secs().try_into().unwrap_or(0);
    let happened = match asked(client, cursor.clone(), held).await {
        Ok(page) => {
            cursor = Some(page.cursor);
            !page.events.is_empty()
        }
        // The next refresh shows what is wrong.
        Err(_) => false,
    };
    let least = if happened { BREATH } else { REFRESH_EVERY };
    let rest = least.saturating_sub(began.elapsed());
    let _ = timeout(rest, std::future::pending::<()>()).await;
    cursor
}

/// The first cursor, and then new events.
async fn asked(client: &Client, after: Option<String>, held: u32) -> Result<EventPage, CallError> {
    let is_first = after.is_none();
    let asked = EventQuery {
        after,
        job: None,
        open: false,
        limit: if is_first { 0 } else { JOBS_MAX.min(100) },
        wait_seconds: if is_first { 0 } else { held },
    };
    client.events_after(&asked).await
}
