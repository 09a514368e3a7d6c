//! What the demo of a pipeline came to: each step as Gaffer tells it, and everything else as the sandbox's logs and git do.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use domain::ids::PipelineId;
use sandbox::Author;
use sandbox::github::{PullState, PullView};
use scaffold::doctor::Level;
use scaffold::layout::EXCHANGE;
use serde::Serialize;

use super::repository::{self, TARGET, WORKER};
use crate::stage::{AGENT, SHOP, Stage};

/// What the demo of a pipeline came to.
#[derive(Debug, Serialize)]
pub struct PipelineReport {
    /// How each step of the run ended.
    steps: BTreeMap<String, String>,
    /// Sessions that Jules was asked for.
    sessions: u64,
    /// Pull requests that were merged.
    pulls_merged: usize,
    /// Those of them that sessions made; Gaffer made the others.
    pulls_of_sessions: usize,
    /// Pull requests that are open, or were closed without a merge.
    pulls_left: usize,
    /// Events that led to requirements, in the exchange now or before.
    events: usize,
    /// Requirements, in the exchange now or before.
    requirements: usize,
    /// Changes that reached the target branch.
    implemented: usize,
    /// Files of events and requirements that are in the exchange at the end.
    files_left: usize,
    /// Errors that the doctor finds at the end.
    doctor_errors: usize,
    /// Warnings that it finds.
    doctor_warnings: usize,
    /// Wakes that the agent got.
    wakes: usize,
    /// Seconds of the whole story.
    seconds: f64,
    /// Whether it ended within its time.
    #[serde(skip)]
    has_ended: bool,
}

pub(super) async fn collect(
    stage: &Stage,
    run: &PipelineId,
    took: Duration,
    has_ended: bool,
) -> Result<PipelineReport> {
    let run = stage.client.pipeline(run).await;
    let run = run.context("reading the run for the report")?;
    let steps = run.steps.into_iter().map(|step| (step.step, step.state));
    let github = stage.sandbox.github();
    let pulls = github.pulls(SHOP).into_iter();
    let pulls: Vec<PullView> = pulls.filter_map(|n| github.pull(SHOP, n)).collect();
    let is_merged = |pull: &&PullView| pull.state == PullState::Merged;
    let merged: Vec<&PullView> = pulls.iter().filter(is_merged).collect();
    let by_jules = |pull: &&&PullView| pull.author == Author::BOT_LOGIN;
    let (events, requirements) = (
        [&*EXCHANGE.pending, &*EXCHANGE.decided],
        [&*EXCHANGE.requirements],
    );
    let removed = removed(stage, &merged);
    let left = repository::tree(stage, WORKER);
    let left: Vec<String> = left.iter().map(|(path, _)| path.to_string()).collect();
    let findings = repository::findings(stage);
    let found = |level| findings.iter().filter(|it| it.level == level).count();
    Ok(PipelineReport {
        steps: steps.collect(),
        sessions: stage.sandbox.counters().creates,
        pulls_merged: merged.len(),
        pulls_of_sessions: merged.iter().filter(by_jules).count(),
        pulls_left: pulls.len() - merged.len(),
        events: below(&removed, &events) + below(&left, &events),
        requirements: below(&removed, &requirements) + below(&left, &requirements),
        implemented: merged.iter().filter(|it| it.base_ref == TARGET).count(),
        files_left: below(&left, &events) + below(&left, &requirements),
        doctor_errors: found(Level::Error),
        doctor_warnings: found(Level::Warning),
        wakes: stage.sandbox.agents().received(AGENT).len(),
        seconds: (took.as_secs_f64() * 100.0).round() / 100.0,
        has_ended,
    })
}

/// The files that merges took out of the exchange; an event that is decided is moved, which takes none out.
fn removed(stage: &Stage, merged: &[&PullView]) -> Vec<String> {
    let of_worker = merged.iter().filter(|pull| pull.base_ref == WORKER);
    let commits = of_worker.filter_map(|pull| pull.merge_commit_sha.as_deref());
    let files = commits.flat_map(|sha| stage.sandbox.github().changed_by(sha));
    let gone = files.filter(|file| file.status == "removed");
    gone.map(|file| file.filename).collect()
}

