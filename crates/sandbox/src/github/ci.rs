//! The CI engine: checks appear when a head appears and move with the clock.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::checks::{App, Check, Conclusion, Head, NewStatus, Phase, Run, Status, Suite};
use super::records::User;
use super::setup::{ACTIONS_APP_SLUG, CheckKind, CheckSetup, Outcome};
use super::world::{GitHubRefusal, GitHubWorld};
use crate::clock::plus;

impl GitHubWorld {
    /// Plans the checks of a commit that became a head; one that has checks already keeps them.
    pub(crate) fn start_ci(&mut self, now: Timestamp, repo: &str, branch: &str, sha: &str) {
        let Ok(found) = self.repo(repo) else { return };
        if found.without_ci.contains(sha) {
            return;
        }
        let of_commit = found.checks.iter().filter(|check| check.sha == sha);
        let known: BTreeSet<String> = of_commit.map(|check| check.name.clone()).collect();
        for setup in found.ci().checks.clone() {
            if !known.contains(&setup.name) && starts_by_itself(&setup, branch) {
                self.plan_check(now, repo, Head { branch, sha }, &setup);
            }
        }
    }

    /// Runs the workflows of a head a second time and cancels what still runs of the first, as `cancel-in-progress` does.
    pub(crate) fn restart_ci(&mut self, now: Timestamp, repo: &str, branch: &str, sha: &str) {
        let Ok(found) = self.repo(repo) else { return };
        let open = |check: &&Check| {
            check.sha == sha
                && check.app.is_actions()
                && check.kind == CheckKind::CheckRun
                && !matches!(check.phase, Phase::Completed(_))
        };
        let running: Vec<u64> = found.checks.iter().filter(open).map(|it| it.id).collect();
        let setups = found.ci().checks.clone();
        for id in running {
            self.set_phase(now, repo, id, Phase::Completed(Conclusion::Cancelled));
        }
        let of_actions = |setup: &&CheckSetup| {
            setup.app_slug == ACTIONS_APP_SLUG
                && setup.kind == CheckKind::CheckRun
                && starts_by_itself(setup, branch)
        };
        for setup in setups.iter().filter(of_actions) {
            self.plan_check(now, repo, Head { branch, sha }, setup);
        }
    }

    pub(crate) fn plan_check(
        &mut self,
        now: Timestamp,
        repo: &str,
        head: Head<'_>,
        setup: &CheckSetup,
    ) {
        let suite = self.suite_for(now, repo, head, setup);
        let id = self.next_id();
        let Ok(found) = self.repo_mut(repo) else {
            return;
        };
        let seen = found
            .heads_seen
            .entry((head.branch.to_owned(), setup.name.clone()))
            .or_default();
        seen.insert(head.sha.to_owned());
        let ends_as = conclusion_of(setup.outcome, seen.len() - 1, 1);
        let appears_at = plus(now, setup.starts_after);
        let begins_at = plus(appears_at, setup.queued_for);
        let ends_at = (setup.outcome != Outcome::Hangs).then(|| plus(begins_at, setup.takes));
        found.checks.push(Check {
            id,
            name: setup.name.clone(),
            kind: setup.kind,
            app: App::from_setup(setup),
            suite,
            sha: head.sha.to_owned(),
            branch: head.branch.to_owned(),
            outcome: setup.outcome,
            attempt: 1,
            phase: Phase::Planned,
            appears_at,
            begins_at,
            ends_at,
            ends_as,
            superseded: false,
            by_hand: false,
            log: setup.log.clone(),
        });
    }

    /// The suite of an app (for Actions: of a workflow) on a commit, made when it is missing or has a check of that name.
    fn suite_for(&mut self, now: Timestamp, repo: &str, head: Head<'_>, setup: &CheckSetup) -> u64 {
        if setup.kind == CheckKind::Status {
            return 0;
        }
        let app = App::from_setup(setup);
        let workflow = app.is_actions().then(|| setup.workflow.clone());
        let (id, run_id) = (self.next_id(), self.next_id());
        let Ok(found) = self.repo_mut(repo) else {
            return 0;
        };
        let same = |suite: &&Suite| {
            let named = suite.run.as_ref().map(|run| run.workflow.clone());
            let within = |check: &Check| check.suite == suite.id && check.name == setup.name;
            let taken = found.checks.iter().any(within);
            suite.sha == head.sha && suite.app == app && named == workflow && !taken
        };
        if let Some(suite) = found.suites.iter().find(same) {
            return suite.id;
        }
        let number = found
            .suites
            .iter()
            .filter(|suite| suite.run.is_some())
            .count() as u64
            + 1;
        let run = workflow.map(|workflow| Run {
            id: run_id,
            workflow,
            number,
            attempt: 1,
            dispatched: false,
        });
        found.suites.push(Suite {
            id,
            sha: head.sha.to_owned(),
            branch: head.branch.to_owned(),
            app,
            run,
            created_at: now,
            updated_at: now,
            told: None,
        });
        id
    }

