//! The page of one delivery.

use askama::Template;
use client::wire::{
    DeliveryCard, DeliveryView, DeliveryWhy, JobView, PlannedStep, Reason, RunView, Why,
};
use domain::advice::Advice;
use domain::delivery::{FEEDBACK_CHARS_MAX, PLAN_BYTES_MAX, Phase, TITLE_CHARS_MAX};
use domain::web_page::WebPage;
use jiff::Timestamp;

use crate::board::{awaits_person, has_failed, mark};
use crate::history::{Span, spans};
use crate::shell::{Frame, Page, Place, Shell, paged};
use crate::{Error, text};

/// What the page of a delivery shows.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    /// The delivery.
    pub view: &'a DeliveryView,
    /// Why it is where it is, joined with what its job and its pull request say.
    pub why: Option<&'a DeliveryWhy>,
    /// Its job, if it has one.
    pub job: Option<&'a JobView>,
    /// Why its pull request is not merged.
    pub pull_why: Option<&'a Why>,
    /// Whether it had moved on when a form of an older page arrived.
    pub has_moved: bool,
}

/// Where a delivery stands, for forms: an order that was meant for another moment is not given. A delivery that comes
/// back to where it was has one more span; a job that is shown as one has another attempt.
pub fn standing(view: &DeliveryView) -> String {
    let (card, attempt, spans) = (&view.card, view.attempt, view.phase_runs.len());
    format!("{}/{}/{attempt}/{spans}", card.phase, card.run_status)
}

/// The page of a delivery.
///
/// # Errors
/// When the template fails.
pub fn delivery(frame: &Frame, told: Delivery<'_>) -> Result<Page, Error> {
    let viewer = frame.viewer.as_ref();
    let may_act = viewer.is_some_and(|viewer| viewer.may_act);
    let form_token = viewer.map(|viewer| viewer.form_token.as_str());
    let card = &told.view.card;
    let reasons = told.why.map(|why| why.because.as_slice());
    paged(frame, Place::Elsewhere, |shell| DeliveryPage {
        shell,
        view: told.view,
        phase: text::capital(&card.phase),
        card,
        mark: mark(card),
        is_failed: has_failed(card),
        is_of_person: awaits_person(card),
        resume: resume(card),
        steps: steps(told.view),
        standing: standing(told.view),
        has_moved: told.has_moved,
        reasons: reasons.unwrap_or(std::slice::from_ref(&card.why)),
        then: told.why.map_or(&[], |why| why.then.as_slice()),
        next_look: told.why.and_then(|why| why.next_look),
        question: told.view.question.as_deref(),
        session: session(told.job),
        pull_page: pull_page(told),
        pull_why: told.pull_why,
        runs: told.view.runs.iter().rev().collect(),
        spans: spans(told.view),
        may_act,
        form_token: form_token.unwrap_or_default(),
        actions: actions(told.view, may_act),
        names_plan: card.phase == Phase::Plan.word() || shows_bare_job(card),
        goes_to_jules: goes_to_jules(told.view),
        takes_reason: told.view.retry_takes_reason,
        head: told.view.head.as_ref().map(|head| head.as_str()),
        suggestion: suggestion(told.view),
        feedback_max: FEEDBACK_CHARS_MAX,
        plan_max: PLAN_BYTES_MAX,
        title_max: TITLE_CHARS_MAX,
    })
}

#[derive(Template)]
#[template(path = "delivery.html")]
struct DeliveryPage<'a> {
    shell: Shell,
    view: &'a DeliveryView,
    card: &'a DeliveryCard,
    phase: String,
    mark: &'static str,
    is_failed: bool,
    is_of_person: bool,
    resume: Option<String>,
    steps: Vec<Step>,
    standing: String,
    has_moved: bool,
    reasons: &'a [Reason],
    then: &'a [PlannedStep],
    next_look: Option<Timestamp>,
    question: Option<&'a str>,
    session: Option<WebPage>,
    pull_page: Option<WebPage>,
    pull_why: Option<&'a Why>,
    runs: Vec<&'a RunView>,
    spans: Vec<Span<'a>>,
    may_act: bool,
    form_token: &'a str,
    actions: Vec<Action>,
    /// Whether what is approved is a plan.
    names_plan: bool,
    /// Whether the reason of a retry is sent to the session.
    goes_to_jules: bool,
    takes_reason: bool,
    head: Option<&'a str>,
    suggestion: &'a str,
    feedback_max: usize,
    plan_max: usize,
    title_max: usize,
}

/// The command that ends the pause that it waits for.
fn resume(card: &DeliveryCard) -> Option<String> {
    let advice = Advice::for_pause(&card.waits_for.what)?;
    Some(match advice == Advice::ResumeSource {
        true => format!("gaffer source resume {}", card.repo),
        false => "gaffer resume".to_owned(),
    })
}

