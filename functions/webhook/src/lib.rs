//! The webhook as a function: deliveries of GitHub are verified and put in the queue. It knows one secret and can do nothing else.

use std::sync::Arc;

use axum::Router;
use engine::ports::SecretName;
use lambda::Place;
use lambda_http::Error;

/// The webhook endpoint that the environment describes, with open connections.
pub async fn from_env() -> Result<Router, Error> {
    let place = Place::from_env()?;
    Ok(of(&place).await)
}

/// The webhook endpoint of a place, with open connections.
pub async fn of(place: &Place) -> Router {
    let door = api::WebhookDoor {
        queue: place.work(),
        clock: place.clock(),
        secrets: place.secrets(),
        counters: Arc::default(),
    };
    // Opens both connections before the first delivery needs them. GitHub waits ten seconds; what fails here is tried again then.
    let ((), _) = tokio::join!(place.warm_work(), door.secrets.read(&SecretName::Webhook));
    lambda::traced(api::webhook_router(door))
}
