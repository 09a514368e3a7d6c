//! The journal of one job, in order: its events, its effects with their outcomes, and its wakes. That of a run of a pipeline has its steps,
//! that of a delivery its phases, and both all that was done for their jobs.

use std::collections::BTreeSet;

use domain::delivery::PhaseRun;
use domain::effect::{Effect, EffectState};
use domain::event::{Event, Occurrence};
use domain::ids::{DeliveryId, JobId, PipelineId};
use domain::job::Job;
use domain::pipeline::{Pipeline, PipelineStep};
use domain::wake::{Channel, Wake, WakeState};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Error};
use crate::job_state::state_of;
use crate::keys;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A step of a run.
    Step,
    /// A phase of a delivery, in one status.
    Phase,
    /// The job itself.
    Job,
    /// An event.
    Event,
    /// An effect.
    Effect,
    /// An event on its way to an agent.
    Wake,
}

/// One thing that was done, or is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When it began.
    pub at: Timestamp,
    /// When it was over; `None` while it is not.
    pub over_at: Option<Timestamp>,
    /// The kind of the entry.
    pub about: EntryKind,
    /// Its id, where it has one.
    pub id: String,
    /// Its description. Parts of it may be text from outside.
    pub what: String,
    /// Its outcome. Parts of it may be text from outside.
    pub outcome: String,
}

impl Backend {
    /// All stored entries about a job, ordered by their beginning.
    pub async fn journal(&self, id: &JobId) -> Result<Vec<Entry>, Error> {
        let job = self.must_job(id).await?.value;
        let mut entries = vec![of_job(&job)];
        entries.extend(self.told_in(&self.store.events(id).await?).await?);
        let mut partitions = vec![keys::job_pk(id)];
        partitions.extend(job.pull().map(keys::pull_pk));
        entries.extend(self.done_in(&partitions).await?);
        Ok(sorted(entries))
    }

    /// All stored entries about a delivery and its jobs, ordered by their beginning. A job that belongs to none has its own.
    pub async fn delivery_journal(&self, id: &DeliveryId) -> Result<Vec<Entry>, Error> {
        let shown = Box::pin(self.delivery_shown(id)).await?;
        if !shown.is_stored {
            return match &shown.job {
                Some(job) => self.journal(&job.id).await,
                None => Ok(Vec::new()),
            };
        }
        let delivery = shown.delivery;
        let mut entries: Vec<Entry> = delivery.phase_runs.iter().map(of_phase).collect();
        let own = keys::delivery_pk(id);
        entries.extend(self.told_in(&self.store.events_below(&own).await?).await?);
        entries.extend(self.done_in(&[own]).await?);
        let runs = delivery.runs.iter().filter_map(|run| run.job.as_ref());
        let jobs: BTreeSet<&JobId> = runs.chain(&delivery.task.job).collect();
        for job in jobs {
            if self.store.job(job).await?.is_some() {
                entries.extend(self.journal(job).await?);
            }
        }
        Ok(sorted(entries))
    }

    /// Events, and their wakes.
    async fn told_in(&self, events: &[Event]) -> Result<Vec<Entry>, Error> {
        let mut entries: Vec<Entry> = events.iter().map(of_event).collect();
        for agent in self.store.agents().await? {
            for event in events {
                let wake = self.store.wake(&agent.value.name, &event.id).await?;
                entries.extend(wake.map(|wake| of_wake(&wake.value)));
            }
        }
        Ok(entries)
    }

    /// The effects of these partitions.
    async fn done_in(&self, partitions: &[String]) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        for pk in partitions {
            let (effects, now) = (self.store.effects(pk).await?, self.now());
            entries.extend(effects.iter().map(|effect| of_effect(&effect.value, now)));
        }
        Ok(entries)
    }

    /// All stored entries about a run of a pipeline and its jobs, ordered by their beginning.
    pub async fn run_journal(&self, id: &PipelineId) -> Result<Vec<Entry>, Error> {
        let run = self.must::<Pipeline>(id).await?.value;
        let mut entries: Vec<Entry> = run.steps.iter().filter_map(of_step).collect();
        for member in run.steps.iter().flat_map(|step| &step.members) {
            if self.store.job(&member.job).await?.is_some() {
                entries.extend(self.journal(&member.job).await?);
            }
        }
        Ok(sorted(entries))
    }
}

fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    // What is of the same moment stays in the order in which it is stored.
    entries.sort_by_key(|entry| (entry.at, entry.about));
    entries
}

