//! What is going on, all in all.

use std::collections::{BTreeMap, BTreeSet};

use domain::account::{Health, OVERDUE_MAX, PollCounters};
use domain::ids::{AccountName, RepoName};
use domain::job::{self, Attention, EndReason, Job, Phase};
use domain::pipeline::RequirementState;
use domain::policy::Source;
use domain::redelivery::{self, Log, RedeliveryState};
use domain::session::SessionState;
use domain::tick::Lease;
use domain::webhook_activity::{self, WebhookHealth};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Error};
use crate::counts::{DELIVERIES_READ_MAX, NOT_READ};
use crate::keys;
use crate::poller::held_until;
use crate::ports::{Budget, Usage};
use crate::sources::UnreadIssues;
use crate::sprints::SprintStatus;
use crate::store::Versioned;
use crate::usage::Spending;
use crate::waits::Waits;
use crate::why::Reasoned;

/// Without a tick for this long, no process ticks.
const TICKS_WITHIN: SignedDuration = SignedDuration::from_mins(4);

/// How many there are of each.
type Counts = BTreeMap<String, u64>;

/// What is going on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The time of the answer.
    pub now: Timestamp,
    /// Since when everything is paused.
    pub paused_since: Option<Timestamp>,
    /// Whether this process only observes.
    pub observe_only: bool,
    /// Jobs by state.
    pub jobs: std::collections::BTreeMap<String, u64>,
    /// Who is waited for by deliveries, by watched jobs that work for none, or [`NOT_READ`].
    pub waits_for: BTreeMap<String, u64>,
    /// Open deliveries by their place, for example `plan/running`.
    pub deliveries: BTreeMap<String, u64>,
    /// Runs of pipelines that are under way by their place, for example `observers/running`.
    pub pipelines: BTreeMap<String, u64>,
    /// Requirements of sources whose pipeline is on, by their state.
    pub requirements: BTreeMap<String, u64>,
    /// The newest sprint of each source that has had one.
    pub sprints: Vec<SprintStatus>,
    /// Accounts.
    pub accounts: Vec<AccountStatus>,
    /// Sources that are paused.
    pub paused_sources: Vec<RepoName>,
    /// Sources whose issues could not be read.
    pub unread_issues: Vec<UnreadIssues>,
    /// Messages that wait, and dead letters.
    pub queue: (u64, u64),
    /// Send time of the oldest message, where the queue reports it.
    pub oldest: Option<Timestamp>,
    /// Due time of the most overdue row; `None` when nothing is due. It shows whether any process ticks, also where
    /// the queue reports no age.
    pub overdue_since: Option<Timestamp>,
    /// Time of the last tick.
    pub last_tick: Option<Timestamp>,
    /// How news of each source reaches us.
    pub feeds: Vec<WebhookFeedStatus>,
    /// Failed webhook deliveries and their redelivery.
    pub hooks: Vec<HookStatus>,
    /// How GitHub lets us work.
    pub github: GitHubStatus,
    /// What running on AWS has cost today, and may cost.
    pub spending: Spending,
}

/// How GitHub lets us work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitHubStatus {
    /// Obstacles, and renamed repositories; empty when all is well.
    pub trouble: Vec<Reasoned>,
    /// What is left of its budgets.
    pub budgets: Vec<Budget>,
    /// The time of that.
    pub budgets_at: Option<Timestamp>,
    /// What the process that knew it had asked until then.
    pub usage: Usage,
}

/// How news of one source reaches us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookFeedStatus {
    /// The repository.
    pub repo: RepoName,
    /// How its news reaches us.
    #[serde(flatten)]
    pub health: WebhookHealth,
}

/// Failed webhook deliveries and their redelivery, by GitHub's log of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStatus {
    /// The log: the App's or a repository's.
    pub log: Log,
    /// When it was last read.
    pub looked_at: Option<Timestamp>,
    /// What is wrong, as a sentence; `None` when nothing is.
    pub trouble: Option<String>,
    /// Deliveries that failed and have not arrived since.
    pub failed: u64,
    /// Number of redelivery requests so far.
    pub asked: u64,
    /// Deliveries that never arrived.
    pub given_up: u64,
}

/// One account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountStatus {
    /// Its name.
    pub name: AccountName,
    /// How its polls go.
    pub health: Health,
    /// When it is polled next.
    pub next_poll: Timestamp,
    /// Until when a poll that has begun keeps others away, should it never end; `None` while none goes on.
    pub held_until: Option<Timestamp>,
    /// Slots taken and allowed.
    pub slots: (u64, u32),
    /// Tasks of the last 24 hours and allowed.
    pub today: (u64, u32),
    /// Counters of its polls.
    pub counters: PollCounters,
    /// Requests to Jules of today's polls, where they are counted, and allowed.
    pub requests: Option<(u64, u32)>,
}

/// The words of [`state_of`], in the order in which a job reaches them.
pub const STATES: [&str; 19] = [
    "queued",
    "starting",
    "proposed",
    "working",
    "asking",
    "plan-waits",
    "answered",
    "paused",
    "unknown",
    "in-review",
    "completed",
    "merged",
    "closed",
    "failed",
    "lost",
    "refused",
    "woven",
    "left",
    "cancelled",
];

