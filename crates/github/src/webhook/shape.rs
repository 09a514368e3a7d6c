//! The few fields of a payload that identify its subject; everything else is skipped.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// The top level of any webhook payload.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(borrow)]
    pub(super) repository: Option<PayloadRepository<'a>>,
    #[serde(borrow)]
    pub(super) pull_request: Option<PayloadPull<'a>>,
    #[serde(borrow)]
    pub(super) check_run: Option<Checked<'a>>,
    #[serde(borrow)]
    pub(super) check_suite: Option<Checked<'a>>,
    #[serde(borrow)]
    pub(super) workflow_run: Option<Checked<'a>>,
    pub(super) issue: Option<PayloadIssue>,
    #[serde(deserialize_with = "text")]
    pub(super) action: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) sha: Option<Word<'a>>,
    #[serde(borrow, rename = "ref")]
    pub(super) reference: Option<Word<'a>>,
    #[serde(borrow)]
    pub(super) after: Option<Word<'a>>,
    #[serde(deserialize_with = "presence")]
    pub(super) before: bool,
    #[serde(deserialize_with = "presence")]
    pub(super) comment: bool,
    #[serde(deserialize_with = "presence")]
    pub(super) context: bool,
    #[serde(deserialize_with = "presence")]
    pub(super) deployment: bool,
    #[serde(deserialize_with = "presence")]
    pub(super) review: bool,
    #[serde(deserialize_with = "text")]
    pub(super) state: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "presence")]
    pub(super) thread: bool,
}

/// The repository it happened in.
#[derive(Debug, Deserialize)]
pub(super) struct PayloadRepository<'a> {
    #[serde(default)]
    pub(super) id: Option<u64>,
    #[serde(borrow)]
    pub(super) full_name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PayloadPull<'a> {
    pub(super) number: u64,
    #[serde(borrow, default)]
    pub(super) head: Option<PayloadHead<'a>>,
}

/// One end of a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct PayloadHead<'a> {
    #[serde(borrow, default)]
    pub(super) sha: Option<Word<'a>>,
}

/// An issue, or a pull request as the issue that it also is.
#[derive(Debug, Deserialize)]
pub(super) struct PayloadIssue {
    pub(super) number: u64,
    /// Only a pull request has it.
    #[serde(default, deserialize_with = "presence")]
    pub(super) pull_request: bool,
}

/// A check run, a check suite or a workflow run.
#[derive(Debug, Deserialize)]
pub(super) struct Checked<'a> {
    #[serde(borrow, default)]
    pub(super) head_sha: Option<Word<'a>>,
    #[serde(default)]
    pub(super) pull_requests: Option<Vec<Option<PayloadName>>>,
}

/// A pull request that a check names: only its number and the repository of its base.
#[derive(Debug, Deserialize)]
pub(super) struct PayloadName {
    pub(super) number: u64,
    #[serde(default)]
    pub(super) base: Option<NamedBase>,
}

/// The base of a named pull request.
#[derive(Debug, Deserialize)]
pub(super) struct NamedBase {
    #[serde(default)]
    pub(super) repo: Option<NamedRepo>,
}

/// The repository of a named pull request.
#[derive(Debug, Deserialize)]
pub(super) struct NamedRepo {
    #[serde(default)]
    pub(super) id: Option<u64>,
}

/// A text, borrowed from the body where it has no escapes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Word<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Whether a field is present and not null.
fn presence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<IgnoredAny>::deserialize(deserializer)?.is_some())
}

/// A text; anything else is skipped, and counts as none.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    Ok(match Anything::deserialize(deserializer)? {
        Anything::Text(text) => Some(text),
        Anything::Else(IgnoredAny) => None,
    })
}

/// The values that may appear in place of a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Anything<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Else(IgnoredAny),
}
