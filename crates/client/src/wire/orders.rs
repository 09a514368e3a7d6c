//! What can be ordered of a job, and of an event.

use std::fmt;

use domain::ids::{AgentName, CommitSha, PlanId, RepoName, SessionId};
use domain::policy::MergeMethod;
use schemars::JsonSchema;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::form;

/// `POST /jobs/{id}/messages`: words for the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The words; `{"content": words}` is read as well. Their length is limited by `domain::job::MESSAGE_BYTES_MAX`.
    #[serde(deserialize_with = "words_or_content")]
    #[schemars(with = "form::WordsSchema")]
    pub message: String,
}

/// `POST /jobs/{id}:merge`: the pull request may be merged at this head.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeRequest {
    /// The head that was reviewed; without it the present one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha: Option<CommitSha>,
    /// How, if its source allows it; as the source says without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_method: Option<MergeMethod>,
    /// The first line of the commit, at most `domain::pull::TITLE_CHARS_MAX` characters; GitHub's own without it. A rebase takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::pull::TITLE_CHARS_MAX))]
    pub commit_title: Option<String>,
    /// Whether the head branch is deleted afterwards; as the source says without it, and never where the source keeps branches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_branch: Option<bool>,
    /// Cannot be true: nothing is merged before its checks have passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(with = "form::Never")]
    pub force: bool,
    /// Who says so, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// `POST /jobs/{id}:cancel`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    /// Who calls it off, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Closes its pull request too, which stays open otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub close_pull: bool,
}

/// `POST /jobs/adopt`: watches a session that was started elsewhere as a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdoptRequest {
    /// The session, in Jules's spelling.
    pub session_id: SessionId,
    /// The repository it works on; it has to be a source.
    pub repo: RepoName,
    /// Who is woken; the source's agent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Whether a session that belongs to another installation may be taken over.
    #[serde(default)]
    pub take_over: bool,
}

/// `POST /jobs/{id}:retry`: another session for a job that ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryRequest {
    /// A message for the new session in addition to how the previous one ended, at most
    /// `domain::job::RETRY_REASON_CHARS_MAX` characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = domain::job::RETRY_REASON_CHARS_MAX))]
    pub reason: Option<String>,
}

/// `POST /jobs/{id}:register`: watches a job, or a session that was started elsewhere, and stores notes about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterRequest {
    /// Notes, over the present ones; `null` removes one. Their size is limited by `domain::notes::NOTES_BYTES_MAX`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The repository of a session that is not watched yet; it has to be a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<RepoName>,
    /// Who is woken for such a session; the source's agent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
}

/// `POST /jobs/{job}/approve`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveRequest {
    /// The plan that was read; another one is not approved in its place. Without it the present plan is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<PlanId>,
}

/// `POST /events/{id}/ack`: an agent is done with an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledge {
    /// Which agent.
    pub agent: AgentName,
}

/// Reads `"words"` and `{"content": "words"}`, and says what is wrong with anything else.
fn words_or_content<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    deserializer.deserialize_any(MessageText)
}

struct MessageText;

impl<'de> Visitor<'de> for MessageText {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or an object with the text in `content`")
    }

    fn visit_str<E: de::Error>(self, words: &str) -> Result<String, E> {
        Ok(words.to_owned())
    }

    fn visit_string<E: de::Error>(self, words: String) -> Result<String, E> {
        Ok(words)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut content = None;
        while let Some(key) = map.next_key::<String>()? {
            if key != "content" {
                return Err(de::Error::unknown_field(&key, &["content"]));
            }
            if content.replace(map.next_value()?).is_some() {
                return Err(de::Error::duplicate_field("content"));
            }
        }
        content.ok_or_else(|| de::Error::missing_field("content"))
    }
}
