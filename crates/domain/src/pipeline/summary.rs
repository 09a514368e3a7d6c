//! Up to which commit the code of a repository is summed up, as its runs know it.

use super::{AgentState, Pipeline, PipelineStep, StepKind};
use crate::ids::CommitSha;
use crate::layer::Layer;

impl Pipeline {
    /// The commit of the target branch up to which narrators have looked at the code after this run; none where no run knows of one.
    /// One that had nothing to report has looked at it too, and what a trial run makes up is no look.
    pub fn summed_up_to(&self) -> Option<&CommitSha> {
        let has_ended =
            |state: &AgentState| [AgentState::Merged, AgentState::Nothing].contains(state);
        let is_through = |step: &&PipelineStep| {
            let mut members = step.members.iter();
            step.kind == StepKind::Layer(Layer::Narrator)
                && members.any(|member| has_ended(&member.state))
        };
        let narrated = match self.ask.mock {
            None => self.steps.iter().find(is_through),
            Some(_) => None,
        };
        let own = narrated.and_then(|step| step.trees.as_ref());
        own.map(|trees| &trees.target).or(self.summed_up.as_ref())
    }
}
