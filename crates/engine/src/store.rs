//! Typed repositories over the record port.

pub(crate) mod aggregate;
mod body;

use std::sync::Arc;

use domain::account::Account;
use domain::delivery::Delivery;
use domain::effect::{Effect, RestoreGap};
use domain::event::Event;
use domain::github_access::{CredentialAccess, RepositoryAccess};
use domain::governor::Slots;
use domain::ids::{
    AccountName, AgentName, EffectId, EventId, JobId, PullRef, RepoId, RepoName, SessionId,
    TokenName,
};
use domain::job::Job;
use domain::policy::Source;
use domain::pull::Lane;
use domain::redelivery::{RedeliveryState, WebhookLog};
use domain::token::Token;
use domain::wake::Wake;
use domain::webhook_activity::WebhookActivity;
use serde::de::DeserializeOwned;

pub use aggregate::{Aggregate, Initial};
pub use body::{BODY_SCHEMA, Versioned, leave_out_nothings};
pub(crate) use body::{decode, encode, refuse_newer};

use crate::keys;
use crate::ports::{Key, Member, PageToken, Records, RecordsError};
use crate::settings::{
    Agent, AppSetup, Budgets, Installation, Merges, Switches, TrackedPull, Upstreams,
};

/// Records read in one page.
pub(crate) const PAGE: usize = 100;

/// Maximum number of records read for one query: beyond that the query is wrong.
const READ_MAX: usize = 10_000;

/// Typed access to everything stored.
#[derive(Clone)]
pub struct Store {
    records: Arc<dyn Records>,
}

impl Store {
    /// A store over a record port.
    pub fn new(records: Arc<dyn Records>) -> Self {
        Self { records }
    }

    /// The port beneath, for commits.
    pub fn records(&self) -> &dyn Records {
        self.records.as_ref()
    }

    pub(crate) async fn read<T: DeserializeOwned>(
        &self,
        key: &Key,
    ) -> Result<Option<Versioned<T>>, RecordsError> {
        self.records
            .get(key)
            .await?
            .as_ref()
            .map(decode)
            .transpose()
    }

