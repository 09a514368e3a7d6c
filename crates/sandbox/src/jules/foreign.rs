//! Sessions that were not created through the API, and accessors for tests and control.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::Jules;
use super::activity::{Kind, Originator};
use super::play::{PlayedStep, posture_of};
use super::session::{Beat, OpenAsk, OwnPull, Session, SourceContext};
use crate::Error;
use crate::scenario::{ForeignSession, numbered};
use crate::story::{Step, Story};

/// A session as it really is, without lags.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionView {
    /// Session id.
    pub id: String,
    /// Name of the account that owns it.
    pub account: String,
    /// Title.
    pub title: String,
    /// Prompt.
    pub prompt: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// The state by its raw name.
    pub state: String,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether it was deleted.
    pub deleted: bool,
    /// `owner/name` and number of its pull request.
    pub pull: Option<(String, u64)>,
    /// The head branch of its pull request.
    pub branch: Option<String>,
    /// The messages users sent, oldest first, blank ones included.
    pub messages: Vec<String>,
    /// How many times a plan of it was approved, by whomever.
    pub approvals: usize,
    /// Its activities as reads show them, oldest first.
    pub activities: Vec<Value>,
}

impl Jules {
    /// Makes sessions that were not created through the API; returns their ids.
    ///
    /// # Errors
    /// [`Error::Scenario`] when the account is unknown, or the id is malformed or taken.
    pub fn add_foreign(&self, foreign: &ForeignSession) -> Result<Vec<String>, Error> {
        let now = (self.clock)();
        let mut world = self.world();
        let account = match world.settings.account(&foreign.account) {
            Some(account) => account.name.clone(),
            None => return Err(wrong("account", "is not in this scenario")),
        };
        let mut ids = Vec::new();
        for n in 1..=foreign.count {
            let created_at = now.saturating_sub(foreign.age).unwrap_or(now);
            let story = world
                .settings
                .story(&foreign.title, &foreign.prompt)
                .clone();
            let story = Story {
                steps: foreign.steps.clone(),
                ..story
            };
            let mut session = world.blank(&account, foreign.ask(n), created_at, &story);
            if let Some(id) = &foreign.id {
                session.id = checked_id(id, n)?;
            }
            if world.sessions.iter().any(|it| it.id == session.id) {
                return Err(wrong("id", "is taken; several sessions need {n} in it"));
            }
            ids.push(session.id.clone());
            world.count_task(&account, created_at);
            world.sessions.push(session);
            let index = world.sessions.len() - 1;
            if let Some((session, stage)) = world.on_stage(index, now, &self.github) {
                session.appear(foreign, n, &stage);
            }
        }
        Ok(ids)
    }

    /// A session as it really is; `None` when there never was one.
    #[must_use]
    pub fn session(&self, id: &str) -> Option<SessionView> {
        self.sessions().into_iter().find(|it| it.id == id)
    }

    /// All sessions of all accounts in the order of their making, deleted ones included.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionView> {
        let world = self.world();
        world
            .sessions
            .iter()
            .map(|it| it.to_view(&world.settings))
            .collect()
    }
}

/// An id that a scenario chose, which must be a number once `{n}` is filled in.
fn checked_id(id: &str, n: u32) -> Result<String, Error> {
    let id = numbered(id, n);
    if id.parse::<u64>().is_err() {
        return Err(wrong("id", "must be an unsigned 64-bit decimal"));
    }
    Ok(id)
}

fn wrong(field: &str, problem: &str) -> Error {
    Error::Scenario {
        field: field.to_owned(),
        problem: problem.to_owned(),
    }
}

impl ForeignSession {
    fn ask(&self, n: u32) -> OpenAsk {
        let source = self.repo.as_ref().map(|repo| SourceContext {
            repo: repo.clone(),
            branch: self.branch.clone(),
            ..SourceContext::default()
        });
        OpenAsk {
            prompt: numbered(&self.prompt, n),
            title: numbered(&self.title, n),
            source,
            require_plan_approval: self.require_plan_approval,
            auto_create_pr: self.auto_create_pr,
        }
    }
}

