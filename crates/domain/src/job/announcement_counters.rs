//! Limits how often one attempt announces the same thing. Every count is stored with the job: a flapping, looping or
//! lying session wakes no one for ever.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Job;
use super::observe::event;
use super::watch::Watch;
use crate::event::{Audience, ErrorCause, Event, Occurrence};
use crate::step::Step;

/// A topic of announcements about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnouncementTopic {
    /// It asks.
    Question,
    /// Its plan waits for approval.
    Plan,
    /// It finished.
    Completed,
    /// It is silent.
    Stuck,
    /// An order to it failed permanently.
    Order,
}

impl AnnouncementTopic {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Question,
        Self::Plan,
        Self::Completed,
        Self::Stuck,
        Self::Order,
    ];

    /// How many announcements one attempt makes; then a person hears that it goes on, and then no one.
    ///
    /// Sessions of real work ask a few times and finish two or three times; these limits are several times as high.
    pub const fn most(self) -> u32 {
        match self {
            Self::Question | Self::Plan => 20,
            Self::Completed | Self::Order => 10,
            Self::Stuck => 12,
        }
    }

    /// What happens, as part of a sentence.
    fn words(self) -> &'static str {
        match self {
            Self::Question => "It asks again",
            Self::Plan => "It shows another plan",
            Self::Completed => "It says once more that it is done",
            Self::Stuck => "It is silent again",
            Self::Order => "Another order to it failed",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Completed => "completed",
            Self::Stuck => "stuck",
            Self::Order => "order",
        }
    }
}

/// Announcements so far, by topic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnouncementCounters {
    /// Questions.
    pub questions: u32,
    /// Plans.
    pub plans: u32,
    /// Completions.
    pub completions: u32,
    /// Silences.
    pub silences: u32,
    /// Orders that failed.
    pub failed_orders: u32,
}

impl AnnouncementCounters {
    /// Whether nothing was announced.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the topic's announcements are used up.
    pub fn is_used_up(&self, topic: AnnouncementTopic) -> bool {
        let mut copy = *self;
        *copy.counter_mut(topic) > topic.most()
    }

    fn counter_mut(&mut self, topic: AnnouncementTopic) -> &mut u32 {
        match topic {
            AnnouncementTopic::Question => &mut self.questions,
            AnnouncementTopic::Plan => &mut self.plans,
            AnnouncementTopic::Completed => &mut self.completions,
            AnnouncementTopic::Stuck => &mut self.silences,
            AnnouncementTopic::Order => &mut self.failed_orders,
        }
    }
}

/// Counts an announcement. Returns whether it may be made; the first time that it may not, a person hears of the
/// limit instead.
pub(super) fn may_announce(
    step: &mut Step<Job>,
    watch: &mut Watch,
    (topic, last_words): (AnnouncementTopic, Option<&str>),
    now: Timestamp,
) -> bool {
    let most = topic.most();
    let count = watch.announcements.counter_mut(topic);
    let before = *count;
    *count = before.saturating_add(1).min(most + 1);
    if before == most {
        let hushed = hushed(&step.aggregate, watch, (topic, last_words), now);
        step.events.push(hushed);
    }
    before < most
}

fn hushed(
    job: &Job,
    watch: &Watch,
    (topic, last_words): (AnnouncementTopic, Option<&str>),
    now: Timestamp,
) -> Event {
    let last = last_words.map_or(String::new(), |words| format!(" The last one: {words}"));
    let reason = format!(
        "{}, and this was announced {} times in this attempt: from now on it is not. Why it does not move can be asked for at any time.{last}",
        topic.words(),
        topic.most()
    );
    let what = Occurrence::Error {
        cause: ErrorCause::TooOften,
        reason,
    };
    let key = format!("too_often:{}:{}", watch.session, topic.word());
    event(job, watch, (&key, what, Audience::Human), now)
}

/// Announces an event unless its topic is used up. Returns whether it did.
pub(super) fn announce(
    step: &mut Step<Job>,
    watch: &mut Watch,
    (topic, event): (AnnouncementTopic, Event),
) -> bool {
    let may = may_announce(step, watch, (topic, None), event.observed_at);
    if may {
        step.events.push(event);
    }
    may
}