    pub(crate) async fn all<T: DeserializeOwned>(
        &self,
        list: &str,
    ) -> Result<Vec<Versioned<T>>, RecordsError> {
        let mut found = Vec::new();
        let mut after = None;
        while found.len() < READ_MAX {
            let page = self.records.list(list, false, after, PAGE).await?;
            for record in &page.records {
                found.push(decode(record)?);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(found)
    }

    pub(crate) async fn children<T: DeserializeOwned>(
        &self,
        pk: &str,
        prefix: &str,
    ) -> Result<Vec<Versioned<T>>, RecordsError> {
        let mut found = Vec::new();
        let mut after: Option<PageToken> = None;
        while found.len() < READ_MAX {
            let page = self.records.query(pk, prefix, after, PAGE).await?;
            for record in &page.records {
                found.push(decode(record)?);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// A job by its id.
    pub async fn job(&self, id: &JobId) -> Result<Option<Versioned<Job>>, RecordsError> {
        self.read(&keys::job(id)).await
    }

    /// The job that a session belongs or belonged to.
    pub async fn job_of(&self, session: &SessionId) -> Result<Option<JobId>, RecordsError> {
        Ok(self
            .read(&keys::session(session))
            .await?
            .map(|found| found.value))
    }

    /// The newest jobs first, at most `limit`.
    pub async fn jobs(&self, limit: usize) -> Result<Vec<Versioned<Job>>, RecordsError> {
        let mut jobs = Vec::new();
        let mut after = None;
        while jobs.len() < limit {
            let page = self
                .records
                .list(keys::JOBS, true, after, PAGE.min(limit))
                .await?;
            for record in &page.records {
                let id: Versioned<JobId> = decode(record)?;
                jobs.extend(self.job(&id.value).await?);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        jobs.truncate(limit);
        Ok(jobs)
    }

    /// Jobs of an account whose sessions are watched.
    pub async fn watched(
        &self,
        account: &AccountName,
    ) -> Result<Vec<Versioned<Job>>, RecordsError> {
        self.all(&keys::jobs_of("watched", account)).await
    }

    /// Jobs of an account without a session whose pull request of our own is not settled.
    pub async fn proposed(
        &self,
        account: &AccountName,
    ) -> Result<Vec<Versioned<Job>>, RecordsError> {
        self.all(&keys::jobs_of("proposed", account)).await
    }

    /// Members of an account's list of watched jobs, by the index alone; `None` when there are too many for that.
    pub(crate) async fn watched_keys(
        &self,
        account: &AccountName,
    ) -> Result<Option<Vec<Member>>, RecordsError> {
        let list = keys::jobs_of("watched", account);
        let found = self.records.members(&list, PAGE).await?;
        Ok((found.len() < PAGE).then_some(found))
    }

    /// All effects of an aggregate, by its partition.
    pub async fn effects(&self, pk: &str) -> Result<Vec<Versioned<Effect>>, RecordsError> {
        self.children(pk, keys::EFFECT).await
    }

    /// One effect of an aggregate.
    pub async fn effect(
        &self,
        pk: &str,
        id: &EffectId,
    ) -> Result<Option<Versioned<Effect>>, RecordsError> {
        self.read(&keys::effect(pk, id)).await
    }

    /// All events of a job, in order of observation.
    pub async fn events(&self, job: &JobId) -> Result<Vec<Event>, RecordsError> {
        self.events_below(&keys::job_pk(job)).await
    }

    /// The events that stand under an aggregate, the oldest first.
    pub(crate) async fn events_below(&self, pk: &str) -> Result<Vec<Event>, RecordsError> {
        let found: Vec<Versioned<Event>> = self.children(pk, keys::EVENT).await?;
        let mut events: Vec<Event> = found.into_iter().map(|event| event.value).collect();
        events.sort_by(|a, b| (a.observed_at, &a.id).cmp(&(b.observed_at, &b.id)));
        Ok(events)
    }

    /// The newest events of everything, newest first, at most `limit`.
    pub async fn recent_events(&self, limit: usize) -> Result<Vec<Event>, RecordsError> {
        let page = self.records.list(keys::EVENTS, true, None, limit).await?;
        page.records
            .iter()
            .map(|record| Ok(decode(record)?.value))
            .collect()
    }

    /// A pull request of ours.
    pub async fn pull(
        &self,
        pull: &PullRef,
    ) -> Result<Option<Versioned<TrackedPull>>, RecordsError> {
        self.read(&keys::pull(pull)).await
    }

    /// Pull requests of ours that are not settled.
    pub async fn open_pulls(&self) -> Result<Vec<Versioned<TrackedPull>>, RecordsError> {
        self.all(keys::OPEN_PULLS).await
    }

    /// Deliveries that are not closed.
    pub async fn open_deliveries(&self) -> Result<Vec<Versioned<Delivery>>, RecordsError> {
        self.all(keys::OPEN_DELIVERIES).await
    }

    /// A wake.
    pub async fn wake(
        &self,
        agent: &AgentName,
        event: &EventId,
    ) -> Result<Option<Versioned<Wake>>, RecordsError> {
        self.read(&keys::wake(agent, event)).await
    }

    /// All wakes of an agent, in order of their events.
    pub async fn wakes(&self, agent: &AgentName) -> Result<Vec<Versioned<Wake>>, RecordsError> {
        let mut wakes: Vec<Versioned<Wake>> =
            self.children(&format!("AGT#{agent}"), keys::WAKE).await?;
        wakes.sort_by(|a, b| {
            let order = |wake: &Versioned<Wake>| {
                (wake.value.event.observed_at, wake.value.event.id.clone())
            };
            order(a).cmp(&order(b))
        });
        Ok(wakes)
    }

    /// An account.
    pub async fn account(
        &self,
        name: &AccountName,
    ) -> Result<Option<Versioned<Account>>, RecordsError> {
        self.get(name).await
    }

    /// All accounts.
    pub async fn accounts(&self) -> Result<Vec<Versioned<Account>>, RecordsError> {
        self.all(keys::ACCOUNTS).await
    }

    /// The slots of an account; all free when nothing was stored yet (version 0).
    pub async fn slots(&self, account: &AccountName) -> Result<Versioned<Slots>, RecordsError> {
        self.get_or_initial(account).await
    }

    /// A source.
    pub async fn source(&self, repo: &RepoName) -> Result<Option<Versioned<Source>>, RecordsError> {
        self.get(repo).await
    }

    /// GitHub's answers about a source's repository; empty before the first reading (version 0).
    pub async fn reach(
        &self,
        repo: &RepoName,
    ) -> Result<Versioned<RepositoryAccess>, RecordsError> {
        self.get_or_initial(repo).await
    }

    /// When a source's webhooks came; none before the first.
    pub async fn feed(&self, repo: &RepoName) -> Result<Option<WebhookActivity>, RecordsError> {
        let found = self.read(&keys::webhook_activity(repo)).await?;
        Ok(found.map(|found| found.value))
    }

    /// State of a log of webhook deliveries.
    pub async fn repair(
        &self,
        log: &WebhookLog,
    ) -> Result<Option<Versioned<RedeliveryState>>, RecordsError> {
        self.get(log).await
    }

    /// State of all logs of webhook deliveries.
    pub async fn repairs(&self) -> Result<Vec<Versioned<RedeliveryState>>, RecordsError> {
        self.all(keys::HOOK_LOGS).await
    }

    /// How GitHub answers about all repositories that were read.
    pub async fn reaches(&self) -> Result<Vec<Versioned<RepositoryAccess>>, RecordsError> {
        self.all(keys::REPOSITORY_ACCESS).await
    }

    /// Which source a repository belongs to.
    pub async fn repo_of(&self, id: RepoId) -> Result<Option<RepoName>, RecordsError> {
        let found = self.read(&keys::repository(id)).await?;
        Ok(found.map(|found| found.value))
    }

    /// How GitHub takes our credential.
    pub async fn access(&self) -> Result<Versioned<CredentialAccess>, RecordsError> {
        self.get_or_initial(&()).await
    }

    /// The last known budgets of GitHub.
    pub async fn budgets(&self) -> Result<Versioned<Budgets>, RecordsError> {
        self.get_or_initial(&()).await
    }

    /// All sources.
    pub async fn sources(&self) -> Result<Vec<Versioned<Source>>, RecordsError> {
        self.all(keys::SOURCES).await
    }

    /// An agent.
    pub async fn agent(&self, name: &AgentName) -> Result<Option<Versioned<Agent>>, RecordsError> {
        self.get(name).await
    }

    /// All agents.
    pub async fn agents(&self) -> Result<Vec<Versioned<Agent>>, RecordsError> {
        self.all(keys::AGENTS).await
    }

    /// A token of our own HTTP API.
    pub async fn token(&self, name: &TokenName) -> Result<Option<Versioned<Token>>, RecordsError> {
        self.get(name).await
    }

    /// All tokens of our own HTTP API.
    pub async fn tokens(&self) -> Result<Vec<Versioned<Token>>, RecordsError> {
        self.all(keys::TOKENS).await
    }

    /// This installation; none before its first start.
    pub async fn installation(&self) -> Result<Option<Installation>, RecordsError> {
        Ok(self
            .read(&keys::installation())
            .await?
            .map(|found| found.value))
    }

    /// The gap of a restored store; `None` in any other.
    pub async fn gap(&self) -> Result<Option<RestoreGap>, RecordsError> {
        Ok(self
            .read(&keys::restore_gap())
            .await?
            .map(|found| found.value))
    }

    /// The switches; all off when nothing was stored yet (version 0).
    pub async fn switches(&self) -> Result<Versioned<Switches>, RecordsError> {
        self.get_or_initial(&()).await
    }

    /// Where Jules and GitHub are; the usual places when nothing was stored yet (version 0).
    pub async fn upstreams(&self) -> Result<Versioned<Upstreams>, RecordsError> {
        self.get_or_initial(&()).await
    }

    /// How far the making of a GitHub App has come; none before it was begun.
    pub async fn app_setup(&self) -> Result<Option<Versioned<AppSetup>>, RecordsError> {
        self.get(&()).await
    }

    /// Merges of a source; empty when nothing was stored yet (version 0).
    pub async fn merges(&self, repo: &RepoName) -> Result<Versioned<Merges>, RecordsError> {
        self.get_or_initial(repo).await
    }

    /// Who may merge into a branch just now.
    pub async fn lane(
        &self,
        repo: &RepoName,
        base: &str,
    ) -> Result<Option<Versioned<Lane>>, RecordsError> {
        self.read(&keys::lane(repo, base)).await
    }
}
