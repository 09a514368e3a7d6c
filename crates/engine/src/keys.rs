//! Where everything is stored, but for records whose only keys are those of their `impl Aggregate`. Nothing above this module and
//! [`crate::store`] knows a partition or a sort key.

mod deliveries;
mod jobs;
mod mail;
mod pipelines;
mod sprints;

use domain::ids::{
    AccountName, AgentName, CommitSha, EffectId, EventId, JobId, PullRef, RepoId, RepoName,
    SessionId, TokenName,
};
use domain::redelivery::WebhookLog;
use jiff::Timestamp;

pub use self::{deliveries::*, jobs::*, mail::*, pipelines::*, sprints::*};

use crate::ports::{Key, ListKey};

/// The list of pull requests that are not settled.
pub const OPEN_PULLS: &str = "open-pulls";
/// The list of accounts.
pub const ACCOUNTS: &str = "accounts";
/// The list of sources.
pub const SOURCES: &str = "sources";
/// The list of how GitHub answers about each source's repository.
pub const REPOSITORY_ACCESS: &str = "repository-access";
/// The list of agents.
pub const AGENTS: &str = "agents";
/// The list of tokens of our own HTTP API.
pub const TOKENS: &str = "tokens";
/// The list of all events, oldest first.
pub const EVENTS: &str = "events";
/// The list of logs of webhook deliveries.
pub const HOOK_LOGS: &str = "hook-logs";

/// Begins the partition of a pull request.
const PULL: &str = "PR#";
/// The sort key of an aggregate itself.
pub const META: &str = "META";
/// Begins the partition of an account.
pub const ACCOUNT: &str = "CFG#account#";
/// The sort key of when a source's webhooks came.
pub const WEBHOOK_ACTIVITY: &str = "WEBHOOKS";
/// Begins the partition of a log of webhook deliveries.
pub const HOOK_LOG: &str = "HOOK#log#";
/// Begins the sort key of an effect.
pub const EFFECT: &str = "FX#";
/// The sort key of how many events were recorded.
pub const EVENT_COUNT: &str = "EVENTS";
/// Begins the sort key of an event.
pub const EVENT: &str = "EV#";
/// Prefix of the sort key of a merge's evidence.
pub const EVIDENCE: &str = "EVIDENCE#";
/// Begins the sort key of an outbox row.
pub const OUT: &str = "OUT#";
/// Begins the sort key of a wake.
pub const WAKE: &str = "WAKE#";

/// A key.
pub(crate) fn key(pk: impl Into<String>, sk: impl Into<String>) -> Key {
    Key {
        pk: pk.into(),
        sk: sk.into(),
    }
}

/// What the sort keys of small records begin with: see [`home`].
pub const SMALL: [&str; 3] = [EFFECT, EVENT_COUNT, OUT];

/// The record that a small one is mostly written with: a store that charges for each item may keep both in one.
/// `None` for records of their own.
pub fn home(of: &Key) -> Option<Key> {
    let small = SMALL.iter().any(|begin| of.sk.starts_with(begin));
    (small && is_home(&aggregate(of))).then(|| aggregate(of))
}

/// Whether a record may share its item with small ones.
pub fn is_home(of: &Key) -> bool {
    of.sk == META && has_small_records(of)
}

/// Whether a partition has small records beside its aggregate, which may share its item: a job, a pull request or a delivery.
pub(crate) fn has_small_records(of: &Key) -> bool {
    let kinds = [JOB, PULL, DELIVERY];
    kinds.iter().any(|begin| of.pk.starts_with(begin))
}

/// Whether it is a record whose place in lists is when it was created.
pub(crate) fn is_listed_by_age(of: &Key) -> bool {
    of.sk == META && [JOB, DELIVERY].iter().any(|begin| of.pk.starts_with(begin))
}

/// Whether a record is an account.
pub(crate) fn is_account(of: &Key) -> bool {
    of.pk.starts_with(ACCOUNT) && of.sk == META
}

fn aggregate(of: &Key) -> Key {
    key(of.pk.as_str(), META)
}

/// A time that sorts as text.
pub fn stamp(at: Timestamp) -> String {
    format!("{:020}", at.as_nanosecond().max(0))
}

/// Partition of a pull request.
pub fn pull_pk(pull: &PullRef) -> String {
    format!("{PULL}{}#{}", pull.repo.key(), pull.number)
}

/// The pull request of a partition; none for another one.
pub(crate) fn pull_in(pk: &str) -> Option<PullRef> {
    pk.strip_prefix(PULL)?.parse().ok()
}

/// A pull request.
pub fn pull(pull: &PullRef) -> Key {
    key(pull_pk(pull), META)
}

/// What a merge was judged by.
pub fn evidence(pull: &PullRef, sha: &CommitSha) -> Key {
    key(pull_pk(pull), format!("{EVIDENCE}{sha}"))
}

/// An effect of an aggregate.
pub fn effect(pk: &str, id: &EffectId) -> Key {
    key(pk, format!("{EFFECT}{id}"))
}

/// An event of a whole account.
pub fn account_event(account: &AccountName, id: &EventId) -> Key {
    key(account_pk(account), format!("{EVENT}{id}"))
}

