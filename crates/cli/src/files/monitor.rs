//! `gaffer monitor`: takes the jobs of a file, does what is due, and appends events to another file. It serves no HTTP.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result};
use domain::effect::CALL_TIMEOUT;
use domain::policy::Source;
use engine::settings::Upstreams;
use local::FolderLock;
use serde_json::{Value, json};
use server::{Base, LoopIntervals, Runner, STOP_WITHIN, Settings};
use tokio::sync::watch;

use super::config::Config;
use super::known::Known;
use super::taken;
use crate::args::Loudness;
use crate::args::files::MonitorArgs;
use crate::args::outside::OutsideArgs;
use crate::context::CommandContext;
use crate::render::{self, Answer};
use crate::up::{self, told_to_stop};
use crate::{source, upstreams};
use server::data::Data;

mod files;

use files::Files;

/// Runs once, or until stopped.
pub(crate) async fn run(args: MonitorArgs, here: &CommandContext) -> Result<()> {
    let config = super::settings(&args.config, here)?;
    up::log_to_stderr(Loudness::Usual);
    let begun = Begun {
        args: &args,
        config: &config,
        here,
    };
    let mut monitor = Monitor::open(begun).await?;
    let (stop, stopped) = watch::channel(false);
    let mut work = std::pin::pin!(async {
        match args.in_a_loop {
            true => monitor.go_on(stopped.clone()).await,
            false => monitor.once(&stopped).await,
        }
    });
    tokio::select! {
        done = &mut work => return done,
        told = told_to_stop() => told?,
    }
    stop.send_replace(true);
    match tokio::time::timeout(STOP_WITHIN, work).await {
        Ok(done) => done,
        Err(_) => {
            tracing::warn!("some work was still going on; it is settled at the next start");
            Ok(())
        }
    }
}

/// What one round came to.
#[derive(Debug, Default)]
struct Round {
    taken: taken::Taken,
    appended: usize,
    /// Why the list could not be read, if so: earlier entries continue.
    unread: Option<anyhow::Error>,
}

/// What a monitor was begun with.
#[derive(Clone, Copy)]
struct Begun<'a> {
    args: &'a MonitorArgs,
    config: &'a Config,
    here: &'a CommandContext,
}

/// Who works over a data folder.
enum Worker {
    /// This process.
    Us(FolderLock),
    /// Another one: it polls and acts, and this one only reads and writes the files.
    Other(String),
}

impl Worker {
    fn of(here: &CommandContext) -> Result<Self> {
        here.database()?;
        match FolderLock::take(&here.folder) {
            Ok(lock) => Ok(Self::Us(lock)),
            Err(local::Error::InUse { by, .. }) => Ok(Self::Other(by)),
            Err(error) => Err(error.into()),
        }
    }
}

/// The device and the number of a file: another file in its place has others.
type FileId = (u64, u64);

/// The database that has the name now.
fn database_id(here: &CommandContext) -> Result<FileId> {
    let path = here.database()?;
    let found = fs::metadata(&path)
        .with_context(|| format!("looking at the database {}", path.display()))?;
    Ok((found.dev(), found.ino()))
}

/// The store, and who works over it.
struct Monitor<'a> {
    begun: Begun<'a>,
    /// The database that was opened.
    database: FileId,
    data: Base,
    /// This process, unless another one does.
    hand: Option<(Runner, FolderLock)>,
    elsewhere: Vec<String>,
    beside: Option<String>,
}

impl<'a> Monitor<'a> {
    async fn open(begun: Begun<'a>) -> Result<Self> {
        Self::with(begun, Worker::of(begun.here)?).await
    }

    async fn with(begun: Begun<'a>, worker: Worker) -> Result<Self> {
        let Begun { args, config, here } = begun;
        // Before it is opened: one that takes its place in between is noticed in the next round.
        let database = database_id(here)?;
        let data: Data = here.open().await?;
        let overlaid = |name: &engine::ports::SecretName| here.is_overlaid(name);
        let typed = typed(&args.outside, config);
        let upstreams = upstreams::in_force(&data.backend, typed, overlaid).await?;
        let elsewhere = up::elsewhere(&upstreams);
        let data = Base::from(data);
        let (hand, beside) = match worker {
            Worker::Us(lock) => {
                let settings = settings(args, upstreams);
                (Some((Runner::new(&data, &settings).await?, lock)), None)
            }
            Worker::Other(by) => (None, Some(by)),
        };
        Ok(Self {
            begun,
            database,
            data,
            hand,
            elsewhere,
            beside,
        })
    }

    /// Begins anew if another process works over the folder now, or its database was replaced. Returns whether it was.
    async fn look_again(&mut self) -> Result<bool> {
        let Begun { here, .. } = self.begun;
        let worker = match self.hand {
            // No other process restores or works while this one holds the lock.
            Some(_) => return Ok(false),
            None => Worker::of(here)?,
        };
        let is_other = database_id(here)? != self.database;
        match &worker {
            Worker::Other(by) if !is_other => {
                self.beside = Some(by.clone());
                return Ok(false);
            }
            Worker::Us(_) => tracing::info!(
                "no other Gaffer works over the data folder any more: from now on this one watches Jules"
            ),
            Worker::Other(_) => {}
        }
        if is_other {
            tracing::warn!(
                "another database took the place of the one that was open: it is opened, and the list is taken anew"
            );
        }
        *self = Self::with(self.begun, worker).await?;
        self.set_silence().await?;
        Ok(is_other)
    }

