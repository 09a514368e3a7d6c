//! `GET /openapi.json` and `GET /api/deliveries/schema`: the OpenAPI document of the HTTP API, and the schema of a
//! delivery.
//!
//! Each is compiled in as text, so that a function builds nothing at its start and carries no schemas. A test derives
//! them from the table of routes and the wire types, and compares.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// The document, as `docs/openapi.json` has it.
const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

/// The schema, as `docs/delivery.schema.json` has it.
const DELIVERY_SCHEMA: &str = include_str!("../../../docs/delivery.schema.json");

/// `GET /api/deliveries/schema`.
pub(crate) async fn delivery_schema() -> Response {
    ([(CONTENT_TYPE, "application/schema+json")], DELIVERY_SCHEMA).into_response()
}

/// `GET /openapi.json`.
pub(crate) async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
