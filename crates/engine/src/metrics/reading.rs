//! Reads the figures for monitoring.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::account::PollCounters;
use domain::ids::AccountName;
use domain::wake::WakeState;

use super::{Metrics, WAKES_TIMED};
use crate::backend::{Backend, Error};

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
            polls: self.poll_counters().await?,
            events: self.event_counts().await?,
            wakes,
        })
    }

    /// Counters of the polls of each account.
    pub async fn poll_counters(&self) -> Result<BTreeMap<AccountName, PollCounters>, Error> {
        let accounts = self.store.accounts().await?.into_iter();
        let counters = accounts.map(|it| (it.value.name, it.value.counters));
        Ok(counters.collect())
    }

    /// The figures of the last second: many callers at once share one answer.
    pub async fn shared_figures(&self) -> Result<Metrics, Error> {
        let answers = Arc::clone(&self.answers);
        let find = self.metrics();
        Box::pin(answers.figures.get(|| self.now(), find)).await
    }
}