/// A step as it is now; none while it waits for the one before it.
fn of_step(step: &PipelineStep) -> Option<Entry> {
    let at = step.state.since()?;
    let reason = step.state.reason().map(|reason| format!(": {reason}"));
    Some(Entry {
        at,
        over_at: step.state.is_over().then_some(at),
        about: EntryKind::Step,
        id: step.kind.name().to_owned(),
        what: format!("the step {}", step.kind),
        outcome: format!("{}{}", step.state.word(), reason.unwrap_or_default()),
    })
}

fn of_phase(span: &PhaseRun) -> Entry {
    Entry {
        at: span.started_at,
        over_at: span.ended_at,
        about: EntryKind::Phase,
        id: span.phase.to_string(),
        what: format!("the phase {}", span.phase),
        outcome: format!("{}, by {}", span.run_status, span.actor),
    }
}

fn of_job(job: &Job) -> Entry {
    Entry {
        at: job.created_at,
        over_at: None,
        about: EntryKind::Job,
        id: job.id.to_string(),
        what: format!("handed over: {}", job.title),
        outcome: state_of(job).to_owned(),
    }
}

fn of_event(event: &Event) -> Entry {
    let outcome = if let Occurrence::UnexpectedPush { paths, .. } = &event.what {
        paths.join(", ")
    } else {
        event.what.words().unwrap_or_default().to_owned()
    };
    Entry {
        at: event.observed_at,
        over_at: Some(event.observed_at),
        about: EntryKind::Event,
        id: event.id.to_string(),
        what: format!("{} ({})", event.what.name(), event.what.kind()),
        outcome,
    }
}

fn of_wake(wake: &Wake) -> Entry {
    let (over_at, outcome) = match &wake.state {
        WakeState::Pending {
            attempt,
            not_before,
        } => match wake.channel {
            Channel::Http => (None, format!("try {attempt} from {not_before} on")),
            Channel::Inbox => (None, format!("in its inbox from {not_before} on")),
        },
        WakeState::Sending { attempt, .. } => (None, format!("try {attempt} is being made")),
        WakeState::Leased { attempt, .. } if wake.answered => {
            (None, format!("received at try {attempt}, and answered"))
        }
        WakeState::Leased { attempt, until } => {
            let told = format!("received at try {attempt}, to be acknowledged until {until}");
            (None, told)
        }
        WakeState::Acknowledged { at } => (Some(*at), "acknowledged".to_owned()),
        WakeState::Dead { at, why } => (Some(*at), format!("given up: {why}")),
    };
    Entry {
        at: wake.event.observed_at,
        over_at,
        about: EntryKind::Wake,
        id: wake.event.id.to_string(),
        what: format!("{} to {}", wake.event.what.name(), wake.agent),
        outcome,
    }
}

fn of_effect(effect: &Effect, now: Timestamp) -> Entry {
    let (over_at, outcome) = match &effect.state {
        EffectState::Intent {
            attempt,
            not_before,
        } => (None, format!("attempt {attempt} from {not_before} on")),
        EffectState::Started { attempt, .. } => (None, format!("attempt {attempt} is being made")),
        EffectState::Unknown { attempt, .. } => {
            let told = format!("it is unknown what became of attempt {attempt}; it is looked for");
            (None, told)
        }
        EffectState::Done { at } => (Some(*at), "done".to_owned()),
        EffectState::Failed {
            at,
            attempt,
            failure,
        } => {
            // What is not begun anew by then, for example since a person merged, stays as it failed.
            match effect.postponed_to().filter(|until| *until > now) {
                Some(until) => (None, format!("postponed to {until}: {failure}")),
                None => (Some(*at), format!("failed at attempt {attempt}: {failure}")),
            }
        }
    };
    Entry {
        at: effect.created_at,
        over_at,
        about: EntryKind::Effect,
        id: effect.id.to_string(),
        what: effect.action.to_string(),
        outcome,
    }
}

#[cfg(test)]
mod tests {
    use domain::effect::{Action, PullAction};
    use domain::failure::{Failure, FailureClass};
    use jiff::SignedDuration;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_write_that_waited_for_its_turn_is_postponed_until_that_has_come() {
        let wait = Some(SignedDuration::from_secs(5));
        let pull = "Acme/Shop#7".parse().unwrap();
        let action = Action::Pull(PullAction::ClosePull { pull });
        let effect = Effect {
            state: EffectState::Failed {
                at: at(10),
                attempt: 1,
                failure: Failure::new(FailureClass::Throttled, "slow").after(wait),
            },
            ..Effect::new(action, at(0))
        };
        for (now, over_at, told) in [
            (14, None, format!("postponed to {}: ", at(15))),
            (15, Some(at(10)), "failed at attempt 1: ".to_owned()),
        ] {
            let entry = of_effect(&effect, at(now));
            assert_eq!(entry.over_at, over_at);
            assert!(entry.outcome.starts_with(&told), "{}", entry.outcome);
        }
    }
}
