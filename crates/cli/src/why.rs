//! `gaffer job why` and `gaffer pull why`: why nothing happens now, and what will be done when.

use anyhow::{Context, Result};
use client::wire::{PlannedStep, PullView, Pulls, Reason, Why};

use crate::args::pull::{PullArgs, PullCommand};
use crate::context::CommandContext;
use crate::render::{Answer, moment, next, or_dash, value};
use crate::site;

/// Runs one of the commands about pull requests.
pub(crate) async fn pull(args: PullArgs, here: &CommandContext) -> Result<Answer> {
    let api = site::api_client(args.url, here).await?;
    match args.command {
        PullCommand::List { repo } => {
            let pulls = api.pulls(repo.as_ref()).await;
            Ok(list(&pulls.context("listing pull requests")?))
        }
        PullCommand::Why { pull } => {
            let why = api.pull_why(&pull).await;
            let why = why.with_context(|| format!("asking about pull request {pull}"))?;
            Ok(answer(&why))
        }
    }
}

fn list(pulls: &Pulls) -> Answer {
    let row = |pull: &PullView| {
        vec![
            pull.pull_request.to_string(),
            pull.state.clone(),
            pull.job_id.to_string(),
            moment(pull.since),
            or_dash(pull.as_read.as_ref().map(|read| moment(read.at))),
            pull.url.clone(),
        ]
    };
    let head = ["pull request", "state", "job", "since", "read", "page"];
    let rows = pulls.pulls.iter().map(row).collect();
    Answer::new(value(pulls)).table(&head, rows, "No pull request is open.")
}

/// Prints an explanation.
pub(crate) fn answer(why: &Why) -> Answer {
    let name = match (&why.job_id, &why.pull_request) {
        (Some(job), Some(pull)) => format!("Job {job} with pull request {pull}"),
        (Some(job), None) => format!("Job {job}"),
        (None, Some(pull)) => format!("Pull request {pull}"),
        (None, None) => "It".to_owned(),
    };
    let why = &Why {
        next: why.next.iter().map(next::as_typed).collect(),
        ..why.clone()
    };
    let answer = Answer::new(value(why)).line(format!("{name}: {}.", why.state));
    let waits = why
        .waits_for
        .as_ref()
        .map(|waits| format!("Waits for {}.", waits.sentence));
    let read = why.as_read.as_ref().map(|read| read.sentence.clone());
    let answer = waits.into_iter().chain(read).fold(answer, Answer::line);
    let answer = reasons(answer, &why.because);
    let answer = under(answer, "What comes next:", coming(&why.then));
    let next = why.next.iter();
    let next = next.map(|next| format!("- {}.", next.sentence));
    under(answer, "What you can do:", next.collect())
}

/// Reasons, one a line.
pub(crate) fn reasons(answer: Answer, because: &[Reason]) -> Answer {
    because.iter().fold(answer, |answer, reason| {
        answer.line(format!("- {} [{}]", reason.sentence, reason.code))
    })
}

/// What will be done, one a line.
pub(crate) fn coming(then: &[PlannedStep]) -> Vec<String> {
    let line = |planned: &PlannedStep| match planned.at {
        Some(at) => format!("- {}: {}", moment(at), planned.sentence),
        None => format!("- {}", planned.sentence),
    };
    then.iter().map(line).collect()
}

/// Lines under a heading, if there are any.
pub(crate) fn under(answer: Answer, heading: &str, lines: Vec<String>) -> Answer {
    if lines.is_empty() {
        return answer;
    }
    lines.into_iter().fold(answer.line(heading), Answer::line)
}
