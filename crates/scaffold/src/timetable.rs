//! The times of a repository's pipeline: cron expressions in a time zone.
//!
//! The zones are compiled in, so that the same settings mean the same times on every machine.

#[cfg(test)]
mod tests;

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
        let why = shown(&error.to_string());
        // It stands in the middle of a sentence.
        let why = why.trim_end_matches('.');
        format!("is no cron expression of five fields, as `0 20 * * *` is: {why}")
    })?;
    match time(&cron, &TimeZone::UTC, BEGINNING) {
        Some(_) => Ok(cron),
        None => Err("names a time that never comes".to_owned()),
    }
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
