//! How time passes in a world, and what is handled at each of its seconds.

use domain::ids::JobId;
use jiff::{SignedDuration, Timestamp};
use sandbox::Counters;

use super::fate::Fate;
use super::functions::Functions;
use super::{REPO, Work, World};

/// Steps of virtual time: fine enough for every story, coarse enough to be quick.
const STEP: SignedDuration = SignedDuration::from_secs(1);

/// Longest interval of checks for something that only the sandbox knows.
const LOOK_EVERY: SignedDuration = SignedDuration::from_secs(10);

impl World {
    /// Lets virtual time pass; due work happens at its second, and the seconds between are skipped.
    pub async fn pass(&self, time: SignedDuration) {
        let until = self.clock.now() + time;
        while self.clock.now() < until {
            let next = self.next_moment().await.min(until);
            self.clock.advance(next.duration_since(self.clock.now()));
            Box::pin(self.step()).await;
        }
    }

    /// When anything happens next: at least one step from now, at whole steps.
    async fn next_moment(&self) -> Timestamp {
        let now = self.clock.now();
        let soon = now + STEP;
        if self.webhooks {
            return soon;
        }
        let due = match &self.work {
            Work::Loops => self
                .backend
                .store
                .records()
                .next_due()
                .await
                .expect("a store"),
            Work::Functions(functions) => Some(functions.next_call().await),
        };
        let visible = self.messages.next_visible().await;
        let Some(at) = [due, visible].into_iter().flatten().min() else {
            return soon;
        };
        let whole = Timestamp::from_second(at.as_second() + i64::from(at.subsec_nanosecond() > 0))
            .unwrap_or(soon);
        whole.max(soon)
    }

    /// Lets time pass until a condition holds; panics after `within`.
    pub async fn until(
        &self,
        within: SignedDuration,
        what: &str,
        mut holds: impl AsyncFnMut(&Self) -> bool,
    ) {
        let end = self.clock.now() + within;
        while !holds(self).await {
            assert!(
                self.clock.now() < end,
                "{what}: not within {within:#}\n{}",
                self.story().await
            );
            let next = self.next_look().await.min(end);
            self.clock.advance(next.duration_since(self.clock.now()));
            Box::pin(self.step()).await;
        }
    }

    /// Lets time pass until a job is in a state; panics after `within`.
    pub async fn until_is(&self, within: SignedDuration, job: &JobId, state: &str) {
        let is_so = async |world: &Self| world.state(job).await == state;
        Box::pin(self.until(within, state, is_so)).await;
    }

    /// Lets time pass until all of these jobs are merged; panics after `within`.
    pub async fn until_merged(&self, within: SignedDuration, jobs: &[JobId]) {
        let is_so = async |world: &Self| world.all_merged(jobs).await;
        Box::pin(self.until(within, "all merged", is_so)).await;
    }

    /// Lets time pass until the sandbox has counted this; panics after `within`.
    pub async fn until_count(&self, within: SignedDuration, holds: impl Fn(&Counters) -> bool) {
        let is_so = async |world: &Self| holds(&world.sandbox.counters());
        Box::pin(self.until(within, "a count", is_so)).await;
    }

    /// Lets time pass until a job has so many events; panics after `within`.
    pub async fn until_events(&self, within: SignedDuration, job: &JobId, count: usize) {
        let is_so = async |world: &Self| world.events(job).await.len() == count;
        Box::pin(self.until(within, "events", is_so)).await;
    }

    /// Lets time pass until the agent got so many wakes; panics after `within`.
    pub async fn until_wakes(&self, within: SignedDuration, count: usize) {
        let is_so = async |world: &Self| world.wakes().len() >= count;
        Box::pin(self.until(within, "wakes", is_so)).await;
    }

    /// Lets time pass until a job gives this reason; panics after `within`.
    pub async fn until_gives(&self, within: SignedDuration, job: &JobId, code: &str) {
        let is_so = async |world: &Self| world.gives(job, code).await;
        Box::pin(self.until(within, code, is_so)).await;
    }

    /// Lets time pass until [`REPO`] has a pull request; panics after `within`.
    pub async fn until_pull(&self, within: SignedDuration) {
        let is_so = async |world: &Self| !world.sandbox.github().pulls(REPO).is_empty();
        Box::pin(self.until(within, "a pull request", is_so)).await;
    }

    /// The time of the next check: the next second. Each check on AWS costs several calls, so there it is when
    /// something happens.
    async fn next_look(&self) -> Timestamp {
        let now = self.clock.now();
        match &self.work {
            Work::Loops => now + STEP,
            Work::Functions(_) => self.next_moment().await.min(now + LOOK_EVERY),
        }
    }

    /// One step at the present time: the world moves, then Gaffer handles all there is. A dead process restarts with empty memory.
    pub async fn step(&self) {
        self.sandbox.advance();
        if self.webhooks {
            self.sandbox.deliver_webhooks().await;
        }
        if let Some(cloud) = &self.cloud {
            cloud.keep(self.secrets.changes()).await;
        }
        if let Some(reaper) = &self.reaper {
            reaper.choose(self.fates());
        }
        let outcome = match &self.work {
            Work::Loops => self.live().await.map_err(|error| error.to_string()),
            Work::Functions(functions) => {
                let outcome = self.live_by(functions).await;
                outcome.map_err(|error| error.to_string())
            }
        };
        assert!(outcome.is_ok() || self.fate.is_dead(), "{outcome:?}");
        self.fates().for_each(Fate::revive);
    }

    /// How often processes died.
    pub fn deaths(&self) -> u32 {
        self.fates().map(Fate::deaths).sum()
    }

    fn fates(&self) -> impl Iterator<Item = &Fate> {
        let others = match &self.work {
            Work::Loops => None,
            Work::Functions(functions) => Some(functions.fates().skip(1)),
        };
        // The first crew shares the world's own.
        std::iter::once(&self.fate).chain(others.into_iter().flatten())
    }

    /// The same, but only one batch of messages is handled.
    pub async fn step_once(&self) {
        self.sandbox.advance();
        self.poller.tick().await.expect("a tick");
        self.dispatcher.drain().await.expect("a batch");
    }

    async fn live_by(&self, functions: &Functions) -> Result<(), lambda_runtime::Error> {
        functions.poll(self.clock.now()).await?;
        while functions.dispatch().await? > 0 {
            self.sandbox.advance();
        }
        Ok(())
    }

    async fn live(&self) -> Result<(), engine::backend::Error> {
        self.poller.tick().await?;
        while self.dispatcher.drain().await? > 0 {
            self.sandbox.advance();
        }
        Ok(())
    }
}