    /// Performs every change that is due, in the order of time.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        self.notice_pushes(now);
        while let Some((due, repo, id)) = self.next_change().filter(|(due, ..)| *due <= now) {
            self.move_check(due, &repo, id);
        }
    }

    /// The next change of any check: when, where, which.
    pub(crate) fn next_change(&self) -> Option<(Timestamp, String, u64)> {
        let changes = self.repos.iter().flat_map(|(key, repo)| {
            repo.checks
                .iter()
                .filter_map(move |check| next_move(check).map(|due| (due, check.id, key)))
        });
        // The id breaks ties, so that checks of one head move in the order of their declaration.
        changes.min().map(|(due, id, key)| (due, key.clone(), id))
    }

    fn move_check(&mut self, at: Timestamp, repo: &str, id: u64) {
        let phase = self.check(repo, id).map(next_phase);
        if let Ok(phase) = phase {
            self.set_phase(at, repo, id, phase);
        }
    }

    /// Brings a check to a phase and sends the webhook.
    pub(crate) fn set_phase(&mut self, at: Timestamp, repo: &str, id: u64, phase: Phase) {
        let Ok(found) = self.repo_mut(repo) else {
            return;
        };
        let Some(check) = found.checks.iter_mut().find(|check| check.id == id) else {
            return;
        };
        let was = std::mem::replace(&mut check.phase, phase);
        match phase {
            Phase::Planned | Phase::Queued => {}
            Phase::InProgress => check.begins_at = at,
            Phase::Completed(_) => check.ends_at = Some(at),
        }
        let check = check.clone();
        match check.kind {
            CheckKind::Status => self.post_for(at, repo, &check),
            CheckKind::CheckRun => {
                if check.outcome != Outcome::ApprovalPending {
                    self.tell_check(at, repo, &check, was);
                }
                self.settle_suite(at, repo, check.suite);
            }
        }
    }

    /// Posts the commit status of a check of the older kind.
    fn post_for(&mut self, at: Timestamp, repo: &str, check: &Check) {
        let state = match check.phase {
            Phase::Planned => return,
            Phase::Queued | Phase::InProgress => "pending",
            Phase::Completed(conclusion) if conclusion.passed() => "success",
            Phase::Completed(Conclusion::Cancelled) => "error",
            Phase::Completed(_) => "failure",
        };
        let creator = User::named(&format!("{}[bot]", check.app.slug));
        let target = format!("https://ci.example/{}", check.id);
        let new = NewStatus {
            sha: &check.sha,
            context: &check.name,
            state,
            target_url: Some(target),
            creator,
        };
        self.post_status(at, repo, new);
    }

    /// Writes a commit status.
    pub(crate) fn post_status(&mut self, at: Timestamp, repo: &str, new: NewStatus<'_>) {
        let status = Status {
            id: self.next_id(),
            sha: new.sha.to_owned(),
            context: new.context.to_owned(),
            state: new.state.to_owned(),
            description: format!("{}: {}", new.context, new.state),
            target_url: new.target_url,
            creator: new.creator,
            at,
        };
        if let Ok(found) = self.repo_mut(repo) {
            found.statuses.push(status.clone());
            self.tell_status(at, repo, &status);
        }
    }

    pub(crate) fn check(&self, repo: &str, id: u64) -> Result<&Check, GitHubRefusal> {
        let mut checks = self.repo(repo)?.checks.iter();
        checks
            .find(|check| check.id == id)
            .ok_or_else(GitHubRefusal::not_found)
    }

    pub(crate) fn check_mut(&mut self, repo: &str, id: u64) -> Result<&mut Check, GitHubRefusal> {
        let mut checks = self.repo_mut(repo)?.checks.iter_mut();
        checks
            .find(|check| check.id == id)
            .ok_or_else(GitHubRefusal::not_found)
    }
}

/// Whether a check appears with a head of a branch.
fn starts_by_itself(setup: &CheckSetup, branch: &str) -> bool {
    setup.outcome != Outcome::Never && !setup.on_dispatch && branch.contains(&setup.on_branch)
}

/// When a check moves next by itself.
fn next_move(check: &Check) -> Option<Timestamp> {
    if check.by_hand {
        return None;
    }
    match check.phase {
        Phase::Planned => Some(check.appears_at),
        Phase::Queued => Some(check.begins_at),
        Phase::InProgress => check.ends_at,
        Phase::Completed(_) => None,
    }
}

fn next_phase(check: &Check) -> Phase {
    match check.phase {
        Phase::Planned if check.outcome == Outcome::ApprovalPending => {
            Phase::Completed(Conclusion::ActionRequired)
        }
        Phase::Planned if check.begins_at > check.appears_at => Phase::Queued,
        Phase::Planned | Phase::Queued => Phase::InProgress,
        Phase::InProgress | Phase::Completed(_) => Phase::Completed(check.ends_as),
    }
}

/// How a check ends on a branch that has had `seen` heads before, at its so-manieth attempt.
pub(crate) fn conclusion_of(outcome: Outcome, seen: usize, attempt: u32) -> Conclusion {
    match outcome {
        Outcome::Success | Outcome::Never | Outcome::Hangs => Conclusion::Success,
        Outcome::Failure => Conclusion::Failure,
        Outcome::FailsFirst(heads) if seen < heads as usize => Conclusion::Failure,
        Outcome::FailsFirst(_) => Conclusion::Success,
        Outcome::Flaky if attempt == 1 => Conclusion::Failure,
        Outcome::Flaky => Conclusion::Success,
        Outcome::Neutral => Conclusion::Neutral,
        Outcome::Skipped => Conclusion::Skipped,
        Outcome::Cancelled => Conclusion::Cancelled,
        Outcome::TimedOut => Conclusion::TimedOut,
        Outcome::ApprovalPending => Conclusion::ActionRequired,
    }
}
