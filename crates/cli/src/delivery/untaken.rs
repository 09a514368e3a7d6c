//! An issue that has no delivery: whether one may still come of it.

use std::time::Duration;

use anyhow::Result;
use client::{Answer, Client};
use domain::delivery::IssueRef;
use tokio::time::Instant;

use crate::error::Error;
use crate::job::wait::is_away;

/// How often the issues are read before an issue counts as one that is not taken: GitHub's lists lag behind.
const READINGS: u32 = 2;

/// Time between these readings.
const BETWEEN_READINGS: Duration = Duration::from_secs(10);

/// Whether there is no such delivery.
pub(super) fn is_missing(error: &client::Error) -> bool {
    is_refused(error, 404)
}

fn is_refused(error: &client::Error, status: u16) -> bool {
    matches!(error, client::Error::Problem(problem) if problem.status == status)
}

/// An issue without a delivery.
pub(super) struct UntakenIssue {
    issue: IssueRef,
    readings: u32,
    next_reading: Option<Instant>,
    is_paused: bool,
}

impl UntakenIssue {
    /// The issue that a name means, if it may mean one.
    pub(super) fn named(name: &str) -> Option<Self> {
        let issue = name.parse().ok()?;
        Some(Self {
            issue,
            readings: 0,
            next_reading: None,
            is_paused: false,
        })
    }

    /// Refuses what nothing can come of: a repository that is no source, a source that takes no issues, and an issue that
    /// its source has read and not taken.
    pub(super) async fn must_be_able_to_come(&mut self, client: &Client) -> Result<()> {
        if self.next_reading.is_some_and(|at| Instant::now() < at) {
            return Ok(());
        }
        if self.readings >= READINGS {
            return Err(self.not_taken(client).await.into());
        }
        let read = client.sync_source(&self.issue.repo).await;
        self.next_reading = Some(Instant::now() + BETWEEN_READINGS);
        self.is_paused = read
            .as_ref()
            .is_err_and(|error| is_coded(error, "source_paused"));
        match read {
            Ok(Answer::Done(_)) => self.readings += 1,
            // A token that may not ask for a reading waits for the next one, as does one that asks while none is made.
            Ok(Answer::Later(_)) => {}
            Err(error) if is_coded(&error, "no_intake_label") => {
                return Err(self.takes_none().into());
            }
            Err(error) if may_pass(&error) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Its source has read the issues, and this is none that it takes.
    async fn not_taken(&self, client: &Client) -> Error {
        let (issue, repo) = (&self.issue, &self.issue.repo);
        let source = client.source(repo).await.ok();
        let label = source.and_then(|source| source.deliveries.label);
        let (named, set) = match &label {
            Some(label) => (
                format!("the label `{}`", label.as_str()),
                format!("open it with the label `{}`, or ", label.as_str()),
            ),
            None => ("its label".to_owned(), String::new()),
        };
        let what = format!(
            "{issue} has no delivery: the issues of {repo} were read, and none of that number is open with {named}"
        );
        Error::refused("not_taken", what, format!("{set}{}", self.create()))
    }

    fn takes_none(&self) -> Error {
        let repo = &self.issue.repo;
        let what = format!(
            "{} has no delivery, and {repo} has no label whose issues become deliveries",
            self.issue
        );
        let next = format!(
            "set one with `gaffer source set {repo} --label gaffer`, or {}",
            self.create()
        );
        Error::refused("no_intake_label", what, next)
    }

    /// What is waited for while it has no delivery.
    pub(super) fn waits_for(&self) -> String {
        match self.is_paused {
            true => format!("the end of a pause: {}", self.resume()),
            false => "Gaffer: the issues have to be read".to_owned(),
        }
    }

    /// Why it has no delivery after all the time that there was.
    pub(super) async fn not_in_time(&self, client: &Client) -> Error {
        let (issue, repo) = (&self.issue, &self.issue.repo);
        if self.is_paused {
            let what =
                format!("{issue} has no delivery, and {repo} is paused: its issues are not read");
            return Error::refused("source_paused", what, self.resume());
        }
        if self.readings > 0 {
            return self.not_taken(client).await;
        }
        let what =
            format!("{issue} has no delivery, and the issues of {repo} were not read in that time");
        let next = format!("wait longer with `--within`, or {}", self.create());
        Error::refused("not_read_yet", what, next)
    }

    fn resume(&self) -> String {
        format!("resume it with `gaffer source resume {}`", self.issue.repo)
    }

    fn create(&self) -> String {
        format!(
            "have it become one with `gaffer delivery create --repo {} --issue {}`",
            self.issue.repo, self.issue.number
        )
    }
}

/// Whether a reading was refused that may be made later: the caller may not ask for it, its source is paused, or it failed.
fn may_pass(error: &client::Error) -> bool {
    let may_pass = |status| is_refused(error, status);
    is_away(error) || may_pass(403) || may_pass(502) || may_pass(409)
}

/// Whether a source refuses a reading with a code.
fn is_coded(error: &client::Error, code: &str) -> bool {
    matches!(error, client::Error::Problem(problem) if problem.code == code)
}
