//! What Jules sees of GitHub: branches to start from, and what happens on its own pull requests.

use jiff::Timestamp;

use super::play::PlayedStep;
use super::session::{Beat, Posture, Session};
use super::world::JulesWorld;
use crate::github::{Conclusion, GitHub, Phase, PullState};

impl GitHub {
    /// The branches of a repository; `None` when it does not exist.
    #[must_use]
    pub fn branches(&self, repo: &str) -> Option<Vec<String>> {
        let world = self.world();
        let found = world.repo(repo).ok()?;
        Some(found.branches.keys().cloned().collect())
    }

    /// Whether a check or status that counts failed on a commit.
    fn has_failed_checks(&self, repo: &str, sha: &str) -> bool {
        let world = self.world();
        let Ok(found) = world.repo(repo) else {
            return false;
        };
        found
            .checks
            .iter()
            .filter(|it| it.sha == sha && !it.superseded)
            .any(|it| match it.phase {
                Phase::Completed(Conclusion::Failure | Conclusion::TimedOut) => true,
                Phase::Completed(
                    Conclusion::Success
                    | Conclusion::Neutral
                    | Conclusion::Cancelled
                    | Conclusion::Skipped
                    | Conclusion::ActionRequired,
                )
                | Phase::Planned
                | Phase::Queued
                | Phase::InProgress => false,
            })
    }
}

impl JulesWorld {
    /// Lets finished sessions notice changes of their pull requests, where the switches say so.
    pub(crate) fn notice(&mut self, now: Timestamp, github: &GitHub) {
        let switches = &self.settings.switches;
        if !switches.comments_wake && switches.ci_fixer_cap == 0 {
            return;
        }
        for index in 0..self.sessions.len() {
            if let Some((session, stage)) = self.on_stage(index, now, github)
                && session.posture == Posture::Finished
            {
                session.notice(&stage);
            }
        }
    }
}

impl Session {
    fn notice(&mut self, stage: &PlayedStep<'_>) {
        let Some((repo, number)) = self.work.pull.as_ref().and_then(|it| it.at.clone()) else {
            return;
        };
        let Some(pull) = stage.github.pull(&repo, number) else {
            return;
        };
        let comments = pull
            .comments
            .iter()
            .filter(|it| it.author != pull.author)
            .count();
        let new = comments > std::mem::replace(&mut self.work.comments_seen, comments);
        if new && stage.settings.switches.comments_wake {
            self.stir(stage);
        }
        let open = pull.state == PullState::Open;
        let allowed = self.work.fixes < stage.settings.switches.ci_fixer_cap;
        if open && allowed && stage.github.has_failed_checks(&repo, &pull.head_sha) {
            self.work.fixes += 1;
            self.put(stage.at, Beat::FixChecks);
        }
    }
}
