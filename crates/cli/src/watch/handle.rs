//! `gaffer handle-event`: the default handler of events.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use client::mcp::Server;
use domain::event::ErrorCause;
use domain::fence::{clip, fence};
use domain::job::{Order, cause_asks_for};
use serde::Deserialize;
use serde_json::{Value, json};

use super::child::JULES_EVENT;
use crate::args::watch::HandleArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{self, Answer};
use crate::{mcp, stdin};

/// Longest event, in bytes: ours have at most 8 KB.
const EVENT_BYTES_MAX: u64 = 64 * 1024;

/// Longest text that is shown to people, in characters. Programs get it whole.
const SHOWN_CHARS_MAX: usize = 8_000;

/// Longest name of an event that is repeated, in characters.
const NAME_CHARS_MAX: usize = 80;

/// The known events.
const KNOWN: [&str; 5] = ["question", "completed", "error", "stuck", "test"];

const APPROVE: &str = "jules_approve_plan";

/// An event in the seed's schema, with what of ours is of use. What else there is does not matter.
#[derive(Debug, Deserialize)]
struct HandlerSettings {
    event: String,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    event_id: Option<String>,
    #[serde(default)]
    job_id: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    payload: Option<Value>,
}

/// A tool and its arguments.
type Call = (&'static str, Value);

/// What an event asks for.
#[derive(Debug, PartialEq, Eq)]
struct HandlePlan {
    /// The event, in a sentence.
    happened: String,
    /// The tools that are called for it, with their arguments.
    calls: Vec<(&'static str, Value)>,
    /// Actions that the reader may take.
    next: Vec<String>,
}

/// Handles one event and reports it.
pub(crate) async fn run(args: HandleArgs, here: CommandContext) -> Result<Answer> {
    let event = read(args.event)?;
    if !is_known(&event.event) {
        let shown = clip(&event.event, NAME_CHARS_MAX);
        let told =
            format!("unknown_event: `{shown}` is none that this version knows; it is done with");
        render::note(&told);
    }
    let plan = plan(&event, args.auto_approve_plans);
    let server = mcp::tools(args.url, here);
    let mut called = Vec::new();
    for (tool, arguments) in plan.calls {
        called.push((tool, call(&server, tool, arguments).await?));
    }
    Ok(event_environment(
        &event,
        &plan.happened,
        &plan.next,
        &called,
    ))
}

/// Whether this version knows such an event.
pub(super) fn is_known(event: &str) -> bool {
    KNOWN.contains(&event)
}

/// Calls a tool for an event. A call that can never succeed, or that only shows something, must not bring the event
/// back again and again; one that can succeed later must.
async fn call(server: &Server, tool: &'static str, arguments: Value) -> Result<Value> {
    let what = match server.carry_out(tool, arguments.clone()).await {
        Some(Ok(answer)) => return Ok(answer),
        Some(Err(refusal)) => refusal.words,
        None => "there is no such tool".to_owned(),
    };
    let still_waits = match server.carry_out("jules_get_job", arguments).await {
        Some(Ok(job)) => job["state"] == "plan-waits",
        // There is no person to ask.
        Some(Err(_)) | None => true,
    };
    if tool == APPROVE && still_waits {
        let next = "the event comes again if this command was run by `gaffer watch`";
        return Err(Error::refused("tool_failed", what, next).into());
    }
    Ok(json!({ "failed": what }))
}

fn read(given: Option<String>) -> Result<HandlerSettings> {
    let text = match given.filter(|text| !text.trim().is_empty()) {
        Some(text) => text,
        None if std::io::stdin().is_terminal() => return Err(no_event().into()),
        None => stdin::of_stdin(EVENT_BYTES_MAX).context("reading the event")?,
    };
    if text.trim().is_empty() {
        return Err(no_event().into());
    }
    let odd = |what: String| {
        let next = "it is a JSON object with `event`, `job_id` and so on";
        Error::usage(format!("the event cannot be read: {what}"), next)
    };
    // Without this, a list would be read as the fields in their order.
    if !text.trim_start().starts_with('{') {
        return Err(odd("it is no JSON object".to_owned()).into());
    }
    let mut reader = serde_json::Deserializer::from_str(&text);
    let read = serde_path_to_error::deserialize(&mut reader);
    Ok(read.map_err(|error| odd(format!("`{}`: {}", error.path(), error.inner())))?)
}

fn no_event() -> Error {
    Error::usage(
        format!("there is no event in {JULES_EVENT} and none on standard input"),
        "this is run by `gaffer watch --agent NAME`, which gives it one",
    )
}

/// The action that an event asks for. Text that others wrote never chooses what is called.
fn plan(event: &HandlerSettings, approves: bool) -> HandlePlan {
    let job = event.job_id.as_deref();
    let named = job.unwrap_or("the whole account");
    let one = |tool: &'static str| job.map(|job| (tool, json!({ "job_id": job })));
    let (happened, call, next) = match (event.event.as_str(), event.kind.as_deref()) {
        ("question", kind) => question(kind, named, one(APPROVE).filter(|_| approves)),
        ("completed", _) => (
            format!("Jules is done with {named}."),
            one("jules_get_artifacts"),
            vec![
                format!("Look at it with `gaffer job artifacts {named}`."),
                format!(
                    "Merge it with `gaffer job merge {named}` (jules_merge_pr), unless Gaffer may."
                ),
            ],
        ),
        ("error", kind) => (
            format!("Something went wrong with {named}."),
            one("jules_get_job"),
            wrong(kind, named),
        ),
        ("test", _) => ("A test message came through.".to_owned(), None, Vec::new()),
        ("stuck", _) => (
            format!("Nothing moves in {named}."),
            one("jules_get_job"),
            vec![
                format!("Say something with `gaffer job say {named} WORDS` (jules_send_message)."),
                format!("Or call it off with `gaffer job cancel {named}` (jules_cancel_job)."),
            ],
        ),
        // A later version may know more kinds; an unknown one is no error.
        (_, _) => (
            "This is an event that this version does not know.".to_owned(),
            None,
            Vec::new(),
        ),
    };
    HandlePlan {
        happened,
        calls: call.into_iter().collect(),
        next: if job.is_some() { next } else { Vec::new() },
    }
}

/// Next steps after an error, depending on its kind alone.
fn wrong(kind: Option<&str>, named: &str) -> Vec<String> {
    let cause = ErrorCause::from(kind.unwrap_or_default().to_owned());
    let why = format!("Why it stands still, and what can be done, tells `gaffer job why {named}`.");
    let orders = cause_asks_for(&cause).iter().filter_map(|order| {
        Some(match order {
            Order::Create | Order::Adopt => return None,
            Order::Say => {
                format!("Say something with `gaffer job say {named} WORDS` (jules_send_message).")
            }
            Order::Approve => {
                format!("Approve its plan with `gaffer job approve {named}` (jules_approve_plan).")
            }
            Order::Merge => {
                format!("Approve its head with `gaffer job merge {named}` (jules_merge_pr).")
            }
            Order::Retry => {
                format!(
                    "Give it another session with `gaffer job retry {named}` (jules_request_retry)."
                )
            }
            Order::Cancel => {
                format!("Or call it off with `gaffer job cancel {named}` (jules_cancel_job).")
            }
        })
    });
    std::iter::once(why).chain(orders).collect()
}

/// The plan for a question: the event, the immediate call, and the next steps.
fn question(
    kind: Option<&str>,
    named: &str,
    approval: Option<Call>,
) -> (String, Option<Call>, Vec<String>) {
    match kind {
        Some("plan_approval") => {
            let next = match approval {
                Some(_) => Vec::new(),
                None => vec![
                    format!("Approve it with `gaffer job approve {named}` (jules_approve_plan)."),
                    format!("Or say what should be different with `gaffer job say {named} WORDS`."),
                ],
            };
            (format!("Jules shows a plan for {named}."), approval, next)
        }
        Some("unreviewed_plan") => (
            format!("Jules works on a plan for {named} that was not approved."),
            None,
            vec![format!(
                "Approve it after the fact with `gaffer job approve {named}` (jules_approve_plan)."
            )],
        ),
        Some("unexpected_push") => (
            format!("The pull request of {named} has an unexpected head."),
            None,
            vec![format!(
                "Look at it, and if it is right approve it with `gaffer job merge {named}` (jules_merge_pr)."
            )],
        ),
        Some("merge") => (
            format!("The pull request of {named} is green and waits for approval."),
            None,
            vec![format!(
                "Look at it, and merge it with `gaffer job merge {named}` (jules_merge_pr)."
            )],
        ),
        Some(_) | None => (
            format!("Jules asks about {named}."),
            None,
            vec![format!(
                "Answer with `gaffer job say {named} WORDS` (jules_send_message)."
            )],
        ),
    }
}

fn event_environment(
    event: &HandlerSettings,
    happened: &str,
    next: &[String],
    called: &[(&'static str, Value)],
) -> Answer {
    let calls: Vec<Value> = called
        .iter()
        .map(|(tool, answer)| json!({ "tool": tool, "answer": answer }))
        .collect();
    let mut answer = Answer::new(json!({
        "event": event.event, "kind": event.kind, "event_id": event.event_id,
        "job_id": event.job_id, "message": event.message, "payload": event.payload,
        "happened": happened, "called": calls, "next": next,
    }))
    .line(happened);
    if let Some(message) = &event.message {
        answer = answer.line(fence("what it says", message, SHOWN_CHARS_MAX));
    }
    if let Some(payload) = &event.payload {
        answer = answer.line(fence(
            "more of it",
            &format!("{payload:#}"),
            SHOWN_CHARS_MAX,
        ));
    }
    for (tool, shown) in called {
        answer = answer.line(fence(tool, &format!("{shown:#}"), SHOWN_CHARS_MAX));
    }
    next.iter().fold(answer, Answer::line)
}

#[cfg(test)]
mod tests;
