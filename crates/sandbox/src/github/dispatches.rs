//! Workflows that start when they are dispatched.

use jiff::Timestamp;

use super::GitHub;
use super::checks::{Check, Conclusion, Head, Phase, Suite};
use super::pen::{workflow_id, workflow_path};
use super::setup::{ACTIONS_APP_SLUG, CheckSetup, Outcome};
use super::world::{GitHubRefusal, GitHubWorld, Repo};

impl GitHub {
    /// Ends everything that still runs of a dispatched workflow, which is named by its file.
    pub fn finish_dispatched(
        &self,
        now: Timestamp,
        repo: &str,
        file: &str,
        conclusion: Conclusion,
    ) {
        let mut world = self.world();
        // What was just dispatched appears only with the time.
        world.advance(now);
        let Ok(found) = world.repo(repo) else { return };
        let dispatched = |suite: &&Suite| {
            let run = suite.run.as_ref();
            run.is_some_and(|run| run.dispatched && is_workflow(found, &run.workflow, file))
        };
        let suites: Vec<u64> = found
            .suites
            .iter()
            .filter(dispatched)
            .map(|it| it.id)
            .collect();
        let open = |check: &&Check| {
            suites.contains(&check.suite) && !matches!(check.phase, Phase::Completed(_))
        };
        let checks: Vec<u64> = found.checks.iter().filter(open).map(|it| it.id).collect();
        for id in checks {
            world.set_phase(now, repo, id, Phase::Completed(conclusion));
        }
    }
}

impl GitHubWorld {
    /// Starts the jobs of a workflow on a branch, as `workflow_dispatch` does.
    pub(crate) fn dispatch(
        &mut self,
        now: Timestamp,
        repo: &str,
        workflow: &str,
        branch: &str,
    ) -> Result<(), GitHubRefusal> {
        let found = self.repo(repo)?;
        let of_workflow = |setup: &&CheckSetup| {
            setup.app_slug == ACTIONS_APP_SLUG && is_workflow(found, &setup.workflow, workflow)
        };
        let mut jobs: Vec<CheckSetup> = found
            .ci()
            .checks
            .iter()
            .filter(of_workflow)
            .cloned()
            .collect();
        if jobs.is_empty() {
            return Err(GitHubRefusal::not_found());
        }
        jobs.retain(|setup| setup.on_dispatch);
        if jobs.is_empty() {
            let message = "Workflow does not have 'workflow_dispatch' trigger";
            return Err(GitHubRefusal::new(422, message));
        }
        let tip = found.tip(branch).to_owned();
        if tip.is_empty() {
            let message = format!("No ref found for: {branch}");
            return Err(GitHubRefusal::new(422, message));
        }
        let head = Head { branch, sha: &tip };
        for setup in jobs.iter().filter(|it| it.outcome != Outcome::Never) {
            self.plan_check(now, repo, head, setup);
            self.mark_dispatched(repo)?;
        }
        self.counters.count(|it| it.dispatches += 1);
        Ok(())
    }

    /// Says of the run of the job that was planned last that it was dispatched.
    fn mark_dispatched(&mut self, repo: &str) -> Result<(), GitHubRefusal> {
        let found = self.repo_mut(repo)?;
        let planned = found.checks.last().map(|check| check.suite);
        let suites = found.suites.iter_mut();
        for suite in suites.filter(|suite| Some(suite.id) == planned) {
            if let Some(run) = &mut suite.run {
                run.dispatched = true;
            }
        }
        Ok(())
    }
}

/// Whether a workflow is the one of this file name or number.
pub(crate) fn is_workflow(repo: &Repo, name: &str, file_or_id: &str) -> bool {
    let path = workflow_path(name);
    let file = path.rsplit('/').next().unwrap_or_default();
    file == file_or_id || file_or_id.parse() == Ok(workflow_id(repo, name))
}
