//! One poll of one account: read its watched sessions, decide about each, save what changed.

use std::collections::BTreeSet;

use domain::account::{self, Account, AccountActivity, Budget, Poll};
use domain::cadence::{self, ReadMode};
use domain::failure::{Failure, FailureClass};
use domain::ids::SessionId;
use domain::job::Job;
use domain::step::Step;
use jiff::Timestamp;

use super::poll_data::PollData;
use super::read_sessions::{READ_AT_ONCE, SessionReading};
use super::sweep::Sweep;
use super::turn::Watched;
use super::{OtherPollers, Poller, activity};
use crate::backend::{DECIDE_AGAIN_MAX, Error};
use crate::save::EventRoute;
use crate::store::Versioned;

/// After this many unreadable sessions in a row the error is Jules's, not the sessions'.
const UNREADABLE_MAX: usize = 5;

impl Poller {
    /// Polls an account and saves the result: one write to the account's row, and one for each job that changed.
    /// Returns the next poll's time; `None` for an account that is gone.
    pub(super) async fn poll(
        &self,
        found: Versioned<Account>,
        until: Timestamp,
        others: OtherPollers,
    ) -> Result<Option<Timestamp>, Error> {
        let account = &found.value;
        let jobs = self.watched(&account.name, others).await?;
        let sweep = self.sweep(account, &jobs);
        let mut gathered = PollData {
            weight: account.list.clone(),
            passed_over: account.passed_over.clone(),
            until: Some(until),
            counters: account.counters.clone(),
            ..PollData::default()
        };
        let looked = self
            .look_at_all(account, &jobs, &sweep, &mut gathered)
            .await;
        let (passed_over, asked, counters) =
            (gathered.passed_over, gathered.asked, gathered.counters);
        let mut outcome = match looked {
            Ok(()) => Poll::Answered {
                // An idle account is checked again: something may have begun during the poll.
                activity: match activity::activity_of(&jobs) {
                    AccountActivity::Active => AccountActivity::Active,
                    AccountActivity::Resting | AccountActivity::NoJobs => {
                        self.activity(&account.name).await?
                    }
                },
                list: gathered.weight,
                reads: gathered.reads,
            },
            Err(LookError::Outside(failure)) => {
                tracing::warn!(account = %account.name, %failure, "Jules cannot be asked for this account now");
                Poll::Failed(failure)
            }
            Err(LookError::Inside(error)) => return Err(error),
        };
        let budget = Budget {
            // Costs are stored now and then, so the sweep is soon enough to compare them with what a day may cost.
            dear_until: match sweep.links {
                true => self.backend.exhausted_until().await?,
                false => account.budget.dear_until,
            },
            ..account.budget.clone()
        };
        let learned = Account {
            passed_over,
            counters,
            budget: budget.with(asked, self.backend.now()),
            ..account.clone()
        };
        let step = account::polled(&learned, &outcome, self.backend.now());
        self.save_poll(found.version, learned, step, &mut outcome)
            .await
    }

