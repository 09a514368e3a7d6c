//! The rows of the dashboard: pages for people, which stand in no document for programs.

use axum::routing::{get, post};
use domain::token::Scope;

use super::route::ResponseBody::{Nothing, Page};
use super::route::{Caller, RequestBody, Row};
use super::table::ApiRow;
use crate::pages;

/// The dashboard, for people.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get("/", "home", "Leads to the dashboard", || get(pages::home))
        .called_by(Caller::Anybody)
        .answers(&[(303, Nothing)]),
    Row::get(
        "/dashboard/",
        "home_with_slash",
        "Leads to the dashboard",
        || get(pages::home),
    )
    .called_by(Caller::Anybody)
    .answers(&[(303, Nothing)]),
    Row::page(
        "/dashboard",
        "board_page",
        "Shows deliveries by phase",
        || get(pages::board),
    ),
    Row::page(
        "/dashboard/deliveries/{delivery}",
        "delivery_page",
        "Shows a delivery",
        || get(pages::delivery),
    ),
    Row::page(
        "/dashboard/deliveries/{delivery}/runs/{run}",
        "run_page",
        "Shows what was said and done in a run",
        || get(pages::run),
    ),
    Row::page(
        "/dashboard/pipelines",
        "pipelines_page",
        "Shows runs of pipelines, and the requirements that came of them",
        || get(pages::pipelines),
    ),
    Row::page(
        "/dashboard/sources",
        "sources_page",
        "Shows sources, and how the reading of their issues goes",
        || get(pages::sources),
    ),
    Row::page(
        "/dashboard/accounts",
        "accounts_page",
        "Shows accounts and budgets",
        || get(pages::accounts),
    ),
    Row::page(
        "/dashboard/workers",
        "workers_page",
        "Shows workers with their last results",
        || get(pages::workers),
    ),
    Row::page(
        "/dashboard/wakes",
        "wakes_page",
        "Shows wakes and dead letters",
        || get(pages::wakes),
    ),
    Row::form(
        "/dashboard/deliveries/{delivery}/{order}",
        "delivery_form",
        "Gives an order about a delivery",
        || post(pages::act),
    ),
    Row::get(
        "/dashboard/sign-in",
        "sign_in_page",
        "Asks for a token",
        || get(pages::sign_in_page),
    )
    .called_by(Caller::Anybody)
    .answers(&[(401, Page)]),
    Row::post(
        "/dashboard/sign-in",
        "sign_in",
        "Begins a session with a token",
        || post(pages::sign_in),
    )
    .called_by(Caller::Anybody)
    .sends(RequestBody::Form)
    .answers(&[(303, Nothing)]),
    Row::post("/dashboard/sign-out", "sign_out", "Ends a session", || {
        post(pages::sign_out)
    })
    .called_by(Caller::Viewer(Scope::Read))
    .sends(RequestBody::Form)
    .answers(&[(303, Nothing)]),
    Row::get(
        "/dashboard/enter",
        "enter",
        "Begins a session with a link",
        || get(pages::enter),
    )
    .called_by(Caller::Anybody)
    .answers(&[(200, Page)]),
    Row::get(
        "/dashboard/static/{file}",
        "static_file",
        "Serves what pages are shown with",
        || get(pages::file),
    )
    .called_by(Caller::Anybody)
    .answers(&[(200, Page)]),
    Row::page(
        "/dashboard/{*rest}",
        "no_page",
        "Says that nothing is there",
        || get(pages::nowhere),
    ),
];
