//! How whole records are stored: the key, list, due time and retention of each type.

pub(crate) mod runs;

use domain::account::Account;
use domain::delivery::Delivery;
use domain::github_access::{CredentialAccess, RepositoryAccess};
use domain::governor::Slots;
use domain::ids::{AccountName, AgentName, DeliveryId, JobId, RepoName, TokenName};
use domain::mail::Counters;
use domain::notes::Notes;
use domain::policy::Source;
use domain::redelivery::{RedeliveryState, WebhookLog};
use domain::token::Token;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Store, Versioned};
use crate::backend::IndexEntry;
use crate::ports::{Key, ListKey, RecordsError};
use crate::settings::{Agent, AppSetup, Budgets, Merges, Switches, Upstreams};
use crate::usage::{Allowance, Consumption};
use crate::{keys, retention};

/// A record that is read and saved whole, under one key.
///
/// A new one needs its type in `domain`, and this with its partition and its retention: beside the handler of its due, or here.
pub trait Aggregate: Serialize + DeserializeOwned + PartialEq + Send + Sync {
    /// Names one; `()` for a record that exists once.
    type Id: ?Sized + Sync;
    /// What messages call it.
    const KIND: &'static str;

    /// Its key.
    fn key(id: &Self::Id) -> Key;

    /// The id as messages show it, between backquotes.
    fn name(id: &Self::Id) -> String;

    /// The list that has it.
    fn list(&self) -> Option<ListKey> {
        None
    }

    /// When the poller must read it.
    fn due(&self) -> Option<Timestamp> {
        None
    }

    /// When the store may delete it.
    fn forget(&self) -> Option<Timestamp> {
        None
    }

    /// All three.
    fn index_entry(&self) -> IndexEntry {
        IndexEntry {
            due: self.due(),
            list: self.list(),
            forget: self.forget(),
        }
    }
}

/// An aggregate that has a value before its first save.
pub trait Initial: Aggregate {
    /// That value.
    fn initial(id: &Self::Id) -> Self;
}

impl Store {
    /// An aggregate by its id.
    pub async fn get<T: Aggregate>(
        &self,
        id: &T::Id,
    ) -> Result<Option<Versioned<T>>, RecordsError> {
        self.read(&T::key(id)).await
    }

    /// An aggregate by its id, or its initial value at version 0.
    pub async fn get_or_initial<T: Initial>(
        &self,
        id: &T::Id,
    ) -> Result<Versioned<T>, RecordsError> {
        let found = self.get(id).await?;
        Ok(found.unwrap_or_else(|| Versioned::unstored(T::initial(id))))
    }
}

/// What an aggregate has whose id is shown as it is: the type of that, its kind, and its key.
macro_rules! keyed {
    ($id:ty, $kind:literal, $key:path) => {
        type Id = $id;
        const KIND: &'static str = $kind;

        fn key(id: &$id) -> Key {
            $key(id)
        }
        fn name(id: &$id) -> String {
            id.to_string()
        }
    };
}

impl Aggregate for Account {
    keyed!(AccountName, "account", keys::account);

    fn list(&self) -> Option<ListKey> {
        keys::listed(keys::ACCOUNTS, self.name.as_str())
    }
    fn due(&self) -> Option<Timestamp> {
        Some(self.next_poll)
    }
}

impl Aggregate for Source {
    keyed!(RepoName, "source", keys::source);

    fn list(&self) -> Option<ListKey> {
        keys::listed(keys::SOURCES, self.repo.key())
    }
}

/// Its due depends on what it was decided from, so its step gives it.
impl Aggregate for Delivery {
    keyed!(DeliveryId, "delivery", keys::delivery);

    fn list(&self) -> Option<ListKey> {
        let place = keys::delivery_position(self.created_at, &self.id);
        keys::listed(keys::OPEN_DELIVERIES, place).filter(|_| !self.is_terminal())
    }
}

impl Aggregate for Agent {
    keyed!(AgentName, "agent", keys::agent);

    fn list(&self) -> Option<ListKey> {
        keys::listed(keys::AGENTS, self.name.as_str())
    }
}

/// A token that was revoked or has expired: a person may want to see for a while that it was there.
const TOKEN_KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

impl Aggregate for Token {
    keyed!(TokenName, "token", keys::token);

    fn list(&self) -> Option<ListKey> {
        keys::listed(keys::TOKENS, self.name.as_str())
    }
    fn forget(&self) -> Option<Timestamp> {
        let ended = self.revoked_at.or(self.expires_at);
        ended.and_then(|at| retention::after(at, TOKEN_KEPT))
    }
}

/// Its due depends on what the dispatcher just read, so [`crate::backend::UnitOfWork::save_due`] saves it.
impl Aggregate for RedeliveryState {
    keyed!(WebhookLog, "log of webhook deliveries", keys::hook_log);

    fn list(&self) -> Option<ListKey> {
        keys::listed(keys::HOOK_LOGS, self.log.to_string())
    }
}

impl Aggregate for RepositoryAccess {
    keyed!(RepoName, "repository", keys::repository_access);

    fn list(&self) -> Option<ListKey> {
        keys::listed(keys::REPOSITORY_ACCESS, self.repo.key())
    }
}

impl Initial for RepositoryAccess {
    fn initial(id: &RepoName) -> Self {
        Self::new(id.clone())
    }
}

/// Its due depends on the jobs that wait, so the dispatcher gives its place.
impl Aggregate for Slots {
    keyed!(AccountName, "slots of account", keys::slots);
}

impl Initial for Slots {
    fn initial(id: &AccountName) -> Self {
        Self::free(id.clone())
    }
}

impl Aggregate for AppSetup {
    type Id = ();
    const KIND: &'static str = "setup of the GitHub App";

    fn key((): &()) -> Key {
        keys::app_setup()
    }
    fn name((): &()) -> String {
        String::new()
    }
}

/// Aggregates without list, due and retention, whose initial value is the default of their type.
macro_rules! plain {
    ($($type:ty, $id:ty, $kind:literal, $key:path;)+) => {$(
        impl Aggregate for $type {
            keyed!($id, $kind, $key);
        }

        impl Initial for $type {
            fn initial(_: &$id) -> Self {
                Self::default()
            }
        }
    )+};
}

/// The same for records that exist once.
macro_rules! single {
    ($($type:ty, $kind:literal, $key:path;)+) => {$(
        impl Aggregate for $type {
            type Id = ();
            const KIND: &'static str = $kind;

            fn key((): &()) -> Key {
                $key()
            }
            fn name((): &()) -> String {
                String::new()
            }
        }

        impl Initial for $type {
            fn initial((): &()) -> Self {
                Self::default()
            }
        }
    )+};
}

plain! {
    Merges, RepoName, "merges of", keys::merges;
    Counters, RepoName, "mail of", keys::mail;
    Notes, JobId, "notes of job", keys::notes;
    Consumption, str, "usage of", keys::usage;
}

single! {
    CredentialAccess, "access to GitHub", keys::credential_access;
    Budgets, "budgets of GitHub", keys::budgets;
    Switches, "switch that pauses everything", keys::switches;
    Upstreams, "addresses of Jules and GitHub", keys::upstreams;
    Allowance, "allowance", keys::allowance;
}
