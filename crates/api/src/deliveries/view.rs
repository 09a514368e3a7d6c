//! A delivery in its wire form, made in this one place for every surface. Text from others is stripped of anything that
//! looks like a secret.

use client::wire::{
    AnalysisView, ChildView, DeliveryCard, DeliveryView, DeliveryWhy, IssueView, PhaseRunView,
    PlanView, PlannedStep, Reason, RefView, RunView,
};
use domain::acceptance;
use domain::advice::Next;
use domain::delivery::{
    self, Analysis, Child, Delivery, DeliveryKind, DeliveryPlan, PhaseRun, Ref, Run, RunStatus,
    TITLE_CHARS_MAX,
};
use domain::job::Order;
use domain::policy::Timing;
use domain::redact::presentable;
use domain::token::Scope;
use engine::deliveries::DeliveryShown;
use serde::Serialize;
use serde_json::Value;

use crate::auth::AuthenticatedCaller;
use crate::reach;
use crate::refusal::Refused;
use crate::state::ApiInner;
use crate::view::{self, SHORT_CHARS_MAX};

/// Longest text of several lines, such as a plan, in characters: as much as is kept of it.
const TEXT_CHARS_MAX: usize = 16_000;

/// What a list or a board shows of a delivery.
pub(crate) fn card(shown: &DeliveryShown) -> DeliveryCard {
    let delivery = &shown.delivery;
    DeliveryCard {
        id: delivery.id.clone(),
        seq: delivery.seq,
        kind: kind(delivery.kind).to_owned(),
        repo: delivery.repo.clone(),
        summary: presentable(&delivery.summary, TITLE_CHARS_MAX),
        phase: delivery.phase.word().to_owned(),
        run_status: delivery.run_status.word().to_owned(),
        verdict: delivery.verdict.map(|verdict| verdict.word().to_owned()),
        waits_for: shown.waits_for.clone().into(),
        why: reasons(shown).into_iter().next().unwrap_or_else(|| Reason {
            code: delivery.run_status.word().to_owned(),
            sentence: String::new(),
        }),
        issue: delivery.issue.as_ref().map(|issue| IssueView {
            number: issue.number,
            url: issue.url(),
        }),
        pull_request: delivery.task.pull.clone(),
        priority: delivery.priority,
        created_at: delivery.created_at,
        updated_at: delivery.updated_at,
    }
}

/// A delivery with everything that is known of it, and what this caller may do with it.
pub(crate) async fn whole(
    api: &ApiInner,
    shown: &DeliveryShown,
    who: &AuthenticatedCaller,
) -> Result<DeliveryView, Refused> {
    let orders = legal(api, shown, who).await?;
    let delivery = &shown.delivery;
    let phases = delivery.checkpoints.phases().iter();
    let feedback = delivery.feedback.as_deref();
    let asking = shown.asking();
    let question = asking.and_then(view::question);
    let is_asking = question.is_some() || delivery.run_status == RunStatus::Blocked;
    Ok(DeliveryView {
        card: card(shown),
        schema_version: delivery.schema_version,
        description: delivery.description.as_deref().map(text),
        acceptance_criteria: delivery.acceptance_criteria.iter().map(short).collect(),
        endpoint: delivery.endpoint.phase().word().to_owned(),
        checkpoints: phases.map(|phase| phase.word().to_owned()).collect(),
        refs: delivery.refs.iter().map(reference).collect(),
        plan: delivery.plan.as_ref().map(plan),
        error: error(delivery),
        feedback: feedback.map(short),
        asking_job_id: asking.filter(|_| is_asking).map(|job| job.id.clone()),
        question,
        attempt: delivery.attempt,
        review_round: delivery.review_round,
        parent: delivery.parent.clone(),
        children: delivery.children.iter().map(child).collect(),
        job_id: delivery.task.job.clone(),
        head: delivery.head().cloned(),
        runs: delivery.runs.iter().map(run).collect(),
        phase_runs: delivery.phase_runs.iter().map(phase_run).collect(),
        version: delivery.version,
        legal: orders.legal,
        retry_takes_reason: orders.retry_takes_reason,
    })
}

