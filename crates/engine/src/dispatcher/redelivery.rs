//! Webhook deliveries that GitHub could not make are found in its logs and asked for again.

use std::sync::atomic::Ordering;

use domain::failure::{CallEffect, Failure, FailureClass};
use domain::ids::{DeliveryGuid, RepoName};
use domain::redelivery::{
    self, CHECK_INTERVAL, FailedDelivery, RedeliveryContext, RedeliveryPlan, RedeliveryState,
    WebhookLog,
};
use domain::webhook_activity::{self, WebhookHealth};
use domain::when::plus;
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use crate::backend::{Error, IndexEntry, ignore_conflict};
use crate::keys;
use crate::store::Versioned;
use crate::webhook_logs::HookLogs;
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
struct RedeliveryAnswers {
    /// GitHub does not know them any more.
    gone: Vec<DeliveryGuid>,
    /// Certainly not requested; unchanged.
    not_asked: Vec<FailedDelivery>,
    /// Why the rest was not asked for.
    stopped: Option<StopReason>,
}

/// Why asking ended before everything was asked for.
enum StopReason {
    /// Only for a moment: writes follow each other too closely, or it took long enough.
    Paced { wait: SignedDuration },
    /// GitHub refuses.
    Refused(Failure),
}

impl Dispatcher {
    /// Finds the existing logs, so that each has its row.
    pub(super) async fn find_hook_logs(&self) -> Result<(), Error> {
        let store = &self.backend.store;
        let key = keys::hook_logs();
        let Some(found): Option<Versioned<HookLogs>> = store.read(&key).await? else {
            return Ok(());
        };
        let now = self.backend.now();
        let sources = store.sources().await?;
        let repos: Vec<RepoName> = sources.into_iter().map(|it| it.value.repo).collect();
        if !self.is_deaf {
            match self.readers.hooks.logs(&repos).await {
                Ok(logs) => self.keep_logs(&logs).await?,
                Err(failure) => {
                    tracing::warn!(%failure, "it could not be found out who logs webhook deliveries; those that are known are gone on with")
                }
            }
        }
        let logs = HookLogs {
            looked_at: Some(now),
        };
        let mut unit = self.backend.unit();
        let place = IndexEntry::due(Some(plus(now, FIND_EVERY)));
        unit.put(key, &logs, Some(found.version), place);
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Creates the row of each log, and deletes rows that are not needed any more.
    async fn keep_logs(&self, logs: &[WebhookLog]) -> Result<(), Error> {
        let known = self.backend.store.repairs().await?;
        for log in logs {
            if !known.iter().any(|known| known.value.log == *log) {
                let repair = RedeliveryState::new(log.clone());
                let mut unit = self.backend.unit();
                unit.save_due(log, self.backend.now(), &repair, None);
                ignore_conflict(self.backend.commit(unit).await)?;
            }
        }
        for found in known {
            if !logs.contains(&found.value.log) {
                let mut unit = self.backend.unit();
                unit.delete(keys::hook_log(&found.value.log), &found);
                ignore_conflict(self.backend.commit(unit).await)?;
            }
        }
        Ok(())
    }

    /// Reads one log and requests redelivery of what failed. The requests are saved before, so a crash between the
    /// two costs an attempt and nothing else.
    pub(super) async fn redeliver(&self, log: &WebhookLog) -> Result<(), Error> {
        let Some(found) = self.backend.store.repair(log).await? else {
            return Ok(());
        };
        let now = self.backend.now();
        let around = self.around(log).await?;
        // Requests that GitHub's pace left over come first, without another read of the log.
        if let Some(look) = redelivery::go_on(&found.value, around.may_ask, now) {
            return self.ask_as_decided(&found, &look).await;
        }
        let looked_at = found.value.looked_at;
        if looked_at.is_some_and(|at| plus(at, JUST_LOOKED) > now) {
            return Ok(());
        }
        if self.is_deaf {
            return self
                .keep(&found, &found.value, plus(now, CHECK_INTERVAL))
                .await;
        }
        let since = redelivery::since(&found.value, now);
        let attempts = match self.readers.hooks.attempts(log, since).await {
            Ok(Some(attempts)) => attempts,
            Ok(None) => {
                let (repair, due) = redelivery::without_hook(&found.value, now);
                return self.keep(&found, &repair, due).await;
            }
            Err(failure) => {
                tracing::warn!(%failure, %log, "a log of webhook deliveries could not be read");
                let (repair, due) = redelivery::refused(&found.value, &failure, now);
                return self.keep(&found, &repair, due).await;
            }
        };
        let look = redelivery::plan_redeliveries(&found.value, &attempts, around, now);
        self.ask_as_decided(&found, &look).await
    }

    async fn ask_as_decided(
        &self,
        found: &Versioned<RedeliveryState>,
        look: &RedeliveryPlan,
    ) -> Result<(), Error> {
        let log = &look.repair.log;
        let mut unit = self.backend.unit();
        unit.save_due(log, look.due, &look.repair, Some(found.version));
        if self.backend.try_commit(unit).await? {
            self.ask_again(log, &look.ask).await?;
        }
        Ok(())
    }

    async fn keep(
        &self,
        found: &Versioned<RedeliveryState>,
        repair: &RedeliveryState,
        due: Timestamp,
    ) -> Result<(), Error> {
        let mut unit = self.backend.unit();
        unit.save_due(&repair.log, due, repair, Some(found.version));
        ignore_conflict(self.backend.commit(unit).await)
    }

    async fn around(&self, log: &WebhookLog) -> Result<RedeliveryContext, Error> {
        let store = &self.backend.store;
        let paused = store.switches().await?.value.paused_since.is_some();
        let repos: Vec<RepoName> = match log {
            WebhookLog::Repo(repo) => vec![repo.clone()],
            WebhookLog::App => {
                let sources = store.sources().await?;
                sources.into_iter().map(|it| it.value.repo).collect()
            }
        };
        let mut in_doubt = false;
        for repo in &repos {
            let health = webhook_activity::health(store.feed(repo).await?, self.backend.now());
            in_doubt |= matches!(health, WebhookHealth::Silent { .. });
        }
        Ok(RedeliveryContext {
            may_ask: !paused && !self.backend.observe_only,
            in_doubt,
        })
    }

    async fn ask_again(&self, log: &WebhookLog, ask: &[FailedDelivery]) -> Result<(), Error> {
        if ask.is_empty() {
            return Ok(());
        }
        let until = plus(self.backend.now(), ASKING_FOR);
        let mut answers = RedeliveryAnswers::default();
        let mut asked = 0;
        for failed in ask {
            if answers.stopped.is_none() && self.backend.now() >= until {
                let wait = SignedDuration::ZERO;
                answers.stopped = Some(StopReason::Paced { wait });
            }
            if answers.stopped.is_some() {
                answers.not_asked.push(failed.clone());
                continue;
            }
            let asked_again = self.writers.hooks.redeliver(log, failed.hook, failed.id);
            match asked_again.await {
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
    async fn correct(&self, log: &WebhookLog, answers: RedeliveryAnswers) -> Result<(), Error> {
        if answers.gone.is_empty() && answers.stopped.is_none() {
            return Ok(());
        }
        let Some(found) = self.backend.store.repair(log).await? else {
            return Ok(());
        };
        let mut repair = found.value.clone();
        repair.not_asked(&answers.not_asked);
        for guid in &answers.gone {
            repair.gone(guid);
        }
        let now = self.backend.now();
        let soon = plus(now, redelivery::CHECK_SOON);
        match &answers.stopped {
            Some(StopReason::Refused(failure)) => {
                tracing::warn!(%failure, %log, "webhook deliveries could not be asked for again");
                let (repair, due) = redelivery::refused(&repair, failure, now);
                self.keep(&found, &repair, due).await
            }
            Some(StopReason::Paced { wait }) => {
                repair.left = answers.not_asked.len() as u64;
                self.keep(&found, &repair, soon).await?;
                let log = Some(log.clone());
                let work = Work::Redelivery { log };
                // If this message is lost, the next pass requests the rest.
                Ok(self.backend.queue.send(&work.to_body(), *wait).await?)
            }
            None => self.keep(&found, &repair, soon).await,
        }
    }
}

impl StopReason {
    fn from_failure(failure: Failure) -> Self {
        let throttled = failure.class == FailureClass::Throttled;
        let wait = failure.asked_wait().filter(|wait| *wait <= PACE_MAX);
        match wait.filter(|_| throttled) {
            Some(wait) => Self::Paced { wait },
            None => Self::Refused(failure),
        }
    }
}

impl RedeliveryAnswers {
    fn note(&mut self, failed: &FailedDelivery, failure: Failure) {
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
                if failure.happened == CallEffect::No {
                    self.not_asked.push(failed.clone());
                }
                self.stopped = Some(StopReason::from_failure(failure));
            }
        }
    }
}
