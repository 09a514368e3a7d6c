//! The table of all routes: both the router and the OpenAPI document are made from it. Pages are not in the document.
//!
//! To add a route, add a row in `routes/table.rs`, or beside it for deliveries, mail, pipelines, sources, sprints and pages. A new
//! table of routes for programs gets its line in [`closed`]. Tests check that nothing else makes routes, that `docs/openapi.json`
//! matches the tables, and that every row meets bad input.

pub(crate) mod deliveries;
pub(crate) mod mail;
pub(crate) mod pages;
mod parameter;
mod pipelines;
mod route;
mod sources;
pub(crate) mod sprints;
mod table;

pub use parameter::{Parameter, ParameterType};
pub use route::{Caller, Method, RequestBody, ResponseBody, Route};
pub(crate) use route::{needed, served};
use table::ApiRow;
pub(crate) use table::{CLOSED, HOOKS, OPEN, TOOLS};

/// All pages. They are for people, and stand in no document for programs.
pub fn page_routes() -> impl Iterator<Item = &'static Route> {
    pages::ROWS.iter().map(|row| &row.route)
}

/// The rows for callers with a token, in the order of the document: all that the API serves and all that the document shows.
pub(crate) fn closed() -> impl Iterator<Item = &'static ApiRow> {
    let tables: [&[ApiRow]; 6] = [
        CLOSED,
        deliveries::ROWS,
        sources::ROWS,
        pipelines::ROWS,
        mail::ROWS,
        sprints::ROWS,
    ];
    tables.into_iter().flatten()
}

/// All routes for programs.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    let ours = closed().chain(OPEN).map(|row| &row.route);
    let ours = ours.chain([&TOOLS]);
    ours.chain(HOOKS.iter().map(|row| &row.route))
}
