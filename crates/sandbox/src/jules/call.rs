//! The methods of v1alpha, distinguished by HTTP method and raw path.

use axum::http::Method;

/// One method of the API with the names in its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call<'a> {
    ListSources,
    GetSource { repo: &'a str },
    CreateSession,
    ListSessions,
    GetSession { id: &'a str },
    DeleteSession { id: &'a str },
    ApprovePlan { id: &'a str },
    SendMessage { id: &'a str },
    Archive { id: &'a str },
    Unarchive { id: &'a str },
    ListActivities { id: &'a str },
    GetActivity { id: &'a str, activity: &'a str },
}

impl<'a> Call<'a> {
    /// Reads a path below `/v1alpha`. It is not decoded: an encoded colon names nothing, as on the live service.
    pub(crate) fn read(method: &Method, path: &'a str) -> Option<Self> {
        let path = path.strip_prefix('/')?;
        if let Some(repo) = path.strip_prefix("sources/github/") {
            let names = repo.split('/').filter(|part| !part.is_empty()).count() == 2;
            return (*method == Method::GET && names).then_some(Self::GetSource { repo });
        }
        let parts: Vec<&str> = path.split('/').collect();
        match (method.as_str(), parts.as_slice()) {
            ("GET", ["sources"]) => Some(Self::ListSources),
            ("GET", ["sessions"]) => Some(Self::ListSessions),
            ("POST", ["sessions"]) => Some(Self::CreateSession),
            ("GET", ["sessions", id]) => Some(Self::GetSession { id }),
            ("DELETE", ["sessions", id]) => Some(Self::DeleteSession { id }),
            ("POST", ["sessions", verb]) => Self::read_verb(verb),
            ("GET", ["sessions", id, "activities"]) => Some(Self::ListActivities { id }),
            ("GET", ["sessions", id, "activities", activity]) => {
                Some(Self::GetActivity { id, activity })
            }
            _ => None,
        }
    }

    fn read_verb(text: &'a str) -> Option<Self> {
        let (id, verb) = text.split_once(':')?;
        match verb {
            "approvePlan" => Some(Self::ApprovePlan { id }),
            "sendMessage" => Some(Self::SendMessage { id }),
            "archive" => Some(Self::Archive { id }),
            "unarchive" => Some(Self::Unarchive { id }),
            // `:pause`, `:resume`, `:cancelPlan` and all others do not exist.
            _ => None,
        }
    }

    /// The query parameters that only some methods know.
    pub(crate) fn parameters(&self) -> &'static [&'static str] {
        match self {
            Self::ListSources | Self::ListSessions | Self::ListActivities { .. } => {
                &["pageSize", "pageToken", "filter"]
            }
            Self::GetSource { .. }
            | Self::CreateSession
            | Self::GetSession { .. }
            | Self::DeleteSession { .. }
            | Self::ApprovePlan { .. }
            | Self::SendMessage { .. }
            | Self::Archive { .. }
            | Self::Unarchive { .. }
            | Self::GetActivity { .. } => &[],
        }
    }
}
