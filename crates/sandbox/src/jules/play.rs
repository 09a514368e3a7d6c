//! How a session plays its story: beats of the agenda and steps of the script.

use jiff::{SignedDuration, Timestamp};

use super::activity::{Artifact, Kind, Originator};
use super::patch::hex_id;
use super::session::{Beat, Posture, Session};
use super::settings::Settings;
use crate::clock::plus;
use crate::github::{ChangedFile, GitHub};
use crate::scenario::paced;
use crate::story::Step;

/// What a session needs around it while it plays, and the time of the beat.
pub(crate) struct PlayedStep<'a> {
    pub(crate) at: Timestamp,
    pub(crate) settings: &'a Settings,
    pub(crate) github: &'a GitHub,
}

/// From a message with corrections until the new plan, at pace 1.
const REPLAN_AFTER: SignedDuration = SignedDuration::from_millis(1_000);

impl PlayedStep<'_> {
    /// `delay` at the scenario's pace, from now.
    pub(crate) fn later(&self, delay: SignedDuration) -> Timestamp {
        plus(self.at, paced(delay, self.settings.pace))
    }
}

impl Session {
    /// Performs one beat that is due.
    pub(crate) fn perform_beat(&mut self, beat: Beat, stage: &PlayedStep<'_>) {
        match beat {
            Beat::EnterPlanning => self.begin(stage),
            Beat::NextStep => {
                if let Some(step) = self.script.pop_front() {
                    self.perform_step(step, stage);
                }
            }
            Beat::ApprovePlan { plan } => {
                if self.pending_plan() == Some(plan.as_str()) {
                    self.approve(stage);
                }
            }
            Beat::Replan => self.make_plan(&["Do what the message says".to_owned()], stage),
            Beat::Wake => self.go_on(stage),
            Beat::ShowOutputs => self.work.shown = true,
            Beat::FixChecks => self.fix_checks(stage),
        }
    }

    /// Leaves the queue; a starting branch that is not on the remote ends it at once.
    fn begin(&mut self, stage: &PlayedStep<'_>) {
        self.enter("PLANNING", stage.at);
        self.write(
            stage.at,
            Originator::System,
            Kind::Described("Session started".to_owned()),
        );
        let missing = self
            .ask
            .source
            .as_ref()
            .is_some_and(|it| stage.github.branch_exists(&it.repo, &it.branch) == Some(false));
        if missing {
            self.fail("Could not check out the starting branch.", stage);
        } else {
            self.schedule_next(stage);
        }
    }

    /// Puts the script's first step on the agenda.
    pub(crate) fn schedule_next(&mut self, stage: &PlayedStep<'_>) {
        if let Some(step) = self.script.front() {
            let at = stage.later(step.after());
            self.put(at, Beat::NextStep);
        }
    }

    /// Back to work after a message: the rest of the script, or the steps kept for messages.
    pub(crate) fn go_on(&mut self, stage: &PlayedStep<'_>) {
        self.agenda.retain(|(_, beat)| *beat != Beat::NextStep);
        if self.script.is_empty() || self.posture == Posture::Waking {
            self.script = self.on_message.clone().into();
        }
        self.posture = Posture::Playing;
        self.enter("IN_PROGRESS", stage.at);
        self.schedule_next(stage);
    }

    fn perform_step(&mut self, step: Step, stage: &PlayedStep<'_>) {
        match step {
            Step::Plan { steps, .. } => return self.make_plan(&steps, stage),
            Step::Progress {
                title,
                description,
                files,
                command,
                media_bytes,
                ..
            } => {
                self.work_on();
                self.enter("IN_PROGRESS", stage.at);
                let artifacts = self.artifacts(files, command, media_bytes);
                let kind = Kind::ProgressUpdated { title, description };
                self.write_with(stage.at, Originator::Agent, kind, artifacts);
            }
            Step::Ask { text, .. } => {
                self.posture = Posture::Listening;
                self.write(stage.at, Originator::Agent, Kind::AgentMessaged(text));
                return self.enter("AWAITING_USER_FEEDBACK", stage.at);
            }
            Step::Say { text, .. } => {
                self.write(stage.at, Originator::Agent, Kind::AgentMessaged(text));
            }
            Step::Stall { .. } => {
                self.posture = Posture::Listening;
                return;
            }
            Step::OpenPull { files, draft, .. } => {
                self.work_on();
                self.enter("IN_PROGRESS", stage.at);
                self.open_pull(files, draft, stage);
            }
            Step::Write(writing) => {
                self.work_on();
                self.write_files(writing, stage);
            }
            Step::Layer { .. } => {
                self.work_on();
                self.work_as_layer(stage);
            }
            Step::Push {
                message,
                files,
                reverts,
                ..
            } => self.push(&message, files, reverts, stage),
            Step::Complete { no_change, .. } => self.complete(no_change, stage),
            Step::Fail { reason, .. } => return self.fail(&reason, stage),
            Step::Pause { .. } => {
                self.posture = Posture::Paused;
                return self.enter("PAUSED", stage.at);
            }
            Step::State { state, .. } => {
                self.posture = posture_of(&state);
                self.enter(&state, stage.at);
            }
            Step::Activity { activity, .. } => {
                self.write(stage.at, Originator::Agent, Kind::Raw(activity));
            }
            Step::DropOutputs { .. } => {
                self.agenda.retain(|(_, beat)| *beat != Beat::ShowOutputs);
                self.work.shown = false;
            }
            Step::Hang { .. } => return self.hang(stage),
        }
        self.schedule_next(stage);
    }

