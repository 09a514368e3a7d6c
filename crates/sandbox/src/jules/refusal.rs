//! Refusals in the shape of google.rpc.Status, with the texts seen on the live service.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A request that Jules refuses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JulesRefusal {
    code: u16,
    status: &'static str,
    message: String,
    details: Vec<Value>,
    retry_after_secs: Option<u64>,
}

impl JulesRefusal {
    /// 400 about one field, with the field violation that Google adds.
    pub(crate) fn invalid_field(field: &str, message: &str) -> Self {
        let violation = json!({ "field": field, "description": message });
        let detail = json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [violation],
        });
        Self {
            details: vec![detail],
            ..Self::plain(400, "INVALID_ARGUMENT", message)
        }
    }

    /// 400 INVALID_ARGUMENT without details.
    pub(crate) fn invalid(message: &str) -> Self {
        Self::plain(400, "INVALID_ARGUMENT", message)
    }

    /// A query parameter the method does not know.
    pub(crate) fn unknown_parameter(name: &str) -> Self {
        let message = format!(
            "Unknown name \"{name}\": Cannot bind query parameter. Field '{name}' could not be found in request message."
        );
        Self::invalid_field("", &message)
    }

    /// A member of the body the method does not know; `parent` is empty for the body itself.
    pub(crate) fn unknown_member(parent: &str, name: &str) -> Self {
        let place = if parent.is_empty() {
            String::new()
        } else {
            format!(" at '{parent}'")
        };
        let message = format!(
            "Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field."
        );
        Self::invalid_field(parent, &message)
    }

    /// The answer about anything that does not exist, or not yet.
    pub(crate) fn not_found() -> Self {
        Self::plain(404, "NOT_FOUND", "Requested entity was not found.")
    }

    /// The refusal that names no reason: quota, or a call that does not fit the state.
    pub(crate) fn precondition() -> Self {
        Self::plain(400, "FAILED_PRECONDITION", "Precondition check failed.")
    }

    /// 429.
    pub(crate) fn exhausted(retry_after_secs: Option<u64>) -> Self {
        let message = "Resource has been exhausted (e.g. check quota).";
        Self {
            retry_after_secs,
            ..Self::plain(429, "RESOURCE_EXHAUSTED", message)
        }
    }

    /// The same with a RetryInfo detail.
    #[must_use]
    pub(crate) fn with_retry_info(mut self, secs: u64) -> Self {
        self.details.push(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{secs}s"),
        }));
        self
    }

    /// A missing or wrong key, 401.
    pub(crate) fn unauthenticated() -> Self {
        let message = "Request had invalid authentication credentials. Expected OAuth 2 access token, \
                       login cookie or other valid authentication credential.";
        Self::plain(401, "UNAUTHENTICATED", message)
    }

    /// A wrong key in the other wording that Google fronts use.
    pub(crate) fn key_invalid() -> Self {
        let detail = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
            "metadata": { "service": "jules.googleapis.com" },
        });
        let message = "API key not valid. Please pass a valid API key.";
        Self {
            details: vec![detail],
            ..Self::plain(400, "INVALID_ARGUMENT", message)
        }
    }

    /// The refusal that goes with an HTTP status, for faults that name only that.
    pub(crate) fn of_status(code: u16) -> Self {
        match code {
            400 => Self::plain(
                code,
                "INVALID_ARGUMENT",
                "Request contains an invalid argument.",
            ),
            401 => Self::unauthenticated(),
            403 => Self::plain(
                code,
                "PERMISSION_DENIED",
                "The caller does not have permission",
            ),
            404 => Self::not_found(),
            429 => Self::exhausted(None),
            503 => Self::plain(code, "UNAVAILABLE", "The service is currently unavailable."),
            504 => Self::plain(
                code,
                "DEADLINE_EXCEEDED",
                "Deadline expired before operation could complete.",
            ),
            // Any other code is reported as an internal fault, as Google's own fronts do.
            _ => Self::plain(code, "INTERNAL", "Internal error encountered."),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut error =
            json!({ "code": self.code, "message": self.message, "status": self.status });
        if let (Some(members), false) = (error.as_object_mut(), self.details.is_empty()) {
            members.insert("details".to_owned(), Value::from(self.details.clone()));
        }
        json!({ "error": error })
    }

    fn plain(code: u16, status: &'static str, message: &str) -> Self {
        let message = message.to_owned();
        Self {
            code,
            status,
            message,
            details: Vec::new(),
            retry_after_secs: None,
        }
    }
}

impl IntoResponse for JulesRefusal {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() =
            StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/json; charset=UTF-8"),
        );
        if let Some(secs) = self.retry_after_secs {
            headers.insert(RETRY_AFTER, HeaderValue::from(secs));
        }
        response
    }
}
