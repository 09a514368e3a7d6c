//! The trace that a piece of work belongs to: messages that are sent while it is done carry it on.

use std::collections::HashMap;
use std::future::Future;

use aws_sdk_sqs::types::{MessageSystemAttributeNameForSends, MessageSystemAttributeValue};

tokio::task_local! {
    static TRACE: String;
}

/// What a message's trace is called, in its system attributes.
///
/// Source: Amazon SQS, "Message system attributes"; AWS X-Ray, "Tracing header".
pub const TRACE_HEADER: &str = "AWSTraceHeader";

/// Does some work within a trace, if it belongs to one.
pub async fn within<F: Future>(trace: Option<String>, work: F) -> F::Output {
    match trace {
        Some(trace) => TRACE.scope(trace, work).await,
        None => work.await,
    }
}

/// The system attributes of a message that is sent now.
pub(crate) fn attributes()
-> Option<HashMap<MessageSystemAttributeNameForSends, MessageSystemAttributeValue>> {
    let trace = TRACE.try_with(Clone::clone).ok()?;
    let value = MessageSystemAttributeValue::builder().data_type("String");
    let value = value.string_value(trace).build().ok()?;
    let name = MessageSystemAttributeNameForSends::AwsTraceHeader;
    Some(HashMap::from([(name, value)]))
}
