//! What an agent gets: the event in the seed's schema, and what is needed to answer, in a few KB.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Resume, Wake};
use crate::event::{Audience, DeliveryAsk, Event, FailedCheck, Occurrence};
use crate::fence::{clip_encoded, encoded_len, tail};
use crate::ids::{CommitSha, DeliveryId, EventId, JobId, PullRef};
use crate::redact::{presentable, redact, storable};
use crate::session::{Plan, PlanStep};

/// Largest message, in bytes as JSON: an agent reads all of it.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// Longest text, in bytes as JSON.
const TEXT_BYTES_MAX: usize = 4_000;

/// Longest text where a check says more, in bytes as JSON.
const TEXT_BESIDE_CHECK_BYTES_MAX: usize = 2_000;

/// Longest status, in bytes as JSON; Jules may name new states as it likes.
const STATUS_BYTES_MAX: usize = 160;

/// Longest name of a repository, in bytes as JSON.
const REPO_BYTES_MAX: usize = 200;

/// Longest plan, in bytes as JSON.
const PLAN_BYTES_MAX: usize = 4_700;

/// Longest title or description of a step, in bytes as JSON.
const STEP_BYTES_MAX: usize = 300;

/// What a step's field names, quotes and commas take in JSON, in bytes.
const STEP_KEYS_BYTES: usize = 32;

/// Longest text where a plan of a delivery says more, in bytes as JSON.
const TEXT_BESIDE_PLAN_BYTES_MAX: usize = 800;

/// Longest text where paths say more, in bytes as JSON.
const TEXT_BESIDE_PATHS_BYTES_MAX: usize = 1_000;

/// Paths that a sentence names.
const PATHS_IN_WORDS_MAX: usize = 5;

/// What a path's quotes and comma take in JSON, in bytes.
const PATH_QUOTES_BYTES: usize = 3;

/// Most pull requests of a completion.
const PULLS_MAX: usize = 10;

/// Longest name of a failing check, in bytes as JSON.
const CHECK_NAME_BYTES_MAX: usize = 200;

/// Longest end of a failing check's output, in characters and in bytes as JSON.
const CHECK_OUTPUT_CHARS_MAX: usize = 1_500;
const CHECK_OUTPUT_BYTES_MAX: usize = 2_400;

/// What a completion says that tells of a pull request only.
const WAITS_FOR_APPROVAL: &str = "Its pull request is green and waits for approval.";

/// The message that an agent gets: the seed's event schema, and what is needed to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionableEvent {
    /// `question`, `completed`, `error` or `stuck`.
    pub event: String,
    /// What kind of that, for programs.
    pub kind: String,
    /// The event's id; the same in all attempts.
    pub event_id: EventId,
    /// The job; `None` when a whole account is affected.
    pub job_id: Option<JobId>,
    /// The delivery of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_id: Option<DeliveryId>,
    /// The account.
    pub account: String,
    /// The repository, `owner/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Which of the job's sessions, from 1.
    pub attempt: u32,
    /// Which of its job's events, from 1: it grows in the order in which they were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When it was seen.
    pub observed_at: Timestamp,
    /// The session's state in Jules's spelling.
    pub status: String,
    /// The question, the reason or the last message; untrusted data from others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// More of it: plan steps, pull requests, or what the failing check said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// Address of its full text at the HTTP API, if it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_ref: Option<String>,
    /// When the session last did anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activity: Option<Timestamp>,
    /// Web pages to open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Links>,
    /// The agent's own value, by which it resumes its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// `human` when it is for a person and no agent is woken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
}

/// Web pages about an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
    /// The failing check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// As many steps of a plan as an event has room for, without secrets.
pub(crate) fn fitting_plan(plan: &Plan) -> Plan {
    let mut left = PLAN_BYTES_MAX;
    let mut steps = Vec::new();
    for step in &plan.steps {
        let title = storable(&step.title, STEP_BYTES_MAX);
        let description = storable(&step.description, STEP_BYTES_MAX);
        let bytes = encoded_len(&title) + encoded_len(&description) + STEP_KEYS_BYTES;
        if bytes > left {
            break;
        }
        left -= bytes;
        steps.push(PlanStep { title, description });
    }
    Plan {
        id: plan.id.clone(),
        steps,
    }
}

/// A plan for programs.
fn planned(plan: &Plan) -> Value {
    json!({ "plan_id": plan.id, "steps": fitting_plan(plan).steps })
}

/// Whether an event has room for all of a plan.
pub(crate) fn shows_whole(plan: &Plan) -> bool {
    fitting_plan(plan).steps.len() == plan.steps.len()
}

/// The failing check, by name and the end of its output.
fn check(check: &FailedCheck) -> Value {
    let output = redact(&presentable(&check.output, usize::MAX));
    json!({ "check": {
        "name": storable(&check.name, CHECK_NAME_BYTES_MAX),
        "output": tail(&output, CHECK_OUTPUT_CHARS_MAX, CHECK_OUTPUT_BYTES_MAX),
    } })
}

