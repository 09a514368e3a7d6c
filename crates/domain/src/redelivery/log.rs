//! What GitHub's log of webhook deliveries says.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::FailedDelivery;
use crate::ids::{DeliveryGuid, RepoName};

/// How the App's log is written where a log is named.
const APP: &str = "app";

/// A log of webhook deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum WebhookLog {
    /// That of the App's own webhook, for all repositories it is installed on.
    App,
    /// That of a repository's webhooks.
    Repo(RepoName),
}

/// A text that names no log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a log of webhook deliveries is `app` or `OWNER/REPO`: {0}")]
pub struct UnknownLog(String);

impl fmt::Display for WebhookLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::App => f.write_str(APP),
            Self::Repo(repo) => write!(f, "{repo}"),
        }
    }
}

impl FromStr for WebhookLog {
    type Err = UnknownLog;

    fn from_str(text: &str) -> Result<Self, UnknownLog> {
        if text == APP {
            return Ok(Self::App);
        }
        let repo = text.parse().map(Self::Repo);
        repo.map_err(|error: crate::ids::InvalidId| UnknownLog(error.to_string()))
    }
}

crate::by_text::by_text!(WebhookLog);

/// The result of the last read of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum LogStatus {
    /// The log was read, or has never been read.
    Read,
    /// No webhook on GitHub points at Gaffer.
    NoHook,
    /// Our credential may not read it, or may not ask for anything.
    Forbidden {
        /// Since when.
        since: Timestamp,
    },
    /// It could not be read.
    Unread {
        /// Since when.
        since: Timestamp,
    },
}

/// GitHub's number of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryId(pub u64);

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// GitHub's number of a repository's webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HookId(pub u64);

impl fmt::Display for HookId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A place in a log: attempts are in order of their time, then of their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LogPosition {
    /// When it was tried.
    pub at: Timestamp,
    /// The attempt's id.
    pub id: DeliveryId,
}

/// One attempt to deliver a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Its number.
    pub id: DeliveryId,
    /// The repository's webhook that it belongs to; `None` for the App's.
    pub hook: Option<HookId>,
    /// The id that all attempts of this delivery share.
    pub guid: DeliveryGuid,
    /// When it was made.
    pub at: Timestamp,
    /// Whether it is a requested redelivery.
    pub redelivery: bool,
    /// The status of our answer; `None` when no answer came.
    pub status: Option<u16>,
    /// The name of the event.
    pub event: String,
}

/// Outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It was taken.
    Arrived,
    /// We refuse it permanently: it is too large, or not JSON.
    Unwanted,
    /// It did not arrive, or was not taken for the time being.
    Failed,
}

impl DeliveryAttempt {
    /// Its place in the log.
    pub fn mark(&self) -> LogPosition {
        LogPosition {
            at: self.at,
            id: self.id,
        }
    }

    /// Its outcome.
    pub fn outcome(&self) -> AttemptOutcome {
        match self.status {
            Some(200..=399) => AttemptOutcome::Arrived,
            Some(400 | 413 | 415 | 422) => AttemptOutcome::Unwanted,
            Some(_) | None => AttemptOutcome::Failed,
        }
    }
}

impl From<&DeliveryAttempt> for FailedDelivery {
    fn from(attempt: &DeliveryAttempt) -> Self {
        Self {
            guid: attempt.guid.clone(),
            id: attempt.id,
            hook: attempt.hook,
            at: attempt.at,
            asks: 0,
            asked_at: None,
        }
    }
}
