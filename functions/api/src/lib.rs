//! The HTTP API as a function. It holds no credential of Jules or GitHub: every action outside is an effect that the
//! dispatcher performs.

use axum::Router;
use engine::ports::SecretName;
use lambda::Place;
use lambda_http::Error;

/// The API that the environment describes, with an open connection to the table.
pub async fn from_env() -> Result<Router, Error> {
    of(&Place::from_env()?).await
}

/// The API of a place, with an open connection to the table.
pub async fn of(place: &Place) -> Result<Router, Error> {
    let desk = place.desk().await?;
    let secrets = place.secrets();
    // Opens the connection before the first order needs it; what fails here is tried again then.
    let _ = secrets.read(&SecretName::ApiToken).await;
    let door = api::DoorState::kept(desk, secrets);
    Ok(lambda::traced(api::router(door)))
}
