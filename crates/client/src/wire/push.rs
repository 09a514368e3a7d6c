//! A session that is pushed to us, as Jules's API shows it.

use std::borrow::Cow;

use domain::ids::{InvalidId, JobId, SessionId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// What a session's name begins with in Jules's API.
const SESSIONS: &str = "sessions/";

/// `POST /webhooks/jules`: a session as Jules's API shows it. Which one it is, is all that is read of it; what else it says is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushedSession {
    /// Its name: `sessions/` and its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<SessionName>,
    /// Its id, which may stand instead of the name. Where both stand they have to agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
}

/// A session as Jules names it: `sessions/15400000000000000001`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionName(pub SessionId);

impl JsonSchema for SessionName {
    fn schema_name() -> Cow<'static, str> {
        "SessionName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A session as Jules names it.",
            "type": "string",
            "pattern": "^sessions/[A-Za-z0-9_-]{1,64}$",
            "examples": ["sessions/15400000000000000001"],
        })
    }
}

/// A text is no name of a session.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSessionName {
    /// It does not say that it is one.
    #[error("it does not begin with `{SESSIONS}`")]
    Start,
    /// No id follows.
    #[error("after `{SESSIONS}`: {0}")]
    Id(#[from] InvalidId),
}

impl TryFrom<String> for SessionName {
    type Error = InvalidSessionName;

    fn try_from(text: String) -> Result<Self, InvalidSessionName> {
        let id = text
            .strip_prefix(SESSIONS)
            .ok_or(InvalidSessionName::Start)?;
        Ok(Self(id.parse()?))
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> Self {
        format!("{SESSIONS}{}", name.0)
    }
}

/// 202 of `POST /webhooks/jules`: whose session it is. It is read from Jules soon, unless it is watched no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushTaken {
    /// The job.
    pub job_id: JobId,
    /// Where the job is shown, the same as the `Location` header.
    pub ask_again: String,
}
