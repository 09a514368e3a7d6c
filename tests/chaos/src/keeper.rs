//! Keeps a child alive: starts it, kills it where it says it stands or when the dice say so, and starts it again.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use client::Client;
use engine::ports::Clock;
use jiff::Timestamp;
use sandbox::{Sandbox, WebhookTarget};
use secrecy::SecretString;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::watch;

use crate::moment::Moment;
use crate::stage::WEBHOOK_SECRET;
use crate::time::SharedTime;

/// How often it is looked whether a random death has come, in real time.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// How a child ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Death {
    /// When, in virtual time.
    pub(crate) at: Timestamp,
    /// Where; none when it was just any moment.
    pub(crate) moment: Option<Moment>,
}

/// Where the child's endpoints are; none while it is dead.
pub(crate) type ClientSlot = watch::Sender<Option<Client>>;

/// What is needed to start a child, and what is still in store for it.
pub(crate) struct Keeper {
    pub(crate) folder: PathBuf,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) time: Arc<SharedTime>,
    pub(crate) client_slot: Arc<ClientSlot>,
    pub(crate) deaths: Arc<Mutex<Vec<Death>>>,
    /// The child's bearer token.
    pub(crate) token: SecretString,
    pub(crate) seed: u64,
    /// Moments to die at, each once.
    pub(crate) moments: BTreeSet<Moment>,
    /// Times to die at, whatever is being done then; the last one first.
    pub(crate) times: Vec<Timestamp>,
}

/// What a child says on its stdout.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    Url(url::Url),
    Reached(String),
}

impl Keeper {
    /// Lets children live and die until it is dropped.
    pub(crate) async fn keep(mut self) -> Result<()> {
        for life in 0_u64.. {
            let mut child = self.bear(life)?;
            let stdout = child.stdout.take().context("reading the child's stdout")?;
            let moment = self.live(BufReader::new(stdout).lines()).await?;
            self.client_slot.send_replace(None);
            child.kill().await.context("killing the child")?;
            self.time.put_down_all()?;
            self.moments.retain(|it| Some(*it) != moment);
            let at = self.time.now();
            self.deaths().push(Death { at, moment });
        }
        Ok(())
    }

    fn deaths(&self) -> std::sync::MutexGuard<'_, Vec<Death>> {
        self.deaths.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bear(&self, life: u64) -> Result<Child> {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log())
            .context("opening the child's log")?;
        let mut command = Command::new(std::env::current_exe().context("finding chaos")?);
        command
            .args(["child", "--seed"])
            // Each life has a chance of its own, or it would die of the same bad luck again.
            .arg(self.seed.wrapping_add(life << 32).to_string())
            .arg("--data")
            .arg(&self.folder)
            .arg("--clock")
            .arg(self.folder.join("clock"))
            .arg("--jules-base")
            .arg(self.sandbox.jules_base())
            .arg("--github-base")
            .arg(self.sandbox.github_base())
            .arg("--allow-host")
            .arg(self.sandbox.addr().to_string());
        for moment in &self.moments {
            command.arg("--die-at").arg(moment.to_string());
        }
        command
            // Nothing is ever sent; that it closes tells the child that this process is gone.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true);
        command.spawn().context("starting the child")
    }

    /// What the child logs, over all its lives.
    fn log(&self) -> PathBuf {
        self.folder.join("child.log")
    }

    /// Resolves when the child has to die, with the moment it reached if that is why.
    async fn live(&mut self, mut said: Lines<BufReader<ChildStdout>>) -> Result<Option<Moment>> {
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                line = said.next_line() => {
                    let line = line.context("reading what the child says")?;
                    if let Some(moment) = self.hear(line)? {
                        return Ok(Some(moment));
                    }
                }
                _ = look.tick() => {
                    let now = self.time.now();
                    if self.times.pop_if(|at| *at <= now).is_some() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn hear(&self, line: Option<String>) -> Result<Option<Moment>> {
        let Some(line) = line else {
            bail!(
                "the child ended by itself; its log {} stays with `--keep`",
                self.log().display()
            );
        };
        let said = serde_json::from_str(&line);
        match said.with_context(|| format!("understanding the child's `{line}`"))? {
            Said::Url(url) => {
                self.sandbox.set_webhook(WebhookTarget {
                    url: format!("{}github/webhook", url),
                    secret: WEBHOOK_SECRET.to_owned(),
                });
                let client = Client::new(url, self.token.clone())?;
                self.client_slot.send_replace(Some(client));
                Ok(None)
            }
            Said::Reached(moment) => moment.parse().map(Some).map_err(anyhow::Error::msg),
        }
    }
}
