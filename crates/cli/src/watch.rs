//! `gaffer watch`: runs a command for each wake of an agent's inbox. Gaffer keeps their state, so a watcher may die at any time.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use client::wire::{Extend, GiveBack, TakeRequest, Taken, TakenWake, WAIT_SECONDS_MAX};
use client::{Client, Error as CallError};
use domain::fence::clip;
use domain::ids::{AgentName, EventId};
use domain::wake::LEASE;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout};

use crate::args::watch::WatchArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::up::told_to_end;
use crate::{render, site};

mod child;
mod file;
pub(crate) mod handle;
mod problem;

use child::Handler;
use problem::{Waits, code, is_passing, is_settled, paused, told_off};

/// How often a wake is extended while its command runs: several times in a lease, should one call fail.
const EXTEND_EVERY: Duration = Duration::from_secs(LEASE.as_secs().unsigned_abs() / 4);

/// How long a wake is held without being extended: afterwards it comes again anyway.
const HELD: Duration = Duration::from_secs(LEASE.as_secs().unsigned_abs());

/// How long to wait, when stopped, for an answer that may be on its way.
const LAST_ANSWER: Duration = Duration::from_secs(1);

/// Longest reason for giving a wake back, in characters.
const WHY_CHARS_MAX: usize = 300;

/// The wait after an empty answer that was not held open, as functions on AWS give it.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Watches until stopped, or until the inbox is empty.
pub(crate) async fn run(args: WatchArgs, here: &CommandContext) -> Result<()> {
    if let Some(events) = args.events.clone() {
        return file::run(args, events, here).await;
    }
    let Some(agent) = args.agent.clone() else {
        // The parser asks for one of the two.
        let next = "give `--agent NAME` or `--events FILE`";
        return Err(Error::usage("nothing is named to be watched", next).into());
    };
    let client = site::api_client(args.url.clone(), here).await?;
    let (stop, stopped) = watch::channel(false);
    let watcher = Arc::new(Watcher {
        client,
        agent,
        handler: handler(&args, &[], here)?,
        once: args.once,
        as_json: args.json,
        undone: Mutex::default(),
    });
    let mut told = std::pin::pin!(told_to_end());
    let mut takers = JoinSet::new();
    for _ in 0..args.at_once {
        takers.spawn(watcher.clone().take_until(stopped.clone()));
    }
    let mut failed = Ok(());
    loop {
        tokio::select! {
            told = &mut told, if !*stop.borrow() => {
                stop.send_replace(true);
                failed = failed.and(told);
            }
            ended = takers.join_next() => match ended {
                Some(ended) => {
                    let ended = ended.context("watching").flatten();
                    if ended.is_err() {
                        // The other workers give back their events.
                        stop.send_replace(true);
                    }
                    failed = failed.and(ended);
                }
                None => break,
            },
        }
    }
    failed?;
    let undone = watcher.undone().len();
    if args.once && undone > 0 {
        let what = format!("{undone} events could not be handled");
        let next = "they come again; what the command said stands above";
        return Err(Error::refused("not_handled", what, next).into());
    }
    Ok(())
}

/// The command, or the default handler of this program. Either finds the watcher's Gaffer by itself.
fn handler(args: &WatchArgs, usual: &[OsString], here: &CommandContext) -> Result<Handler> {
    let timeout = Duration::try_from(args.timeout).context("reading `--timeout`")?;
    let command = if args.command.is_empty() {
        usual
    } else {
        &args.command
    };
    let mut command = command.iter().cloned();
    let (program, arguments) = match command.next() {
        Some(program) => (child::there(program)?, command.collect()),
        None => {
            let itself = std::env::current_exe().context("finding this program")?;
            (itself.into(), vec![OsString::from("handle-event")])
        }
    };
    let mut environment = vec![("GAFFER_DATA", here.folder.clone().into_os_string())];
    if let Some(stack) = &here.stack {
        environment.push(("GAFFER_STACK", OsString::from(stack)));
    }
    if let Some(url) = &args.url {
        environment.push(("GAFFER_URL", OsString::from(url.as_str())));
    }
    Ok(Handler {
        program,
        arguments,
        environment,
        timeout,
        quiet: args.json,
    })
}

