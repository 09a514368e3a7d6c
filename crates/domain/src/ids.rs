//! Newtype ids: a session id cannot be passed where a job id is wanted, and none of them can smuggle a path or a header.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::fence::is_invisible;
use crate::redact::redact;

pub(crate) use declaring::{text_id, ulid_id};
pub use mail::{
    Attachment, BODY_BYTES_MAX as MAIL_BODY_BYTES_MAX, MailBody, MailEventId, MailTag, MessageId,
    PAGES as MAIL_PAGES, PersonaName, Subject,
};
pub use naming::{ID_PREFIX_CHARS_MIN, JobIdPrefix, JobName};
pub use pipeline::PipelineId;
pub use repository::{RepoId, RepoName, RepositoryIdentity};
pub use sprint::SprintNumber;

mod declaring;
mod delivery;
mod mail;
mod naming;
mod pipeline;
mod repository;
mod sprint;

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a valid {kind}: {rule}")]
pub struct InvalidId {
    /// The expected kind, in words.
    pub kind: &'static str,
    /// The given value without secrets, cut to 80 characters.
    pub value: String,
    /// The rule for valid ones.
    pub rule: &'static str,
}

impl InvalidId {
    pub(crate) fn new(kind: &'static str, value: &str, rule: &'static str) -> Self {
        let visible: String = value
            .chars()
            .filter(|c| !c.is_control() && !is_invisible(*c))
            .collect();
        let value = redact(&visible).chars().take(80).collect();
        Self { kind, value, rule }
    }
}

