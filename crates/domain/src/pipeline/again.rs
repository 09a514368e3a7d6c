//! How a run whose steps failed is begun again: by the command that begins the same one.

use std::fmt;

use super::{EntryPoint, Pipeline, StepKind};
use crate::layer::Layer;

impl Pipeline {
    /// The arguments after `gaffer` of the command that begins the same run again; none unless it is over and steps of it failed.
    pub fn again(&self) -> Option<String> {
        if !self.is_over() || self.failed_steps().next().is_none() {
            return None;
        }
        match self.ask.layer {
            Some(layer) => Some(self.of_layer(layer)),
            None => self.of_entry(),
        }
    }

    fn of_layer(&self, layer: Layer) -> String {
        let ask = &self.ask;
        let mut words = format!("run {layer} --repo {}", self.repo);
        words.push_str(&option("requirement", ask.requirement.as_ref()));
        words.push_str(&option("role", ask.role.as_ref()));
        words.push_str(&option("stream", ask.stream.as_ref()));
        words.push_str(&option("task", ask.task.as_ref()));
        words.push_str(&option("mock", ask.mock.as_ref()));
        if ask.keep_files {
            words.push_str(" --keep-files");
        }
        words
    }

    /// By the step that it begins with, apart from the bootstrap.
    fn of_entry(&self) -> Option<String> {
        let repo = &self.repo;
        let mut kinds = self.steps.iter().map(|step| step.kind);
        let first = kinds.find(|kind| *kind != StepKind::Bootstrap)?;
        let from = match first {
            StepKind::Bootstrap | StepKind::Layer(Layer::Narrator) => {
                return Some(format!("pipeline start {repo}"));
            }
            StepKind::Layer(Layer::Observers) => EntryPoint::Observers,
            StepKind::Layer(Layer::Decider) => EntryPoint::Decider,
            StepKind::Layer(Layer::Innovators) => EntryPoint::Innovators,
            StepKind::Layer(Layer::Planner | Layer::Implementer) | StepKind::Requirements => {
                EntryPoint::Requirements
            }
            StepKind::Proposals => {
                return Some(format!("exchange publish-proposals --repo {repo}"));
            }
            StepKind::Labels => return Some(format!("labels sync --repo {repo}")),
            StepKind::Clean => return self.of_clean(),
        };
        Some(format!("pipeline start {repo} --from {}", from.name()))
    }

    fn of_clean(&self) -> Option<String> {
        let repo = &self.repo;
        match (&self.ask.mock, &self.ask.requirement) {
            (Some(tag), _) => Some(format!("exchange clean mock --tag {tag} --repo {repo}")),
            (None, Some(path)) => {
                let path = quoted(path);
                Some(format!("exchange clean requirement {path} --repo {repo}"))
            }
            (None, None) => None,
        }
    }
}

fn option(name: &str, value: Option<&impl fmt::Display>) -> String {
    value.map_or_else(String::new, |value| {
        format!(" --{name} {}", quoted(&value.to_string()))
    })
}

/// A word of a command. A path and a task are what a caller sent, and people paste the command into a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::at;
    use crate::ids::BranchName;
    use crate::pipeline::{PipelineAsk, PipelineInput, PipelineRules, StepPlan, apply, start};

    fn failed(ask: PipelineAsk, kinds: &[StepKind]) -> Pipeline {
        let begun = Pipeline {
            id: "01j00000000000000000000099".parse().unwrap(),
            repo: "acme/shop".parse().unwrap(),
            target: BranchName::main(),
            worker: BranchName::jules(),
            ask,
            rules: PipelineRules::default(),
            by: "person".to_owned(),
            steps: Vec::new(),
            wait_minutes: 0,
            summed_up: None,
            created_at: at(0),
            updated_at: at(0),
        };
        let mut run = start(begun, kinds);
        assert_eq!(run.again(), None, "it goes on");
        while !run.is_over() {
            run = apply(
                &run,
                &PipelineInput::Planned(StepPlan::Fail("no".to_owned())),
                at(1),
            );
        }
        run
    }

    fn of_layer(layer: Layer, ask: PipelineAsk) -> Option<String> {
        let layer = Some(layer);
        failed(PipelineAsk { layer, ..ask }, &[StepKind::Requirements]).again()
    }

    #[test]
    fn a_failed_run_is_begun_again_as_it_was_begun() {
        for (entry, command) in [
            (EntryPoint::Narrator, "pipeline start acme/shop"),
            (
                EntryPoint::Observers,
                "pipeline start acme/shop --from observers",
            ),
            (
                EntryPoint::Decider,
                "pipeline start acme/shop --from decider",
            ),
            (
                EntryPoint::Requirements,
                "pipeline start acme/shop --from requirements",
            ),
            (
                EntryPoint::Innovators,
                "pipeline start acme/shop --from innovators",
            ),
            (
                EntryPoint::Proposals,
                "exchange publish-proposals --repo acme/shop",
            ),
            (EntryPoint::Labels, "labels sync --repo acme/shop"),
        ] {
            let run = failed(PipelineAsk::default(), &entry.steps());
            assert_eq!(run.again().as_deref(), Some(command));
        }
        let clean = |ask| failed(ask, &[StepKind::Clean]).again();
        let trial = clean(PipelineAsk {
            mock: Some("mock-1".parse().unwrap()),
            ..PipelineAsk::default()
        });
        let command = "exchange clean mock --tag mock-1 --repo acme/shop";
        assert_eq!(trial.as_deref(), Some(command));
        let file = clean(PipelineAsk {
            requirement: Some("a/b.yml".to_owned()),
            ..PipelineAsk::default()
        });
        let command = "exchange clean requirement a/b.yml --repo acme/shop";
        assert_eq!(file.as_deref(), Some(command));
    }

    #[test]
    fn a_failed_run_of_one_layer_is_begun_again_with_what_was_asked_of_it() {
        let observers = of_layer(
            Layer::Observers,
            PipelineAsk {
                role: Some("qa".parse().unwrap()),
                stream: Some("backend".parse().unwrap()),
                mock: Some("mock-1".parse().unwrap()),
                ..PipelineAsk::default()
            },
        );
        let command = "run observers --repo acme/shop --role qa --stream backend --mock mock-1";
        assert_eq!(observers.as_deref(), Some(command));
        let implementer = of_layer(
            Layer::Implementer,
            PipelineAsk {
                requirement: Some("it's; odd.yml".to_owned()),
                keep_files: true,
                ..PipelineAsk::default()
            },
        );
        let command =
            r"run implementer --repo acme/shop --requirement 'it'\''s; odd.yml' --keep-files";
        assert_eq!(implementer.as_deref(), Some(command));
    }

    #[test]
    fn a_run_that_is_well_is_not_begun_again() {
        let mut run = failed(PipelineAsk::default(), &[StepKind::Labels]);
        run.steps[0].state = crate::pipeline::StepState::Done { at: at(1) };
        assert_eq!(run.again(), None);
    }
}
