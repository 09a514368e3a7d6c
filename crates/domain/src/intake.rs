//! How far the issues of a source were read, and when they are read again.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::delivery::IntakeLabel;
use crate::ids::RepoName;
use crate::redact::presentable;
use crate::when::plus;

/// How often issues are read where no webhooks arrive.
pub const READ_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// How often issues are read while webhooks arrive, or after a reading that was left out.
pub const READ_SELDOM: SignedDuration = SignedDuration::from_mins(10);

/// How often issues are read after a reading with a result, where webhooks arrive or do not. One that failed is tried again soon in
/// any case.
fn read_every(result: &ReadingResult, has_webhooks: bool) -> SignedDuration {
    match result {
        ReadingResult::Read { .. } if has_webhooks => READ_SELDOM,
        ReadingResult::Read { .. } | ReadingResult::Failed(_) => READ_EVERY,
        ReadingResult::Skipped => READ_SELDOM,
    }
}

/// That the issues of a source could not be read, and why: in the same words on every surface.
pub fn unread(repo: &RepoName, why: &str) -> String {
    format!("the issues of {repo} could not be read: {why}")
}

/// Shortest wait after a reading that failed, whatever GitHub asks for.
const WAIT_MIN: SignedDuration = SignedDuration::from_secs(10);

/// How far a reading goes back before the newest change of the last one: GitHub's lists lag behind.
const OVERLAP: SignedDuration = SignedDuration::from_mins(2);

/// Longest error that is kept, in characters.
const ERROR_CHARS_MAX: usize = 300;

/// The reading of a source's issues.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intake {
    /// The label of the issues that were read; none before the first reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<IntakeLabel>,
    /// Up to which change, or which moment, all was read; none before the first reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_to: Option<Timestamp>,
    /// What the last reading led to; none before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastReading>,
    /// When the issues are read next; none before the first reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
}

/// A reading of issues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastReading {
    /// When.
    pub at: Timestamp,
    /// What it led to.
    pub result: ReadingResult,
}

/// What a reading of issues led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadingResult {
    /// The issues were read.
    Read {
        /// How many became deliveries.
        created: u32,
        /// How many closed theirs.
        closed: u32,
    },
    /// They could not be read, or what they asked for could not be done.
    Failed(String),
    /// The source is paused.
    Skipped,
}

/// A reading of the issues with a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntakeReading<'a> {
    /// The label.
    pub label: &'a IntakeLabel,
    /// The last change that was read, or the beginning of a reading of all of them.
    pub read_to: Option<Timestamp>,
    /// How many issues became deliveries.
    pub created: u32,
    /// How many issues closed theirs.
    pub closed: u32,
    /// Whether webhooks arrive.
    pub has_webhooks: bool,
}

impl Intake {
    /// Since when issues are read that changed; none when all are read that are open. An issue may have got another
    /// label long before the source did.
    pub fn since(&self, label: &IntakeLabel) -> Option<Timestamp> {
        let read_to = self.read_to.filter(|_| self.label.as_ref() == Some(label));
        read_to.map(|at| at.saturating_sub(OVERLAP).unwrap_or(at))
    }

    /// The issues with a label were read.
    #[must_use]
    pub fn read(&self, reading: IntakeReading<'_>, now: Timestamp) -> Self {
        let IntakeReading {
            label,
            read_to,
            created,
            closed,
            has_webhooks,
        } = reading;
        let result = ReadingResult::Read { created, closed };
        let wait = read_every(&result, has_webhooks);
        Self {
            label: Some(label.clone()),
            read_to: self.read_to.max(read_to),
            ..self.ended(result, now, wait)
        }
    }

    /// They could not be read. Where it is known when they can be, they are read then, and not later than usual.
    #[must_use]
    pub fn failed(&self, why: &str, now: Timestamp, asked_wait: Option<SignedDuration>) -> Self {
        let result = ReadingResult::Failed(presentable(why, ERROR_CHARS_MAX));
        let usual = read_every(&result, false);
        let wait = asked_wait.map_or(usual, |wait| wait.clamp(WAIT_MIN, usual));
        self.ended(result, now, wait)
    }

    /// When the last reading failed, and why; `None` when it did not.
    pub fn failure(&self) -> Option<(Timestamp, &str)> {
        let last = self.last.as_ref()?;
        match &last.result {
            ReadingResult::Failed(why) => Some((last.at, why.as_str())),
            ReadingResult::Read { .. } | ReadingResult::Skipped => None,
        }
    }

    /// The source is paused.
    #[must_use]
    pub fn skipped(&self, now: Timestamp) -> Self {
        let result = ReadingResult::Skipped;
        let wait = read_every(&result, false);
        self.ended(result, now, wait)
    }

