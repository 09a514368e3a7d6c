//! `gaffer watch`: takes an agent's wakes out of its inbox and runs a command for each. What was tried, and what comes next, is known to Gaffer alone, so that a watcher may die at any moment.

use std::ffi::OsString;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use client::wire::{Extend, GiveBack, TakeRequest, TakenWake, WAIT_SECONDS_MAX};
use client::{Client, Error as CallError};
use domain::ids::AgentName;
use domain::wake::LEASE;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::args::watch::WatchArgs;
use crate::error::Error;
use crate::here::Here;
use crate::up::told_to_stop;
use crate::{render, site};

mod child;
pub(crate) mod handle;

use child::{Ended, Handler};

/// How often a wake is extended while its command runs: several times in a lease, should one call fail.
const EXTEND_EVERY: Duration = Duration::from_secs(LEASE.as_secs().unsigned_abs() / 4);

/// The first wait after a call that failed; it doubles.
const FAILED_FIRST: Duration = Duration::from_secs(1);

/// The longest wait after a call that failed.
const FAILED_MAX: Duration = Duration::from_secs(30);

/// The wait after an empty answer that was not held open, as functions on AWS give it.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Watches until told to stop, or until the inbox is empty.
pub(crate) async fn run(args: WatchArgs, here: &Here) -> Result<()> {
    let client = site::door(args.url.clone(), here).await?;
    let (stop, stopped) = watch::channel(false);
    let watcher = Arc::new(Watcher {
        client,
        agent: args.agent.clone(),
        handler: handler(&args, here)?,
        once: args.once,
        as_json: args.json,
    });
    let mut takers = JoinSet::new();
    for _ in 0..args.at_once {
        takers.spawn(watcher.clone().take_until(stopped.clone()));
    }
    let mut undone = 0;
    let told = told_to_stop();
    let mut told = std::pin::pin!(told);
    loop {
        tokio::select! {
            told = &mut told, if !*stop.borrow() => {
                told?;
                stop.send_replace(true);
            }
            ended = takers.join_next() => match ended {
                Some(ended) => undone += ended.context("watching")??,
                None => break,
            },
        }
    }
    if args.once && undone > 0 {
        let what = format!("{undone} events could not be handled");
        let next = "they come again; what the command said stands above";
        return Err(Error::refused("not_handled", what, next).into());
    }
    Ok(())
}

