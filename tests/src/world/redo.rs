//! Brings the world outside to where a store of another day left it, by doing at its time what that store says was done.

use domain::effect::Action;
use domain::failure::Failure;
use domain::job::Job;
use domain::words;
use engine::ports::NewSession;
use jiff::Timestamp;

use super::World;

impl World {
    /// Repeats one earlier action outside, at the same time. `jobs` are those of that day, of one account whose plans
    /// wait for a person.
    pub async fn redo(&self, at: Timestamp, action: &Action, jobs: &[Job]) {
        self.advance_to(at);
        let done = self.call(action, jobs).await;
        done.unwrap_or_else(|failure| panic!("`{action}` cannot be done again: {failure}"));
    }

    /// Lets the world outside move on to a time, without any reader.
    pub fn advance_to(&self, at: Timestamp) {
        self.clock.advance(at.duration_since(self.clock.now()));
        self.sandbox.advance();
    }

    async fn call(&self, action: &Action, jobs: &[Job]) -> Result<(), Failure> {
        let account = "default".parse().expect("a name");
        let (sessions, pulls) = (&self.hands.sessions, &self.hands.pulls);
        match action {
            Action::CreateSession { job, .. } => {
                let job = jobs.iter().find(|it| it.id == *job).expect("a job");
                sessions.create(&account, &session(job)).await.map(drop)
            }
            Action::Say { session, text, .. } => sessions.send(&account, session, text).await,
            Action::ApprovePlan { session, .. } => sessions.approve(&account, session).await,
            Action::Archive { session } => sessions.archive(&account, session).await,
            Action::Merge {
                pull,
                sha,
                method,
                title,
                ..
            } => {
                let how = (*method, title.as_deref());
                pulls.merge(pull, sha, how).await.map(drop)
            }
            Action::MarkReady { pull, node_id, .. } => pulls.mark_ready(pull, node_id).await,
            Action::UpdateBranch { pull, sha } => pulls.update_branch(pull, sha).await,
            Action::Comment { pull, text, cause } => pulls.comment(pull, text, cause).await,
            Action::Label { pull, label } => pulls.label(pull, label).await,
            Action::ClosePull { pull } => pulls.close(pull).await,
            Action::DeleteBranch { repo, branch, .. } => pulls.delete_branch(repo, branch).await,
        }
    }
}

fn session(job: &Job) -> NewSession {
    NewSession {
        prompt: job.prompt.clone(),
        title: words::session_title(job),
        repo: job.repo.clone(),
        branch: job.branch.clone(),
        require_plan_approval: true,
        automation: domain::policy::Automation::AutoCreatePr,
    }
}
