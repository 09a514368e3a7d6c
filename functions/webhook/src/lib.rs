//! The webhook as a function: deliveries of GitHub are verified and put in the queue. It knows one secret and can do nothing else.

use std::sync::Arc;

use axum::Router;
use engine::ports::SecretName;
use lambda::FunctionEnvironment;
use lambda_http::Error;

/// The webhook endpoint that the environment describes, with open connections.
pub async fn from_env() -> Result<Router, Error> {
    let environment = FunctionEnvironment::from_env()?;
    Ok(router(&environment).await)
}

/// The webhook endpoint of a place, with open connections.
pub async fn router(environment: &FunctionEnvironment) -> Router {
    let api = api::WebhookApi {
        queue: environment.work(),
        clock: environment.clock(),
        secrets: environment.secrets(),
        counters: Arc::default(),
    };
    // Opens both connections before the first delivery needs them. GitHub waits ten seconds; what fails here is tried again then.
    let ((), _) = tokio::join!(
        environment.warm_work(),
        api.secrets.read(&SecretName::Webhook)
    );
    lambda::traced(api::webhook_router(api))
}