/// One phase on the way to the end.
struct Step {
    name: String,
    class: &'static str,
    mark: &'static str,
    note: Option<&'static str>,
    is_here: bool,
}

fn steps(view: &DeliveryView) -> Vec<Step> {
    let here = Phase::from_word(&view.card.phase);
    let end = Phase::from_word(&view.endpoint);
    let is_over = here == Some(Phase::Close) && view.card.run_status == "succeeded";
    let was_in = |phase: Phase| view.phase_runs.iter().any(|it| it.phase == phase.word());
    let step = |phase: Phase| {
        let is_here = here == Some(phase);
        let is_past = here.is_some_and(|here| phase < here);
        let is_left = phase != Phase::Close && end.is_some_and(|end| phase > end);
        let is_checkpoint = view.checkpoints.iter().any(|it| it == phase.word());
        let (class, mark) = match (is_here, is_past) {
            (true, _) if is_over => ("done", "✓"),
            (true, _) => ("here", "▸"),
            (false, true) if was_in(phase) => ("done", "✓"),
            (false, _) if is_left => ("left", "–"),
            (false, _) => ("ahead", "○"),
        };
        let note = if is_left && !is_here {
            Some("left out")
        } else {
            (is_checkpoint && !is_past).then_some("checkpoint")
        };
        let name = text::capital(phase.word());
        Step {
            name,
            class,
            mark,
            note,
            is_here,
        }
    };
    Phase::ALL.into_iter().map(step).collect()
}

/// An answer to the question of its session, which is an order about its job.
const ANSWER: &str = "say";

/// What a person can do on this page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ActionKind {
    Answer,
    Start,
    Approve,
    Reject,
    Retry,
    Verdict,
    Plan,
    Merge,
    Split,
    Edit,
    Cancel,
}

impl ActionKind {
    /// In the order of the page, each with its word among those that are legal.
    const ALL: [(Self, &'static str); 11] = [
        (Self::Answer, ANSWER),
        (Self::Start, "start"),
        (Self::Approve, "approve"),
        (Self::Verdict, "verdict"),
        (Self::Plan, "plan"),
        (Self::Merge, "merge"),
        (Self::Retry, "retry"),
        (Self::Reject, "reject"),
        (Self::Split, "split"),
        (Self::Edit, "edit"),
        (Self::Cancel, "cancel"),
    ];
}

struct Action {
    kind: ActionKind,
    word: &'static str,
}

/// Exactly what is legal now, as far as the page has forms for it, and shows what they are about.
fn actions(view: &DeliveryView, may_act: bool) -> Vec<Action> {
    let is_legal = |word: &str| match word {
        ANSWER => may_act && view.question.is_some(),
        word => may_act && view.legal.iter().any(|it| it == word),
    };
    // Another plan could come before the form does.
    let is_unseen = shows_bare_job(&view.card) && view.plan.is_none();
    let is_shown = |kind: ActionKind| kind != ActionKind::Approve || !is_unseen;
    let all = ActionKind::ALL.into_iter();
    let legal = all.filter(|(kind, word)| is_legal(word) && is_shown(*kind));
    legal.map(|(kind, word)| Action { kind, word }).collect()
}

/// Whether it shows a job that belongs to no delivery, of which nothing but its plan is approved.
fn shows_bare_job(card: &DeliveryCard) -> bool {
    card.seq == 0
}

/// Whether the reason of a retry is sent to its session.
fn goes_to_jules(view: &DeliveryView) -> bool {
    let by_jules = |run: &RunView| run.performer == "jules";
    match view.card.phase.as_str() {
        "plan" => view.runs.last().is_some_and(by_jules),
        _ => view.retry_takes_reason,
    }
}

/// What the analysis of the last failure suggests.
fn suggestion(view: &DeliveryView) -> &str {
    let failed = view.runs.iter().rev().find(|run| run.status == "failed");
    let analysis = failed.and_then(|run| run.analysis.as_ref());
    let suggestion = analysis.and_then(|analysis| analysis.suggestion.as_deref());
    suggestion.unwrap_or_default()
}

fn session(job: Option<&JobView>) -> Option<WebPage> {
    WebPage::from_service(job?.session_url.as_deref()?)
}

/// The page of the pull request: as its job knows it, or as the delivery refers to it.
fn pull_page(told: Delivery<'_>) -> Option<WebPage> {
    let of_job = told.job.and_then(|job| job.pull_request_url.as_deref());
    let is_pull = |kind: &str| kind == "pr";
    let mut refs = told.view.refs.iter().rev();
    let of_refs = refs.find(|it| is_pull(&it.kind));
    let of_refs = of_refs.and_then(|it| it.url.as_deref());
    of_job.or(of_refs).and_then(WebPage::from_service)
}
