//! Jobs as people and programs see them.

use client::Answer as Came;
use client::wire::{
    Artifacts, EffectView, Ended, Events, JobView, Jobs, Merged, Messages, OrderView, Pending,
    PromptSource, Registered, Waiting,
};
use domain::ids::JobId;
use domain::wake::ActionableEvent;
use serde_json::{Map, Value, json};

use crate::render::{Answer, moment, next, or_dash, or_empty, value};

pub(super) fn job(job: &JobView) -> Answer {
    let pairs = vec![
        ("job", job.job_id.to_string()),
        ("title", job.title.clone()),
        ("delivery", or_empty(job.delivery_id.as_ref())),
        ("state", job.state.clone()),
        ("waits for", next::waits(&job.waits_for, &job.repo)),
        ("repository", format!("{} ({})", job.repo, job.branch)),
        (
            "session",
            or_empty(
                job.session_id
                    .as_ref()
                    .map(|id| format!("{id} (attempt {})", job.attempt)),
            ),
        ),
        ("session state", or_empty(job.session_state.clone())),
        ("session page", or_empty(job.session_url.clone())),
        ("pull request", or_empty(job.pull_request.as_ref())),
        ("pull request page", or_empty(job.pull_request_url.clone())),
        (
            "pull request read",
            or_empty(job.as_read.as_ref().map(|read| moment(read.at))),
        ),
        ("priority", job.priority.to_string()),
        (
            "plans",
            or_empty(job.require_plan_approval.then_some("wait for somebody")),
        ),
        ("automation", or_empty(job.automation_mode.clone())),
        ("account", job.account.to_string()),
        ("agent", or_empty(job.agent.as_ref())),
        ("created", moment(job.created_at)),
        ("last activity", or_empty(job.last_activity.map(moment))),
        ("ended", or_empty(job.ended.as_ref().map(ended))),
        ("orders", orders(&job.orders)),
        (
            "prompt",
            or_empty(job.prompt_source.as_ref().map(|made| prompt(made, job))),
        ),
        ("notes", or_empty(job.metadata.as_ref().map(notes))),
    ];
    let answer = Answer::new(json!({ "job": value(job) })).pairs(pairs);
    job.waiting.iter().fold(answer, |answer, waiting| {
        answer.line("").line(words(waiting, job))
    })
}

/// A job after a wait.
pub(super) fn read(came: &Came<JobView>) -> Answer {
    match came {
        Came::Done(view) => job(view),
        Came::Later(later) => noted(later),
    }
}

fn orders(orders: &[OrderView]) -> String {
    let words = |order: &OrderView| {
        let done = match order.order.as_str() {
            "say" => "said",
            "approve" => "plan approved",
            "merge" => "merge approved",
            "retry" => "tried again",
            "cancel" => "cancelled",
            other => other,
        };
        format!("{} {done} by {}", moment(order.at), order.by)
    };
    orders.iter().map(words).collect::<Vec<_>>().join("\n")
}

/// What the prompt of a pipeline's agent was made of, and how it is seen.
fn prompt(made: &PromptSource, job: &JobView) -> String {
    let PromptSource {
        target,
        worker,
        included,
        skipped,
        layer,
        ..
    } = made;
    format!(
        "files in it: {included}\noptional files that were not there: {skipped}\n.jlo at {target}\n.jules at {worker}\n`gaffer run {layer} --prompt-preview --job {}` prints it",
        job.job_id
    )
}

