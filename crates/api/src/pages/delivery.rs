//! One delivery, and the forms on its page.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use client::wire::{
    ApproveDelivery, CancelDelivery, DeliveryView, DeliveryWhy, EditDelivery, JobView,
    MergeRequest, Message, PartRequest, PlanRequest, RejectDelivery, RetryDelivery, SplitRequest,
    StartDelivery, VerdictRequest, Why,
};
use dashboard::{Delivery, Frame, Page};
use domain::delivery::{Verdict, typed_parts};
use domain::ids::{CommitSha, DeliveryId, PlanId};

use super::answer::{self, Asked, RefusedForm};
use super::entry::{Fields, SentForm, fields};
use super::inside::{Inside, Rooms, no_page};
use super::live::{self, NoPage};
use super::session::{self, Session};
use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts};
use crate::refusal::Refused;
use crate::state::SharedState;

/// In the query of the page after a form that came too late.
const MOVED: &str = "moved";

/// `GET /dashboard/deliveries/{delivery}`.
pub(crate) async fn delivery(
    State(api): SharedState,
    rooms: Rooms,
    path: Parts<String>,
    asked: Asked,
) -> Response {
    let id = id(path);
    live::answer(&api, &asked, |session, frame| {
        let (inside, id) = (rooms.0.clone(), id.clone());
        let has_moved = asked.parameter(MOVED).is_some();
        async move {
            let id = id.ok_or_else(no_page)?;
            made(&inside, &session, &frame, &id, has_moved).await
        }
    })
    .await
}

/// The id in a path; nothing else goes on into another path.
fn id(path: Parts<String>) -> Option<DeliveryId> {
    body::parts(path).ok()?.parse().ok()
}

async fn made(
    inside: &Inside,
    session: &Session,
    frame: &Frame,
    id: &DeliveryId,
    has_moved: bool,
) -> Result<Page, NoPage> {
    let caller = &session.caller;
    let path = format!("/api/deliveries/{id}");
    let view: DeliveryView = inside.get(caller, &path).await?;
    let why: DeliveryWhy = inside.get(caller, &format!("{path}/why")).await?;
    let job: Option<JobView> = match &view.job_id {
        // It is named before it is created.
        Some(job) => known(inside.get(caller, &format!("/jobs/{job}")).await)?,
        None => None,
    };
    let pull_why: Option<Why> = match &view.card.pull_request {
        Some(pull) => {
            let path = format!("/pulls/{}/{}/why", pull.repo, pull.number);
            // It is linked before it is tracked, and until then there is nothing to tell.
            known(inside.get(caller, &path).await)?
        }
        None => None,
    };
    let shown = Delivery {
        view: &view,
        why: Some(&why),
        job: job.as_ref(),
        pull_why: pull_why.as_ref(),
        has_moved,
    };
    Ok(dashboard::delivery(frame, shown)?)
}

/// The fields into which a person types.
const TYPED: [&str; 8] = [
    "text", "reason", "feedback", "content", "parts", "summary", "criteria", "priority",
];

/// What a route answers; none where there is nothing yet.
fn known<T>(answered: Result<T, Refused>) -> Result<Option<T>, Refused> {
    match answered {
        Ok(answered) => Ok(Some(answered)),
        Err(refused) if refused.status() == StatusCode::NOT_FOUND => Ok(None),
        Err(refused) => Err(refused),
    }
}

/// `POST /dashboard/deliveries/{delivery}/{order}`.
pub(crate) async fn act(
    State(api): SharedState,
    rooms: Rooms,
    path: Parts<(String, String)>,
    asked: Asked,
    sent: SentForm,
) -> Response {
    let page = page_of(&path);
    let refused = |session: Option<&Session>, refused: &Refused, typed: &[(&str, &str)]| {
        let form = RefusedForm { page: &page, typed };
        answer::refused_form(&api, &asked, session, refused, form)
    };
    let session = match session::current(&api, &asked.headers).await {
        Ok(session) => session,
        Err(closed) => return refused(None, &closed, &[]),
    };
    let fields = match fields(&asked, sent) {
        Ok(fields) => fields,
        Err(unread) => return refused(Some(&session), &unread, &[]),
    };
    match ordered(&rooms.0, &session, path, &fields).await {
        Ok(way_on) => answer::see_other(&way_on),
        Err(not_now) => refused(Some(&session), &not_now, &typed(&fields)),
    }
}