struct Watcher {
    client: Client,
    agent: AgentName,
    handler: Handler,
    once: bool,
    as_json: bool,
    /// Events that were given back and are still not done.
    undone: Mutex<BTreeSet<EventId>>,
}

/// The outcome of one event.
enum WatchOutcome {
    Done,
    /// It was tried.
    Back {
        why: String,
    },
    /// Nothing was tried.
    Untried {
        why: String,
    },
    /// Another taker has it, or no one any more.
    Lost,
}

impl Watcher {
    fn undone(&self) -> MutexGuard<'_, BTreeSet<EventId>> {
        self.undone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one wake after the other.
    async fn take_until(self: Arc<Self>, mut stopped: watch::Receiver<bool>) -> Result<()> {
        let mut waits = Waits::default();
        let wait_seconds = (!self.once).then_some(WAIT_SECONDS_MAX);
        let ask = TakeRequest {
            limit: Some(1),
            wait_seconds,
        };
        while !*stopped.borrow() {
            let began = Instant::now();
            let mut taking = std::pin::pin!(self.client.take(&self.agent, &ask));
            let taken = tokio::select! {
                taken = &mut taking => taken,
                () = told_off(&mut stopped) => {
                    self.leave(timeout(LAST_ANSWER, taking).await).await;
                    break;
                }
            };
            let taken = match taken {
                Ok(taken) => taken.wakes,
                Err(error) => {
                    self.passing(error, &mut waits, &mut stopped).await?;
                    continue;
                }
            };
            waits = Waits::default();
            if taken.is_empty() {
                if self.once {
                    break;
                }
                if began.elapsed() < LOOK_AGAIN {
                    paused(LOOK_AGAIN, &mut stopped).await;
                }
            }
            for wake in taken {
                self.handle(&wake, &mut stopped).await?;
            }
        }
        Ok(())
    }

    /// Returns a wake that was taken at the very moment of the stop.
    async fn leave(&self, taken: Result<Result<Taken, CallError>, Elapsed>) {
        let Ok(Ok(taken)) = taken else { return };
        for wake in &taken.wakes {
            let why = "the watcher was told to stop";
            if let Err(error) = self.give_back(wake, why, true).await {
                render::note(&format!("{} comes again: {error}", wake.event.event_id));
            }
        }
    }

    /// Runs the command for a wake and reports its outcome to Gaffer.
    async fn handle(&self, wake: &TakenWake, stopped: &mut watch::Receiver<bool>) -> Result<()> {
        let (outcome, broken) = match self.run_command(wake, stopped).await {
            Ok(outcome) => (outcome, Ok(())),
            // It would fail for every event: they are kept for when it is fixed.
            Err(error) => {
                let why = format!("{error:#}");
                (WatchOutcome::Untried { why }, Err(error))
            }
        };
        let told = match &outcome {
            WatchOutcome::Done => "done".to_owned(),
            WatchOutcome::Back { why } | WatchOutcome::Untried { why } => {
                format!("given back: {why}")
            }
            WatchOutcome::Lost => "taken over by another watcher".to_owned(),
        };
        self.settle(wake, &outcome, stopped).await?;
        let event = &wake.event;
        match outcome {
            WatchOutcome::Done | WatchOutcome::Lost => self.undone().remove(&event.event_id),
            WatchOutcome::Back { .. } | WatchOutcome::Untried { .. } => {
                self.undone().insert(event.event_id.clone())
            }
        };
        if self.as_json {
            render::json_line(&json!({
                "event_id": event.event_id, "event": event.event, "kind": event.kind,
                "job_id": event.job_id, "attempt": wake.attempt, "outcome": told,
            }))?;
        } else {
            let job = event.job_id.as_ref().map(|job| format!(" of job {job}"));
            let job = job.unwrap_or_default();
            render::note(&format!(
                "{} {}{job} (try {}): {told}",
                event.event_id, event.kind, wake.attempt
            ));
        }
        broken
    }

