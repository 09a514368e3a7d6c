//! `gaffer scaffold doctor`: what is wrong with the files of a repository's pipeline, as they are committed.

use std::sync::Arc;

use ::scaffold::config;
use ::scaffold::doctor::{self, Circumstances, Finding, Level};
use ::scaffold::layout::{CONTROL, SYSTEM, of_system};
use ::scaffold::pin::PIN;
use ::scaffold::prompt::Trees;
use ::scaffold::tree::Tree;
use anyhow::{Context, Result};
use domain::ids::CommitSha;
use engine::machine::SystemClock;
use engine::ports::Clock;
use jiff::tz::TimeZone;
use serde_json::json;

use super::bootstrap::{must_suit, written};
use super::place::{Branches, must_be_free, must_be_up_to_date, note_behind};
use super::{CONFIG, OURS};
use crate::args::scaffold::ExamineArgs;
use crate::error::Error;
use crate::git::Git;
use crate::render::{self, Answer, value};

/// Prints what is wrong. Errors end the process with 1, and warnings with 2 where it is strict.
pub(super) fn run(git: &Git, args: &ExamineArgs, as_json: bool) -> Result<()> {
    let mut seen = Seen::read(git, args)?;
    let fixed = if args.fix { seen.fix(git)? } else { Vec::new() };
    let findings = doctor::examine(&seen.trees, &circumstances());
    let answer = answer(&seen, &findings, &fixed);
    render::answer(&answer, as_json).context("writing the report")?;
    if git.is_changed(CONTROL)? && args.revision.is_none() {
        render::note(&format!(
            "note: {CONTROL}/ has changes that are not committed, which were not read"
        ));
    }
    ended(&findings, args.strict)
}

/// What is read.
struct Seen {
    branches: Branches,
    trees: Trees,
    /// The commit that the worker's tree is of.
    worker: Option<CommitSha>,
}

impl Seen {
    fn read(git: &Git, args: &ExamineArgs) -> Result<Self> {
        let here = Branches::here(git);
        let code = here.start(git)?;
        let of_target = [CONTROL, SYSTEM];
        let mut control = git.tree(&code, &of_target)?;
        let worker = Branches::guess(control.text(CONFIG)).worker;
        let mut tip = git.tip(&worker)?;
        if let Some(revision) = &args.revision {
            let asked = git.must_commit(revision)?;
            if of_system(&git.tree(&asked, &[SYSTEM])?).next().is_some() {
                tip = Some(asked);
            } else {
                // A revision of what people own.
                control = git.tree(&asked, &of_target)?;
            }
        } else {
            note_behind(git, &worker)?;
        }
        let system = match &tip {
            Some(tip) => git.tree(tip, &[SYSTEM])?,
            None => Tree::default(),
        };
        Ok(Self {
            branches: Branches {
                target: here.target,
                worker,
            },
            trees: Trees {
                target: Arc::new(control),
                worker: Arc::new(system),
            },
            worker: tip,
        })
    }

    /// Commits what is missing of the system's files to the worker branch, and returns their paths.
    fn fix(&mut self, git: &Git) -> Result<Vec<String>> {
        self.trees.target.text(PIN).map_or(Ok(()), must_suit)?;
        let config = config::read(&self.trees.target);
        let streams = config.map(|config| doctor::streams(&config));
        let missing = doctor::fixes(&self.trees.worker, &streams.unwrap_or_default());
        let (Some(tip), false) = (&self.worker, missing.is_empty()) else {
            return Ok(Vec::new());
        };
        let worker = &self.branches.worker;
        must_be_free(git, worker)?;
        must_be_up_to_date(git, worker)?;
        let files = written(missing);
        let subject = "Put back missing files of the system";
        let put = git.put(worker, tip, &files, subject)?;
        self.trees.worker = Arc::new(git.tree(&put.tip, &[SYSTEM])?);
        self.worker = Some(put.tip);
        Ok(files.iter().map(|file| file.path.to_string()).collect())
    }
}

fn circumstances() -> Circumstances {
    Circumstances {
        today: SystemClock.now().to_zoned(TimeZone::UTC).date(),
        version: OURS.to_owned(),
    }
}

fn answer(seen: &Seen, findings: &[Finding], fixed: &[String]) -> Answer {
    let (errors, warnings) = (
        count(findings, Level::Error),
        count(findings, Level::Warning),
    );
    let answer = Answer::new(json!({
        "target_branch": seen.branches.target, "worker_branch": seen.branches.worker,
        "findings": value(&findings), "fixed": fixed, "errors": errors, "warnings": warnings,
    }));
    let answer = fixed.iter().fold(answer, |answer, path| {
        answer.line(format!("{path} is put back."))
    });
    let answer = findings
        .iter()
        .fold(answer, |answer, finding| answer.line(finding.to_string()));
    answer.findings(errors, warnings)
}

fn count(findings: &[Finding], level: Level) -> usize {
    findings.iter().filter(|it| it.level == level).count()
}

fn ended(findings: &[Finding], strict: bool) -> Result<()> {
    let next = "correct them from the top, commit, and run it again";
    match doctor::exit_code(findings, strict) {
        0 => Ok(()),
        1 => {
            let errors = render::counted(count(findings, Level::Error), "error");
            let what = format!("the files have {errors}");
            Err(Error::refused("errors", what, next).into())
        }
        _ => {
            let warnings = render::counted(count(findings, Level::Warning), "warning");
            let what = format!("the files have {warnings}, and `--strict` allows none");
            Err(Error::unfit("warnings", what, next).into())
        }
    }
}