/// The page of the delivery that a path names; the board where it names none.
fn page_of(path: &Parts<(String, String)>) -> String {
    let named = path.as_ref().ok();
    let id: Option<DeliveryId> = named.and_then(|path| path.0.0.parse().ok());
    id.map_or_else(|| "/dashboard".to_owned(), |id| page(&id))
}

fn page(id: &DeliveryId) -> String {
    format!("/dashboard/deliveries/{id}")
}

/// What a person typed into a form.
fn typed(fields: &Fields) -> Vec<(&str, &str)> {
    let typed = TYPED
        .iter()
        .filter_map(|name| Some((*name, text(fields, name)?)));
    typed.filter(|(_, text)| !text.trim().is_empty()).collect()
}

/// Gives an order, unless the delivery has moved on since the form was shown. Returns where to go on.
async fn ordered(
    inside: &Inside,
    session: &Session,
    path: Parts<(String, String)>,
    fields: &Fields,
) -> Result<String, Refused> {
    session.must_own(text(fields, "form").unwrap_or_default())?;
    let (id, word) = body::parts(path)?;
    let id: DeliveryId = id.parse().map_err(|_| no_page())?;
    let caller = &session.caller;
    caller.must(domain::token::Scope::Write)?;
    let route = format!("/api/deliveries/{id}");
    let page = page(&id);
    let view: DeliveryView = inside.get(caller, &route).await?;
    if text(fields, "standing") != Some(&dashboard::standing(&view)) {
        return Ok(format!("{page}?{MOVED}=1"));
    }
    let version = text(fields, "version").unwrap_or_default();
    let version: u64 = version.parse().unwrap_or_default();
    // The same form twice is one order.
    let key = format!("dashboard:{id}:{word}:{version}");
    let order = FormOrder {
        path: &format!("{route}/{word}"),
        word: &word,
        key: &key,
        fields,
    };
    give(inside, caller, &view, order).await?;
    Ok(page)
}

/// An order that a form gives: its path and its word there, the name under which it is carried out once, and what was filled in.
#[derive(Clone, Copy)]
struct FormOrder<'a> {
    path: &'a str,
    word: &'a str,
    key: &'a str,
    fields: &'a Fields,
}

async fn give(
    inside: &Inside,
    caller: &AuthenticatedCaller,
    view: &DeliveryView,
    order: FormOrder<'_>,
) -> Result<(), Refused> {
    let FormOrder {
        path,
        word,
        key,
        fields,
    } = order;
    let head = head(fields)?;
    let reason = owned(fields, "reason");
    match word {
        "start" => inside.post(caller, path, key, &StartDelivery {}).await,
        "approve" => {
            let plan_id = plan_id(fields)?;
            let approval = ApproveDelivery { sha: head, plan_id };
            inside.post(caller, path, key, &approval).await
        }
        "reject" => {
            let reason = reason.unwrap_or_default();
            inside
                .post(caller, path, key, &RejectDelivery { reason })
                .await
        }
        "retry" => {
            inside
                .post(caller, path, key, &RetryDelivery { reason })
                .await
        }
        "cancel" => inside.post(caller, path, key, &CancelDelivery {}).await,
        "verdict" => {
            inside
                .post(caller, path, key, &verdict(fields, head)?)
                .await
        }
        "plan" => {
            let plan = PlanRequest {
                content: owned(fields, "content").unwrap_or_default(),
                target_files: Vec::new(),
            };
            inside.post(caller, path, key, &plan).await
        }
        "split" => inside.post(caller, path, key, &split(fields)?).await,
        "edit" => {
            let route = format!("/api/deliveries/{}", view.card.id);
            inside.patch(caller, &route, key, &edit(fields)?).await
        }
        "say" => {
            let job = view.asking_job_id.as_ref().ok_or_else(no_page)?;
            let route = format!("/jobs/{job}/messages");
            let message = Message {
                message: owned(fields, "text").unwrap_or_default(),
            };
            inside.post(caller, &route, key, &message).await
        }
        "merge" => {
            let job = view.job_id.as_ref().ok_or_else(no_page)?;
            let route = format!("/jobs/{job}/merge");
            let order = MergeRequest {
                sha: head,
                ..MergeRequest::default()
            };
            inside.post(caller, &route, key, &order).await
        }
        _ => Err(no_page()),
    }
}

