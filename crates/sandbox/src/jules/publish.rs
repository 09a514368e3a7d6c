//! What a session does on GitHub: its pull request, its pushes, and what wakes it from there.

use jiff::SignedDuration;

use super::activity::{Kind, Originator};
use super::patch::slug;
use super::play::PlayedStep;
use super::session::{OwnPull, Posture, Session};
use crate::github::{ChangedFile, NewCommit, NewPull};
use crate::story::Step;

impl Session {
    /// Opens the session's pull request, if it may and has none.
    pub(crate) fn open_pull(
        &mut self,
        files: Vec<ChangedFile>,
        draft: bool,
        stage: &PlayedStep<'_>,
    ) {
        self.work.files.extend(files);
        if self.work.files.is_empty() {
            self.work.files.push(ChangedFile::modified(&format!(
                "src/{}.rs",
                slug(&self.pull_title())
            )));
        }
        let Some(source) = self.ask.source.clone() else {
            return;
        };
        if !self.ask.auto_create_pr || self.work.pull.is_some() {
            return;
        }
        let title = self.pull_title();
        let written = self.work.branch.clone();
        let head = written.clone().unwrap_or_else(|| self.branch_name());
        let description = format!(
            "{}\n\n{}",
            first_line(&self.ask.prompt),
            self.signature(stage)
        );
        let pull = NewPull {
            title: title.clone(),
            body: description.clone(),
            head_branch: head.clone(),
            base_branch: source.branch.clone(),
            draft,
            author_login: stage.settings.author.login().to_owned(),
            author_id: stage.settings.author.id(),
            files: self.work.files.clone(),
            ..NewPull::default()
        };
        let number = match written {
            Some(_) => stage.github.offer_pull(stage.at, &source.repo, &pull),
            None => Some(stage.github.open_pull(stage.at, &source.repo, pull)),
        };
        let Some(number) = number else { return };
        let url = format!("https://github.com/{}/pull/{number}", source.repo);
        let at = Some((source.repo, number));
        self.work.pull = Some(OwnPull {
            at,
            url,
            title,
            description,
            base: source.branch,
            head,
        });
    }

    /// Pushes one more commit to the session's pull request, if it has one.
    pub(crate) fn push(
        &mut self,
        message: &str,
        files: Vec<ChangedFile>,
        reverts: Vec<String>,
        stage: &PlayedStep<'_>,
    ) {
        let Some(pull) = &self.work.pull else { return };
        let Some((repo, _)) = pull.at.clone() else {
            return;
        };
        let (head, login) = (pull.head.clone(), stage.settings.author.login());
        self.work.files.extend(files.iter().cloned());
        let commit = NewCommit {
            message: message.to_owned(),
            author_login: login.to_owned(),
            files,
            reverts,
            merges_base: false,
        };
        stage.github.push_work(stage.at, &repo, &head, commit);
        let kind = Kind::ProgressUpdated {
            title: "Pushed a commit".to_owned(),
            description: message.to_owned(),
        };
        self.write(stage.at, Originator::Agent, kind);
    }

    /// The CI fixer: Jules goes back to work by itself and pushes.
    pub(crate) fn fix_checks(&mut self, stage: &PlayedStep<'_>) {
        let message = "Fix failing checks".to_owned();
        let after = SignedDuration::ZERO;
        let script = [
            Step::Push {
                after,
                message,
                files: Vec::new(),
                reverts: Vec::new(),
            },
            Step::Complete {
                after,
                no_change: false,
            },
        ];
        self.script = script.into();
        self.posture = Posture::Playing;
        self.enter("IN_PROGRESS", stage.at);
        self.schedule_next(stage);
    }

    /// The line that ties a pull request to its session.
    fn signature(&self, stage: &PlayedStep<'_>) -> String {
        let id = &self.id;
        let login = stage.settings.login_of(&self.account);
        format!(
            "---\n*PR created automatically by Jules for task [{id}](https://jules.google.com/task/{id}) \
             started by @{login}*"
        )
    }

    /// The name of a branch that the session makes up.
    pub(crate) fn branch_name(&self) -> String {
        format!("{}-{}", slug(&self.pull_title()), self.id)
    }

    /// Jules words the title itself; a caller's marker in brackets does not get into it.
    pub(crate) fn pull_title(&self) -> String {
        let title = match self
            .ask
            .title
            .strip_prefix('[')
            .and_then(|it| it.split_once(']'))
        {
            Some((_, rest)) => rest.trim(),
            None => self.ask.title.trim(),
        };
        if title.is_empty() {
            first_line(&self.ask.prompt).to_owned()
        } else {
            title.to_owned()
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
