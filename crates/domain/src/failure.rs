//! How a call to Jules or GitHub can fail, in the classes that decisions branch on.

mod hindrance;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

pub use hindrance::Hindrance;

/// Longest wait that a service may request: a header that names a year must not put work to sleep for a year.
pub const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(24);

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// 401, or a 400 that says that the key is invalid: the credential does not work.
    Unauthorized,
    /// 403: the credential works but may not do this.
    Forbidden,
    /// 404 or 410: it does not exist, or is not visible yet.
    NotFound,
    /// Jules's 400 `FAILED_PRECONDITION`: "later", usually a quota.
    Precondition,
    /// The state of the thing forbids it: GitHub's 405, 409 and 422.
    Conflict,
    /// Any other 4xx: repeating the same request is useless.
    Invalid,
    /// 429, or a 403 that is a rate limit in disguise.
    Throttled,
    /// 5xx.
    Unavailable,
    /// No answer: refused, reset, timed out, name not found.
    Network,
    /// An answer that could not be read: HTML, cut JSON.
    Garbled,
}

/// Whether the thing asked for may have been done in spite of the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEffect {
    /// Certainly not: the service refused, or was never reached.
    No,
    /// It may have been: only a read of the world can settle it.
    Maybe,
}

/// One failed call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Failure {
    /// The class that decisions branch on.
    pub class: FailureClass,
    /// Whether the effect may have happened.
    pub happened: CallEffect,
    /// Our action and the answer, redacted and at most 1,024 characters.
    pub message: String,
    /// How long the service asked us to stay away.
    pub retry_after: Option<SignedDuration>,
}

impl FailureClass {
    /// The class as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Precondition => "precondition",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Throttled => "throttled",
            Self::Unavailable => "unavailable",
            Self::Network => "network",
            Self::Garbled => "garbled",
        }
    }

    /// Whether the same call may succeed at another time, without a change of what it is about.
    pub fn may_pass(self) -> bool {
        match self {
            Self::Unauthorized | Self::Throttled | Self::Network | Self::Unavailable => true,
            Self::Forbidden
            | Self::NotFound
            | Self::Precondition
            | Self::Conflict
            | Self::Invalid
            | Self::Garbled => false,
        }
    }

    /// Whether what the call is about is not there, or may not be read.
    pub fn is_hidden(self) -> bool {
        match self {
            Self::Forbidden | Self::NotFound => true,
            Self::Unauthorized
            | Self::Precondition
            | Self::Conflict
            | Self::Invalid
            | Self::Throttled
            | Self::Unavailable
            | Self::Network
            | Self::Garbled => false,
        }
    }
}

impl Failure {
    /// A failure whose class alone decides whether anything happened.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        let happened = match class {
            FailureClass::Unauthorized
            | FailureClass::Forbidden
            | FailureClass::NotFound
            | FailureClass::Precondition
            | FailureClass::Conflict
            | FailureClass::Invalid
            | FailureClass::Throttled => CallEffect::No,
            FailureClass::Unavailable | FailureClass::Network | FailureClass::Garbled => {
                CallEffect::Maybe
            }
        };
        Self {
            class,
            happened,
            message: message.into(),
            retry_after: None,
        }
    }

    /// The wait that the service asked for, within 0 and `RETRY_AFTER_MAX`.
    pub fn asked_wait(&self) -> Option<SignedDuration> {
        self.retry_after
            .map(|wait| wait.clamp(SignedDuration::ZERO, RETRY_AFTER_MAX))
    }

    /// The same failure with the wait that the service asked for.
    pub fn after(mut self, wait: Option<SignedDuration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Marks the failure as never sent, for example because the connection was refused.
    pub fn never_sent(mut self) -> Self {
        self.happened = CallEffect::No;
        self
    }
}