/// The command, or the default handler of this very program. Either finds the same Gaffer as the watcher without being told.
fn handler(args: &WatchArgs, here: &Here) -> Result<Handler> {
    let timeout = Duration::try_from(args.timeout).context("reading `--timeout`")?;
    let mut command = args.command.iter().cloned();
    let (program, arguments) = match command.next() {
        Some(program) => (program, command.collect()),
        None => {
            let itself = std::env::current_exe().context("finding this program")?;
            (itself.into(), usual(here))
        }
    };
    let mut environment = vec![("GAFFER_DATA", here.folder.clone().into_os_string())];
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

/// What the default handler is called with.
fn usual(here: &Here) -> Vec<OsString> {
    let stack = here.stack.iter().flat_map(|name| ["--stack", name]);
    let all = stack.chain(["handle-event"]);
    all.map(OsString::from).collect()
}

struct Watcher {
    client: Client,
    agent: AgentName,
    handler: Handler,
    once: bool,
    as_json: bool,
}

/// What became of one event.
enum Outcome {
    Done,
    Back {
        why: String,
    },
    /// It is somebody else's, or nobody's any more.
    Lost,
}

impl Watcher {
    /// Takes one wake after the other; answers how many could not be handled.
    async fn take_until(self: Arc<Self>, mut stopped: watch::Receiver<bool>) -> Result<u32> {
        let mut waits = Waits::default();
        let mut undone = 0;
        let wait_seconds = (!self.once).then_some(WAIT_SECONDS_MAX);
        let ask = TakeRequest {
            limit: Some(1),
            wait_seconds,
        };
        while !*stopped.borrow() {
            let began = Instant::now();
            let taken = tokio::select! {
                taken = self.client.take(&self.agent, &ask) => taken,
                _ = stopped.wait_for(|stop| *stop) => break,
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
                let handled = self.handle(&wake, &mut stopped).await?;
                undone += u32::from(!handled);
            }
        }
        Ok(undone)
    }

    /// Runs the command for a wake and tells Gaffer what became of it.
    async fn handle(&self, wake: &TakenWake, stopped: &mut watch::Receiver<bool>) -> Result<bool> {
        let outcome = self.run_command(wake, stopped).await;
        let told = match &outcome {
            Outcome::Done => "done".to_owned(),
            Outcome::Back { why } => format!("given back: {why}"),
            Outcome::Lost => "taken over by somebody else".to_owned(),
        };
        self.settle(wake, &outcome, stopped).await?;
        let event = &wake.event;
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
        Ok(matches!(outcome, Outcome::Done))
    }

    async fn run_command(&self, wake: &TakenWake, stopped: &mut watch::Receiver<bool>) -> Outcome {
        let event = match serde_json::to_string(&wake.event) {
            Ok(event) => event,
            Err(error) => {
                return Outcome::Back {
                    why: error.to_string(),
                };
            }
        };
        let child = match self.handler.start(&event) {
            Ok(child) => child,
            Err(error) => {
                return Outcome::Back {
                    why: format!("{error:#}"),
                };
            }
        };
        let off = async {
            tokio::select! {
                _ = stopped.wait_for(|stop| *stop) => Outcome::Back {
                    why: "the watcher was told to stop".to_owned(),
                },
                () = self.keep_held(wake) => Outcome::Lost,
            }
        };
        match self.handler.finish(child, &event, off).await {
            Ok(Ended::Exited(status)) => judged(status),
            Ok(Ended::TimedOut) => {
                let why = format!("it took longer than {:?}", self.handler.timeout);
                Outcome::Back { why }
            }
            Ok(Ended::CalledOff(outcome)) => outcome,
            Err(error) => Outcome::Back {
                why: format!("{error:#}"),
            },
        }
    }

    /// Extends the lease again and again; ends when it is lost for good.
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
                Ok(_) => {}
                Err(error) if is_passing(&error) => {}
                Err(_) => return,
            }
        }
    }

    /// Acknowledges or gives back. As long as Gaffer does not answer it is tried again: otherwise the event would come again although it is done.
    async fn settle(
        &self,
        wake: &TakenWake,
        outcome: &Outcome,
        stopped: &mut watch::Receiver<bool>,
    ) -> Result<()> {
        let event = &wake.event.event_id;
        let mut waits = Waits::default();
        loop {
            let settled = match outcome {
                Outcome::Done => self.client.acknowledge(&self.agent, event).await.map(drop),
                Outcome::Back { why } => {
                    let back = self.back(wake, why);
                    self.client.give_back(event, &back).await.map(drop)
                }
                Outcome::Lost => return Ok(()),
            };
            match settled {
                Ok(()) => return Ok(()),
                // What we were told to leave comes again by itself.
                Err(error) if *stopped.borrow() => {
                    render::note(&format!("{event} comes again: {error}"));
                    return Ok(());
                }
                Err(error) if is_lost(&error) => return Ok(()),
                Err(error) => self.passing(error, &mut waits, stopped).await?,
            }
        }
    }

    fn back(&self, wake: &TakenWake, why: &str) -> GiveBack {
        GiveBack {
            agent: self.agent.clone(),
            attempt: wake.attempt,
            why: Some(why.to_owned()),
            retry_after_seconds: None,
        }
    }

    /// Waits after a failure that may pass, and says so once; any other ends the watch.
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

/// How often calls failed in a row.
#[derive(Default)]
struct Waits {
    failed: u32,
}

impl Waits {
    fn next(&mut self) -> Duration {
        let wait = FAILED_FIRST * 2_u32.saturating_pow(self.failed.min(10));
        self.failed += 1;
        wait.min(FAILED_MAX)
    }
}

/// Waits, but not longer than until we are told to stop.
async fn paused(wait: Duration, stopped: &mut watch::Receiver<bool>) {
    let _ = timeout(wait, stopped.wait_for(|stop| *stop)).await;
}

fn judged(status: ExitStatus) -> Outcome {
    match (status.success(), status.code()) {
        (true, _) => Outcome::Done,
        (false, Some(code)) => Outcome::Back {
            why: format!("exit code {code}"),
        },
        (false, None) => Outcome::Back {
            why: format!("{status}"),
        },
    }
}

/// Whether the same call may go well later.
fn is_passing(error: &CallError) -> bool {
    match error {
        CallError::Unreachable { .. } | CallError::NoAnswer { .. } => true,
        CallError::Problem(problem) => problem.status >= 500 || problem.status == 429,
        CallError::Foreign { status, .. } => *status >= 500 || *status == 429,
        CallError::Base { .. }
        | CallError::GoogleKey
        | CallError::Token
        | CallError::NoTlsProvider
        | CallError::Http(_)
        | CallError::Id(_) => false,
    }
}

/// Whether the event is not ours to settle any more.
fn is_lost(error: &CallError) -> bool {
    match error {
        CallError::Problem(problem) => problem.code == "lease_lost",
        CallError::Unreachable { .. }
        | CallError::NoAnswer { .. }
        | CallError::Foreign { .. }
        | CallError::Base { .. }
        | CallError::GoogleKey
        | CallError::Token
        | CallError::NoTlsProvider
        | CallError::Http(_)
        | CallError::Id(_) => false,
    }
}
