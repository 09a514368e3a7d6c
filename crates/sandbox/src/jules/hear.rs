//! What a message does to a session, in each of its postures.

use super::activity::{Kind, Originator};
use super::play::PlayedStep;
use super::refusal::JulesRefusal;
use super::session::{Beat, Posture, Session};
use super::switches::MessageEffect;

impl Session {
    /// Takes a message, or refuses it.
    pub(crate) fn hear(&mut self, text: &str, stage: &PlayedStep<'_>) -> Result<(), JulesRefusal> {
        if self.state == "QUEUED" {
            return Err(JulesRefusal::not_found());
        }
        let switches = &stage.settings.switches;
        let effect = match self.posture {
            Posture::Failed => switches.message_to_failed,
            Posture::Paused => switches.message_to_paused,
            Posture::Playing
            | Posture::Listening
            | Posture::PlanPending { .. }
            | Posture::Finished
            | Posture::Waking
            | Posture::Hung => MessageEffect::Resumes,
        };
        if effect == MessageEffect::Refused {
            return Err(JulesRefusal::precondition());
        }
        self.write(
            stage.at,
            Originator::User,
            Kind::UserMessaged(text.to_owned()),
        );
        // A blank message is taken with 200, is written down, and moves nothing.
        if effect == MessageEffect::Resumes && !text.trim().is_empty() {
            self.stir(stage);
        }
        Ok(())
    }

    /// The effects of a message with a text.
    pub(crate) fn stir(&mut self, stage: &PlayedStep<'_>) {
        match &self.posture {
            Posture::Playing if self.is_idle() => self.go_on(stage),
            Posture::Playing | Posture::Waking | Posture::Hung => {}
            Posture::Listening | Posture::Paused | Posture::Failed => self.go_on(stage),
            // A plan that Jules approves itself is not rewritten.
            Posture::PlanPending { .. } if !self.ask.require_plan_approval => {}
            Posture::PlanPending { .. } => self.replan(stage),
            Posture::Finished => {
                self.posture = Posture::Waking;
                self.agenda.retain(|(_, beat)| *beat != Beat::NextStep);
                self.put(stage.later(stage.settings.switches.wake_after), Beat::Wake);
            }
        }
    }

    /// Whether the story has run out without an end.
    fn is_idle(&self) -> bool {
        self.script.is_empty()
            && !self
                .agenda
                .iter()
                .any(|(_, beat)| matches!(beat, Beat::NextStep | Beat::Replan))
    }
}