/// An outbox row of an aggregate.
pub fn out(pk: &str, id: &ulid::Ulid) -> Key {
    key(pk, format!("{OUT}{id}"))
}

/// An outbox row that waits for better times: one for each aggregate and the job that asked.
pub fn parked(pk: &str, job: Option<&JobId>) -> Key {
    let by = job.map_or_else(|| "anybody".to_owned(), ToString::to_string);
    key(pk, format!("{OUT}later#{by}"))
}

/// The list of wakes in an agent's inbox, in order of their events.
pub fn inbox(agent: &AgentName) -> String {
    format!("inbox:{agent}")
}

/// A wake of an agent.
pub fn wake(agent: &AgentName, event: &EventId) -> Key {
    key(format!("AGT#{agent}"), format!("{WAKE}{event}"))
}

/// Which job a session belongs to.
pub fn session(session: &SessionId) -> Key {
    key(format!("SESSION#{session}"), META)
}

/// An order that was carried out under its caller's name; `name` is a digest.
pub fn once(name: &str) -> Key {
    key(format!("ONCE#{name}"), META)
}

/// Partition of an account.
pub fn account_pk(account: &AccountName) -> String {
    format!("{ACCOUNT}{account}")
}

/// An account.
pub fn account(name: &AccountName) -> Key {
    key(account_pk(name), META)
}

/// The slots of an account.
pub fn slots(account: &AccountName) -> Key {
    key(format!("RATE#slots#{account}"), META)
}

/// A source.
pub fn source(repo: &RepoName) -> Key {
    key(format!("CFG#source#{}", repo.key()), META)
}

/// How GitHub answers about a source's repository.
pub fn repository_access(repo: &RepoName) -> Key {
    key(format!("CFG#source#{}", repo.key()), "GITHUB")
}

/// When a source's webhooks came.
pub fn webhook_activity(repo: &RepoName) -> Key {
    key(format!("CFG#source#{}", repo.key()), WEBHOOK_ACTIVITY)
}

/// Which logs of webhook deliveries there are.
pub fn hook_logs() -> Key {
    key("HOOK#logs", META)
}

/// A log of webhook deliveries.
pub fn hook_log(log: &WebhookLog) -> Key {
    let name = match log {
        WebhookLog::App => log.to_string(),
        WebhookLog::Repo(repo) => repo.key(),
    };
    key(format!("{HOOK_LOG}{name}"), META)
}

/// How GitHub takes our credential.
pub fn credential_access() -> Key {
    key("CFG#github", META)
}

/// The last known budgets of GitHub.
pub fn budgets() -> Key {
    key("RATE#github", META)
}

/// Which source a repository belongs to.
pub fn repository(id: RepoId) -> Key {
    key(format!("REPO#{id}"), META)
}

/// An agent.
pub fn agent(name: &AgentName) -> Key {
    key(format!("CFG#agent#{name}"), META)
}

/// A token of our own HTTP API.
pub fn token(name: &TokenName) -> Key {
    key(format!("CFG#token#{name}"), META)
}

/// This installation.
pub fn installation() -> Key {
    key("CFG#installation", META)
}

/// The gap of a restored store.
pub fn restore_gap() -> Key {
    key("CFG#restore", META)
}

/// An import that is not through yet.
pub fn importing() -> Key {
    key("CFG#import", META)
}

/// The switch that pauses everything.
pub fn switches() -> Key {
    key("CFG#switches", META)
}

/// What running may cost in a day.
pub fn allowance() -> Key {
    key("CFG#allowance", META)
}

/// Addresses of Jules and GitHub, and our identity on GitHub.
pub fn upstreams() -> Key {
    key("CFG#upstreams", META)
}

/// How far the making of a GitHub App has come.
pub fn app_setup() -> Key {
    key("CFG#app-setup", META)
}

/// Merges of a source in the last 24 hours.
pub fn merges(repo: &RepoName) -> Key {
    key(format!("COUNT#merges#{}", repo.key()), META)
}

/// What a role has used on AWS.
pub fn usage(role: &str) -> Key {
    key(format!("COUNT#usage#{role}"), META)
}

/// Whether it counts what a role has used on AWS.
pub fn is_usage(key: &Key) -> bool {
    key.pk.starts_with("COUNT#usage#")
}

/// How many events of each kind were recorded, as of a while ago.
pub fn events_counted() -> Key {
    key("COUNT#events", META)
}

/// Who may merge into a branch just now.
pub fn lane(repo: &RepoName, base: &str) -> Key {
    key(format!("LEASE#lane#{}#{base}", repo.key()), META)
}

/// Who may tick next, where nothing runs all the time.
pub fn tick() -> Key {
    key("LEASE#tick", META)
}

/// A list of an account's jobs that are not over: `queued`, `watched` or `proposed`.
pub fn jobs_of(which: &str, account: &AccountName) -> String {
    format!("{which}:{account}")
}

/// The list of jobs that ended in a state.
pub fn ended(state: &str) -> String {
    format!("ended:{state}")
}

/// A place in a list.
pub fn listed(name: impl Into<String>, sort: impl Into<String>) -> Option<ListKey> {
    Some(ListKey {
        name: name.into(),
        sort: sort.into(),
        word: None,
    })
}
