//! What is told of the mail of a repository as a whole: how much there is, what is wrong with it, and what an import came to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Counters, Counts};
use crate::ids::PersonaName;

/// `GET …/stats`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MailStats {
    /// How many events the log has.
    pub events: u64,
    /// How many of them are in sealed pages.
    pub sealed: u64,
    /// How many pages.
    pub pages: u64,
    /// Every persona that ever wrote or got a message.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, Counts>"))]
    pub personas: BTreeMap<PersonaName, Counts>,
}

/// `GET …/verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MailVerified {
    /// Everything that is wrong.
    pub faults: Vec<String>,
    /// How many events the log has.
    pub events: u64,
    /// How many sealed pages there are.
    pub pages: u64,
}

/// What an import came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MailImported {
    /// How many events were added.
    pub added: u64,
    /// How many were there already.
    pub already_there: u64,
}

impl From<Counters> for MailStats {
    fn from(counters: Counters) -> Self {
        Self {
            events: counters.events,
            sealed: counters.sealed,
            pages: counters.pages,
            personas: counters.personas,
        }
    }
}
