//! The routes of deliveries.

use axum::routing::{get, patch, post};
use client::wire::{DELIVERIES_LIMIT, DELIVERIES_LIMIT_MAX, TRANSCRIPT_PAGE_MAX};
use domain::delivery::Execution;

use super::create::create;
use super::orders::{DeliveryVerb, edit, order};
use super::query::NEEDS;
use super::{executions, list, runs, show, why};
use crate::route::{ApiRow, KEY, Parameter, ParameterType, RequestBody, ResponseBody, Row};

use ResponseBody::{Json, Text};

/// A delivery as it is after an order.
const DELIVERY: &[(u16, ResponseBody)] = &[(200, Json("DeliveryView"))];

/// A delivery of which something runs now.
const BEGUN: &[(u16, ResponseBody)] = &[(202, Json("DeliveryView"))];

/// What `GET /api/deliveries` takes.
const DELIVERIES: [Parameter; 6] = [
    Parameter::query(
        "phase",
        ParameterType::Word(&[
            "intake",
            "plan",
            "implement",
            "review",
            "verify",
            "deploy",
            "observe",
            "close",
        ]),
        "Only deliveries in this phase.",
    ),
    Parameter::query(
        "repo",
        ParameterType::Form("RepoName"),
        "Only deliveries of this repository.",
    ),
    Parameter::query(
        "needs",
        ParameterType::Word(&NEEDS),
        "Only deliveries that wait for a person, or for an agent.",
    ),
    Parameter::query(
        "open",
        ParameterType::Switch,
        "Only deliveries that are not over.",
    ),
    Parameter::limit(DELIVERIES_LIMIT_MAX, DELIVERIES_LIMIT),
    Parameter::query(
        "after",
        ParameterType::Cursor,
        "Goes on where an earlier answer ended: its `next`.",
    ),
];

/// Which page of a transcript is wanted.
const TRANSCRIPT_PAGE: Parameter = Parameter::number(
    "page",
    1,
    TRANSCRIPT_PAGE_MAX,
    1,
    "Which page: a further one is named by the `next_page` of the one before.",
);