    /// Runs the command to its end; fails when it cannot be started.
    async fn run_command(
        &self,
        wake: &TakenWake,
        stopped: &mut watch::Receiver<bool>,
    ) -> Result<WatchOutcome> {
        let event = serde_json::to_string(&wake.event).context("writing the event")?;
        let running = self.handler.start(&event)?;
        let off = async {
            tokio::select! {
                () = told_off(stopped) => WatchOutcome::Untried {
                    why: "the watcher was told to stop".to_owned(),
                },
                () = self.keep_held(wake) => WatchOutcome::Lost,
            }
        };
        self.handler.finish(running, &event, off).await
    }

    /// Extends the lease again and again; ends when another taker has the event. A command that acknowledges by itself may go on.
    async fn keep_held(&self, wake: &TakenWake) {
        let extend = Extend {
            agent: self.agent.clone(),
            attempt: wake.attempt,
        };
        let mut every = tokio::time::interval(EXTEND_EVERY);
        every.tick().await;
        loop {
            every.tick().await;
            match self.client.extend(&wake.event.event_id, &extend).await {
                Err(error) if code(&error) == Some("lease_lost") => return,
                Err(error) if code(&error) == Some("acknowledged") => pending().await,
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Acknowledges or gives back. While Gaffer does not answer it retries: otherwise the event would come again although it is done.
    async fn settle(
        &self,
        wake: &TakenWake,
        outcome: &WatchOutcome,
        stopped: &mut watch::Receiver<bool>,
    ) -> Result<()> {
        let event = &wake.event.event_id;
        let (mut waits, began) = (Waits::default(), Instant::now());
        loop {
            let settled = match outcome {
                WatchOutcome::Done => self.client.acknowledge(&self.agent, event).await.map(drop),
                WatchOutcome::Back { why } => self.give_back(wake, why, false).await,
                WatchOutcome::Untried { why } => self.give_back(wake, why, true).await,
                WatchOutcome::Lost => return Ok(()),
            };
            match settled {
                Ok(()) => return Ok(()),
                // A wake that is left by a stop comes again by itself.
                Err(error) if *stopped.borrow() => {
                    render::note(&format!("{event} comes again: {error}"));
                    return Ok(());
                }
                Err(error) if is_settled(&error) => return Ok(()),
                Err(error) if is_passing(&error) && began.elapsed() < HELD => {
                    paused(waits.next(), stopped).await;
                }
                Err(error) => {
                    let doing = format!("telling what became of {event}");
                    return Err(error).context(doing);
                }
            }
        }
    }

    async fn give_back(&self, wake: &TakenWake, why: &str, untried: bool) -> Result<(), CallError> {
        let back = GiveBack {
            agent: self.agent.clone(),
            attempt: wake.attempt,
            why: Some(clip(why, WHY_CHARS_MAX)),
            retry_after_seconds: None,
            untried,
        };
        let event = &wake.event.event_id;
        self.client.give_back(event, &back).await.map(drop)
    }

    /// Waits after a temporary failure, and reports it once; any other ends the watch.
    async fn passing(
        &self,
        error: CallError,
        waits: &mut Waits,
        stopped: &mut watch::Receiver<bool>,
    ) -> Result<()> {
        if !is_passing(&error) || self.once {
            return Err(error).with_context(|| format!("watching for agent `{}`", self.agent));
        }
        if waits.failed == 0 {
            render::note(&format!("{error}; trying again"));
        }
        paused(waits.next(), stopped).await;
        Ok(())
    }
}
