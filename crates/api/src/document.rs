//! `GET /openapi.json`: the OpenAPI document of the HTTP API.
//!
//! It is compiled in as text, so that a function builds nothing at its start and carries no schemas. A test derives
//! it from the table of routes and the wire types, and compares.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// The document, as `docs/openapi.json` has it.
const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

/// `GET /openapi.json`.
pub(crate) async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
