//! Refuses a scenario that can be written down but not played: what nothing would come of is an error that names its field.

use std::collections::BTreeSet;

use super::{Foreign, ForeignPull, Scenario};
use crate::Error;
use crate::github::{CheckKind, CheckSetup, CiSetup, Outcome, RepoSetup};
use crate::story::{Step, Story};

/// The slowest pace: a story of seconds then takes hours.
const MAX_PACE: f64 = 1_000.0;

/// What is wrong at which field.
type Found = Result<(), Error>;

fn wrong(field: impl Into<String>, problem: &str) -> Found {
    Err(Error::Scenario {
        field: field.into(),
        problem: problem.to_owned(),
    })
}

impl Scenario {
    /// Refuses what cannot be played.
    pub(crate) fn check(&self) -> Found {
        if !self.pace.is_finite() || !(0.0..=MAX_PACE).contains(&self.pace) {
            return wrong("pace", "must be between 0 and 1000");
        }
        self.check_callers()?;
        self.check_repos()?;
        for (at, story) in self.stories.iter().enumerate() {
            let field = format!("stories[{at}]");
            let same = |other: &Story| other.matches == story.matches;
            if self.stories.iter().take(at).any(same) {
                return wrong(
                    field + ".match",
                    "is that of an earlier story, which is played instead",
                );
            }
            check_steps(&(field + ".steps"), &story.steps)?;
        }
        check_steps("default_story.steps", &self.default_story.steps)?;
        for (at, foreign) in self.foreign.iter().enumerate() {
            self.check_foreign(at, foreign)?;
        }
        Ok(())
    }

    fn check_callers(&self) -> Found {
        if self.accounts.is_empty() {
            return wrong("accounts", "must name at least one account");
        }
        for (at, account) in self.accounts.iter().enumerate() {
            let mut earlier = self.accounts.iter().take(at);
            if earlier.any(|it| it.name == account.name || it.key == account.key) {
                return wrong(
                    format!("accounts[{at}]"),
                    "has the name or key of an earlier account",
                );
            }
        }
        let tokens = self.tokens.iter().map(|it| it.token.as_str());
        once(tokens, |at| format!("tokens[{at}].token"))?;
        let agents = self.agents.iter().map(|it| it.name.as_str());
        once(agents, |at| format!("agents[{at}].name"))
    }

    fn check_repos(&self) -> Found {
        for (at, repo) in self.repos.iter().enumerate() {
            let field = format!("repos[{at}]");
            let parts = repo.full_name.split('/').filter(|part| !part.is_empty());
            if parts.count() != 2 {
                return wrong(field + ".full_name", "must be owner/name");
            }
            let mut earlier = self.repos.iter().take(at);
            if repo.id != 0 && earlier.any(|other| other.id == repo.id) {
                return wrong(field + ".id", "is that of an earlier repository");
            }
            if repo.merge_methods.is_empty() {
                return wrong(field + ".merge_methods", "must name at least one");
            }
            check_ci(&(field + ".ci"), &repo.ci)?;
        }
        let names: Vec<String> = self
            .repos
            .iter()
            .map(|it| it.full_name.to_lowercase())
            .collect();
        once(names.iter().map(String::as_str), |at| {
            format!("repos[{at}].full_name")
        })
    }

    fn check_foreign(&self, at: usize, foreign: &Foreign) -> Found {
        match foreign {
            Foreign::Session(it) => {
                let field = format!("foreign[{at}].session");
                let known =
                    it.account.is_empty() || self.accounts.iter().any(|a| a.name == it.account);
                if !known {
                    return wrong(field + ".account", "is not in this scenario");
                }
                if it.count > 1 && it.id.as_ref().is_some_and(|id| !id.contains("{n}")) {
                    return wrong(
                        field + ".id",
                        "is the same for all of them; write {n} into it",
                    );
                }
                Ok(())
            }
            Foreign::Pull(it) => {
                let field = format!("foreign[{at}].pull");
                let repo = self.repos.iter().find(|repo| repo.full_name == it.repo);
                let Some(repo) = repo else {
                    return wrong(field + ".repo", "is not in this scenario");
                };
                self.check_branches(&(field + ".pull"), at, it, repo)
            }
        }
    }