    /// How often its issues are read now, where webhooks arrive or do not.
    pub fn interval(&self, has_webhooks: bool) -> SignedDuration {
        let before_the_first = ReadingResult::Read {
            created: 0,
            closed: 0,
        };
        let last = self.last.as_ref().map(|last| &last.result);
        read_every(last.unwrap_or(&before_the_first), has_webhooks)
    }

    fn ended(&self, result: ReadingResult, now: Timestamp, wait: SignedDuration) -> Self {
        Self {
            label: self.label.clone(),
            read_to: self.read_to,
            last: Some(LastReading { at: now, result }),
            due: Some(plus(now, wait)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::at;

    fn label(name: &str) -> IntakeLabel {
        name.parse().unwrap()
    }

    /// A reading that led to nothing, without webhooks.
    fn reading(label: &IntakeLabel, read_to: Option<Timestamp>) -> IntakeReading<'_> {
        IntakeReading {
            label,
            read_to,
            created: 0,
            closed: 0,
            has_webhooks: false,
        }
    }

    #[test]
    fn a_reading_overlaps_the_one_before_and_never_goes_back() {
        let first = Intake::default();
        let own = label("gaffer");
        assert_eq!(first.since(&own), None);
        let read = first.read(reading(&own, Some(at(100))), at(120));
        assert_eq!(read.since(&own), Some(at(100 - 120)));
        assert_eq!(read.due, Some(at(180)));
        let with_webhooks = IntakeReading {
            has_webhooks: true,
            ..reading(&own, Some(at(50)))
        };
        let older = read.read(with_webhooks, at(180));
        assert_eq!(older.read_to, Some(at(100)));
        assert_eq!(older.due, Some(at(780)));
        let quiet = read.read(reading(&own, None), at(180));
        assert_eq!(quiet.read_to, Some(at(100)));
    }

    #[test]
    fn a_failed_or_skipped_reading_loses_nothing() {
        let own = label("gaffer");
        let read = Intake::default().read(reading(&own, Some(at(100))), at(120));
        let failed = |wait: Option<i64>| {
            let wait = wait.map(SignedDuration::from_secs);
            read.failed("GitHub answers 502", at(180), wait)
        };
        assert_eq!(failed(None).since(&own), read.since(&own));
        assert_eq!(failed(None).due, Some(at(240)));
        // A budget that is back sooner is used then; one that is back much later may be another one by then.
        assert_eq!(failed(Some(17)).due, Some(at(197)));
        assert_eq!(failed(Some(0)).due, Some(at(190)));
        assert_eq!(failed(Some(3_000)).due, Some(at(240)));
        assert_eq!(read.skipped(at(180)).since(&own), read.since(&own));
    }

    #[test]
    fn the_interval_is_the_wait_for_the_next_reading() {
        let (own, none, now) = (label("gaffer"), Intake::default(), at(180));
        for (has_webhooks, usual) in [(false, READ_EVERY), (true, READ_SELDOM)] {
            assert_eq!(none.interval(has_webhooks), usual);
            let read = IntakeReading {
                has_webhooks,
                ..reading(&own, None)
            };
            for (intake, every) in [
                (none.read(read, now), usual),
                (none.failed("GitHub answers 502", now, None), READ_EVERY),
                (none.skipped(now), READ_SELDOM),
            ] {
                assert_eq!(intake.interval(has_webhooks), every, "{intake:?}");
                assert_eq!(intake.due, Some(plus(now, every)), "{intake:?}");
            }
        }
    }

    #[test]
    fn only_a_reading_that_failed_is_a_failure_and_the_next_one_ends_it() {
        let own = label("gaffer");
        let failed = Intake::default().failed("GitHub answers 502", at(180), None);
        assert_eq!(failed.failure(), Some((at(180), "GitHub answers 502")));
        let read = failed.read(reading(&own, None), at(240));
        for other in [Intake::default(), read, failed.skipped(at(240))] {
            assert_eq!(other.failure(), None, "{other:?}");
        }
        assert_eq!(
            unread(&"acme/shop".parse().unwrap(), "GitHub answers 502"),
            "the issues of acme/shop could not be read: GitHub answers 502"
        );
    }

    #[test]
    fn issues_with_another_label_are_read_from_the_beginning() {
        let (own, other) = (label("gaffer"), label("deliver"));
        let read = Intake::default().read(reading(&own, Some(at(100))), at(120));
        assert_eq!(read.since(&other), None);
        let failed = read.failed("GitHub answers 502", at(180), None);
        assert_eq!(failed.since(&other), None);
        let again = failed.read(reading(&other, None), at(240));
        assert_eq!(again.since(&other), read.since(&own));
    }
}