/// Why a delivery is where it is: its own reasons first, then those of its job and its pull request.
pub(crate) async fn why(
    api: &ApiInner,
    shown: &DeliveryShown,
    who: &AuthenticatedCaller,
) -> Result<DeliveryWhy, Refused> {
    let delivery = &shown.delivery;
    let orders = legal(api, shown, who).await?;
    let mut why = DeliveryWhy {
        delivery_id: delivery.id.clone(),
        job_id: delivery.task.job.clone(),
        head: delivery.head().cloned(),
        phase: delivery.phase.word().to_owned(),
        run_status: delivery.run_status.word().to_owned(),
        waits_for: shown.waits_for.clone().into(),
        because: reasons(shown),
        then: Vec::new(),
        next: Vec::new(),
        as_read: None,
        next_look: None,
        legal: orders.legal,
        retry_takes_reason: orders.retry_takes_reason,
    };
    let job = shown.asking().filter(|_| !delivery.is_terminal());
    if let Some(job) = job {
        let waits_for = Some(&shown.waits_for);
        let mut of_job = api.backend.why_within(&job.id, waits_for).await?;
        // What may be ordered is said in `legal`: the orders of a delivery's job are the delivery's.
        of_job.next.retain(is_no_order);
        let of_job = view::why(of_job);
        let new = |reason: &Reason| !why.because.contains(reason);
        let new: Vec<Reason> = of_job.because.into_iter().filter(new).collect();
        why.because.extend(new);
        why.then = result_due(delivery)
            .into_iter()
            .chain(of_job.then)
            .collect();
        why.next = of_job.next;
        why.as_read = of_job.as_read;
        why.next_look = of_job.next_look;
    }
    if why.then.is_empty() && !delivery.is_terminal() {
        let at = api.backend.delivery_due(&delivery.id).await?;
        why.then
            .extend(PlannedStep::read_again(Some(shown.waits_for.who), at));
    }
    Ok(why)
}

/// When its phase fails, because its session ended without a result.
fn result_due(delivery: &Delivery) -> Option<PlannedStep> {
    let sentence = "If nothing has come of its session by then, the phase fails.";
    delivery::result_due(delivery).map(|at| PlannedStep::new(Some(at), sentence))
}

fn is_no_order(next: &Next) -> bool {
    match next.advice.order() {
        None | Some(Order::Say) => true,
        Some(
            Order::Create
            | Order::Adopt
            | Order::Approve
            | Order::Merge
            | Order::Retry
            | Order::Cancel,
        ) => false,
    }
}

/// What a caller may do with a delivery now.
#[derive(Debug, Default)]
pub(crate) struct LegalOrders {
    /// The orders, in words.
    pub(crate) legal: Vec<String>,
    /// Whether a retry may say what to do otherwise.
    pub(crate) retry_takes_reason: bool,
}

/// What a caller may do with a delivery now, by the functions that refuse the rest.
pub(crate) async fn legal(
    api: &ApiInner,
    shown: &DeliveryShown,
    who: &AuthenticatedCaller,
) -> Result<LegalOrders, Refused> {
    let may_order = who.must(Scope::Write);
    if may_order.is_err() || reach::must_reach_delivery(api, who, shown).await.is_err() {
        return Ok(LegalOrders::default());
    }
    if !shown.is_stored {
        return Ok(job_orders(api, shown));
    }
    let rules = api.backend.delivery_rules(&shown.delivery).await?;
    let by = who.actor();
    let kinds = delivery::legal(&shown.delivery, &by, &rules);
    Ok(LegalOrders {
        legal: kinds.iter().map(|kind| kind.word().to_owned()).collect(),
        retry_takes_reason: delivery::retry_takes_reason(&shown.delivery, &by, &rules),
    })
}