fn is_word(value: &str, longest: usize) -> bool {
    !value.is_empty()
        && value.len() <= longest
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn is_name(value: &str) -> bool {
    value.len() <= 32
        && value.starts_with(|c: char| c.is_ascii_lowercase())
        && value
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

fn is_role(value: &str, longest: usize) -> bool {
    value.len() <= longest
        && value.starts_with(|c: char| c.is_ascii_lowercase())
        && value
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
}

fn is_hex(value: &str) -> bool {
    value
        .bytes()
        .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn is_short_hex(value: &str, digits: usize) -> bool {
    value.len() == digits && is_hex(value)
}

pub(crate) fn is_ulid(value: &str) -> bool {
    // A first character beyond 7 would not fit into the 128 bits.
    value.len() == 26
        && value.starts_with(|c: char| ('0'..='7').contains(&c))
        && value
            .bytes()
            .all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
        && ulid::Ulid::from_string(value).is_ok()
}

fn is_branch(value: &str) -> bool {
    let forbidden = |c: char| is_invisible(c) || c.is_whitespace() || "~^:?*[\\".contains(c);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    value.len() <= 244
        && value != "@"
        && !value.contains(forbidden)
        && !value.contains("..")
        && !value.contains("@{")
        && !value.starts_with('-')
        && !value.ends_with('.')
        && value.split('/').all(part)
}

ulid_id!(
    /// One piece of work, kept over retries: a ULID in lower case.
    JobId, "job id";
    /// One piece of work, kept over retries: a ULID in lower case.
    as JobId
);
text_id!(
    /// One delivery: 12 hex digits of the hash of what triggered it, or a ULID in lower case.
    DeliveryId, "delivery id", "12 hex digits, or a ULID in lower case", |v| is_short_hex(v, 12) || is_ulid(v)
);
text_id!(
    /// One execution of a phase of a delivery.
    RunId, "run id", "8 hex digits", |v| is_short_hex(v, 8)
);
text_id!(
    /// Jules's own id of a session: an unsigned 64-bit decimal in practice, kept as text because it exceeds an `i64` and a float.
    SessionId, "session id", "1 to 64 letters, digits, `-` or `_`", |v| is_word(v, 64);
    /// Jules's own id of a session.
    { "pattern": "^[A-Za-z0-9_-]{1,64}$", "examples": ["15400000000000000001"] }
);
text_id!(
    /// GitHub's name of one webhook delivery, which a redelivery keeps: a UUID in practice.
    DeliveryGuid, "delivery GUID", "1 to 64 letters, digits, `-` or `_`", |v| is_word(v, 64)
);
text_id!(
    /// Jules's id of one activity of a session, 32 hex digits in practice.
    ActivityId, "activity id", "1 to 128 letters, digits, `-` or `_`", |v| is_word(v, 128)
);
text_id!(
    /// One plan: Jules's own id of it, or ours where another planner sent it.
    PlanId, "plan id", "1 to 128 letters, digits, `-` or `_`", |v| is_word(v, 128);
    /// One plan: Jules's own id of it, or ours where another planner sent it.
    { "pattern": "^[A-Za-z0-9_-]{1,128}$" }
);
text_id!(
    /// One running Gaffer with its own store.
    InstallationId, "installation id", "1 to 32 of a-z, 0-9, `-`, a letter first", is_name
);
text_id!(
    /// One Jules key with its plan and budgets.
    AccountName, "account name", "1 to 32 of a-z, 0-9, `-`, a letter first", is_name;
    /// One Jules key with its plan and budgets.
    { "pattern": "^[a-z][a-z0-9-]{0,31}$", "examples": ["default"] }
);
text_id!(
    /// Who gets woken.
    AgentName, "agent name", "1 to 32 of a-z, 0-9, `-`, a letter first", is_name;
    /// Who gets woken.
    { "pattern": "^[a-z][a-z0-9-]{0,31}$", "examples": ["zai"] }
);
text_id!(
    /// A role of a layer of the pipeline, which its folder is named after.
    RoleName, "role", "1 to 40 of a-z, 0-9, `_`, `-`, a letter first", |v| is_role(v, 40);
    /// A role of a layer that has several.
    { "pattern": "^[a-z][a-z0-9_-]{0,39}$", "examples": ["qa"] }
);
text_id!(
    /// A stream of the exchange, which its folder is named after.
    StreamName, "stream", "1 to 40 of a-z, 0-9, `_`, `-`, a letter first", |v| is_role(v, 40);
    /// A stream of the exchange.
    { "pattern": "^[a-z][a-z0-9_-]{0,39}$", "examples": ["backend"] }
);
text_id!(
    /// What an agent of the pipeline calls an event, a requirement, a proposal or a branch by.
    ArtefactId, "id of an event, a requirement or a proposal", "6 of a-z, 0-9", |v| v.len() == 6 && v.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    /// An event, a requirement or a proposal of the exchange.
    { "pattern": "^[a-z0-9]{6}$", "examples": ["ab12cd"] }
);
text_id!(
    /// A token of our own HTTP API.
    TokenName, "token name", "1 to 32 of a-z, 0-9, `-`, a letter first, and not `installation`, as the installation's own is called", |v| is_name(v) && v != "installation"
);
text_id!(
    /// A git object id, 40 or 64 hex digits in lower case.
    CommitSha, "commit SHA", "40 or 64 hex digits in lower case", |v| (v.len() == 40 || v.len() == 64) && is_hex(v);
    /// A git object id in lower case.
    { "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$", "examples": ["1111111111111111111111111111111111111111"] }
);
text_id!(
    /// A branch without `refs/heads/`.
    BranchName, "branch name", "what `git check-ref-format --branch` accepts", is_branch;
    /// A branch without `refs/heads/`, as `git check-ref-format --branch` accepts it.
    { "pattern": "^[^\\u0000-\\u0020\\u007f~^:?*\\[\\\\]+$", "minLength": 1, "maxLength": 244, "examples": ["main"] }
);
text_id!(
    /// One effect: a hash of its purpose, so the same decision always has the same id.
    EffectId, "effect id", "32 hex digits", |v| v.len() == 32 && is_hex(v);
    /// One effect: the same decision always has the same id.
    { "pattern": "^[0-9a-f]{32}$" }
);
text_id!(
    /// One occurrence that may wake an agent: a hash of the occurrence, so it can be announced only once.
    EventId, "event id", "`evt_` and 32 hex digits", |v| v.strip_prefix("evt_").is_some_and(|h| h.len() == 32 && is_hex(h));
    /// One occurrence that may wake an agent.
    { "pattern": "^evt_[0-9a-f]{32}$" }
);

/// The first 32 hex digits of the SHA-256 of a text: 128 bits, so that two different texts never meet.
pub(crate) fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    let mut hex = hex::encode(Sha256::digest(text.as_bytes()));
    hex.truncate(32);
    hex
}

impl EffectId {
    /// The id for a `name`, for example `merge:acme/shop#7@<sha>`.
    pub fn from_name(name: &str) -> Self {
        Self(digest(name))
    }
}

impl EventId {
    /// The id of the occurrence described by `name`.
    pub fn from_name(name: &str) -> Self {
        Self(format!("evt_{}", digest(name)))
    }
}

/// How the placeholder of a plan begins whose id never came.
const UNNAMED_PLAN: &str = "at-";

impl PlanId {
    /// Placeholder for a plan whose id never came, named by the time its session began to wait.
    pub fn unnamed(since: jiff::Timestamp) -> Self {
        Self(format!("{UNNAMED_PLAN}{}", since.as_millisecond()))
    }

    /// Whether it is such a placeholder.
    pub fn is_unnamed(&self) -> bool {
        self.0.starts_with(UNNAMED_PLAN)
    }
}

impl BranchName {
    /// What most repositories call their default branch.
    pub fn main() -> Self {
        Self("main".to_owned())
    }

    /// What the branch is called on which agents of a pipeline hand work on, where no settings name another.
    pub fn jules() -> Self {
        Self("jules".to_owned())
    }
}

impl InstallationId {
    /// An installation id made of a ULID's random half, for a new installation.
    pub fn from_ulid(ulid: ulid::Ulid) -> Self {
        let text = ulid.to_string().to_ascii_lowercase();
        Self(format!("g{}", &text[text.len() - 10..]))
    }
}

/// A number from 1 in plain digits, without a sign.
pub(crate) fn counted(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|n| plain && *n > 0)
}

/// One pull request: `owner/name#number`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PullRef {
    /// The repository that the pull request wants to change.
    pub repo: RepoName,
    /// Its number there, from 1.
    pub number: u64,
}

impl PullRef {
    /// Reads `https://github.com/owner/name/pull/7`, with anything after the number ignored.
    pub fn from_url(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("https://github.com/")?;
        let mut parts = rest.split('/');
        let repo = format!("{}/{}", parts.next()?, parts.next()?)
            .parse()
            .ok()?;
        if parts.next()? != "pull" {
            return None;
        }
        let digits: String = parts
            .next()?
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let number = digits.parse().ok().filter(|n| *n > 0)?;
        Some(Self { repo, number })
    }

    /// The address of its page.
    pub fn url(&self) -> String {
        format!("https://github.com/{}/pull/{}", self.repo, self.number)
    }
}

impl FromStr for PullRef {
    type Err = InvalidId;

    fn from_str(value: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId::new("pull request", value, "`owner/name#number`");
        let (repo, number) = value.split_once('#').ok_or_else(invalid)?;
        let repo = repo.parse().map_err(|_| invalid())?;
        let number = counted(number).ok_or_else(invalid)?;
        Ok(Self { repo, number })
    }
}

crate::by_text::by_text!(PullRef);

impl fmt::Display for PullRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.repo, self.number)
    }
}

#[cfg(test)]
mod tests;
