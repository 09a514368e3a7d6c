//! The table itself.

use std::sync::Arc;

use axum::routing::{get, post};

use domain::token::Scope;

use super::parameter::{EVENTS, FRESH, JOBS, KEY, PIECE, PULLS, SAID, TOOLSETS};
use super::route::{Caller, Method, RequestBody, ResponseBody, Route, Row};
use crate::orders::order;
use crate::state::ApiInner;
use crate::verb::Verb;
use crate::{
    adopt, document, events, inbox, jobs, metrics, outcome, pages, pushes, readings, report,
    webhook,
};

use ResponseBody::{Figures, Json, Message, Nothing, OpenApi};

pub(super) type ApiRow = Row<Arc<ApiInner>>;

/// What an order answers that waits a little for its effect.
const EFFECT: &[(u16, ResponseBody)] = &[(200, Json("EffectView")), (202, Json("Later"))];

/// Routes for callers with a token, in the order of the document.
pub(crate) static CLOSED: &[ApiRow] = &[
    Row::get("/jobs", "list_jobs", "Lists jobs, the newest first", || {
        get(jobs::list)
    })
    .takes(&JOBS)
    .answers(&[(200, Json("Jobs"))])
    .refuses(&[404]),
    Row::post(
        "/jobs",
        "create_job",
        "Hands a piece of work to Jules",
        || post(jobs::create),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("CreateJob"))
    .answers(&[(201, Json("JobView"))])
    .refuses(&[409]),
    Row::post(
        "/jobs/adopt",
        "adopt_session",
        "Adopts a session that was begun elsewhere as a job; `take_over` needs the scope `admin`",
        || post(adopt::adopt),
    )
    .sends(RequestBody::Json("AdoptRequest"))
    .answers(&[(200, Json("JobView")), (202, Json("Later"))])
    .refuses(&[409]),
    Row::get(
        "/jobs/{job}",
        "show_job",
        "Shows a job, and with `fresh=1` as Jules shows it now",
        || get(readings::show),
    )
    .takes(&[FRESH])
    .answers(&[(200, Json("JobView")), (202, Json("Later"))])
    .refuses(&[404, 409, 502]),
    Row::get(
        "/jobs/{job}/why",
        "why_job",
        "Explains why a job does not move",
        || get(jobs::why),
    )
    .answers(&[(200, Json("Why"))])
    .refuses(&[404]),
    Row::get(
        "/jobs/{job}/events",
        "job_events",
        "Lists a job's events",
        || get(jobs::events),
    )
    .answers(&[(200, Json("Events"))])
    .refuses(&[404]),
    Row::get(
        "/jobs/{job}/artifacts",
        "job_artifacts",
        "Shows what a job's session has produced, read afresh",
        || get(readings::artifacts),
    )
    .takes(&[PIECE])
    .answers(&[(200, Json("Artifacts")), (202, Json("Later"))])
    .refuses(&[404, 409, 502]),
    Row::get(
        "/jobs/{job}/messages",
        "job_messages",
        "Shows what was said between a job's session and its people, the oldest first",
        || get(readings::messages),
    )
    .takes(&[SAID])
    .answers(&[(200, Json("Messages")), (202, Json("Later"))])
    .refuses(&[404, 409, 502]),
    Row::get(
        "/jobs/{job}/effects/{effect}",
        "show_effect",
        "Shows the state of one of a job's effects",
        || get(outcome::effect),
    )
    .answers(&[(200, Json("EffectView"))])
    .refuses(&[404]),
    Row::order(
        Verb::Say,
        "say",
        "Sends a message to a job's session",
        || order(Verb::Say),
    )
    .takes(&[KEY])
    .sends(RequestBody::Json("Message"))
    .answers(EFFECT)
    .refuses(&[404, 409]),
    Row::order(
        Verb::Approve,
        "approve_plan",
        "Approves the plan that a job waits with",
        || order(Verb::Approve),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("ApproveRequest"))
    .answers(EFFECT)
    .refuses(&[404, 409]),
    Row::order(
        Verb::Merge,
        "merge",
        "Allows the merge of a job's pull request, and waits a little for it",
        || order(Verb::Merge),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("MergeRequest"))
    .answers(&[(200, Json("Merged")), (202, Json("Later"))])
    .refuses(&[404, 409]),
    Row::order(Verb::Cancel, "cancel_job", "Cancels a job", || {
        order(Verb::Cancel)
    })
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("CancelRequest"))
    .answers(&[(200, Json("JobView"))])
    .refuses(&[404, 409]),
    Row::order(
        Verb::Retry,
        "retry_job",
        "Retries a job that ended, in another session",
        || order(Verb::Retry),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("RetryRequest"))
    .answers(&[(200, Json("JobView"))])
    .refuses(&[404, 409]),
    Row::order(
        Verb::Register,
        "register",
        "Watches a job or a session, and records notes about it",
        || order(Verb::Register),
    )
    .takes(&[KEY])
    .sends(RequestBody::MaybeJson("RegisterRequest"))
    .answers(&[(200, Json("Registered")), (202, Json("Later"))])
    .refuses(&[404, 409]),
    Row::get(
        "/pulls",
        "list_pulls",
        "Lists pull requests of jobs that are neither merged nor closed, the oldest first",
        || get(jobs::pulls),
    )
    .takes(&PULLS)
    .answers(&[(200, Json("Pulls"))])
    .refuses(&[404]),
    Row::get(
        "/pulls/{owner}/{name}/{number}/why",
        "why_pull",
        "Explains why a pull request is not merged, or not even read",
        || get(jobs::pull_why),
    )
    .answers(&[(200, Json("Why"))])
    .refuses(&[404]),
    Row::get(
        "/events",
        "list_events",
        "Lists the events that the caller may see, after a cursor",
        || get(events::events),
    )
    .takes(&EVENTS)
    .answers(&[(200, Json("EventPage"))])
    .refuses(&[404, 410]),
    Row::post(
        "/agents/{agent}/take",
        "take_wakes",
        "Takes wakes out of an agent's inbox, on a lease",
        || post(inbox::take),
    )
    .sends(RequestBody::MaybeJson("TakeRequest"))
    .answers(&[(200, Json("Taken"))])
    .refuses(&[404, 409]),
    Row::post(
        "/events/{event}/ack",
        "acknowledge",
        "Acknowledges an event for an agent",
        || post(inbox::acknowledge),
    )
    .sends(RequestBody::Json("Acknowledge"))
    .answers(&[(200, Json("Acknowledged"))])
    .refuses(&[404, 409]),
    Row::post(
        "/events/{event}/extend",
        "extend",
        "Extends the lease of a wake that was taken",
        || post(inbox::extend),
    )
    .sends(RequestBody::Json("Extend"))
    .answers(&[(200, Json("Extended"))])
    .refuses(&[404, 409]),
    Row::post(
        "/events/{event}/return",
        "give_back",
        "Returns a wake that was taken and not handled",
        || post(inbox::give_back),
    )
    .sends(RequestBody::Json("GiveBack"))
    .answers(&[(200, Json("GivenBack"))])
    .refuses(&[404, 409]),
    Row::post(
        "/webhooks/jules",
        "push_session",
        "Takes a session that Jules pushes, and can do nothing but have it read again from Jules",
        || post(pushes::pushed),
    )
    .sends(RequestBody::Json("PushedSession"))
    .answers(&[(202, Json("PushTaken"))])
    .refuses(&[404, 409]),
    Row::get(
        "/status",
        "status",
        "Shows the status of jobs and accounts",
        || get(report::status),
    )
    .answers(&[(200, Json("Status"))]),
    Row::get(
        "/metrics",
        "metrics",
        "Returns metrics for Prometheus",
        || get(metrics::metrics),
    )
    .answers(&[(200, Figures)]),
    Row::get(
        "/api/dashboard/link",
        "dashboard_link",
        "Makes a link that signs in to the dashboard with the caller's token, for a minute",
        || get(pages::link),
    )
    .answers(&[(200, Json("DashboardLink"))]),
    Row::get("/openapi.json", "openapi", "Returns this document", || {
        get(document::document)
    })
    .answers(&[(200, OpenApi)]),
];

/// Routes for anyone.
pub(crate) static OPEN: &[ApiRow] = &[Row::get(
    "/healthz",
    "health",
    "Answers while the process runs",
    || get(report::health),
)
.called_by(Caller::Anybody)
.answers(&[(200, Json("Health"))])];

/// The tools for agents. They are served by themselves, since they call the other routes; what a call needs is decided there.
pub(crate) static TOOLS: Route = Route {
    caller: Caller::Token(Scope::Read),
    parameters: &[TOOLSETS],
    sends: RequestBody::Message,
    answers: &[(200, Message), (202, Nothing)],
    refuses: &[406],
    ..Route::new(
        Method::Post,
        "/mcp",
        "mcp",
        "Takes a message of the Model Context Protocol, whose `tools/list` tells which tools there are",
    )
};

/// What GitHub calls.
pub(crate) static HOOKS: &[Row<webhook::Hooks>] = &[Row::post(
    "/github/webhook",
    "github_webhook",
    "Takes a webhook delivery of GitHub's, and can do nothing but look at what it names",
    || post(webhook::deliver),
)
.called_by(Caller::GitHub)
.sends(RequestBody::Delivery)
.answers(&[(202, Nothing)])];
