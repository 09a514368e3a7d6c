//! `GET /openapi.json` and `GET /api/deliveries/schema`: the OpenAPI document of the HTTP API, and the schema of a
//! delivery.
//!
//! Each is compiled in as text, so that a function builds nothing at its start and carries no schemas. A test derives
//! them from the table of routes and the wire types, and compares.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::route::{ApiRow, ResponseBody, Row};

/// The document, as `docs/openapi.json` has it.
const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

/// The schema, as `docs/delivery.schema.json` has it.
const DELIVERY_SCHEMA: &str = include_str!("../../../docs/delivery.schema.json");

/// Both, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get("/openapi.json", "openapi", "Returns this document", || {
        get(document)
    })
    .answers(&[(200, ResponseBody::OpenApi)]),
    Row::get(
        "/api/deliveries/schema",
        "delivery_schema",
        "Returns the JSON Schema of a delivery as it is shown",
        || get(delivery_schema),
    )
    .answers(&[(200, ResponseBody::Schema)]),
];

/// `GET /api/deliveries/schema`.
async fn delivery_schema() -> Response {
    ([(CONTENT_TYPE, "application/schema+json")], DELIVERY_SCHEMA).into_response()
}

/// `GET /openapi.json`.
async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
