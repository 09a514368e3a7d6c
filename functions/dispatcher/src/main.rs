//! The dispatcher on Lambda: builds its clients once, then handles batches of wake-ups.

use std::sync::Arc;

use aws_lambda_events::event::sqs::SqsEvent;
use dispatcher::Function;
use lambda_runtime::{Error, LambdaEvent, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda::log_as_json();
    lambda::trust_ring();
    let function = Arc::new(Function::from_env().await?);
    let answer = |event: LambdaEvent<SqsEvent>| {
        let function = function.clone();
        async move { Ok::<_, Error>(function.handle(event).await) }
    };
    lambda_runtime::run(service_fn(answer)).await
}