/// The orders that a job takes which belongs to no delivery.
fn job_orders(api: &ApiInner, shown: &DeliveryShown) -> LegalOrders {
    let Some(job) = &shown.job else {
        return LegalOrders::default();
    };
    let pull = shown.pull.as_ref().map(|tracked| &tracked.pull);
    let (now, timing) = (api.backend.now(), &Timing::default());
    let orders = [Order::Approve, Order::Retry, Order::Cancel, Order::Merge];
    let accepts = |order: &Order| acceptance::accepts(job, pull, *order, now, timing);
    let accepted = orders.into_iter().filter(accepts);
    LegalOrders {
        legal: accepted.map(|order| order.word().to_owned()).collect(),
        retry_takes_reason: accepts(&Order::Retry),
    }
}

fn reasons(shown: &DeliveryShown) -> Vec<Reason> {
    let reason = |it: &delivery::DeliveryReason| Reason::new(it.code, &it.sentence);
    shown.because.iter().map(reason).collect()
}

fn kind(kind: DeliveryKind) -> &'static str {
    match kind {
        DeliveryKind::Issue => "issue",
        DeliveryKind::Requirement => "requirement",
        DeliveryKind::Member => "member",
        DeliveryKind::Integration => "integration",
        DeliveryKind::Adhoc => "adhoc",
    }
}

fn error(delivery: &Delivery) -> Option<Reason> {
    let failed = delivery.error.as_ref()?;
    Some(Reason::new(failed.code.word(), &failed.text))
}

fn text(text: &str) -> String {
    presentable(text, TEXT_CHARS_MAX)
}

fn short(text: impl AsRef<str>) -> String {
    presentable(text.as_ref(), SHORT_CHARS_MAX)
}

/// The word of a value of a closed enum, as it is stored.
pub(super) fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

fn reference(reference: &Ref) -> RefView {
    RefView {
        role: word(reference.role),
        kind: word(reference.kind),
        label: short(&reference.label),
        url: reference.url.as_ref().map(|page| page.as_str().to_owned()),
    }
}

fn plan(plan: &DeliveryPlan) -> PlanView {
    PlanView {
        id: plan.id.clone(),
        content: text(&plan.content),
        generated_at: plan.generated_at,
        model: plan.model.as_deref().map(short),
        cwd: plan.cwd.as_deref().map(short),
        target_files: plan.target_files.iter().map(short).collect(),
    }
}

fn child(child: &Child) -> ChildView {
    ChildView {
        id: child.id.clone(),
        summary: short(&child.summary),
        state: word(child.state),
    }
}

/// One execution of a phase.
pub(super) fn run(run: &Run) -> RunView {
    let seconds = |length: jiff::SignedDuration| length.unsigned_abs().as_secs();
    RunView {
        id: run.id.clone(),
        mode: word(run.mode),
        executor: word(run.executor()),
        performer: word(run.performer),
        status: word(run.status),
        job_id: run.job.clone(),
        session_id: run.session.clone(),
        attempt: run.attempt,
        head: run.head.clone(),
        created_at: run.created_at,
        duration_seconds: run.duration().map(seconds),
        tokens: None,
        cost: None,
        verdict: run.verdict.map(|verdict| verdict.word().to_owned()),
        summary: run.summary.as_deref().map(short),
        error: run.error.as_deref().map(short),
        analysis: run.analysis.as_ref().map(analysis),
        transcript: word(run.transcript),
    }
}

fn analysis(found: &Analysis) -> AnalysisView {
    AnalysisView {
        by: short(found.by.to_string()),
        text: short(&found.text),
        suggestion: found.suggestion.as_deref().map(short),
    }
}

fn phase_run(span: &PhaseRun) -> PhaseRunView {
    PhaseRunView {
        phase: span.phase.word().to_owned(),
        run_status: span.run_status.word().to_owned(),
        verdict: span.verdict.map(|verdict| verdict.word().to_owned()),
        executor: word(span.executor()),
        started_at: span.started_at,
        ended_at: span.ended_at,
        actor: short(span.actor.to_string()),
    }
}