/// One part a line, with its criteria below it.
fn split(fields: &Fields) -> Result<SplitRequest, Refused> {
    let odd = || {
        let detail = "`parts` begins with a criterion: its part has to stand above it";
        Refused::field("parts", "bad_field", detail)
    };
    let typed = owned(fields, "parts").unwrap_or_default();
    let parts = typed_parts(&typed).ok_or_else(odd)?;
    Ok(SplitRequest {
        children: parts.into_iter().map(PartRequest::from).collect(),
    })
}

/// What was left empty stays as it is.
fn edit(fields: &Fields) -> Result<EditDelivery, Refused> {
    let odd = |_| {
        Refused::field(
            "priority",
            "bad_field",
            "`priority` is a number from 0 to 9",
        )
    };
    let priority = owned(fields, "priority");
    let priority = priority.map(|level| level.trim().parse().map_err(odd));
    Ok(EditDelivery {
        summary: owned(fields, "summary"),
        acceptance_criteria: lines(fields, "criteria"),
        priority: priority.transpose()?,
        refs: Vec::new(),
    })
}

/// The lines that a person typed; nothing where all are blank.
fn lines(fields: &Fields, name: &str) -> Option<Vec<String>> {
    let typed = owned(fields, name)?;
    let lines = typed.lines().map(str::trim).filter(|line| !line.is_empty());
    Some(lines.map(str::to_owned).collect())
}

fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name).map(String::as_str)
}

/// What a person typed; nothing where that is blank. Browsers send lines with carriage returns.
fn owned(fields: &Fields, name: &str) -> Option<String> {
    let typed = text(fields, name)?.replace("\r\n", "\n");
    (!typed.trim().is_empty()).then_some(typed)
}

fn head(fields: &Fields) -> Result<Option<CommitSha>, Refused> {
    let sha = text(fields, "sha").map(str::parse).transpose();
    sha.map_err(|_| Refused::field("sha", "bad_field", "`sha` is no commit's id"))
}

/// The plan that the page showed.
fn plan_id(fields: &Fields) -> Result<Option<PlanId>, Refused> {
    let plan = text(fields, "plan_id").map(str::parse).transpose();
    plan.map_err(|_| Refused::field("plan_id", "bad_field", "`plan_id` is no plan's id"))
}

fn verdict(fields: &Fields, head: Option<CommitSha>) -> Result<VerdictRequest, Refused> {
    let verdict = match text(fields, "verdict") {
        Some("pass") => Verdict::Pass,
        Some("not_pass") => Verdict::NotPass,
        Some(_) | None => {
            let detail = "`verdict`: it has to be `pass` or `not_pass`";
            return Err(Refused::field("verdict", "bad_field", detail));
        }
    };
    let missing = || {
        Refused::field(
            "sha",
            "missing_field",
            "`sha`: the reviewed head is missing",
        )
    };
    Ok(VerdictRequest {
        verdict,
        sha: head.ok_or_else(missing)?,
        summary: None,
        feedback: owned(fields, "feedback"),
    })
}
