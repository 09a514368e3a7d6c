//! An agent's inbox: wakes are taken out on a lease, and acknowledged, extended or given back.

use std::collections::BTreeSet;

use domain::advice::Advice;
use domain::ids::{AgentName, EventId, JobId};
use domain::refusal::NotNow;
use domain::wake::{Channel, LeaseLost, ReturnMode, Wake};

use crate::backend::{Backend, Error, decide_again};
use crate::keys;
use crate::settings::Agent;
use crate::store::{Versioned, decode};
use crate::wait::WaitState;

/// Most wakes that are taken at once.
pub const TAKE_MAX: usize = 10;

/// Wakes read at once while looking for those that can be had.
const PAGE: usize = 50;

/// Who holds what: the agent, the event, and the attempt at which it was taken.
pub type HeldWake<'a> = (&'a AgentName, &'a EventId, u32);

impl Backend {
    /// Takes the oldest wakes out of an agent's inbox, of each job only its first: the next one comes when that is over.
    pub async fn take(&self, agent: &AgentName, most: usize) -> Result<Vec<Wake>, Error> {
        self.must_have_inbox(agent).await?;
        let mut taken = Vec::new();
        match self.take_into(&mut taken, agent, most.min(TAKE_MAX)).await {
            // Taken wakes must reach their caller, whatever went wrong after that.
            Err(error) if taken.is_empty() => Err(error),
            Err(_) | Ok(()) => Ok(taken),
        }
    }

    /// Refuses an agent whose wakes only ever go to its address: a reader of its inbox would wait for ever. Wakes
    /// that an earlier setting left there can still be taken.
    async fn must_have_inbox(&self, name: &AgentName) -> Result<(), Error> {
        let agent = self.must::<Agent>(name).await?.value;
        if agent.ways().contains(&Channel::Inbox) {
            return Ok(());
        }
        let records = self.store.records();
        let left = records.list(&keys::inbox(name), false, None, 1).await?;
        if !left.records.is_empty() {
            return Ok(());
        }
        let sentence = format!("agent `{name}` has no inbox: its wakes go to its address only");
        let refused = NotNow::new("no_inbox", sentence);
        Err(refused.advising(Advice::GiveInbox.about(name)).into())
    }

    async fn take_into(
        &self,
        taken: &mut Vec<Wake>,
        agent: &AgentName,
        most: usize,
    ) -> Result<(), Error> {
        let (mut seen, mut after) = (BTreeSet::<JobId>::new(), None);
        loop {
            let list = keys::inbox(agent);
            let page = self.store.records().list(&list, false, after, PAGE).await?;
            for record in &page.records {
                if taken.len() == most {
                    return Ok(());
                }
                let found: Versioned<Wake> = match decode(record) {
                    Ok(found) => found,
                    Err(error) => {
                        tracing::error!(%error, "a wake stays in its inbox");
                        continue;
                    }
                };
                let job = &found.value.event.job;
                // Wakes of a job come in order, so only its first open one can be taken.
                if job.as_ref().is_some_and(|job| seen.contains(job)) {
                    continue;
                }
                let one = self.take_one(&found).await?;
                // One that was answered while its taker has it holds up none after it.
                if one.is_some() || !found.value.is_done_with() {
                    seen.extend(job.clone());
                }
                taken.extend(one);
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// The same with long polling: an empty answer waits for a wake until `waiting` ends. A taken wake is never lost on the way.
    pub async fn take_while(
        &self,
        agent: &AgentName,
        most: usize,
        waiting: impl Future<Output = ()> + Send,
    ) -> Result<Vec<Wake>, Error> {
        self.look_while(waiting, || async {
            let taken = self.take(agent, most).await?;
            let is_enough = !taken.is_empty();
            Ok(WaitState::if_enough(taken, is_enough))
        })
        .await
    }

    /// Takes one wake; `None` if it cannot be taken now or another reader was quicker.
    async fn take_one(&self, found: &Versioned<Wake>) -> Result<Option<Wake>, Error> {
        let Some(taken) = found.value.taken(self.now()) else {
            return Ok(None);
        };
        // The list may lag behind the records.
        if self.waits_its_turn(&found.value).await? {
            return Ok(None);
        }
        let mut unit = self.unit();
        unit.put_wake(found, &taken);
        match self.commit(unit).await {
            Err(error) if error.is_conflict() => Ok(None),
            Err(error) => Err(error),
            Ok(()) => Ok(Some(taken)),
        }
    }

    /// Extends the lease of a wake whose taker needs more time.
    pub async fn extend(&self, held: HeldWake<'_>) -> Result<Wake, Error> {
        let (agent, event, attempt) = held;
        let next = |wake: &Wake| wake.extended(attempt, self.now());
        self.change_held(agent, event, &next).await
    }

    /// Gives a wake back undone; a person sees it after the last attempt.
    pub async fn give_back(
        &self,
        held: HeldWake<'_>,
        why: &str,
        back: ReturnMode,
    ) -> Result<Wake, Error> {
        let (agent, event, attempt) = held;
        let next = |wake: &Wake| wake.given_back(attempt, why, back, self.now());
        let wake = self.change_held(agent, event, &next).await?;
        self.nudge_next_wake(&wake).await?;
        Ok(wake)
    }

    async fn change_held(
        &self,
        agent: &AgentName,
        event: &EventId,
        next: &(dyn Fn(&Wake) -> Result<Wake, LeaseLost> + Send + Sync),
    ) -> Result<Wake, Error> {
        decide_again(format!("event {event}"), || async move {
            let found = self.must_wake(agent, event).await?;
            let next = next(&found.value).map_err(lost)?;
            let mut unit = self.unit();
            unit.put_wake(&found, &next);
            Ok(self.try_commit(unit).await?.then_some(next))
        })
        .await
    }
}

fn lost(lost: LeaseLost) -> Error {
    Error::NotNow(NotNow::new(lost.code(), lost.to_string()))
}