    /// A step that works lets messages wait until it is done.
    fn work_on(&mut self) {
        self.posture = Posture::Playing;
    }

    fn artifacts(
        &mut self,
        files: Vec<ChangedFile>,
        command: Option<String>,
        media_bytes: usize,
    ) -> Vec<Artifact> {
        let mut artifacts = Vec::new();
        if !files.is_empty() {
            let fresh = files.len();
            self.work.files.extend(files);
            artifacts.push(Artifact::ChangeSet {
                files: self.work.files.clone(),
                fresh,
            });
        }
        artifacts.extend(command.map(|command| Artifact::Bash { command }));
        if media_bytes > 0 {
            artifacts.push(Artifact::Media { bytes: media_bytes });
        }
        artifacts
    }

    /// Writes a plan and waits, for a person or for Jules's own approval.
    pub(crate) fn make_plan(&mut self, steps: &[String], stage: &PlayedStep<'_>) {
        let plan = hex_id(&["plan", &self.id, &self.activities.len().to_string()], 32);
        let kind = Kind::PlanGenerated {
            id: plan.clone(),
            steps: steps.to_vec(),
        };
        self.write(stage.at, Originator::Agent, kind);
        self.posture = Posture::PlanPending { plan: plan.clone() };
        if self.ask.require_plan_approval {
            let shown = if stage.settings.switches.waiting_plan_shows_completed {
                "COMPLETED"
            } else {
                "AWAITING_PLAN_APPROVAL"
            };
            self.enter(shown, stage.at);
            if let Some(delay) = stage.settings.switches.auto_approve_after {
                self.put(stage.later(delay), Beat::ApprovePlan { plan });
            }
        } else {
            self.put(
                plus(stage.at, self.approved_after),
                Beat::ApprovePlan { plan },
            );
        }
    }

    /// The pending plan is approved; also Jules's own approval is written as the user's.
    pub(crate) fn approve(&mut self, stage: &PlayedStep<'_>) {
        let Some(plan) = self.pending_plan().map(str::to_owned) else {
            return;
        };
        self.agenda
            .retain(|(_, beat)| !matches!(beat, Beat::ApprovePlan { .. } | Beat::Replan));
        self.posture = Posture::Playing;
        self.write(stage.at, Originator::User, Kind::PlanApproved(plan));
        self.enter("IN_PROGRESS", stage.at);
        self.schedule_next(stage);
    }

    /// A message with corrections: the plan is rewritten.
    pub(crate) fn replan(&mut self, stage: &PlayedStep<'_>) {
        self.agenda
            .retain(|(_, beat)| !matches!(beat, Beat::ApprovePlan { .. } | Beat::Replan));
        self.posture = Posture::Playing;
        self.enter("PLANNING", stage.at);
        self.put(stage.later(REPLAN_AFTER), Beat::Replan);
    }

    fn complete(&mut self, no_change: bool, stage: &PlayedStep<'_>) {
        let mut artifacts = Vec::new();
        if !no_change {
            artifacts.push(self.finished_work(stage));
        }
        self.say_completed(artifacts, stage);
        self.posture = Posture::Finished;
        self.enter("COMPLETED", stage.at);
    }

    fn say_completed(&mut self, artifacts: Vec<Artifact>, stage: &PlayedStep<'_>) {
        let (by, kind) = (Originator::Agent, Kind::SessionCompleted);
        self.write_with(stage.at, by, kind, artifacts);
    }

    fn hang(&mut self, stage: &PlayedStep<'_>) {
        let artifacts = vec![self.finished_work(stage)];
        self.say_completed(artifacts, stage);
        self.script.clear();
        self.posture = Posture::Hung;
        self.enter("IN_PROGRESS", stage.at);
    }

    /// The change set of all work done, whose outputs show up now or late.
    fn finished_work(&mut self, stage: &PlayedStep<'_>) -> Artifact {
        if self.work.files.is_empty() {
            self.work.files.push(ChangedFile::modified("src/lib.rs"));
        }
        if !self.work.shown {
            self.put(
                stage.later(stage.settings.switches.outputs_late),
                Beat::ShowOutputs,
            );
        }
        let fresh = self.work.files.len();
        Artifact::ChangeSet {
            files: self.work.files.clone(),
            fresh,
        }
    }

    pub(crate) fn fail(&mut self, reason: &str, stage: &PlayedStep<'_>) {
        self.write(
            stage.at,
            Originator::System,
            Kind::SessionFailed(reason.to_owned()),
        );
        self.script.clear();
        self.agenda.retain(|(_, beat)| *beat == Beat::ShowOutputs);
        self.posture = Posture::Failed;
        self.enter("FAILED", stage.at);
    }
}

/// How a session in a state entered by its raw name takes messages.
pub(crate) fn posture_of(state: &str) -> Posture {
    match state {
        "AWAITING_USER_FEEDBACK" => Posture::Listening,
        "COMPLETED" => Posture::Finished,
        "PAUSED" => Posture::Paused,
        "FAILED" => Posture::Failed,
        // Working states, and unknown ones.
        _ => Posture::Playing,
    }
}
