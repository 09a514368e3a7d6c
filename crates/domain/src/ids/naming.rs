//! What a job is called by: its id, the beginning of its id, a session of it, its pull request, or `latest`.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

use super::{InvalidId, JobId, PullRef, SessionId};

/// Minimum length of an abbreviated id.
pub const ID_PREFIX_CHARS_MIN: usize = 4;

/// Alias of the newest job.
const LATEST: &str = "latest";

/// Characters of a job id.
const JOB_CHARS: usize = 26;

/// What names one job. Ids of jobs and the names of repositories are the same in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobName {
    /// Its whole id.
    Job(JobId),
    /// The newest job.
    Latest,
    /// Its pull request.
    Pull(PullRef),
    /// The id of a session of it, or the beginning of its own.
    Word(SessionId),
}

impl FromStr for JobName {
    type Err = InvalidId;

    fn from_str(value: &str) -> Result<Self, InvalidId> {
        if value.eq_ignore_ascii_case(LATEST) {
            return Ok(Self::Latest);
        }
        if let Ok(id) = value.to_ascii_lowercase().parse() {
            return Ok(Self::Job(id));
        }
        let rule = "the id of a job or a session, the first 4 or more characters of a job's id, `latest`, or `owner/name#number`";
        let invalid = || InvalidId::new("job or session id", value, rule);
        if value.contains('#') {
            return value.parse().map(Self::Pull).map_err(|_| invalid());
        }
        value.parse().map(Self::Word).map_err(|_| invalid())
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(id) => id.fmt(f),
            Self::Latest => f.write_str(LATEST),
            Self::Pull(pull) => pull.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// The beginning of a job's id, which says when that job was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobIdPrefix {
    /// In lower case.
    text: String,
    /// The first id that begins so.
    pub first: JobId,
    /// The last one.
    pub last: JobId,
}

impl JobIdPrefix {
    /// Parses an abbreviated id; `None` where no job id begins like this, or too many would.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        if !text.is_ascii() || !(ID_PREFIX_CHARS_MIN..JOB_CHARS).contains(&text.len()) {
            return None;
        }
        let missing = JOB_CHARS - text.len();
        let padded = |with: &str| format!("{text}{}", with.repeat(missing)).parse().ok();
        let (first, last) = (padded("0")?, padded("z")?);
        Some(Self { text, first, last })
    }

    /// Whether a job's id begins so.
    pub fn matches(&self, id: &JobId) -> bool {
        id.as_str().starts_with(&self.text)
    }
}

impl JobId {
    /// When it was drawn, to the millisecond.
    pub fn drawn_at(&self) -> Timestamp {
        let ulid = ulid::Ulid::from_string(self.as_str()).ok();
        let millis = ulid.and_then(|ulid| i64::try_from(ulid.timestamp_ms()).ok());
        let at = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
        // Ids reach further into the future than times do.
        at.unwrap_or(Timestamp::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_named_in_any_case_by_what_a_person_has_at_hand() {
        let id = "01k0000000000000000000000a";
        let job = JobName::Job(id.parse().unwrap());
        assert_eq!(id.parse(), Ok(job.clone()));
        assert_eq!(id.to_uppercase().parse(), Ok(job));
        assert_eq!("Latest".parse(), Ok(JobName::Latest));
        let pull = JobName::Pull("acme/shop#7".parse().unwrap());
        assert_eq!("acme/shop#7".parse(), Ok(pull));
        for word in ["01K0", "1234567890"] {
            let named = JobName::Word(word.parse().unwrap());
            assert_eq!(word.parse(), Ok(named));
        }
        for wrong in ["", "a/b", "../x", "#7", "acme/shop#0", "a b", "no id"] {
            assert!(wrong.parse::<JobName>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_beginning_spans_the_ids_that_begin_so() {
        let beginning = JobIdPrefix::parse("01K0A").unwrap();
        for (id, is_meant) in [
            ("01k0a000000000000000000000", true),
            ("01k0azzzzzzzzzzzzzzzzzzzzz", true),
            ("01k0b000000000000000000000", false),
            ("01k09zzzzzzzzzzzzzzzzzzzzz", false),
        ] {
            let id: JobId = id.parse().unwrap();
            assert_eq!(beginning.matches(&id), is_meant, "{id}");
            let within = (&beginning.first..=&beginning.last).contains(&&id);
            assert_eq!(within, is_meant, "{id}");
        }
        assert!(beginning.first.drawn_at() < beginning.last.drawn_at());
        let whole = "01k0000000000000000000000a";
        for none in ["01k", "", "9999", "01ku", whole, "01k0-", "ünïcode"] {
            assert_eq!(JobIdPrefix::parse(none), None, "{none}");
        }
    }

    #[test]
    fn an_id_tells_when_it_was_drawn() {
        let at = Timestamp::from_millisecond(1_772_366_400_123).unwrap();
        let ulid = ulid::Ulid::from_parts(1_772_366_400_123, 7);
        assert_eq!(JobId::from_ulid(ulid).drawn_at(), at);
        let last: JobId = "7zzzzzzzzzzzzzzzzzzzzzzzzz".parse().unwrap();
        assert_eq!(last.drawn_at(), Timestamp::MAX);
    }
}
