//! What the demo of a sprint came to: its figures as Gaffer tells them, and everything else as the sandbox's logs and git do.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use domain::ids::RepoName;
use domain::outgoing_text::integration_subject;
use serde::Serialize;

use super::repository::{NUMBER, TARGET};
use super::telling::mail_line;
use crate::stage::{AGENT, SHOP, Stage};

/// How many ticks a sprint may take.
const TICKS_MAX: u32 = 5;

/// What the demo of a sprint came to.
#[derive(Debug, Serialize)]
pub struct SprintReport {
    /// Personas that took part.
    members: u32,
    /// How many of them are in.
    integrated: u32,
    /// How many are left out.
    skipped: u32,
    /// How often the sprint went on to work, weave or mend.
    ticks: u32,
    /// Members that conflicted.
    conflicts: u32,
    /// How many of those came in.
    resolved: u32,
    /// Pull requests that were merged.
    pulls_merged: u64,
    /// Messages between personas.
    mails: usize,
    /// Sessions that Jules was asked for.
    tasks: u64,
    /// Wakes that the agent got.
    wakes: usize,
    /// Seconds of the whole story.
    seconds: f64,
    /// Whether it ended within its time.
    #[serde(skip)]
    has_ended: bool,
    /// The history of the repository.
    #[serde(skip)]
    history: Vec<String>,
    /// The mail for people.
    #[serde(skip)]
    mail: Vec<String>,
}

pub(super) async fn collect(
    stage: &Stage,
    repo: &RepoName,
    took: Duration,
    has_ended: bool,
) -> Result<SprintReport> {
    let sprint = stage.client.sprint(repo, None).await;
    let sprint = sprint.context("reading the sprint for the report")?;
    let mail = super::mail(stage, repo).await?;
    let mail: Vec<String> = mail.iter().filter_map(|line| mail_line(line)).collect();
    let counters = stage.sandbox.counters();
    Ok(SprintReport {
        members: sprint.figures.members,
        integrated: sprint.figures.integrated,
        skipped: sprint.figures.skipped,
        ticks: sprint.ticks,
        conflicts: sprint.figures.conflicts,
        resolved: sprint.figures.resolved,
        pulls_merged: counters.merges,
        mails: mail.iter().filter(|line| line.starts_with('📬')).count(),
        tasks: counters.creates,
        wakes: stage.sandbox.agents().received(AGENT).len(),
        seconds: (took.as_secs_f64() * 100.0).round() / 100.0,
        has_ended,
        history: stage.sandbox.github().log(SHOP, TARGET).unwrap_or_default(),
        mail,
    })
}

/// What ends the word for what is counted.
fn plural(is_one: bool) -> &'static str {
    if is_one { "" } else { "s" }
}

impl SprintReport {
    /// The report as text lines: the history of the repository, the mail, and the figures.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("The branch {TARGET}:")];
        lines.extend(self.history.iter().map(|line| format!("  {line}")));
        lines.push("The mail:".to_owned());
        lines.extend(self.mail.iter().map(|line| format!("  {line}")));
        lines.push(format!(
            "{} of {} members are in after {} ticks; {} of {} conflicts resolved, {} left out.",
            self.integrated, self.members, self.ticks, self.resolved, self.conflicts, self.skipped
        ));
        lines.push(format!(
            "{} pull request{} merged, {} Jules task{}, {} mail{}, {} wake{}, {} seconds.",
            self.pulls_merged,
            plural(self.pulls_merged == 1),
            self.tasks,
            plural(self.tasks == 1),
            self.mails,
            plural(self.mails == 1),
            self.wakes,
            plural(self.wakes == 1),
            self.seconds
        ));
        lines
    }

    /// The demo is a promise: all are in by one pull request, in few ticks, with one task each.
    pub fn verdict(&self) -> Result<()> {
        ensure!(self.has_ended, "the story did not end in time");
        ensure!(
            self.members > 0 && self.integrated == self.members,
            "{} of {} members are in",
            self.integrated,
            self.members
        );
        ensure!(
            self.ticks <= TICKS_MAX,
            "it took {} ticks and may take {TICKS_MAX}",
            self.ticks
        );
        ensure!(
            self.conflicts == 1 && self.resolved == 1,
            "{} conflicts, of which {} are resolved",
            self.conflicts,
            self.resolved
        );
        ensure!(
            self.pulls_merged == 1,
            "{} pull requests are merged",
            self.pulls_merged
        );
        ensure!(self.mails == 1, "{} mails were sent", self.mails);
        ensure!(
            self.tasks == u64::from(self.members),
            "{} tasks for {} members",
            self.tasks,
            self.members
        );
        let woven = integration_subject(NUMBER.parse().context("numbering the sprint")?);
        ensure!(
            self.history.iter().any(|line| line.ends_with(&woven)),
            "the history of {TARGET} has no commit `{woven}`"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> SprintReport {
        SprintReport {
            members: 5,
            integrated: 5,
            skipped: 0,
            ticks: 4,
            conflicts: 1,
            resolved: 1,
            pulls_merged: 1,
            mails: 1,
            tasks: 5,
            wakes: 1,
            seconds: 30.0,
            has_ended: true,
            history: vec!["| * 1a2b3c4 chore: integrate sprint 50 personas".to_owned()],
            mail: Vec::new(),
        }
    }

    #[test]
    fn one_mail_is_counted_as_one() {
        let told = kept().lines();
        let last = told.last().map(String::as_str);
        let counted = "1 pull request merged, 5 Jules tasks, 1 mail, 1 wake, 30 seconds.";
        assert_eq!(last, Some(counted));
    }

    /// What breaks a promise, and what is said then.
    type Broken = (fn(&mut SprintReport), &'static str);

    #[test]
    fn each_broken_promise_is_named() {
        assert!(kept().verdict().is_ok());
        let broken: [Broken; 9] = [
            (|it| it.has_ended = false, "did not end in time"),
            (|it| it.integrated = 4, "4 of 5 members"),
            (|it| it.ticks = 6, "it took 6 ticks"),
            (|it| it.conflicts = 2, "2 conflicts"),
            (|it| it.resolved = 0, "0 are resolved"),
            (|it| it.pulls_merged = 2, "2 pull requests"),
            (|it| it.mails = 0, "0 mails"),
            (|it| it.tasks = 6, "6 tasks for 5 members"),
            (|it| it.history.clear(), "no commit `chore: integrate"),
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
}
