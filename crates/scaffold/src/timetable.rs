//! The times of a repository's pipeline: cron expressions in a time zone.
//!
//! The zones are compiled in, so that the same settings mean the same times on every machine.

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use domain::nearest::nearest;
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::fault::shown;

/// How many expressions a repository has at most.
pub const CRON_MAX: usize = 20;

/// Longest expression, in characters.
const CRON_CHARS_MAX: usize = 100;

/// From when on an expression has to have a time at all.
const BEGINNING: Timestamp = Timestamp::UNIX_EPOCH;

/// A field of a cron expression.
struct CronField {
    name: &'static str,
    range: RangeInclusive<u32>,
}

/// The fields in their order.
const FIELDS: [CronField; 5] = [
    CronField {
        name: "minute",
        range: 0..=59,
    },
    CronField {
        name: "hour",
        range: 0..=23,
    },
    CronField {
        name: "day of the month",
        range: 1..=31,
    },
    CronField {
        name: "month",
        range: 1..=12,
    },
    CronField {
        name: "day of the week",
        range: 0..=7,
    },
];

/// When runs begin.
#[derive(Debug)]
pub struct Timetable {
    crons: Vec<Cron>,
    zone: TimeZone,
}

impl Timetable {
    /// The times of expressions in a zone, which is UTC where none is named.
    ///
    /// # Errors
    /// With what is wrong with the first of them that cannot be read.
    pub fn new<'a>(
        crons: impl IntoIterator<Item = &'a str>,
        timezone: Option<&str>,
    ) -> Result<Self, String> {
        let crons = crons.into_iter().map(cron);
        Ok(Self {
            crons: crons.collect::<Result<_, _>>()?,
            zone: timezone.map_or(Ok(TimeZone::UTC), zone)?,
        })
    }

    /// The first time after another one; none without expressions.
    ///
    /// A time of day that a change of clocks leaves out comes when the clocks have changed, and one that it repeats comes
    /// once.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let times = self.crons.iter();
        times.filter_map(|cron| time(cron, &self.zone, after)).min()
    }
}

fn time(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let after = after.to_zoned(zone.clone());
    let found = cron.find_next_occurrence(&after, false).ok()?;
    Some(found.timestamp())
}

/// A cron expression of five fields.
pub(crate) fn cron(expression: &str) -> Result<Cron, String> {
    if expression.chars().count() > CRON_CHARS_MAX {
        return Err(format!("has more than {CRON_CHARS_MAX} characters"));
    }
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    let cron = parser.parse(expression).map_err(|error| {
        let why = field_at_fault(&parser, expression).unwrap_or_else(|| error.to_string());
        let why = shown(&why);
        // It stands in the middle of a sentence.
        let why = why.trim_end_matches('.');
        format!("is no cron expression of five fields, as `0 20 * * *` is: {why}")
    })?;
    match time(&cron, &TimeZone::UTC, BEGINNING) {
        Some(_) => Ok(cron),
        None => Err("names a time that never comes".to_owned()),
    }
}

/// What is wrong with the number of the fields, or with the first one that cannot be read alone, since the parser names none.
fn field_at_fault(parser: &CronParser, expression: &str) -> Option<String> {
    let given: Vec<&str> = expression.split_whitespace().collect();
    if given.len() != FIELDS.len() {
        return Some(match given.len() {
            1 => "it has one field".to_owned(),
            many => format!("it has {many} fields"),
        });
    }
    let is_faulty = |at: usize| {
        let alone = given.iter().enumerate();
        let alone = alone.map(|(place, text)| if place == at { *text } else { "*" });
        let alone: Vec<&str> = alone.collect();
        parser.parse(&alone.join(" ")).is_err()
    };
    let mut fields = FIELDS.iter().zip(&given).enumerate();
    let (_, (field, text)) = fields.find(|(at, _)| is_faulty(*at))?;
    let CronField { name, range } = field;
    let mut numbers = text
        .split(|it: char| !it.is_ascii_digit())
        .filter_map(|number| number.parse::<u32>().ok());
    let (least, most) = (range.start(), range.end());
    Some(match numbers.find(|number| !range.contains(number)) {
        Some(outside) => format!("its {name} has {outside}, but goes from {least} to {most}"),
        None => format!("its {name} cannot be `{text}`"),
    })
}

/// A time zone by its IANA name.
pub(crate) fn zone(name: &str) -> Result<TimeZone, String> {
    let zones = TimeZoneDatabase::bundled();
    zones.get(name).map_err(|_| {
        let known: Vec<String> = zones.available().map(|it| it.to_string()).collect();
        let hint = match nearest(name, known.iter().map(String::as_str)) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "it is named as `Europe/Berlin` is".to_owned(),
        };
        format!("names no time zone; {hint}")
    })
}
