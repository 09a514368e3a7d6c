//! How often one attempt announced what, and how often it may. Every count is stored with the job.

use serde::{Deserialize, Serialize};

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
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Question => "It asks again",
            Self::Plan => "It shows another plan",
            Self::Completed => "It says once more that it is done",
            Self::Stuck => "It is silent again",
            Self::Order => "Another order to it failed",
        }
    }

    /// In one word, for the names of events.
    pub(super) fn word(self) -> &'static str {
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

    /// The counter of a topic.
    pub(super) fn counter_mut(&mut self, topic: AnnouncementTopic) -> &mut u32 {
        match topic {
            AnnouncementTopic::Question => &mut self.questions,
            AnnouncementTopic::Plan => &mut self.plans,
            AnnouncementTopic::Completed => &mut self.completions,
            AnnouncementTopic::Stuck => &mut self.silences,
            AnnouncementTopic::Order => &mut self.failed_orders,
        }
    }
}
