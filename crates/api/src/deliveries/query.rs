//! Which deliveries a list holds.

use std::fmt;

use client::wire::{DELIVERIES_LIMIT, DELIVERIES_LIMIT_MAX};
use domain::delivery::Phase;
use domain::ids::InvalidId;
use domain::job::WaitParty;
use domain::redact::presentable;
use engine::deliveries::{DeliveriesCursor, DeliveryQuery, InvalidDeliveriesCursor};

use crate::body::SHOWN_CHARS_MAX;
use crate::query::{self, QueryPairs};
use crate::refusal::Refused;

/// For whom a list can be asked: the other parties act by themselves.
pub(crate) const NEEDS: [&str; 2] = ["person", "agent"];

/// Which deliveries are wanted.
pub(super) struct ListRequest {
    pub(super) query: DeliveryQuery,
    pub(super) after: Option<DeliveriesCursor>,
    pub(super) limit: usize,
}

/// Reads the query of a list.
pub(super) fn read(asked: QueryPairs) -> Result<ListRequest, Refused> {
    let mut query = DeliveryQuery::default();
    let (mut after, mut limit) = (None, DELIVERIES_LIMIT);
    for (name, value) in query::pairs(asked)? {
        let wrong = |error: &dyn fmt::Display| query::bad(&name, error);
        match name.as_str() {
            "repo" => query.repo = Some(value.parse().map_err(|error: InvalidId| wrong(&error))?),
            "phase" => query.phase = Some(phase(&value)?),
            "needs" => query.needs = Some(needs(&value)?),
            "open" => query.open = query::switch(&name, &value)?,
            "after" => {
                let read = value.parse();
                after = Some(read.map_err(|error: InvalidDeliveriesCursor| wrong(&error))?);
            }
            "limit" => limit = query::number(&name, &value, 1..=DELIVERIES_LIMIT_MAX)?,
            _ => {
                let known = "there are `phase`, `repo`, `needs`, `open`, `limit` and `after`";
                return Err(query::unknown(&name, known));
            }
        }
    }
    Ok(ListRequest {
        query,
        after,
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
    })
}

fn phase(value: &str) -> Result<Phase, Refused> {
    Phase::from_word(value).ok_or_else(|| odd("phase", value, &Phase::ALL.map(Phase::word)))
}

fn needs(value: &str) -> Result<WaitParty, Refused> {
    match value {
        "person" => Ok(WaitParty::Person),
        "agent" => Ok(WaitParty::Agent),
        _ => Err(odd("needs", value, &NEEDS)),
    }
}

fn odd(name: &str, value: &str, known: &[&str]) -> Refused {
    let value = presentable(value, SHOWN_CHARS_MAX);
    let wrong = format!("it is `{value}`, but has to be one of {}", known.join(", "));
    query::bad(name, &wrong)
}
