//! GraphQL's answers: refusals have status 200 too.

use domain::failure::{Failure, FailureClass};
use serde::de::DeserializeOwned;

use crate::client::{SECONDARY_WAIT, failure};
use crate::wire::GraphAnswer;

/// The data of an answer without errors.
pub(crate) fn data<T: DeserializeOwned>(answer: &GraphAnswer, doing: &str) -> Result<T, Failure> {
    if let Some(error) = answer.errors.first() {
        let class = match error.kind.as_str() {
            "FORBIDDEN" | "INSUFFICIENT_SCOPES" => FailureClass::Forbidden,
            "NOT_FOUND" => FailureClass::NotFound,
            // GitHub answers either.
            "RATE_LIMITED" | "RATE_LIMIT" => FailureClass::Throttled,
            _other => FailureClass::Invalid,
        };
        let wait = (class == FailureClass::Throttled).then_some(SECONDARY_WAIT);
        let message = format!("{doing}: GitHub answered {}: {}", error.kind, error.message);
        return Err(failure(class, &message).after(wait));
    }
    let garbled = |error| {
        let message = format!("{doing}: the answer could not be read: {error}");
        failure(FailureClass::Garbled, &message)
    };
    let data = answer.data.clone().unwrap_or_default();
    serde_json::from_value(data).map_err(garbled)
}
