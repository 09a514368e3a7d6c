//! Figures for monitoring, from the store alone: every process returns the same.

use std::collections::BTreeMap;

use domain::wake::WakeState;
use jiff::SignedDuration;

use crate::backend::{Backend, Error};
use crate::status::Status;

/// How many of the newest events have their wakes read: each costs a read for every agent.
pub const WAKES_TIMED: usize = 50;

/// Figures of the moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    /// What is going on.
    pub status: Status,
    /// How many events were recorded, by name and kind with a space between the two.
    pub events: BTreeMap<String, u64>,
    /// From the observation of an event to its acknowledgement, of the acknowledged wakes of the newest [`WAKES_TIMED`] events, ascending.
    pub wakes: Vec<SignedDuration>,
}

impl Backend {
    /// Figures of the moment.
    pub async fn metrics(&self) -> Result<Metrics, Error> {
        let recent = self.store.recent_events(WAKES_TIMED).await?;
        let agents = self.store.agents().await?;
        let mut wakes = Vec::new();
        for event in &recent {
            for agent in &agents {
                let wake = self.store.wake(&agent.value.name, &event.id).await?;
                let state = wake.map(|wake| wake.value.state);
                if let Some(WakeState::Acknowledged { at }) = state {
                    wakes.push(at.duration_since(event.observed_at));
                }
            }
        }
        wakes.sort();
        Ok(Metrics {
            status: self.shared_status().await?,
            events: self.event_counts().await?,
            wakes,
        })
    }
}
