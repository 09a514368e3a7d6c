//! The few fields of a payload that tell what it is about; everything else is skipped without being kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The top level of any webhook payload.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(borrow)]
    pub(super) repository: Option<Repository<'a>>,
    #[serde(borrow)]
    pub(super) pull_request: Option<Pull<'a>>,
    #[serde(borrow)]
    pub(super) check_run: Option<Checked<'a>>,
    #[serde(borrow)]
    pub(super) check_suite: Option<Checked<'a>>,
    #[serde(borrow)]
    pub(super) workflow_run: Option<Checked<'a>>,
    pub(super) issue: Option<Numbered>,
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
pub(super) struct Repository<'a> {
    #[serde(default)]
    pub(super) id: Option<u64>,
    #[serde(borrow)]
    pub(super) full_name: Cow<'a, str>,
}

/// A pull request.
#[derive(Debug, Deserialize)]
pub(super) struct Pull<'a> {
    pub(super) number: u64,
    #[serde(borrow, default)]
    pub(super) head: Option<Commit<'a>>,
}

/// One end of a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct Commit<'a> {
    #[serde(borrow, default)]
    pub(super) sha: Option<Word<'a>>,
}

/// An issue.
#[derive(Debug, Deserialize)]
pub(super) struct Numbered {
    pub(super) number: u64,
}

/// A check run, a check suite or a workflow run.
#[derive(Debug, Deserialize)]
pub(super) struct Checked<'a> {
    #[serde(borrow, default)]
    pub(super) head_sha: Option<Word<'a>>,
    #[serde(default)]
    pub(super) pull_requests: Option<Vec<Option<Named>>>,
}

/// A pull request that a check names: only its number and the repository of its base.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
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

/// Whether a field is there and not null, whatever it holds.
fn presence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<IgnoredAny>::deserialize(deserializer)?.is_some())
}

/// A text; anything else is skipped, and counts as none.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    deserializer.deserialize_any(Text)
}

struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}
