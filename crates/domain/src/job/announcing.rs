//! Limits how often one attempt announces the same thing: a flapping, looping or lying session wakes no one for ever.

use jiff::Timestamp;

use super::event::event;
use super::watch::Watch;
use super::{AnnouncementTopic, Job};
use crate::event::{Audience, ErrorCause, Event, Occurrence};
use crate::step::Step;

/// Counts an announcement. Returns whether it may be made; the first time that it may not, a person hears of the
/// limit instead.
pub(super) fn may_announce(
    step: &mut Step<Job>,
    watch: &mut Watch,
    topic: AnnouncementTopic,
    last_words: Option<&str>,
    now: Timestamp,
) -> bool {
    let most = topic.most();
    let count = watch.announcements.counter_mut(topic);
    let before = *count;
    *count = before.saturating_add(1).min(most + 1);
    if before == most {
        let hushed = hushed(&step.aggregate, watch, topic, last_words, now);
        step.events.push(hushed);
    }
    before < most
}

fn hushed(
    job: &Job,
    watch: &Watch,
    topic: AnnouncementTopic,
    last_words: Option<&str>,
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
    topic: AnnouncementTopic,
    event: Event,
) -> bool {
    let may = may_announce(step, watch, topic, None, event.observed_at);
    if may {
        step.events.push(event);
    }
    may
}