    /// Saves what was decided about the row of this version. A row that another process wrote meanwhile is decided about anew.
    async fn save_poll(
        &self,
        mut version: u64,
        mut learned: Account,
        mut step: Step<Account>,
        outcome: &mut Poll,
    ) -> Result<Option<Timestamp>, Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let name = &learned.name;
            let mut unit = self.backend.unit();
            unit.save(name, &step.aggregate, Some(version));
            if !step.events.is_empty() {
                let route = EventRoute::to(self.backend.awake(step.aggregate.agent.clone()).await?);
                self.backend
                    .save_account_events(&mut unit, &step.events, &route)
                    .await?;
            }
            match self.backend.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome.map(|()| Some(step.aggregate.next_poll)),
            }
            // A request to poll this account may have come meanwhile.
            if let Poll::Answered { activity, .. } = outcome
                && *activity != AccountActivity::Active
            {
                *activity = self.activity(name).await?;
            }
            let again = self.backend.store.account(name).await?;
            let Some(again) = again else {
                return Ok(None);
            };
            version = again.version;
            learned = Account {
                passed_over: learned.passed_over,
                counters: learned.counters.or_longer(again.value.counters),
                budget: Budget {
                    requests_a_day: again.value.budget.requests_a_day,
                    ..learned.budget
                },
                ..again.value
            };
            step = account::polled(&learned, outcome, self.backend.now());
        }
        Ok(None)
    }

    async fn look_at_all(
        &self,
        account: &Account,
        jobs: &[Versioned<Job>],
        sweep: &Sweep,
        gathered: &mut PollData,
    ) -> Result<(), LookError> {
        let watched: BTreeSet<SessionId> = jobs
            .iter()
            .filter_map(|job| job.value.session().cloned())
            .collect();
        gathered.resting = self.resting(account, jobs, gathered).await?;
        let wanted: BTreeSet<SessionId> = &watched - &gathered.resting;
        gathered.counters = sweep.marked(&account.counters, false, self.backend.now());
        let listing = || cadence::read_mode(&account.list, wanted.len() as u64) == ReadMode::List;
        // A duplicate may appear after its job has ended, so a sweep needs no watched session.
        if sweep.lists || !wanted.is_empty() && listing() {
            match self.list(account, &wanted, sweep, gathered).await {
                Err(failure) if !is_about_the_account(failure.class) => {
                    // Lists can be too heavy to be answered while single sessions are not: those are read until the next sweep.
                    tracing::warn!(%failure, account = %account.name, "the sessions cannot be listed; reading them one by one");
                    gathered.weight.bytes_per_session = Some(u64::MAX);
                }
                outcome => outcome?,
            }
        }
        self.archive_duplicates(&watched, gathered).await?;
        self.look_at_each(account, jobs, gathered).await?;
        if sweep.links {
            self.remind_of_pulls(jobs).await?;
            gathered.counters = sweep.marked(&account.counters, true, self.backend.now());
        }
        if watched.is_empty() && !sweep.lists {
            // Nothing to watch: the key is still proved to work, with the smallest question there is.
            gathered.asked += 1;
            self.sessions.list(&account.name, 1, None).await?;
        }
        Ok(())
    }

    /// Handles every job, some concurrently. An error of one session does not stop the others.
    async fn look_at_each(
        &self,
        account: &Account,
        jobs: &[Versioned<Job>],
        gathered: &mut PollData,
    ) -> Result<(), LookError> {
        for some in self
            .in_turn(account, jobs, gathered)
            .await?
            .chunks(READ_AT_ONCE)
        {
            if gathered
                .until
                .is_some_and(|until| self.backend.now() >= until)
            {
                break;
            }
            let sights = self.read_sessions(account, some, gathered).await?;
            for (watched, seen) in some.iter().zip(sights) {
                self.take_in(*watched, seen, gathered).await?;
            }
            if gathered.answered == 0 && gathered.unread.len() >= UNREADABLE_MAX {
                break;
            }
        }
        match gathered.unread.first() {
            Some(failure) if gathered.answered == 0 => Err(failure.clone().into()),
            Some(_) | None => Ok(()),
        }
    }

    /// Decides about a session that was read.
    async fn take_in(
        &self,
        (found, watch): Watched<'_>,
        seen: Result<SessionReading, Failure>,
        gathered: &mut PollData,
    ) -> Result<(), LookError> {
        match seen {
            Err(failure) if !is_about_the_account(failure.class) => {
                tracing::warn!(%failure, job.id = %found.value.id, "the session cannot be read now");
                gathered.unread.push(failure);
            }
            seen => {
                let seen = seen?;
                let read_at = seen.read_at.map(|at| (watch.session.clone(), at));
                gathered.reads.extend(read_at);
                let rules = self.rules_in_poll(&found.value, gathered).await?;
                if !self.decide(found, &seen.sight, &rules, gathered).await? {
                    // What its log told is not in the job: the next poll has to read it again.
                    gathered.reads.remove(&watch.session);
                }
                gathered.answered += 1;
            }
        }
        gathered.passed_over.remove(&watch.session);
        Ok(())
    }
}

/// Whether a failure is about the whole account: asking for another session would only make it worse.
fn is_about_the_account(class: FailureClass) -> bool {
    match class {
        FailureClass::Throttled | FailureClass::Unauthorized | FailureClass::Network => true,
        FailureClass::Unavailable
        | FailureClass::Garbled
        | FailureClass::Forbidden
        | FailureClass::NotFound
        | FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid => false,
    }
}

/// Why looking failed: Jules, or ourselves.
pub(super) enum LookError {
    Outside(Failure),
    Inside(Error),
}

impl From<Failure> for LookError {
    fn from(failure: Failure) -> Self {
        Self::Outside(failure)
    }
}

impl From<Error> for LookError {
    fn from(error: Error) -> Self {
        match error {
            Error::Outside(failure) => Self::Outside(failure),
            Error::Records(_)
            | Error::Commit(_)
            | Error::Queue(_)
            | Error::Transition(_)
            | Error::NotNow(_)
            | Error::NoSuch { .. } => Self::Inside(error),
        }
    }
}
