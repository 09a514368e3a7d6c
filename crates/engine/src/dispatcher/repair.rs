//! Webhook deliveries that GitHub could not make are found in its logs and asked for again.

use std::sync::atomic::Ordering;

use domain::failure::{Failure, FailureClass, Happened};
use domain::feed::{self, FeedHealth};
use domain::hooks::{self, Around, Failed, LOOK_EVERY, Log, Look, Repair};
use domain::ids::{DeliveryGuid, RepoName};
use domain::when::plus;
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use crate::desk::{Error, Place, ignore_conflict};
use crate::hooks::HookLogs;
use crate::keys;
use crate::store::Versioned;
use crate::work::Work;

/// How often it is asked which logs there are: they come and go with what people set up, and then it is asked at once.
const FIND_EVERY: SignedDuration = SignedDuration::from_mins(60);

/// A log that was read this recently is not read again: the message came twice.
const JUST_LOOKED: SignedDuration = SignedDuration::from_secs(30);

/// Time limit of the requests in one pass: a function has to end, and the next pass requests the rest.
const ASKING_FOR: SignedDuration = SignedDuration::from_secs(20);

/// Longest wait for GitHub's pace by a message; a longer one is left to the next pass.
const PACE_MAX: SignedDuration = SignedDuration::from_mins(1);

/// The outcome of the requests.
#[derive(Default)]
struct Answers {
    /// GitHub does not know them any more.
    gone: Vec<DeliveryGuid>,
    /// Certainly not requested; unchanged.
    not_asked: Vec<Failed>,
    /// Why the rest was not asked for.
    stopped: Option<Stopped>,
}

/// Why asking ended before everything was asked for.
enum Stopped {
    /// Only for a moment: writes follow each other too closely, or it took long enough.
    Paced { wait: SignedDuration },
    /// GitHub refuses.
    Refused(Failure),
}

impl Dispatcher {
    /// Finds the existing logs, so that each has its row.
    pub(super) async fn find_hook_logs(&self) -> Result<(), Error> {
        let store = &self.desk.store;
        let key = keys::hook_logs();
        let Some(found): Option<Versioned<HookLogs>> = store.read(&key).await? else {
            return Ok(());
        };
        let now = self.desk.now();
        let sources = store.sources().await?;
        let repos: Vec<RepoName> = sources.into_iter().map(|it| it.value.repo).collect();
        if !self.is_deaf {
            match self.eyes.hooks.logs(&repos).await {
                Ok(logs) => self.keep_logs(&logs).await?,
                Err(failure) => {
                    tracing::warn!(%failure, "it could not be found out who logs webhook deliveries; those that are known are gone on with")
                }
            }
        }
        let logs = HookLogs {
            looked_at: Some(now),
        };
        let mut unit = self.desk.unit();
        let place = Place::due(Some(plus(now, FIND_EVERY)));
        unit.put(key, &logs, Some(found.version), place);
        ignore_conflict(self.desk.commit(unit).await)
    }

    /// Creates the row of each log, and deletes rows that are not needed any more.
    async fn keep_logs(&self, logs: &[Log]) -> Result<(), Error> {
        let known = self.desk.store.repairs().await?;
        for log in logs {
            if !known.iter().any(|known| known.value.log == *log) {
                let repair = Repair::new(log.clone());
                let mut unit = self.desk.unit();
                unit.save_due((log, self.desk.now()), &repair, None);
                ignore_conflict(self.desk.commit(unit).await)?;
            }
        }
        for found in known {
            if !logs.contains(&found.value.log) {
                let mut unit = self.desk.unit();
                unit.delete(keys::hook_log(&found.value.log), &found);
                ignore_conflict(self.desk.commit(unit).await)?;
            }
        }
        Ok(())
    }

    /// Reads one log and requests redelivery of what failed. The requests are saved before, so a crash between the
    /// two costs an attempt and nothing else.
    pub(super) async fn repair(&self, log: &Log) -> Result<(), Error> {
        let Some(found) = self.desk.store.repair(log).await? else {
            return Ok(());
        };
        let now = self.desk.now();
        let around = self.around(log).await?;
        // Requests that GitHub's pace left over come first, without another read of the log.
        if let Some(look) = hooks::go_on(&found.value, around.may_ask, now) {
            return self.ask_as_decided(&found, &look).await;
        }
        let looked_at = found.value.looked_at;
        if looked_at.is_some_and(|at| plus(at, JUST_LOOKED) > now) {
            return Ok(());
        }
        if self.is_deaf {
            return self.keep(&found, &found.value, plus(now, LOOK_EVERY)).await;
        }
        let since = hooks::since(&found.value, now);
        let attempts = match self.eyes.hooks.attempts(log, since).await {
            Ok(Some(attempts)) => attempts,
            Ok(None) => {
                let (repair, due) = hooks::without_hook(&found.value, now);
                return self.keep(&found, &repair, due).await;
            }
            Err(failure) => {
                tracing::warn!(%failure, %log, "a log of webhook deliveries could not be read");
                let (repair, due) = hooks::refused(&found.value, &failure, now);
                return self.keep(&found, &repair, due).await;
            }
        };
        let look = hooks::look(&found.value, &attempts, around, now);
        self.ask_as_decided(&found, &look).await
    }

