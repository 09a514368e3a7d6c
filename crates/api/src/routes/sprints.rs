//! The routes of sprints.

use std::sync::Arc;

use axum::routing::{get, post};

use super::parameter::{KEY, SPRINTS};
use super::route::{RequestBody, ResponseBody, Row};
use crate::sprints;
use crate::state::ApiInner;

use ResponseBody::Json;

/// One sprint. Orders about it with a colon are posted there.
pub(crate) const ONE: &str = "/api/sprints/{owner}/{name}/{sprint}";

/// What answers a sprint as it is then.
const SPRINT: &[(u16, ResponseBody)] = &[(200, Json("SprintView"))];

/// For callers with a token, in the order of the document.
pub(crate) static ROWS: &[Row<Arc<ApiInner>>] = &[
    Row::get(
        "/api/sprints/{owner}/{name}",
        "list_sprints",
        "Lists the sprints of a repository, the newest first",
        || get(sprints::list),
    )
    .takes(&SPRINTS)
    .answers(&[(200, Json("Sprints"))])
    .refuses(&[404]),
    Row::post(
        "/api/sprints/{owner}/{name}",
        "start_sprint",
        "Starts a sprint of a repository, or with `dry_run` tells what it would be",
        || post(sprints::start),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("StartSprint"))
    .answers(&[(200, Json("SprintPlanView")), (202, Json("SprintView"))])
    .refuses(&[404, 409]),
    Row::get(
        ONE,
        "show_sprint",
        "Shows a sprint with its members and what came of its weaves; `latest` is the newest",
        || get(sprints::show),
    )
    .answers(SPRINT)
    .refuses(&[404]),
    Row::get(
        "/api/sprints/{owner}/{name}/{sprint}/why",
        "why_sprint",
        "Explains what a sprint and each of its members wait for",
        || get(sprints::why),
    )
    .answers(&[(200, Json("SprintWhy"))])
    .refuses(&[404]),
    Row::post(
        "/api/sprints/{owner}/{name}/{sprint}/tick",
        "tick_sprint",
        "Has a sprint looked at now",
        || post(sprints::tick),
    )
    .also_at("/api/sprints/{owner}/{name}/{sprint}:tick")
    .sends(RequestBody::MaybeJson("OrderSprint"))
    .answers(SPRINT)
    .refuses(&[404, 409]),
    Row::post(
        "/api/sprints/{owner}/{name}/{sprint}/integrate",
        "integrate_sprint",
        "Has what the members made woven, with `now` also while some of them work",
        || post(sprints::integrate),
    )
    .also_at("/api/sprints/{owner}/{name}/{sprint}:integrate")
    .sends(RequestBody::MaybeJson("IntegrateSprint"))
    .answers(SPRINT)
    .refuses(&[404, 409]),
    Row::post(
        "/api/sprints/{owner}/{name}/{sprint}/abort",
        "abort_sprint",
        "Aborts a sprint with its jobs; branches and pull requests stay",
        || post(sprints::abort),
    )
    .also_at("/api/sprints/{owner}/{name}/{sprint}:abort")
    .sends(RequestBody::MaybeJson("OrderSprint"))
    .answers(SPRINT)
    .refuses(&[404, 409]),
];
