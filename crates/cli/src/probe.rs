//! `gaffer probe`: asks a real account what public material leaves open about Jules, for at most two tasks.

use anyhow::{Context, Result};
use engine::ports::SecretName;
use engine::settings::Upstreams;
use jules::Raw;
use serde_json::json;
use server::data::Data;

use crate::args::probe::ProbeArgs;
use crate::error::Error;
use crate::here::Here;
use crate::init::person;
use crate::render::{self, Answer};
use crate::upstreams;

mod file;
mod finding;
mod look;
mod redact;
mod steps;
mod talk;

use file::Kept;
use finding::Outcome;
use steps::{Plan, Probe};
use talk::Talk;

/// Probes, keeps the transcript, and tells what was found, also when the probe could not finish or the transcript could not be written.
pub(crate) async fn run(args: ProbeArgs, here: &Here, as_json: bool) -> Result<()> {
    let context = format!("probing Jules with {}", args.repo);
    probe(args, here, as_json).await.context(context)
}

async fn probe(args: ProbeArgs, here: &Here, as_json: bool) -> Result<()> {
    let data = here.found().await?;
    let account = data.desk.store.account(&args.account).await?;
    let account = account
        .ok_or_else(|| Error::no_such("account", &args.account, ""))?
        .value;
    let kept = Kept::prepare(&args.transcript)?;
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
    let talk = Talk::new(raw, args.repo.as_str(), plan.every);
    let mut probe = Probe::new(plan, talk);
    let outcome = probe.run().await;
    if let Err(error) = &outcome {
        probe.trouble.get_or_insert_with(|| format!("{error:#}"));
        probe.clean_up().await;
    }
    let written = kept.write(&probe.talk.transcript().to_lines());
    if probe.has_asked() {
        render::answer(&told(&probe, &args, written.is_ok()), as_json)
            .context("writing what was found")?;
    } else {
        outcome?;
    }
    written?;
    match probe.trouble {
        None => Ok(()),
        Some(why) => Err(unfinished(&why).into()),
    }
}

fn unfinished(why: &str) -> Error {
    let next = "delete what is said to be left in Jules's web product, and type the command again when Jules answers";
    Error::refused(
        "unfinished",
        format!("the probe could not finish: {why}"),
        next,
    )
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

fn told(probe: &Probe, args: &ProbeArgs, is_written: bool) -> Answer {
    let (tasks, perhaps) = (probe.talk.ours.len(), probe.perhaps);
    let left = probe.left();
    let answer = Answer::new(json!({
        "findings": probe.findings.json(), "tasks_spent": tasks, "tasks_perhaps_spent": perhaps,
        "sessions_left": left, "transcript": args.transcript,
    }));
    let answer =
        probe
            .findings
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
    let answer = match perhaps {
        0 => answer.line(format!("{tasks} tasks were spent.")),
        _ => answer.line(format!(
            "{tasks} tasks were spent, and perhaps {perhaps} more: look in Jules's web product for a session with the title {}.",
            steps::TITLE
        )),
    };
    let answer = left.iter().fold(answer, |answer, id| {
        answer.line(format!(
            "Session {id} is left: delete it in Jules's web product when you need it no more."
        ))
    });
    if !is_written {
        return answer;
    }
    answer.line(format!(
        "The transcript is {}; `gaffer sandbox --replay` plays it.",
        args.transcript.display()
    ))
}