    /// A foreign pull request needs a branch of its own, and an existing base.
    fn check_branches(&self, field: &str, at: usize, it: &ForeignPull, repo: &RepoSetup) -> Found {
        let head = &it.pull.head_branch;
        if it.count > 1 && !head.contains("{n}") {
            return wrong(
                format!("{field}.head_branch"),
                "is the same for all of them; write {n} into it",
            );
        }
        let earlier = self
            .foreign
            .iter()
            .take(at)
            .filter_map(|other| match other {
                Foreign::Pull(other) if other.repo == it.repo => Some(&other.pull),
                Foreign::Pull(_) | Foreign::Session(_) => None,
            });
        let heads: Vec<&String> = earlier
            .filter(|pull| pull.fork == it.pull.fork)
            .map(|pull| &pull.head_branch)
            .collect();
        if heads.contains(&head) {
            return wrong(
                format!("{field}.head_branch"),
                "is that of an earlier pull request",
            );
        }
        let base = &it.pull.base_branch;
        if !base.is_empty() && *base != repo.default_branch && !heads.contains(&base) {
            return wrong(
                format!("{field}.base_branch"),
                "is no branch of this repository",
            );
        }
        Ok(())
    }
}

/// Refuses a text that an earlier one has already.
fn once<'a>(texts: impl Iterator<Item = &'a str>, field: impl Fn(usize) -> String) -> Found {
    let mut seen = BTreeSet::new();
    for (at, text) in texts.enumerate() {
        if !seen.insert(text) {
            return wrong(field(at), "is there already");
        }
    }
    Ok(())
}

fn check_ci(field: &str, ci: &CiSetup) -> Found {
    let is_status = |check: &&CheckSetup| check.kind == CheckKind::Status;
    for (at, check) in ci.checks.iter().enumerate() {
        let field = format!("{field}.checks[{at}]");
        if check.name.is_empty() {
            return wrong(field + ".name", "must not be empty");
        }
        if !is_status(&check) {
            continue;
        }
        let mut earlier = ci.checks.iter().take(at).filter(is_status);
        if earlier.any(|other| other.name == check.name) {
            return wrong(
                field + ".name",
                "is there already, and a commit has one status of a name",
            );
        }
        if check.outcome == Outcome::ApprovalPending {
            return wrong(
                field + ".outcome",
                "is for check runs, since only workflows wait for approval",
            );
        }
    }
    Ok(())
}

/// Refuses steps without an effect: there is one pull request, and it has to be open before a push.
fn check_steps(field: &str, steps: &[Step]) -> Found {
    let mut opened = false;
    for (at, step) in steps.iter().enumerate() {
        let field = format!("{field}[{at}]");
        match step {
            Step::OpenPull { .. } if opened => {
                return wrong(
                    field + ".open_pull",
                    "is the second of a session, which opens one",
                );
            }
            Step::Push { .. } if !opened => {
                return wrong(field + ".push", "needs an `open_pull` before it");
            }
            Step::OpenPull { .. } => opened = true,
            Step::Plan { .. }
            | Step::Progress { .. }
            | Step::Ask { .. }
            | Step::Say { .. }
            | Step::Stall { .. }
            | Step::Push { .. }
            | Step::Write(_)
            | Step::Layer { .. }
            | Step::Complete { .. }
            | Step::Fail { .. }
            | Step::Pause { .. }
            | Step::State { .. }
            | Step::Activity { .. }
            | Step::DropOutputs { .. }
            | Step::Hang { .. } => {}
        }
    }
    Ok(())
}
