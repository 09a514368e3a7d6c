//! The HTTP API as a function. It holds no credential of Jules or GitHub: every action outside is an effect that the
//! dispatcher performs.

use axum::Router;
use engine::ports::SecretName;
use lambda::FunctionEnvironment;
use lambda_http::Error;

/// The API that the environment describes, with an open connection to the table.
pub async fn from_env() -> Result<Router, Error> {
    router(&FunctionEnvironment::from_env()?).await
}

/// The API of a place, with an open connection to the table.
pub async fn router(environment: &FunctionEnvironment) -> Result<Router, Error> {
    let backend = environment.backend().await?;
    let secrets = environment.secrets();
    // Opens the connection before the first order needs it; what fails here is tried again then.
    let _ = secrets.read(&SecretName::ApiToken).await;
    let api = api::ApiState::with_stored_token(backend, secrets);
    Ok(lambda::traced(api::router(api)))
}
