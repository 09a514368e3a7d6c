//! What a session does in a repository with files: it commits them on a branch of its own, which its pull request offers.

use super::layer_agent::layer_agent;
use super::play::PlayedStep;
use super::session::Session;
use crate::github::WriteOrder;
use crate::story::{Step, Writing};

impl Session {
    /// Makes one commit, on the starting branch or on what the session committed before.
    pub(crate) fn write_files(&mut self, writing: Writing, stage: &PlayedStep<'_>) {
        self.enter("IN_PROGRESS", stage.at);
        let Some(source) = self.ask.source.clone() else {
            return;
        };
        let own = self.work.branch.clone();
        let branch = match &own {
            Some(own) => own.clone(),
            None => self.free_branch(&source.repo, writing.branch.as_deref(), stage),
        };
        let from = own.as_ref().unwrap_or(&source.branch);
        let order = WriteOrder {
            repo: &source.repo,
            from,
            branch: &branch,
            login: stage.settings.author.login(),
            message: &self.pull_title(),
            writing: &writing,
        };
        match stage.github.write(stage.at, &order) {
            Ok(()) => {
                let (repo, base) = (&source.repo, &source.branch);
                self.work.files = stage.github.changed_files(repo, base, &branch);
                self.work.branch = Some(branch);
            }
            Err(problem) => self.fail(&format!("Could not commit the files: {problem}"), stage),
        }
    }

    /// The name that was asked for, unless the repository has such a branch.
    fn free_branch(&self, repo: &str, wanted: Option<&str>, stage: &PlayedStep<'_>) -> String {
        match wanted {
            Some(name) if stage.github.branch_exists(repo, name) == Some(true) => {
                format!("{name}-{}", self.id)
            }
            Some(name) => name.to_owned(),
            None => self.branch_name(),
        }
    }

    /// Does what the prompt of a layer says; with nothing to report, ends without a pull request.
    pub(crate) fn work_as_layer(&mut self, stage: &PlayedStep<'_>) {
        let source = self.ask.source.clone();
        let texts = source.and_then(|it| stage.github.texts(&it.repo, &it.branch));
        let today = stage.at.strftime("%Y-%m-%d").to_string();
        let writing = layer_agent(&self.ask.prompt, &texts.unwrap_or_default(), &today);
        match writing {
            Some(writing) => self.write_files(writing, stage),
            None => {
                let end = Step::Complete {
                    after: jiff::SignedDuration::ZERO,
                    no_change: true,
                };
                self.script = [end].into();
            }
        }
    }
}