impl Session {
    /// Starts in the scenario's state and plays on from there.
    fn appear(&mut self, foreign: &ForeignSession, n: u32, stage: &PlayedStep<'_>) {
        self.write(
            self.created_at,
            Originator::System,
            Kind::Described("Session started".to_owned()),
        );
        self.posture = posture_of(&foreign.state);
        self.enter(&foreign.state, self.created_at);
        if foreign.state == "COMPLETED" {
            self.write(self.created_at, Originator::Agent, Kind::SessionCompleted);
            self.work.shown = true;
        }
        if let Some(url) = &foreign.pull_url {
            self.work.pull = Some(self.told_pull(numbered(url, n)));
            self.work.shown = true;
        }
        self.archived = foreign.archived;
        if foreign.state == "AWAITING_PLAN_APPROVAL" {
            // Such a session has a plan that can be approved, and its steps wait for that.
            self.ask.require_plan_approval = true;
            return self.make_plan(&["Do what was asked".to_owned()], stage);
        }
        self.schedule_next(stage);
    }

    /// A pull request that only an address refers to.
    fn told_pull(&self, url: String) -> OwnPull {
        OwnPull {
            at: pull_of_url(&url),
            url,
            title: self.ask.title.clone(),
            description: String::new(),
            base: self
                .ask
                .source
                .as_ref()
                .map_or_else(String::new, |it| it.branch.clone()),
            head: String::new(),
        }
    }

    /// Takes more steps and ends its present wait, except for a plan's approval.
    pub(crate) fn append(&mut self, steps: Vec<Step>, stage: &PlayedStep<'_>) {
        self.script.extend(steps);
        let is_scheduled = self.agenda.iter().any(|(_, beat)| match beat {
            Beat::EnterPlanning
            | Beat::NextStep
            | Beat::ApprovePlan { .. }
            | Beat::Replan
            | Beat::Wake
            | Beat::FixChecks => true,
            Beat::ShowOutputs => false,
        });
        if !is_scheduled && self.pending_plan().is_none() {
            self.schedule_next(stage);
        }
    }

    fn to_view(&self, settings: &super::Settings) -> SessionView {
        let pull = self.work.pull.as_ref();
        let messages = self.activities.iter().filter_map(|it| match &it.kind {
            Kind::UserMessaged(text) => Some(text.clone()),
            Kind::AgentMessaged(_)
            | Kind::PlanGenerated { .. }
            | Kind::PlanApproved(_)
            | Kind::ProgressUpdated { .. }
            | Kind::SessionCompleted
            | Kind::SessionFailed(_)
            | Kind::Described(_)
            | Kind::Raw(_) => None,
        });
        let approvals = self
            .activities
            .iter()
            .filter(|it| matches!(it.kind, Kind::PlanApproved(_)))
            .count();
        SessionView {
            id: self.id.clone(),
            account: self.account.clone(),
            title: self.ask.title.clone(),
            prompt: self.ask.prompt.clone(),
            created_at: self.created_at,
            state: self.state.clone(),
            archived: self.archived,
            deleted: self.deleted,
            pull: pull.and_then(|it| it.at.clone()),
            branch: pull.map(|it| it.head.clone()).filter(|it| !it.is_empty()),
            messages: messages.collect(),
            approvals,
            activities: self
                .activities
                .iter()
                .map(|it| it.to_json(&self.id, self.repo(), settings))
                .collect(),
        }
    }
}

/// Repository and number in a pull request's web address.
fn pull_of_url(url: &str) -> Option<(String, u64)> {
    let (repo, number) = url
        .strip_prefix("https://github.com/")?
        .split_once("/pull/")?;
    Some((repo.to_owned(), number.parse().ok()?))
}