    /// `stuck_minutes` holds for every source, since it is said for all of them.
    async fn set_silence(&self) -> Result<()> {
        let Some(after) = self.begun.config.stuck_after else {
            return Ok(());
        };
        let backend = &self.data.backend;
        let sources = backend
            .store
            .sources()
            .await
            .context("reading the sources")?;
        for found in sources {
            if found.value.timing.stuck_after == after {
                continue;
            }
            let change = |source: &Source| {
                let mut source = source.clone();
                source.timing.stuck_after = after;
                Ok(source)
            };
            source::change_source(backend, &found.value.repo, change).await?;
            render::note(&format!(
                "gaffer: source {} now tells after {} of silence, as `stuck_minutes` says",
                found.value.repo,
                crate::args::value::short(after)
            ));
        }
        Ok(())
    }

    async fn once(&self, stopped: &watch::Receiver<bool>) -> Result<()> {
        let Begun { args, config, .. } = self.begun;
        let mut files = Files::open(config)?;
        self.set_silence().await?;
        let round = self.round(&mut files, stopped).await?;
        let answer = Answer::new(self.to_json(&round));
        let answer = round.taken.lines().into_iter().fold(answer, Answer::line);
        let answer = answer.line(format!(
            "{} events were appended to {}.",
            round.appended,
            config.events_path.display()
        ));
        render::answer(&answer, args.json).context("writing the answer")?;
        round.unread.map_or(Ok(()), Err)
    }

    async fn go_on(&mut self, mut stopped: watch::Receiver<bool>) -> Result<()> {
        let config = self.begun.config;
        let mut files = Files::open(config)?;
        self.set_silence().await?;
        self.announce()?;
        while !*stopped.borrow() {
            let stop = stopped.clone();
            match self.next_round(&mut files, &stop).await {
                Ok(round) => {
                    tell(&round);
                    files.tell_unread(round.unread.as_ref());
                }
                // An outside cause may be fixed while this continues.
                Err(error) => {
                    let told = crate::error::describe(&error);
                    tracing::error!(
                        "a round failed, and the next one tries again: {}",
                        told.what
                    );
                }
            }
            let _ = tokio::time::timeout(config.monitor_poll, stopped.wait_for(|stop| *stop)).await;
        }
        Ok(())
    }

    /// A round over the present list.
    async fn next_round(
        &mut self,
        files: &mut Files<'_>,
        stopped: &watch::Receiver<bool>,
    ) -> Result<Round> {
        if self.look_again().await? {
            files.known = Known::default();
        }
        self.round(files, stopped).await
    }

    /// Takes new entries of the list, does what is due, and appends events.
    async fn round(&self, files: &mut Files<'_>, stopped: &watch::Receiver<bool>) -> Result<Round> {
        let backend = &self.data.backend;
        let (entries, unread) = match files.news(backend.now()) {
            Ok(entries) => (entries, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let taking = taken::take(backend, entries.clone(), &self.begun.args.adopted);
        let taken = match &self.hand {
            None => taking.await?,
            Some((hand, _)) => hand.pass_during(taking, stopped).await??,
        };
        files.known.settle(&entries, &taken, backend.now());
        if let Some((hand, _)) = &self.hand {
            hand.pass(stopped).await?;
        }
        let appended = files.events.catch_up(backend).await?;
        Ok(Round {
            taken,
            appended,
            unread,
        })
    }

    fn announce(&self) -> Result<()> {
        let Begun { args, config, .. } = self.begun;
        let answer = Answer::new(self.to_json(&Round::default())).line(format!(
            "Jobs are taken from {}, and events go to {}.",
            config.jobs_path.display(),
            config.events_path.display()
        ));
        let answer = self.beside.iter().fold(answer, |answer, by| {
            answer.line(format!(
                "Jules is watched by {by}, which works over the same data folder."
            ))
        });
        let answer = self.elsewhere.iter().fold(answer, Answer::line);
        render::announcement(&answer, args.json).context("writing the answer")
    }

    fn to_json(&self, round: &Round) -> Value {
        let config = self.begun.config;
        json!({
            "jobs_path": shown(&config.jobs_path), "events_path": shown(&config.events_path),
            "beside": self.beside, "jobs": round.taken.json(), "appended": round.appended,
        })
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn tell(round: &Round) {
    for failed in &round.taken.wrong {
        tracing::warn!(
            entry = failed.at,
            "an entry of the list was not taken: {}",
            failed.what
        );
    }
    for (session, job) in &round.taken.adopted {
        tracing::info!(%session, job.id = %job, "a session is watched from now on");
    }
    if round.appended > 0 {
        tracing::info!(events = round.appended, "events were appended");
    }
}

/// Command line options first, then the file's.
fn typed(outside: &OutsideArgs, config: &Config) -> Upstreams {
    let jules = outside.jules_base.clone();
    Upstreams {
        jules_base: jules.or_else(|| config.api_base.clone()),
        github_base: outside.github_base.clone(),
        github_app_id: outside.github_app_id,
    }
}

fn settings(args: &MonitorArgs, upstreams: Upstreams) -> Settings {
    Settings {
        // Nothing listens.
        listen: ([127, 0, 0, 1], 0).into(),
        observe_only: args.observe_only,
        webhooks: false,
        jules_base: upstreams.jules_base,
        github_base: upstreams.github_base,
        github_app_id: upstreams.github_app_id,
        allow_hosts: args.outside.allow_hosts.clone(),
        token: None,
        rhythm: LoopIntervals::default(),
        call_timeout: CALL_TIMEOUT,
        between_writes: server::BETWEEN_WRITES,
    }
}
