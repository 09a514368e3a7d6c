//! A function that says hello, for the bench: what the runtime client itself costs.

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_runtime::run(service_fn(hello)).await
}

async fn hello(_: LambdaEvent<Value>) -> Result<Value, Error> {
    Ok(json!({ "hello": "world" }))
}
