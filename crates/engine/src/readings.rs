//! Results that the dispatcher read for callers of an API that holds no credential.

use domain::conversation::{ConversationCursor, Message, MessagePage};
use domain::delivery::{IssueText, TranscriptEntry, of_issue};
use domain::failure::Failure;
use domain::ids::{CommitSha, PersonaName, SessionId, SprintNumber};
use domain::intake::Intake;
use domain::redact::presentable;
use domain::when::is_within;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::ports::IssueFacts;
use crate::settings::ReadArtifacts;

/// Maximum reads of Jules for one job within [`READINGS_WINDOW`] on request, of any kind: each cursor is another
/// question, and anyone can make them up.
pub const READINGS_MAX: u32 = 30;

/// In which time these are counted.
pub const READINGS_WINDOW: SignedDuration = SignedDuration::from_secs(60);

/// Longest reason of a failed read, in characters.
const FAILURE_CHARS_MAX: usize = 300;

/// A page of a job's conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadMessages {
    /// When the reading began.
    pub read_at: Timestamp,
    /// Whose conversation it is; `None` while the job has no session.
    pub session: Option<SessionId>,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// Where to go on, as [`ConversationCursor`] writes it.
    pub next: String,
    /// Whether more messages exist already.
    pub more: bool,
    /// Why it could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl ReadMessages {
    /// Nothing: the reader keeps its cursor.
    pub fn nothing(
        read_at: Timestamp,
        session: Option<SessionId>,
        cursor: &ConversationCursor,
    ) -> Self {
        Self {
            read_at,
            session,
            messages: Vec::new(),
            next: cursor.to_string(),
            more: false,
            failure: None,
        }
    }

    /// A page that was read.
    pub fn from_page(read_at: Timestamp, session: SessionId, page: MessagePage) -> Self {
        Self {
            read_at,
            session: Some(session),
            messages: page.messages,
            next: page.next.to_string(),
            more: page.more,
            failure: None,
        }
    }
}

/// A read of a job's session on request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCheck {
    /// When it began; its result is in the job by then.
    pub read_at: Timestamp,
    /// Why the session could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A page of what was said and done in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptPage {
    /// When the reading began; all pages of one reading have the same.
    pub read_at: Timestamp,
    /// How many pages there are.
    pub pages: u32,
    /// How many earlier entries were left out: they stay with Jules.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: u32,
    /// The entries, oldest first.
    pub entries: Vec<TranscriptEntry>,
    /// Why it could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl TranscriptPage {
    /// Nothing: there are no pages, or none could be read.
    pub fn nothing(read_at: Timestamp, failure: Option<&Failure>) -> Self {
        Self {
            read_at,
            pages: 0,
            left_out: 0,
            entries: Vec::new(),
            failure: failure.map(reason),
        }
    }
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

/// An issue that was read on request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadIssue {
    /// When the reading began.
    pub read_at: Timestamp,
    /// Whether it is open.
    #[serde(default)]
    pub is_open: bool,
    /// Whether it is a pull request: GitHub lists those as issues, too.
    #[serde(default)]
    pub is_pull: bool,
    /// What it is about, as a delivery keeps it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its open tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<String>,
    /// Why it could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl ReadIssue {
    /// An issue that was read.
    pub fn from_facts(facts: &IssueFacts, read_at: Timestamp) -> Self {
        let IssueText {
            summary,
            description,
            acceptance_criteria,
        } = of_issue(facts.number, &facts.title, facts.body.as_deref());
        Self {
            read_at,
            is_open: facts.is_open,
            is_pull: facts.is_pull,
            summary,
            description,
            acceptance_criteria,
            failure: None,
        }
    }

    /// Whether it can become a delivery.
    pub(crate) fn is_takeable(&self) -> bool {
        self.failure.is_none() && self.is_open && !self.is_pull
    }

    /// One that could not be read.
    pub fn failed(failure: &Failure, read_at: Timestamp) -> Self {
        Self {
            read_at,
            is_open: false,
            is_pull: false,
            summary: String::new(),
            description: None,
            acceptance_criteria: Vec::new(),
            failure: Some(reason(failure)),
        }
    }
}

/// The personas of a repository, and whether the branch of a sprint of them is free, read on request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPersonas {
    /// When the reading began.
    pub read_at: Timestamp,
    /// The commit whose files they are; none if the branch is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitSha>,
    /// Those that start when a sprint does, in order of id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batch: Vec<PersonaName>,
    /// Others with a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<PersonaName>,
    /// What is wrong with files that cannot be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// The sprint that was asked about, if its branch ends with a commit that no weave of it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<SprintNumber>,
    /// Why they could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl ReadPersonas {
    /// None: the branch is not there, or could not be read.
    pub fn nothing(read_at: Timestamp, failure: Option<&Failure>) -> Self {
        Self {
            read_at,
            commit: None,
            batch: Vec::new(),
            others: Vec::new(),
            faults: Vec::new(),
            taken: None,
            failure: failure.map(reason),
        }
    }
}

impl Dated for ReadPersonas {
    fn read_at(&self) -> Timestamp {
        self.read_at
    }
}

/// How often Jules was asked about a job for those who wait, since a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadCounter {
    /// Since when.
    pub since: Timestamp,
    /// How often.
    pub times: u32,
}

impl ReadCounter {
    /// With one more now; `None` when there were as many as there may be.
    pub(crate) fn one_more(before: Option<&Self>, now: Timestamp) -> Option<Self> {
        let current = before.filter(|it| is_within(it.since, now, READINGS_WINDOW));
        let Some(Self { since, times }) = current else {
            let (since, times) = (now, 1);
            return Some(Self { since, times });
        };
        let one_more = Self {
            since: *since,
            times: times + 1,
        };
        Some(one_more).filter(|it| it.times <= READINGS_MAX)
    }
}

/// A result of a read outside, with its time.
pub(crate) trait Dated {
    /// When the reading began.
    fn read_at(&self) -> Timestamp;
}

impl Dated for TranscriptPage {
    fn read_at(&self) -> Timestamp {
        self.read_at
    }
}

impl Dated for ReadIssue {
    fn read_at(&self) -> Timestamp {
        self.read_at
    }
}

impl Dated for Intake {
    fn read_at(&self) -> Timestamp {
        let last = self.last.as_ref();
        last.map_or(Timestamp::MIN, |last| last.at)
    }
}

impl Dated for ReadMessages {
    fn read_at(&self) -> Timestamp {
        self.read_at
    }
}

impl Dated for ReadArtifacts {
    fn read_at(&self) -> Timestamp {
        self.read_at
    }
}

impl Dated for SessionCheck {
    fn read_at(&self) -> Timestamp {
        self.read_at
    }
}

/// Why a read failed, as stored and shown.
pub(crate) fn reason(failure: &Failure) -> String {
    presentable(&failure.message, FAILURE_CHARS_MAX)
}
