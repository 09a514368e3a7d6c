//! Refusals, as problem documents that reveal no internals.

use axum::Json;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use client::wire::{PROBLEM_JSON, Problem, Reason};
use domain::advice::{Advice, Next};
use domain::redact::presentable;
use domain::refusal::{About, NotNow};
use engine::backend::Error;
use engine::ports::{CommitError, RecordsError};

use crate::next;

/// Longest detail, in characters: it may repeat parts of the request.
const DETAIL_CHARS_MAX: usize = 1_000;

/// Longest name of a field, in characters: it may be one that we do not know.
const FIELD_CHARS_MAX: usize = 80;

/// When to ask again while the store cannot be used, in seconds: a busy SQLite is free again by then.
const UNAVAILABLE_AGAIN_SECS: &str = "5";

/// A refusal.
#[derive(Debug)]
pub(crate) struct Refused(Box<Problem>);

impl Refused {
    /// A refusal without field and reasons.
    pub(crate) fn new(status: StatusCode, code: &str, detail: &str) -> Self {
        let title = status.canonical_reason().unwrap_or("Refused");
        let detail = presentable(detail, DETAIL_CHARS_MAX);
        Self(Box::new(Problem::new(status.as_u16(), title, code, detail)))
    }

    /// Refuses an invalid field, parameter or header.
    pub(crate) fn field(field: &str, code: &str, detail: &str) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail).about(field)
    }

    /// A refusal that another route of ours answered.
    pub(crate) fn answered(problem: Problem) -> Self {
        Self(Box::new(problem))
    }

    /// What is answered.
    pub(crate) fn problem(&self) -> &Problem {
        &self.0
    }

    /// The status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The same refusal, about a field.
    pub(crate) fn about(mut self, field: &str) -> Self {
        self.0.field = Some(presentable(field, FIELD_CHARS_MAX));
        self
    }

    /// The same refusal with all its reasons.
    pub(crate) fn because(mut self, reasons: Vec<Reason>) -> Self {
        self.0.reasons = reasons;
        self
    }

    /// The same refusal, with what to do next.
    pub(crate) fn advising(mut self, next: &[Next]) -> Self {
        self.0.next.extend(next.iter().map(next::shown));
        self
    }

    /// The same refusal, with what the caller may do with the delivery now.
    pub(crate) fn with_legal(mut self, legal: Vec<String>) -> Self {
        self.0.legal = Some(legal);
        self
    }

    /// The same refusal, with the id of what is there already.
    pub(crate) fn with_existing(mut self, id: &str) -> Self {
        self.0.existing = Some(id.to_owned());
        self
    }

    /// What the store or the queue could not do. The cause is for the log alone.
    fn ours(status: StatusCode, code: &str, error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, problem.code = code, "a request could not be served");
        let detail = match status {
            StatusCode::SERVICE_UNAVAILABLE => {
                "the store or the queue cannot be used just now: try again"
            }
            _ => "something stored cannot be used; the log tells what",
        };
        Self::new(status, code, detail)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut response = (status, Json(self.0)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(
                WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"gaffer\""),
            );
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(
                RETRY_AFTER,
                HeaderValue::from_static(UNAVAILABLE_AGAIN_SECS),
            );
        }
        response
    }
}

impl From<NotNow> for Refused {
    fn from(not_now: NotNow) -> Self {
        let NotNow {
            code,
            sentence,
            about,
            next,
        } = not_now;
        let refused = match about {
            About::State => Self::new(StatusCode::CONFLICT, code, &sentence),
            About::Field(field) => Self::field(field, code, &sentence),
            About::Gone(field) => Self::new(StatusCode::GONE, code, &sentence).about(field),
        };
        refused.advising(&next)
    }
}

impl From<RecordsError> for Refused {
    fn from(error: RecordsError) -> Self {
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        match &error {
            RecordsError::Unavailable { .. } => Self::ours(unavailable, "unavailable", &error),
            RecordsError::Unreadable { .. } => {
                Self::ours(StatusCode::INTERNAL_SERVER_ERROR, "unreadable", &error)
            }
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        match error {
            Error::NotNow(not_now) => not_now.into(),
            Error::Transition(refused) => refused.into(),
            Error::NoSuch { what, ref name } => {
                let code = format!("no_such_{what}");
                let helps = Advice::for_missing(what, name);
                Self::new(StatusCode::NOT_FOUND, &code, &error.to_string())
                    .about(field_of(what))
                    .advising(helps.as_slice())
            }
            Error::Records(error) => error.into(),
            // Escapes can make a text several times as long as it looked.
            Error::Commit(CommitError::TooLarge { .. }) => {
                let detail = "what was sent does not fit a record: make it shorter";
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
            }
            Error::Commit(error) => Self::ours(unavailable, "unavailable", &error),
            Error::Queue(error) => Self::ours(unavailable, "unavailable", &error),
            Error::Outside(error) => Self::ours(unavailable, "unavailable", &error),
        }
    }
}

/// The field in which callers name an object of this kind.
fn field_of(what: &'static str) -> &'static str {
    match what {
        "job" => "job_id",
        "effect" => "effect_id",
        "wake" => "event_id",
        "source" => "repo",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_refusal_is_about_chooses_its_status_and_its_field() {
        let new = || NotNow::new("code", "why").advising(Advice::Resume.about(&""));
        for (refused, status, field) in [
            (new(), 409, None),
            (new().about("prompt"), 422, Some("prompt")),
            (new().about_gone("after"), 410, Some("after")),
        ] {
            let refused = Refused::from(refused);
            let problem = refused.problem();
            assert_eq!((problem.status, problem.field.as_deref()), (status, field));
            assert_eq!((problem.code.as_str(), problem.next.len()), ("code", 1));
        }
    }
}
