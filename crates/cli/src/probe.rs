//! `gaffer probe`: asks a real account what public material leaves open about Jules, for at most two tasks.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use engine::ports::SecretName;
use engine::settings::Upstreams;
use jules::Raw;
use serde_json::json;

use crate::args::probe::ProbeArgs;
use crate::data::Data;
use crate::error::Error;
use crate::here::Here;
use crate::init::person;
use crate::render::Answer;
use crate::upstreams;

mod finding;
mod look;
mod redact;
mod steps;
mod talk;

use finding::{Findings, Outcome};
use steps::{Plan, Probe};
use talk::Talk;

/// Probes, keeps the transcript, and answers what was found. What the probe began is deleted also when it fails.
pub(crate) async fn run(args: ProbeArgs, here: &Here) -> Result<Answer> {
    let context = format!("probing Jules with {}", args.repo);
    probe(args, here).await.context(context)
}

async fn probe(args: ProbeArgs, here: &Here) -> Result<Answer> {
    let data = here.open().await?;
    let account = data.desk.store.account(&args.account).await?;
    let account = account
        .ok_or_else(|| Error::no_such("account", &args.account, ""))?
        .value;
    let deletes = agreed(&args)?;
    let raw = raw(&args, &data, here).await?;
    let plan = Plan {
        repo: args.repo.to_string(),
        branch: args.branch.to_string(),
        limits: account.limits,
        patience: args.patience.unsigned_abs(),
        every: args.every.unsigned_abs(),
        burst: args.burst,
        keep: !deletes,
    };
    let talk = Talk::new(raw, args.repo.as_str());
    let mut probe = Probe::new(plan, talk);
    let outcome = probe.run().await;
    if outcome.is_err() {
        // What stands in the way of the probe may stand in the way of this too; the sessions were told already.
        let _ = probe.clean_up().await;
    }
    keep(&args.transcript, &probe.talk.transcript().to_lines())?;
    outcome?;
    Ok(told(&probe.findings, &args, probe.talk.ours.len()))
}

/// Whether the sessions may be deleted afterwards; refuses to begin without a yes.
fn agreed(args: &ProbeArgs) -> Result<bool> {
    if args.yes {
        return Ok(!args.keep);
    }
    let next = "type it at a terminal, or agree with `--yes`";
    let Some(mut person) = person::here(false) else {
        let what = "nobody agreed to spend two tasks of the account";
        return Err(Error::usage(what, next).into());
    };
    let question = format!(
        "This spends at most two tasks of account `{}` on {}. Go on? yes or no [no]",
        args.account, args.repo
    );
    if person.line(&question)? != "yes" {
        return Err(Error::refused("not_agreed", "nothing was done", next).into());
    }
    if args.keep {
        return Ok(false);
    }
    let answer = person.line("Delete the probe's two sessions afterwards? yes or no [yes]")?;
    Ok(answer != "no")
}

async fn raw(args: &ProbeArgs, data: &Data, here: &Here) -> Result<Raw> {
    let typed = Upstreams {
        jules_base: args.jules_base.clone(),
        ..Upstreams::default()
    };
    let places = upstreams::in_force(&data.desk, typed, |name| here.is_overlaid(name)).await?;
    let base = places.jules_base.as_deref().unwrap_or(jules::BASE);
    let (settings, _) = jules::Settings::at(base).context("reading the address of Jules")?;
    let name = SecretName::Jules(args.account.clone());
    let key = data.secrets.read(&name).await;
    let key = key.context("reading the Jules key")?;
    Raw::new(&settings, key).context("preparing to talk to Jules")
}

/// Writes the transcript where only its owner reads it: sharing it is that person's decision.
fn keep(file: &Path, lines: &str) -> Result<()> {
    use std::io::Write;
    let opened = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(file);
    opened
        .and_then(|mut file| file.write_all(lines.as_bytes()))
        .with_context(|| format!("writing the transcript {}", file.display()))
}

fn told(findings: &Findings, args: &ProbeArgs, tasks: usize) -> Answer {
    let answer = Answer::new(json!({
        "findings": findings.json(), "tasks_spent": tasks, "transcript": args.transcript,
    }));
    let answer = findings
        .all()
        .into_iter()
        .fold(answer, |answer, (number, question, finding)| {
            let said = match &finding.outcome {
                Outcome::Answer(text) => text.clone(),
                Outcome::Open(why) => format!("could not be settled: {why}"),
            };
            let seen = if finding.seen.is_empty() {
                finding.done.clone()
            } else {
                format!("{}: {}", finding.done, finding.seen)
            };
            answer
                .line(format!("{number:>2} {}", question.words()))
                .line(format!("   did     {seen}"))
                .line(format!("   answer  {said}"))
        });
    answer.line(format!(
        "{tasks} tasks were spent. The transcript is {}; `gaffer sandbox --replay` plays it.",
        args.transcript.display()
    ))
}