/// Deliveries, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get(
        "/api/deliveries",
        "list_deliveries",
        "Lists deliveries, the newest first, and among them jobs that belong to none",
        || get(list),
    )
    .takes(&DELIVERIES)
    .answers(&[(200, Json("Deliveries"))])
    .refuses(&[404]),
    Row::post(
        "/api/deliveries",
        "create_delivery",
        "Creates a delivery from an issue or the caller's own words",
        || post(create),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("CreateDelivery"))
    .answers(&[(201, Json("DeliveryView")), (202, Json("Later"))])
    .refuses(&[409]),
    Row::get(
        "/api/deliveries/{delivery}",
        "show_delivery",
        "Shows a delivery, with what the caller may do with it now",
        || get(show),
    )
    .answers(DELIVERY)
    .refuses(&[404]),
    Row::patch(
        "/api/deliveries/{delivery}",
        "edit_delivery",
        "Changes what a delivery says of itself",
        || patch(edit),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("EditDelivery"))
    .answers(DELIVERY)
    .refuses(&[404, 409]),
    Row::get(
        "/api/deliveries/{delivery}/why",
        "why_delivery",
        "Explains why a delivery is where it is",
        || get(why),
    )
    .answers(&[(200, Json("DeliveryWhy"))])
    .refuses(&[404]),
    Row::get(
        "/api/deliveries/{delivery}/runs/{run}",
        "show_run",
        "Shows one execution of a phase of a delivery",
        || get(runs::show),
    )
    .answers(&[(200, Json("DeliveryRun"))])
    .refuses(&[404]),
    Row::get(
        "/api/deliveries/{delivery}/runs/{run}/transcript",
        "run_transcript",
        "Shows what was said and done in a run, page by page, the oldest first",
        || get(runs::transcript),
    )
    .takes(&[TRANSCRIPT_PAGE])
    .answers(&[(200, Json("Transcript")), (202, Json("Later"))])
    .refuses(&[404, 502]),
    Row::get(
        "/api/deliveries/{delivery}/runs/{run}/stream_log",
        "run_log",
        "Shows what was said and done in a run as a plain text",
        || get(runs::stream_log),
    )
    .answers(&[(200, Text), (202, Json("Later"))])
    .refuses(&[404, 502]),
    Row::post(
        DeliveryVerb::Start.path(),
        "start_delivery",
        "Begins a delivery that waits at its plan",
        || order(DeliveryVerb::Start),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("StartDelivery"))
    .answers(DELIVERY)
    .refuses(&[404, 409]),
    Row::post(
        DeliveryVerb::Approve.path(),
        "approve_delivery",
        "Lets a delivery go on from a checkpoint",
        || order(DeliveryVerb::Approve),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("ApproveDelivery"))
    .answers(DELIVERY)
    .refuses(&[404, 409]),
    Row::post(
        DeliveryVerb::Reject.path(),
        "reject_delivery",
        "Sends a delivery back from a checkpoint",
        || order(DeliveryVerb::Reject),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("RejectDelivery"))
    .answers(DELIVERY)
    .refuses(&[404, 409]),
    Row::post(
        DeliveryVerb::Retry.path(),
        "retry_delivery",
        "Tries the failed phase of a delivery again",
        || order(DeliveryVerb::Retry),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("RetryDelivery"))
    .answers(DELIVERY)
    .refuses(&[404, 409]),
    Row::post(
        DeliveryVerb::Cancel.path(),
        "cancel_delivery",
        "Cancels what a delivery is doing",
        || order(DeliveryVerb::Cancel),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("CancelDelivery"))
    .answers(DELIVERY)
    .refuses(&[404, 409]),
    Row::post(
        DeliveryVerb::Verdict.path(),
        "judge_delivery",
        "Says what the review of a delivery came to",
        || order(DeliveryVerb::Verdict),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("VerdictRequest"))
    .answers(DELIVERY)
    .refuses(&[404, 409]),
    Row::post(
        DeliveryVerb::Plan.path(),
        "plan_delivery",
        "Sends the plan of a delivery",
        || order(DeliveryVerb::Plan),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("PlanRequest"))
    .answers(DELIVERY)
    .refuses(&[404, 409]),
    Row::post(
        DeliveryVerb::Split.path(),
        "split_delivery",
        "Splits a delivery into smaller ones",
        || order(DeliveryVerb::Split),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("SplitRequest"))
    .answers(DELIVERY)
    .refuses(&[404, 409]),
    Row::post(
        executions::path(Execution::Plan),
        "generate_plan",
        "Begins the plan of a delivery, or begins it again",
        || executions::execute(Execution::Plan),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("ExecuteDelivery"))
    .answers(BEGUN)
    .refuses(&[404, 409]),
    Row::post(
        executions::path(Execution::Implement),
        "run_implement",
        "Begins the change of a delivery, or begins it again",
        || executions::execute(Execution::Implement),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("ExecuteDelivery"))
    .answers(BEGUN)
    .refuses(&[404, 409]),
    Row::post(
        executions::path(Execution::Review),
        "run_review",
        "Begins the review of a delivery, or begins it again",
        || executions::execute(Execution::Review),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("ExecuteDelivery"))
    .answers(BEGUN)
    .refuses(&[404, 409]),
    Row::post(
        executions::path(Execution::Fix),
        "run_fix",
        "Has a change made again as its review wants it",
        || executions::execute(Execution::Fix),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("FixDelivery"))
    .answers(BEGUN)
    .refuses(&[404, 409]),
    Row::post(
        "/api/deliveries/{delivery}/collect",
        "collect_session",
        "Adds a session that was begun elsewhere to a delivery, as a run",
        || post(executions::collect),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("CollectRequest"))
    .answers(&[(200, Json("DeliveryView")), (202, Json("Later"))])
    .refuses(&[404, 409]),
    Row::post(
        "/api/deliveries/{delivery}/runs/{run}/analysis",
        "analyse_run",
        "Says what a failed run came from, and what to do about it",
        || post(executions::analyse),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("AnalysisRequest"))
    .answers(&[(200, Json("DeliveryRun"))])
    .refuses(&[404, 409]),
];
