//! The routes of pipelines and requirements.

use std::sync::Arc;

use axum::routing::{get, post};

use super::parameter::{OF_REPO, PIPELINES};
use super::route::{RequestBody, ResponseBody, Row};
use crate::pipelines::{self, requirements};
use crate::state::ApiInner;

use ResponseBody::Json;

/// For callers with a token, in the order of the document.
pub(crate) static ROWS: &[Row<Arc<ApiInner>>] = &[
    Row::get(
        "/api/pipelines",
        "list_pipelines",
        "Lists the runs of a repository's pipeline, the newest first, and when the next ones begin by themselves",
        || get(pipelines::list),
    )
    .takes(&PIPELINES)
    .answers(&[(200, Json("Pipelines"))])
    .refuses(&[404]),
    Row::post(
        "/api/pipelines",
        "start_pipeline",
        "Begins a run of a repository's pipeline, or of one of its layers",
        || post(pipelines::start),
    )
    .sends(RequestBody::Json("StartPipeline"))
    .answers(&[(202, Json("PipelineView"))])
    .refuses(&[404, 409]),
    Row::get(
        "/api/pipelines/{pipeline}",
        "show_pipeline",
        "Shows a run of a pipeline with its steps and their agents",
        || get(pipelines::show),
    )
    .answers(&[(200, Json("PipelineView"))])
    .refuses(&[404]),
    Row::get(
        "/api/pipelines/{pipeline}/why",
        "why_pipeline",
        "Explains what a run of a pipeline waits for",
        || get(pipelines::why),
    )
    .answers(&[(200, Json("PipelineWhy"))])
    .refuses(&[404]),
    Row::post(
        "/api/pipelines/{pipeline}/cancel",
        "cancel_pipeline",
        "Cancels a run of a pipeline, with its jobs",
        || post(pipelines::cancel),
    )
    .sends(RequestBody::MaybeJson("CancelPipeline"))
    .answers(&[(200, Json("PipelineView"))])
    .refuses(&[404, 409]),
    Row::get(
        "/api/requirements",
        "list_requirements",
        "Lists the requirements of a repository that Gaffer follows, the newest first",
        || get(requirements::list),
    )
    .takes(&OF_REPO)
    .answers(&[(200, Json("Requirements"))])
    .refuses(&[404]),
    Row::get(
        "/api/requirements/{owner}/{name}/{requirement}",
        "show_requirement",
        "Shows a requirement, with how far its delivery is",
        || get(requirements::show),
    )
    .answers(&[(200, Json("RequirementView"))])
    .refuses(&[404]),
    Row::post(
        "/api/requirements/{owner}/{name}/{requirement}/start",
        "start_requirement",
        "Has a requirement implemented, for the first time or again",
        || post(requirements::start),
    )
    .sends(RequestBody::MaybeJson("StartRequirement"))
    .answers(&[(200, Json("RequirementView"))])
    .refuses(&[404, 409]),
];
