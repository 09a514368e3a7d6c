//! The HTTP API on Lambda, behind a function URL.

use lambda_http::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda::log_as_json();
    let router = api_function::from_env().await?;
    lambda_http::run(router).await
}