/// Text and structured content of an event.
fn content(event: &Event) -> (Option<String>, Option<Value>) {
    let text = |text: &str| Some(storable(text, TEXT_BYTES_MAX));
    match &event.what {
        Occurrence::Question { text: words } => (words.as_deref().and_then(text), None),
        Occurrence::PlanApproval { plan } => {
            let payload = plan.as_ref().map(planned);
            (text("A plan waits for approval."), payload)
        }
        Occurrence::UnreviewedPlan { plan } => {
            let payload = planned(plan);
            let words = "It works on a plan that was not approved. Where plans are to be approved, nothing is merged before this one is.";
            (text(words), Some(payload))
        }
        Occurrence::UnexpectedPush { sha, paths } => {
            let reason = storable(&unexpected(sha, paths), TEXT_BESIDE_PATHS_BYTES_MAX);
            let payload = json!({ "sha": sha, "paths": fitting(paths) });
            (Some(reason), Some(payload))
        }
        Occurrence::Completed { pulls } => {
            let pulls: Vec<&PullRef> = pulls.iter().take(PULLS_MAX).collect();
            let words = event.asks_approval().then_some(WAITS_FOR_APPROVAL);
            let payload = json!({ "pull_requests": pulls });
            (words.and_then(text), Some(payload))
        }
        Occurrence::Error { reason, .. } => match &event.aid.check {
            Some(failed) => {
                let reason = storable(reason, TEXT_BESIDE_CHECK_BYTES_MAX);
                (Some(reason), Some(check(failed)))
            }
            None => (text(reason), None),
        },
        Occurrence::Stuck { last_words } => (last_words.as_deref().and_then(text), None),
        Occurrence::Delivery { ask, summary } => {
            let words = format!("{} {summary}", ask.sentence());
            let (payload, room) = asked(ask);
            (Some(storable(&words, room)), payload)
        }
        Occurrence::News(news) => {
            let (words, payload) = news.content();
            (text(&words), payload)
        }
    }
}

/// What a delivery asks for, for programs, and the room that it leaves for words, in bytes as JSON.
fn asked(ask: &DeliveryAsk) -> (Option<Value>, usize) {
    match ask {
        DeliveryAsk::Start | DeliveryAsk::Plan => (None, TEXT_BYTES_MAX),
        DeliveryAsk::Checkpoint { phase, plan: None } => {
            (Some(json!({ "phase": phase })), TEXT_BYTES_MAX)
        }
        DeliveryAsk::Checkpoint {
            phase,
            plan: Some(plan),
        } => {
            let mut payload = planned(plan);
            payload["phase"] = json!(phase);
            (Some(payload), TEXT_BESIDE_PLAN_BYTES_MAX)
        }
        DeliveryAsk::Review { pull, head } | DeliveryAsk::Merge { pull, head } => {
            let payload = json!({ "pull_request": pull, "sha": head });
            (Some(payload), TEXT_BYTES_MAX)
        }
    }
}

/// The question about an unexpected head. The payload lists more paths.
fn unexpected(sha: &CommitSha, paths: &[String]) -> String {
    let listed = if paths.is_empty() {
        "more than can be compared".to_owned()
    } else {
        paths
            .iter()
            .take(PATHS_IN_WORDS_MAX)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ")
    };
    format!(
        "Head {sha} of its pull request was pushed when Gaffer expected no push. It changes what neither its session nor the pull request had changed, or takes back what others changed: {listed}. It is not merged unless a person approves this head."
    )
}

/// As many paths as fit.
fn fitting(paths: &[String]) -> Vec<String> {
    let mut left = PLAN_BYTES_MAX;
    let clipped = paths.iter().map(|path| storable(path, STEP_BYTES_MAX));
    clipped
        .take_while(|path| {
            let bytes = encoded_len(path) + PATH_QUOTES_BYTES;
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        })
        .collect()
}

fn links(event: &Event) -> Option<Links> {
    let aid = &event.aid;
    let check = aid.check.as_ref().and_then(|check| check.page.as_ref());
    let links = Links {
        session: aid.session.as_ref().map(|page| page.as_str().to_owned()),
        pull_request: aid.pull.as_ref().map(PullRef::url),
        check: check.map(|page| page.as_str().to_owned()),
    };
    (links != Links::default()).then_some(links)
}

/// Writes an event as its receiver gets it: redacted and clipped.
pub fn message(event: &Event, repo: Option<&str>) -> ActionableEvent {
    let (message, payload) = content(event);
    let for_a_person = event.audience == Audience::Human;
    ActionableEvent {
        event: event.what.name().to_owned(),
        kind: event.what.kind().to_owned(),
        event_id: event.id.clone(),
        job_id: event.job.clone(),
        delivery_id: event.aid.delivery.clone(),
        account: event.account.to_string(),
        repo: repo.map(|repo| clip_encoded(repo, REPO_BYTES_MAX)),
        attempt: event.attempt,
        seq: event.seq,
        observed_at: event.observed_at,
        status: storable(&event.status, STATUS_BYTES_MAX),
        message,
        payload,
        payload_ref: event.aid.whole.clone(),
        last_activity: event.last_activity,
        links: links(event),
        resume: None,
        audience: for_a_person.then(|| "human".to_owned()),
    }
}

impl Wake {
    /// The message to its agent, with what the job, else the agent, wants to be found by.
    pub fn message(&self, resume: Option<&Resume>) -> ActionableEvent {
        let resume = self.resume.as_ref().or(resume);
        ActionableEvent {
            resume: resume.map(|resume| resume.as_str().to_owned()),
            ..message(&self.event, self.repo.as_deref())
        }
    }
}
