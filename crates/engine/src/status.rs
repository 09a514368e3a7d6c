//! Reads what is going on from the store and the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::account::Account;
use domain::ids::{AccountName, RepoName};
use domain::pipeline::RequirementState;
use domain::policy::Source;
use domain::status::{
    AccountView, DeliveryLogView, QueueView, SprintGlimpse, Status, TICKS_WITHIN, Used,
    WebhookFeedView,
};
use domain::tick::Lease;
use domain::webhook_activity;

use crate::backend::{Backend, Error};
use crate::counts::{DELIVERIES_READ_MAX, NOT_READ};
use crate::keys;
use crate::poller::held_until;
use crate::store::Versioned;
use crate::waits::Waits;

/// How many there are of each.
type Counts = BTreeMap<String, u64>;

impl Backend {
    async fn hook_status(&self) -> Result<Vec<DeliveryLogView>, Error> {
        let repairs = self.store.repairs().await?;
        Ok(repairs.into_iter().map(|it| it.value.into()).collect())
    }

    /// Open deliveries by their place; adds whom they wait for, up to a limit of records.
    async fn open_places(
        &self,
        waits_for: &mut BTreeMap<String, u64>,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let mut places = BTreeMap::new();
        let mut waits = Waits::new(self);
        for (place, found) in self.store.open_deliveries().await?.into_iter().enumerate() {
            let is_read = place < DELIVERIES_READ_MAX;
            let delivery = found.value;
            let place = format!("{}/{}", delivery.phase, delivery.run_status);
            *places.entry(place).or_insert(0) += 1;
            let who = match is_read {
                true => self
                    .waiting(delivery, &mut waits)
                    .await?
                    .waits_for
                    .who
                    .word(),
                false => NOT_READ,
            };
            *waits_for.entry(who.to_owned()).or_insert(0) += 1;
        }
        Ok(places)
    }

    /// Runs of pipelines that are under way by their place, and requirements by their state.
    async fn of_pipelines(&self, sources: &[Versioned<Source>]) -> Result<[Counts; 2], Error> {
        let (mut places, mut states) = (Counts::new(), Counts::new());
        let on = sources.iter().map(|source| &source.value);
        for source in on.filter(|source| source.pipeline.is_some()) {
            let run = self.running_pipeline(&source.repo).await?;
            if let Some(step) = run.iter().find_map(|run| run.steps.get(run.current()?)) {
                let place = format!("{}/{}", step.kind, step.state.word());
                *places.entry(place).or_insert(0) += 1;
            }
            self.count_requirements(&source.repo, &mut states).await?;
        }
        Ok([places, states])
    }

    /// Requirements of a repository by their state. Those that are over are not read.
    async fn count_requirements(&self, repo: &RepoName, states: &mut Counts) -> Result<(), Error> {
        let records = self.store.records();
        for (state, many) in records.words(&keys::open_requirements(repo)).await? {
            *states.entry(state).or_insert(0) += many;
        }
        for state in RequirementState::ENDED {
            let many = records
                .count(&keys::ended_requirements(repo, state))
                .await?;
            if many > 0 {
                *states.entry(state.to_owned()).or_insert(0) += many;
            }
        }
        Ok(())
    }

    /// How news of each source reaches us.
    async fn feeds(&self, sources: &[Versioned<Source>]) -> Result<Vec<WebhookFeedView>, Error> {
        let mut feeds = Vec::new();
        for source in sources {
            let repo = source.value.repo.clone();
            let health = webhook_activity::health(self.store.feed(&repo).await?, self.now());
            feeds.push(WebhookFeedView { repo, health });
        }
        Ok(feeds)
    }

    /// What is going on.
    pub async fn status(&self) -> Result<Status, Error> {
        let found = self.store.accounts().await?;
        let sources = self.store.sources().await?;
        let names = found.iter().map(|it| it.value.name.clone());
        let used = sources.iter().map(|it| it.value.account.clone());
        // A source may name an account that does not exist any more.
        let names: BTreeSet<AccountName> = names.chain(used).collect();
        let polled = found.iter().filter_map(|it| it.value.counters.last).max();
        let switches = self.store.switches().await?.value;
        let observe_only = self.observe_only || switches.observe_only;
        let is_paused = observe_only
            || switches.paused_since.is_some()
            || sources.iter().any(|source| source.value.paused);
        let mut counts = self.job_counts(&names, is_paused).await?;
        let mut accounts = Vec::new();
        for found in found {
            let held = counts.held.remove(&found.value.name).unwrap_or(0);
            accounts.push(self.account_shown(found, held).await?);
        }
        let deliveries = Box::pin(self.open_places(&mut counts.waits_for)).await?;
        let [pipelines, requirements] = self.of_pipelines(&sources).await?;
        let sprints = self.newest_sprints(&sources).await?;
        let next_due = self.store.records().next_due().await?;
        let now = self.now();
        let ticked = self.store.read::<Lease>(&keys::tick()).await?;
        let last_tick = ticked.and_then(|lease| lease.value.at).max(polled);
        let feeds = self.feeds(&sources).await?;
        let (waiting, dead) = self.queue.depth().await?;
        let oldest = self.queue.oldest().await?;
        Ok(Status {
            now,
            paused_since: switches.paused_since,
            observe_only,
            jobs: counts.states,
            waits_for: counts.waits_for,
            deliveries,
            pipelines,
            requirements,
            sprints,
            last_tick,
            feeds,
            overdue_since: next_due.filter(|due| *due <= now - TICKS_WITHIN),
            accounts,
            unread_issues: self.store.unread_issues(&sources).await?,
            paused_sources: sources
                .into_iter()
                .filter(|source| source.value.paused)
                .map(|source| source.value.repo)
                .collect(),
            queue: QueueView {
                waiting,
                dead,
                oldest,
            },
            hooks: self.hook_status().await?,
            github: self.github_status().await?,
            spending: self.spending().await?,
        })
    }

    /// An account with the slots that it holds.
    async fn account_shown(
        &self,
        found: Versioned<Account>,
        held: u64,
    ) -> Result<AccountView, Error> {
        let now = self.now();
        let held_until = held_until(&found, now);
        let account = found.value;
        let created = self.store.slots(&account.name).await?.value.created.len();
        let (limits, budget) = (account.limits, account.budget);
        Ok(AccountView {
            name: account.name,
            health: account.health,
            next_poll: account.next_poll.max(now),
            held_until,
            slots: Used {
                used: held,
                of: limits.concurrent,
            },
            today: Used {
                used: created as u64,
                of: limits.per_day,
            },
            requests: budget.requests_a_day.map(|of| Used {
                used: budget.requests(now),
                of,
            }),
        })
    }

    /// The newest sprint of each source: one read where there has been none, and two where there has.
    async fn newest_sprints(
        &self,
        sources: &[Versioned<Source>],
    ) -> Result<Vec<SprintGlimpse>, Error> {
        let mut newest = Vec::new();
        for source in sources {
            let found = self.newest_sprint(&source.value.repo).await?;
            newest.extend(found.map(|found| SprintGlimpse::from(found.value)));
        }
        Ok(newest)
    }

    /// The status of the last second: many callers at once share one answer.
    pub async fn shared_status(&self) -> Result<Status, Error> {
        let answers = Arc::clone(&self.answers);
        let find = self.status();
        answers.status.get(|| self.now(), find).await
    }
}