/// Those of jobs that are over.
pub const ENDED: [&str; 9] = [
    "merged",
    "closed",
    "completed",
    "failed",
    "lost",
    "refused",
    "woven",
    "left",
    "cancelled",
];

/// A job's state in one word, for people and for lists.
pub fn state_of(job: &Job) -> &'static str {
    match &job.phase {
        Phase::Queued { .. } => "queued",
        Phase::Creating { .. } => "starting",
        Phase::Proposed { pull: None, .. } => "proposed",
        Phase::Proposed { .. } => "in-review",
        Phase::Ended(ending) => match ending.how {
            EndReason::Merged { .. } => "merged",
            EndReason::PullClosed => "closed",
            EndReason::Completed => "completed",
            EndReason::Failed { .. } => "failed",
            EndReason::Lost => "lost",
            EndReason::Refused { .. } => "refused",
            EndReason::Woven { .. } => "woven",
            EndReason::Left => "left",
            EndReason::Cancelled { .. } => "cancelled",
        },
        Phase::Watching(watch) if job::answered_at(watch).is_some() => "answered",
        Phase::Watching(watch) => match (&watch.attention, &watch.state) {
            (Attention::Question { .. }, _) => "asking",
            (Attention::Plan { .. }, _) => "plan-waits",
            (_, SessionState::Completed) if watch.pull.is_some() => "in-review",
            (_, SessionState::Completed) => "completed",
            (_, SessionState::Paused) => "paused",
            (_, SessionState::Unspecified | SessionState::Other(_)) => "unknown",
            (Attention::None | Attention::Expecting { .. } | Attention::Answered { .. }, _) => {
                "working"
            }
        },
    }
}

impl From<RedeliveryState> for HookStatus {
    fn from(repair: RedeliveryState) -> Self {
        Self {
            trouble: redelivery::problem(&repair),
            looked_at: repair.looked_at,
            failed: repair.failed.len() as u64,
            asked: repair.asked,
            given_up: repair.given_up,
            log: repair.log,
        }
    }
}

/// How long a row may be overdue. Who ticks alone leaves the row of a busy account due for a while.
fn patience(last_tick: Option<Timestamp>, now: Timestamp) -> SignedDuration {
    if is_ticking(last_tick, now) {
        OVERDUE_MAX
    } else {
        TICKS_WITHIN
    }
}

fn is_ticking(last_tick: Option<Timestamp>, now: Timestamp) -> bool {
    last_tick.is_some_and(|at| now.duration_since(at) < TICKS_WITHIN)
}

impl Status {
    /// Whether the last tick is recent enough.
    pub fn is_ticking(&self) -> bool {
        is_ticking(self.last_tick, self.now)
    }
}

impl Backend {
    async fn hook_status(&self) -> Result<Vec<HookStatus>, Error> {
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
    async fn feeds(&self, sources: &[Versioned<Source>]) -> Result<Vec<WebhookFeedStatus>, Error> {
        let mut feeds = Vec::new();
        for source in sources {
            let repo = source.value.repo.clone();
            let health = webhook_activity::health(self.store.feed(&repo).await?, self.now());
            feeds.push(WebhookFeedStatus { repo, health });
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
        let mut counts = self.job_counts(&names).await?;
        let mut accounts = Vec::new();
        for found in found {
            let held_until = held_until(&found, self.now());
            let account = found.value;
            let slots = self.store.slots(&account.name).await?.value;
            accounts.push(AccountStatus {
                slots: (
                    counts.held.remove(&account.name).unwrap_or(0),
                    account.limits.concurrent,
                ),
                today: (slots.created.len() as u64, account.limits.per_day),
                name: account.name,
                health: account.health,
                next_poll: account.next_poll.max(self.now()),
                held_until,
                counters: account.counters,
                requests: account
                    .budget
                    .requests_a_day
                    .map(|of| (account.budget.requests(self.now()), of)),
            });
        }
        let deliveries = Box::pin(self.open_places(&mut counts.waits_for)).await?;
        let [pipelines, requirements] = self.of_pipelines(&sources).await?;
        let sprints = self.newest_sprints(&sources).await?;
        let next_due = self.store.records().next_due().await?;
        let now = self.now();
        let ticked = self.store.read::<Lease>(&keys::tick()).await?;
        let polled = accounts.iter().filter_map(|it| it.counters.last).max();
        let last_tick = ticked.and_then(|lease| lease.value.at).max(polled);
        let feeds = self.feeds(&sources).await?;
        let switches = self.store.switches().await?.value;
        Ok(Status {
            now,
            paused_since: switches.paused_since,
            observe_only: self.observe_only || switches.observe_only,
            jobs: counts.states,
            waits_for: counts.waits_for,
            deliveries,
            pipelines,
            requirements,
            sprints,
            last_tick,
            feeds,
            oldest: self.queue.oldest().await?,
            overdue_since: next_due.filter(|due| *due <= now - patience(last_tick, now)),
            accounts,
            unread_issues: self.store.unread_issues(&sources).await?,
            paused_sources: sources
                .into_iter()
                .filter(|source| source.value.paused)
                .map(|source| source.value.repo)
                .collect(),
            queue: self.queue.depth().await?,
            hooks: self.hook_status().await?,
            github: self.github_status().await?,
            spending: self.spending().await?,
        })
    }
}