    async fn ask_as_decided(&self, found: &Versioned<Repair>, look: &Look) -> Result<(), Error> {
        let log = &look.repair.log;
        let mut unit = self.desk.unit();
        unit.save_due((log, look.due), &look.repair, Some(found.version));
        if self.desk.try_commit(unit).await? {
            self.ask_again(log, &look.ask).await?;
        }
        Ok(())
    }

    async fn keep(
        &self,
        found: &Versioned<Repair>,
        repair: &Repair,
        due: Timestamp,
    ) -> Result<(), Error> {
        let mut unit = self.desk.unit();
        unit.save_due((&repair.log, due), repair, Some(found.version));
        ignore_conflict(self.desk.commit(unit).await)
    }

    async fn around(&self, log: &Log) -> Result<Around, Error> {
        let store = &self.desk.store;
        let paused = store.switches().await?.value.paused_since.is_some();
        let repos: Vec<RepoName> = match log {
            Log::Repo(repo) => vec![repo.clone()],
            Log::App => {
                let sources = store.sources().await?;
                sources.into_iter().map(|it| it.value.repo).collect()
            }
        };
        let mut in_doubt = false;
        for repo in &repos {
            let health = feed::health(store.feed(repo).await?, self.desk.now());
            in_doubt |= matches!(health, FeedHealth::Silent { .. });
        }
        Ok(Around {
            may_ask: !paused && !self.desk.observe_only,
            in_doubt,
        })
    }

    async fn ask_again(&self, log: &Log, ask: &[Failed]) -> Result<(), Error> {
        if ask.is_empty() {
            return Ok(());
        }
        let until = plus(self.desk.now(), ASKING_FOR);
        let mut answers = Answers::default();
        let mut asked = 0;
        for failed in ask {
            if answers.stopped.is_none() && self.desk.now() >= until {
                let wait = SignedDuration::ZERO;
                answers.stopped = Some(Stopped::Paced { wait });
            }
            if answers.stopped.is_some() {
                answers.not_asked.push(failed.clone());
                continue;
            }
            let delivery = (failed.hook, failed.id);
            match self.hands.hooks.redeliver(log, delivery).await {
                Ok(()) => asked += 1,
                Err(failure) => answers.note(failed, failure),
            }
        }
        self.asked_again.fetch_add(asked, Ordering::Relaxed);
        tracing::info!(%log, asked, "webhook deliveries that failed were asked for again");
        self.record_budgets().await?;
        self.correct(log, answers).await
    }

    /// Corrects what did not go as saved beforehand. A process that changed the row meanwhile has counted the
    /// requests, which only costs attempts.
    async fn correct(&self, log: &Log, answers: Answers) -> Result<(), Error> {
        if answers.gone.is_empty() && answers.stopped.is_none() {
            return Ok(());
        }
        let Some(found) = self.desk.store.repair(log).await? else {
            return Ok(());
        };
        let mut repair = found.value.clone();
        repair.not_asked(&answers.not_asked);
        for guid in &answers.gone {
            repair.gone(guid);
        }
        let now = self.desk.now();
        let soon = plus(now, hooks::LOOK_SOON);
        match &answers.stopped {
            Some(Stopped::Refused(failure)) => {
                tracing::warn!(%failure, %log, "webhook deliveries could not be asked for again");
                let (repair, due) = hooks::refused(&repair, failure, now);
                self.keep(&found, &repair, due).await
            }
            Some(Stopped::Paced { wait }) => {
                repair.left = answers.not_asked.len() as u64;
                self.keep(&found, &repair, soon).await?;
                let log = Some(log.clone());
                let work = Work::Hooks { log };
                // If this message is lost, the next pass requests the rest.
                Ok(self.desk.queue.send(&work.to_body(), *wait).await?)
            }
            None => self.keep(&found, &repair, soon).await,
        }
    }
}

impl Stopped {
    fn of(failure: Failure) -> Self {
        let throttled = failure.class == FailureClass::Throttled;
        let wait = failure.asked_wait().filter(|wait| *wait <= PACE_MAX);
        match wait.filter(|_| throttled) {
            Some(wait) => Self::Paced { wait },
            None => Self::Refused(failure),
        }
    }
}

impl Answers {
    fn note(&mut self, failed: &Failed, failure: Failure) {
        match failure.class {
            FailureClass::NotFound | FailureClass::Conflict | FailureClass::Invalid => {
                self.gone.push(failed.guid.clone());
            }
            FailureClass::Unauthorized
            | FailureClass::Forbidden
            | FailureClass::Precondition
            | FailureClass::Throttled
            | FailureClass::Unavailable
            | FailureClass::Network
            | FailureClass::Garbled => {
                if failure.happened == Happened::No {
                    self.not_asked.push(failed.clone());
                }
                self.stopped = Some(Stopped::of(failure));
            }
        }
    }
}
