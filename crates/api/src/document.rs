//! `GET /openapi.json`: the OpenAPI document of this door.
//!
//! It is compiled in as text, so that nothing is built when a function begins and no schemas are carried along. A test derives it from the table of routes and the wire types, and compares.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// The document, as `docs/openapi.json` has it.
const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

/// `GET /openapi.json`.
pub(crate) async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
