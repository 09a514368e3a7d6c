//! The poller on Lambda: builds its clients once, then answers calls for a tick.

use std::sync::Arc;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use poller::Function;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda::log_as_json();
    lambda::trust_ring();
    let function = Arc::new(Function::from_env().await?);
    let answer = |event: LambdaEvent<serde_json::Value>| {
        let function = function.clone();
        async move { function.handle(event).await }
    };
    lambda_runtime::run(service_fn(answer)).await
}
