//! When the pipeline of a source begins by itself: up to when its times are dealt with, and when it is looked at again.
//!
//! The settings are read, and the times worked out, where files of a repository are read; a decision here gets them.

#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::{ErrorCause, Event, Occurrence};
use crate::ids::{AccountName, CommitSha, EventId, PipelineId, RepoName};
use crate::redact::presentable;
use crate::step::Step;
use crate::when::plus;

/// How often a source is asked whether its branch has moved, and its settings with it.
pub const ASK_EVERY: SignedDuration = SignedDuration::from_mins(15);

/// Longest reason that is kept, in characters.
const REASON_CHARS_MAX: usize = 300;

/// When the runs of a source's pipeline begin by themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The commit of the branch that the settings were read at; none while they have to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<CommitSha>,
    /// What the repository asks for; none while that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<ScheduleSettings>,
    /// Up to when its times are dealt with: one between then and now was missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dealt_to: Option<Timestamp>,
    /// The next time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
    /// The last run that began by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<BegunRun>,
    /// The last time at which none began, and none has made up for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// Why the settings could not be read at the last look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ScheduleError>,
    /// When it is looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
}

/// What a repository asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleSettings {
    /// The cron expressions as written; without any, no run begins by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cron: Vec<String>,
    /// Their time zone by its IANA name; UTC without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Whether a workflow of GitHub Actions has the clock, so that ours is off: two would double the sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_actions: bool,
}

/// A run that began by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BegunRun {
    /// The time that it is for.
    pub time: Timestamp,
    /// When it began: later, if it was made up.
    pub at: Timestamp,
    /// Which run.
    pub run: PipelineId,
}

/// A time at which no run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Which time.
    pub time: Timestamp,
    /// Why.
    pub reason: String,
}

/// Why the settings cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleError {
    /// Since when no reading has succeeded.
    pub since: Timestamp,
    /// Why.
    pub reason: String,
    /// What was in the way when that was announced last, since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

/// What a look at the branch of a source showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// The branch is at the commit whose settings are known.
    Unchanged,
    /// The settings at a commit.
    Settings(CommitSha, ScheduleSettings),
    /// They cannot be read for now, which passes by itself: the known ones hold.
    Delayed(String),
    /// They cannot be read until that is put right.
    Unreadable {
        /// Why.
        reason: String,
        /// What is in the way, in the same words each time: it is announced once.
        obstacle: String,
        /// Whether an event of its own says so.
        is_told: bool,
    },
}

/// Whose schedule it is, and whose account is told.
pub type Whose<'a> = (&'a RepoName, &'a AccountName);

/// Takes over what was read. No run begins by settings that cannot be read, and that is announced once.
pub fn read(
    schedule: &Schedule,
    whose: Whose<'_>,
    reading: Reading,
    now: Timestamp,
) -> Step<Schedule> {
    let mut step = Step::unchanged(schedule.clone());
    let next = &mut step.aggregate;
    match reading {
        Reading::Unchanged => next.error = None,
        Reading::Settings(tip, settings) => {
            // Times of other settings are over, and times before the first reading were never asked for.
            if next.settings.as_ref() != Some(&settings) {
                next.dealt_to = Some(now);
            }
            next.tip = Some(tip);
            next.settings = Some(settings);
            next.error = None;
        }
        Reading::Delayed(reason) => next.error = Some(failed(next.error.as_ref(), &reason, now)),
        Reading::Unreadable {
            reason,
            obstacle,
            is_told,
        } => {
            let mut error = failed(next.error.as_ref(), &reason, now);
            let obstacle = presentable(&obstacle, REASON_CHARS_MAX);
            if error.told.as_ref() != Some(&obstacle) {
                error.told = Some(obstacle);
                let news = (!is_told).then(|| event(whose, &error.reason, now));
                step.events.extend(news);
            }
            step.aggregate = Schedule {
                begun: schedule.begun.clone(),
                error: Some(error),
                ..Schedule::default()
            };
        }
    }
    step
}

fn failed(known: Option<&ScheduleError>, reason: &str, now: Timestamp) -> ScheduleError {
    ScheduleError {
        since: known.map_or(now, |known| known.since),
        reason: presentable(reason, REASON_CHARS_MAX),
        told: known.and_then(|known| known.told.clone()),
    }
}

impl Schedule {
    /// Why it could not be read, while no run begins by itself for that. An outage leaves the known settings.
    pub fn unreadable(&self) -> Option<&ScheduleError> {
        self.error.as_ref().filter(|_| self.settings.is_none())
    }

    /// Whether the settings at a commit are the known ones.
    pub fn is_read_at(&self, tip: &CommitSha) -> bool {
        self.tip.as_ref() == Some(tip)
    }

    /// Has the settings read again, now.
    #[must_use]
    pub fn asked_again(&self, now: Timestamp) -> Self {
        Self {
            tip: None,
            due: Some(now),
            ..self.clone()
        }
    }

    /// No time has come.
    #[must_use]
    pub fn waits(&self, next: Option<Timestamp>, now: Timestamp) -> Self {
        let look = plus(now, ASK_EVERY);
        Self {
            next,
            due: Some(next.map_or(look, |next| next.min(look))),
            ..self.clone()
        }
    }

    /// A time has come, and nothing may begin: it is made up once something may.
    #[must_use]
    pub fn held(&self, (time, next): Times, reason: &str, now: Timestamp) -> Self {
        Self {
            left_out: Some(left_out(time, reason)),
            ..self.waits(next, now)
        }
    }

    /// A time has come, and its run does not begin: nothing makes up for it.
    #[must_use]
    pub fn skipped(&self, (time, next): Times, reason: &str, now: Timestamp) -> Self {
        Self {
            dealt_to: Some(now),
            left_out: Some(left_out(time, reason)),
            ..self.waits(next, now)
        }
    }

    /// A time has come, and its run begins: for all times that were missed, it is the only one. One that was left out before
    /// them stays known.
    #[must_use]
    pub fn began(&self, (time, next): Times, run: PipelineId, now: Timestamp) -> Self {
        Self {
            dealt_to: Some(now),
            begun: Some(BegunRun { time, at: now, run }),
            left_out: self.left_out.clone().filter(|it| it.time < time),
            ..self.waits(next, now)
        }
    }
}

/// The time that has come, and the next one.
pub type Times = (Timestamp, Option<Timestamp>);

fn left_out(time: Timestamp, reason: &str) -> LeftOut {
    let reason = presentable(reason, REASON_CHARS_MAX);
    LeftOut { time, reason }
}

fn event((repo, account): Whose<'_>, reason: &str, now: Timestamp) -> Event {
    let reason = format!(
        "The schedule of the pipeline of {repo} cannot be read, and no run begins by itself until it can: {reason}"
    );
    Event::new(
        EventId::from_name(&format!("schedule:{}:{now}", repo.key())),
        account.clone(),
        now,
        Occurrence::Error {
            cause: ErrorCause::Schedule,
            reason,
        },
    )
}
