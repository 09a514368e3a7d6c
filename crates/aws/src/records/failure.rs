//! Meaning of DynamoDB's refusals: a conflict, a temporary failure, or an unknown outcome.

use aws_sdk_dynamodb::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::retries::classifiers::{ClassifyRetry, RetryAction};
use engine::ports::{CommitError, Key, RecordsError};

use super::ambiguity::AmbiguousOutcome;

/// The code of an item whose condition did not hold.
const CONDITION: &str = "ConditionalCheckFailed";

/// The code of an item that another transaction was changing.
const CONTENTION: &str = "TransactionConflict";

/// Why a read failed.
pub(super) fn of_read<E>(doing: &str, error: &SdkError<E, HttpResponse>) -> RecordsError
where
    E: std::error::Error + Send + Sync + 'static,
{
    RecordsError::Unavailable {
        doing: doing.to_owned(),
        message: describe(error),
    }
}

/// Why one item was not written, or may have been.
pub(super) fn of_write<E>(
    key: &Key,
    error: &SdkError<E, HttpResponse>,
    doubt: &AmbiguousOutcome,
) -> CommitError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let code = error
        .as_service_error()
        .and_then(ProvideErrorMetadata::code);
    match code {
        // Another transaction was changing it, so the basis of this write may be stale as well.
        Some("ConditionalCheckFailedException" | "TransactionConflictException") => {
            CommitError::Conflict { key: key.clone() }
        }
        Some(_) | None => outcome(describe(error), doubt),
    }
}

/// Why a transaction was not carried out, or may have been.
pub(super) fn of_transaction(
    keys: &[&Key],
    error: &SdkError<TransactWriteItemsError, HttpResponse>,
    doubt: &AmbiguousOutcome,
) -> CommitError {
    let codes = reasons(error.as_service_error());
    let first = |code: &str| {
        let at = codes.iter().position(|found| found == code)?;
        keys.get(at).map(|key| (*key).clone())
    };
    // A transaction's token lets a retry succeed if an earlier attempt did, so a refused condition is another
    // writer's doing.
    match first(CONDITION).or_else(|| first(CONTENTION)) {
        Some(key) => CommitError::Conflict { key },
        None => outcome(describe(error), doubt),
    }
}

fn outcome(told: String, doubt: &AmbiguousOutcome) -> CommitError {
    if doubt.is_there() {
        CommitError::Unknown(told)
    } else {
        CommitError::Unavailable(told)
    }
}

fn reasons(error: Option<&TransactWriteItemsError>) -> Vec<String> {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = error else {
        return Vec::new();
    };
    let reasons = cancelled.cancellation_reasons().iter();
    reasons
        .map(|reason| reason.code().unwrap_or_default().to_owned())
        .collect()
}

fn describe<E>(error: &SdkError<E, HttpResponse>) -> String
where
    E: std::error::Error + Send + Sync + 'static,
{
    DisplayErrorContext(error).to_string()
}

/// Retries a transaction that lost against another one's locks: nothing was written, and no condition was checked.
#[derive(Debug)]
pub(super) struct Contention;

impl ClassifyRetry for Contention {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let Some(Err(error)) = context.output_or_error() else {
            return RetryAction::NoActionIndicated;
        };
        let error = error
            .as_operation_error()
            .and_then(|error| error.downcast_ref::<TransactWriteItemsError>());
        let codes = reasons(error);
        let contended = codes.iter().any(|code| code == CONTENTION);
        if contended && !codes.iter().any(|code| code == CONDITION) {
            RetryAction::transient_error()
        } else {
            RetryAction::NoActionIndicated
        }
    }

    fn name(&self) -> &'static str {
        "Contention"
    }
}
