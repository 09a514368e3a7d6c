//! The routes of sources, and of what reads their issues.

use std::sync::Arc;

use axum::routing::{delete, get, patch, post};

use super::route::{RequestBody, ResponseBody, Row};
use crate::state::ApiInner;
use crate::{sources, workers};

use ResponseBody::Json;

/// For callers with a token, in the order of the document.
pub(crate) static ROWS: &[Row<Arc<ApiInner>>] = &[
    Row::get(
        "/api/sources",
        "list_sources",
        "Lists the repositories that are worked on",
        || get(sources::list),
    )
    .answers(&[(200, Json("Sources"))]),
    Row::post(
        "/api/sources",
        "create_source",
        "Adds a repository to those that are worked on; agents may not",
        || post(sources::create),
    )
    .sends(RequestBody::Json("CreateSource"))
    .answers(&[(201, Json("SourceView"))])
    .refuses(&[404, 409]),
    Row::get(
        "/api/sources/{owner}/{name}",
        "show_source",
        "Shows a source with its settings",
        || get(sources::show),
    )
    .answers(&[(200, Json("SourceView"))])
    .refuses(&[404]),
    Row::patch(
        "/api/sources/{owner}/{name}",
        "edit_source",
        "Changes the settings of a source that are about deliveries; agents may not",
        || patch(sources::edit),
    )
    .sends(RequestBody::Json("EditSource"))
    .answers(&[(200, Json("SourceView"))])
    .refuses(&[404, 409]),
    Row::delete(
        "/api/sources/{owner}/{name}",
        "remove_source",
        "Removes a source that nothing uses any more; agents may not",
        || delete(sources::remove),
    )
    .answers(&[(200, Json("SourceRemoved"))])
    .refuses(&[404, 409]),
    Row::post(
        "/api/sources/{owner}/{name}/sync",
        "sync_source",
        "Has the issues of a source read now, and waits a little for what comes of it",
        || post(sources::sync),
    )
    .answers(&[(200, Json("IntakeResult")), (202, Json("Later"))])
    .refuses(&[404, 409, 502]),
    Row::get(
        "/api/worker/status",
        "worker_status",
        "Shows how the reading of each source's issues goes",
        || get(workers::status),
    )
    .answers(&[(200, Json("Workers"))]),
];