/// How many of these files lie in one of the folders.
fn below(files: &[String], folders: &[&str]) -> usize {
    let is_of = |file: &String, folder: &str| {
        let rest = file
            .strip_prefix(folder)
            .and_then(|it| it.strip_prefix('/'));
        rest.is_some_and(|name| name.ends_with(".yml"))
    };
    let of_any = |file: &&String| folders.iter().any(|folder| is_of(file, folder));
    files.iter().filter(of_any).count()
}

impl PipelineReport {
    /// The report as text lines.
    pub fn lines(&self) -> Vec<String> {
        vec![
            format!(
                "{} of {} requirements, made of {} events, implemented, with {} Jules tasks; {} pull requests merged.",
                self.implemented, self.requirements, self.events, self.sessions, self.pulls_merged
            ),
            format!(
                "The doctor finds {} errors and {} warnings in what is left; {} wakes, {} seconds.",
                self.doctor_errors, self.doctor_warnings, self.wakes, self.seconds
            ),
        ]
    }

    /// The demo is a promise: each step done, one pull request a session, and the exchange as tidy as before.
    pub fn verdict(&self) -> Result<()> {
        ensure!(self.has_ended, "the story did not end in time");
        for (step, state) in &self.steps {
            ensure!(state == "done", "the step {step} is {state}");
        }
        ensure!(self.requirements > 0, "no requirement was made");
        ensure!(
            self.implemented == self.requirements,
            "{} of {} requirements are implemented",
            self.implemented,
            self.requirements
        );
        ensure!(
            self.pulls_left == 0,
            "{} pull requests are not merged",
            self.pulls_left
        );
        ensure!(
            self.sessions == self.pulls_of_sessions as u64,
            "{} sessions made {} of the merged pull requests",
            self.sessions,
            self.pulls_of_sessions
        );
        ensure!(
            self.files_left == 0,
            "{} files of events and requirements are left",
            self.files_left
        );
        ensure!(
            self.doctor_errors == 0,
            "the doctor finds {} errors",
            self.doctor_errors
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> PipelineReport {
        PipelineReport {
            steps: [("planner".to_owned(), "done".to_owned())].into(),
            sessions: 5,
            pulls_merged: 7,
            pulls_of_sessions: 5,
            pulls_left: 0,
            events: 2,
            requirements: 1,
            implemented: 1,
            files_left: 0,
            doctor_errors: 0,
            doctor_warnings: 0,
            wakes: 0,
            seconds: 30.0,
            has_ended: true,
        }
    }

    /// What breaks a promise, and what is said then.
    type Broken = (fn(&mut PipelineReport), &'static str);

    #[test]
    fn each_broken_promise_is_named() {
        assert!(kept().verdict().is_ok());
        let broken: [Broken; 8] = [
            (|it| it.has_ended = false, "did not end in time"),
            (
                |it| drop(it.steps.insert("planner".to_owned(), "skipped".to_owned())),
                "the step planner is skipped",
            ),
            (|it| it.requirements = 0, "no requirement was made"),
            (
                |it| it.requirements = 2,
                "1 of 2 requirements are implemented",
            ),
            (|it| it.pulls_left = 3, "3 pull requests are not merged"),
            (|it| it.sessions = 6, "6 sessions made 5"),
            (|it| it.files_left = 4, "4 files"),
            (|it| it.doctor_errors = 9, "the doctor finds 9 errors"),
        ];
        for (break_it, said) in broken {
            let mut report = kept();
            break_it(&mut report);
            let told = report.verdict().map_err(|error| error.to_string());
            assert!(
                told.as_ref().is_err_and(|it| it.contains(said)),
                "{said}: {told:?}"
            );
        }
    }

    #[test]
    fn only_files_of_a_folder_count() {
        let files = ["a/b/x.yml", "a/b/.gitkeep", "a/bc/x.yml", "x.yml"];
        let files = files.map(str::to_owned);
        assert_eq!(below(&files, &["a/b"]), 1);
        assert_eq!(below(&files, &["a/b", "a/bc"]), 2);
    }
}
