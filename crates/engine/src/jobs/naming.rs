//! Finds what people and programs name: the one place that every surface asks.

use domain::ids::{EventId, JobId, JobIdPrefix, JobName, SessionId};
use domain::redact::presentable;
use domain::refusal::NotNow;
use jiff::SignedDuration;

use super::{JobQuery, JobRef};
use crate::backend::{Backend, Error};
use crate::keys;
use crate::ports::PageToken;
use crate::store::decode;

/// Longest name that an error repeats, in characters.
const NAME_CHARS_MAX: usize = 80;

/// Jobs read at once while looking for one.
const PAGE: usize = 100;

/// How far a job's creation time may be from the time in its id: an adoption draws the id before it reads the
/// session. Beyond that only the whole id finds the job.
const SLACK: SignedDuration = SignedDuration::from_mins(10);

/// How many ids an answer shows for an ambiguous beginning.
const SHOWN_MAX: usize = 3;

/// What an event id begins with.
const EVENT: &str = "evt_";

/// Minimum length of an abbreviated event id, without the common prefix.
const EVENT_CHARS_MIN: usize = domain::ids::ID_PREFIX_CHARS_MIN;

impl Backend {
    /// Finds the job that a name means: the id of a job or of a session, the beginning of a job's id, `latest`, or a pull request.
    pub async fn find(&self, name: &str) -> Result<JobRef, Error> {
        let missing = || no_such("job", name);
        let job_ref = |job, session| JobRef {
            job,
            session,
            by: None,
        };
        match name.parse::<JobName>().map_err(|_| missing())? {
            JobName::Job(job) => {
                self.must_job(&job).await?;
                Ok(job_ref(job, None))
            }
            JobName::Latest => {
                let newest = self.list_jobs(&JobQuery::default(), None, 1).await?.jobs;
                let newest = newest.into_iter().next().ok_or_else(missing)?;
                Ok(job_ref(newest.id, None))
            }
            JobName::Pull(pull) => {
                let found = self.store.pull(&pull).await?.ok_or_else(missing)?;
                Ok(job_ref(found.value.pull.job, None))
            }
            JobName::Word(word) => self.resolve(word).await?.ok_or_else(missing),
        }
    }

    /// A whole session id goes before the beginning of a job's.
    async fn resolve(&self, word: SessionId) -> Result<Option<JobRef>, Error> {
        let by = None;
        if let Some(job) = self.store.job_of(&word).await? {
            let session = Some(word);
            return Ok(Some(JobRef { job, session, by }));
        }
        let Some(beginning) = JobIdPrefix::parse(word.as_str()) else {
            return Ok(None);
        };
        let mut found = self.jobs_with_prefix(&beginning).await?;
        if found.len() > 1 {
            return Err(ambiguous(word.as_str(), &found).into());
        }
        let session = None;
        Ok(found.pop().map(|job| JobRef { job, session, by }))
    }

    /// Jobs whose ids begin like this, the newest first and no more than are shown.
    ///
    /// An id begins with the time, so only jobs of that time are read, however many there are.
    async fn jobs_with_prefix(&self, beginning: &JobIdPrefix) -> Result<Vec<JobId>, Error> {
        let (first, last) = (beginning.first.drawn_at(), beginning.last.drawn_at());
        let until = keys::stamp(first.saturating_sub(SLACK).unwrap_or(first));
        let from = keys::stamp(last.saturating_add(SLACK).unwrap_or(last));
        let mut token = Some(PageToken::after(&from, &keys::job_listed(&beginning.last)));
        let mut found = Vec::new();
        while token.is_some() {
            let records = self.store.records();
            let page = records.list(keys::JOBS, true, token, PAGE).await?;
            for record in &page.records {
                let is_before = record.list.as_ref().is_some_and(|at| at.sort < until);
                if is_before || found.len() == SHOWN_MAX {
                    return Ok(found);
                }
                let id = decode::<JobId>(record)?.value;
                if beginning.matches(&id) {
                    found.push(id);
                }
            }
            token = page.next;
        }
        Ok(found)
    }

    /// Finds the event of a wake by its id or the beginning of that, with or without what all event ids begin with.
    pub async fn find_event(&self, name: &str) -> Result<EventId, Error> {
        let given = name.to_ascii_lowercase();
        let digits = given.strip_prefix(EVENT).unwrap_or(&given);
        if let Ok(whole) = format!("{EVENT}{digits}").parse() {
            return Ok(whole);
        }
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_hex || digits.len() < EVENT_CHARS_MIN {
            return Err(no_such("event", name));
        }
        let beginning = format!("{EVENT}{digits}");
        let mut found: Vec<EventId> = Vec::new();
        for agent in self.store.agents().await? {
            let wakes = self.store.wakes(&agent.value.name).await?;
            let events = wakes.into_iter().map(|wake| wake.value.event.id);
            found.extend(events.filter(|event| event.as_str().starts_with(&beginning)));
        }
        found.sort();
        found.dedup();
        if found.len() > 1 {
            found.truncate(SHOWN_MAX);
            return Err(ambiguous(name, &found).into());
        }
        found.pop().ok_or_else(|| no_such("event", name))
    }
}

fn no_such(what: &'static str, name: &str) -> Error {
    Error::NoSuch {
        what,
        // A secret that was typed in the wrong place must reach no log.
        name: presentable(name, NAME_CHARS_MAX),
    }
}

fn ambiguous<T: ToString>(name: &str, found: &[T]) -> NotNow {
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    let sentence = format!(
        "`{name}` begins several ids, among them {}: give more characters",
        shown.join(", ")
    );
    NotNow::new("ambiguous", sentence)
}