fn notes(notes: &Map<String, Value>) -> String {
    let lines = notes.iter().map(|(name, note)| format!("{name}: {note}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A job that is watched, with its notes.
pub(super) fn registered(came: &Came<Registered>) -> Answer {
    match came {
        Came::Done(done) => Answer::new(value(done))
            .line(format!("Job {} is watched.", done.job_id))
            .pairs(vec![("notes", notes(&done.metadata))]),
        Came::Later(later) => noted(later),
    }
}

/// Messages, the oldest first.
pub(super) fn messages(came: &Came<Messages>) -> Answer {
    let page = match came {
        Came::Done(page) => page,
        Came::Later(later) => return noted(later),
    };
    let answer = Answer::new(value(page));
    let answer = page.messages.iter().fold(answer, |answer, message| {
        let by = format!("{} {}", moment(message.created_at), message.role);
        answer.line(by).line(message.content.clone()).line("")
    });
    let answer = if page.messages.is_empty() {
        answer.line("Nothing new was said.")
    } else {
        answer
    };
    let more = if page.more {
        "There is more"
    } else {
        "Go on later"
    };
    answer.line(format!("{more}: `--cursor {}`.", page.next_cursor))
}

fn ended(ended: &Ended) -> String {
    let details = [
        ended.reason.clone(),
        ended.sha.as_ref().map(|sha| format!("at {sha}")),
        ended.by.as_ref().map(|by| format!("by {by}")),
    ];
    let details: Vec<String> = details.into_iter().flatten().collect();
    let how = if details.is_empty() {
        ended.how.clone()
    } else {
        format!("{}: {}", ended.how, details.join(", "))
    };
    format!("{} ({how})", moment(ended.at))
}

fn words(waiting: &Waiting, job: &JobView) -> String {
    let id = &job.job_id;
    match waiting {
        Waiting::Question { since, text } => {
            let text = text.as_deref().unwrap_or("(its words have not come yet)");
            format!(
                "Jules asks since {}:\n{text}\nAnswer with `gaffer job say {id} TEXT`.",
                moment(*since)
            )
        }
        Waiting::Plan { since, steps, .. } => {
            let steps: Vec<String> = (1..)
                .zip(steps)
                .map(|(at, step)| format!("{at}. {}", step.title))
                .collect();
            format!(
                "A plan waits since {}:\n{}\nApprove it with `gaffer job approve {id}`.",
                moment(*since),
                steps.join("\n")
            )
        }
    }
}

/// Many jobs: repository by repository, and in each the newest first. `states` are those that were asked for.
pub(super) fn jobs(jobs: &Jobs, states: &[String]) -> Answer {
    let none = match states.is_empty() {
        true => "No job yet: `gaffer job create --repo OWNER/REPO --prompt TEXT`.".to_owned(),
        false => format!("No job is {}.", states.join(" or ")),
    };
    let row = |job: &JobView| {
        vec![
            job.repo.to_string(),
            job.job_id.to_string(),
            job.state.clone(),
            or_dash(job.pull_request.as_ref()),
            moment(job.created_at),
            job.title.clone(),
        ]
    };
    let head = [
        "repository",
        "job",
        "state",
        "pull request",
        "created",
        "title",
    ];
    let mut rows: Vec<_> = jobs.jobs.iter().map(row).collect();
    // The order within a repository stays.
    rows.sort_by(|a, b| a.first().cmp(&b.first()));
    let answer = Answer::new(value(jobs)).table(&head, rows, &none);
    let paused = jobs.jobs.iter().map(|job| (&job.waits_for, &job.repo));
    let answer = next::of_pauses(paused).fold(answer, Answer::line);
    if jobs.more {
        answer.line("There may be older ones: `--limit N` shows more, and `--all` all.")
    } else {
        answer
    }
}

/// Events, the oldest first.
pub(super) fn events(events: &Events) -> Answer {
    let row = |event: &ActionableEvent| {
        vec![
            moment(event.observed_at),
            event.event.clone(),
            event.kind.clone(),
            or_empty(event.message.as_ref()),
        ]
    };
    let rows = events.events.iter().map(row).collect();
    Answer::new(value(events)).table(
        &["SEEN", "EVENT", "KIND", "MESSAGE"],
        rows,
        "It has no events so far.",
    )
}

pub(super) fn effect(came: &Came<EffectView>, done: &str) -> Answer {
    match came {
        Came::Done(effect) => {
            let answer = Answer::new(json!({ "outcome": "done", "effect": value(effect) }));
            effect
                .addition()
                .into_iter()
                .fold(answer.line(done), Answer::line)
        }
        Came::Later(later) => noted(later),
    }
}

pub(super) fn merged(came: &Came<Merged>) -> Answer {
    match came {
        Came::Done(merged) => {
            let text = format!(
                "Pull request {} is merged at {}.",
                merged.pull_request, merged.sha
            );
            Answer::new(json!({ "outcome": "merged", "merged": value(merged) })).line(text)
        }
        Came::Later(later) => noted(later),
    }
}

/// What a job has produced.
pub(super) fn artifacts(came: &Came<Artifacts>) -> Answer {
    let artifacts = match came {
        Came::Done(artifacts) => artifacts,
        Came::Later(later) => return noted(later),
    };
    let pairs = vec![
        ("read", moment(artifacts.read_at)),
        ("pull requests", artifacts.pull_urls.join(", ")),
        (
            "base commit",
            artifacts.base_commit.clone().unwrap_or_default(),
        ),
        (
            "message",
            artifacts.suggested_message.clone().unwrap_or_default(),
        ),
    ];
    let answer =
        Answer::new(json!({ "outcome": "done", "artifacts": value(artifacts) })).pairs(pairs);
    match &artifacts.patch {
        None => answer.line("There is no patch yet."),
        Some(patch) if artifacts.patch_cut => answer.line("").line(patch.clone()).line(format!(
            "(only the first {} bytes are kept)",
            artifacts.patch_bytes
        )),
        Some(patch) => answer.line("").line(patch.clone()),
    }
}

/// It will be done, but was not within the time limit of the API.
///
/// The status address in the answer names the job.
fn noted(later: &Pending) -> Answer {
    let answer = Answer::new(json!({ "outcome": "later", "later": value(later) }))
        .line(pending_words(later));
    let addition = later.effect.as_ref().and_then(EffectView::addition);
    let answer = addition.into_iter().fold(answer, Answer::line);
    let answer = later.reasons.iter().fold(answer, |answer, reason| {
        answer.line(format!("- {} [{}]", reason.sentence, reason.code))
    });
    if let Some(delivery) = delivery_of(later) {
        return answer.line(format!(
            "`gaffer delivery why {delivery}` says how it goes on."
        ));
    }
    let job = later
        .ask_again
        .split('/')
        .find(|part| part.parse::<JobId>().is_ok());
    match job {
        Some(job) => answer.line(format!("`gaffer job why {job}` tells how it goes on.")),
        None => answer,
    }
}

/// What came of an order that is not carried out yet: one that a delivery took is taken for good.
pub(crate) fn pending_words(later: &Pending) -> String {
    match delivery_of(later) {
        Some(_) => later.sentence.clone(),
        None => format!("Not done yet: {}", later.sentence),
    }
}

/// The delivery that took an order about its job.
fn delivery_of(later: &Pending) -> Option<&str> {
    later.ask_again.strip_prefix("/api/deliveries/")
}
