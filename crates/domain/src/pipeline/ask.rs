//! What a run is asked to do, and with which step it begins.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{MockTag, StepKind};
use crate::fence::clip;
use crate::ids::{RoleName, StreamName};
use crate::layer::{ALIKE_LETTERS, Cast, Layer};

/// Longest path of a requirement, or name of a task, in what a run is asked to do, in characters.
pub const ASK_CHARS_MAX: usize = 200;

/// How much of a text that names no step is repeated, in characters.
const ENTRY_CHARS_MAX: usize = 40;

/// What a run is asked to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PipelineAsk {
    /// The only layer that runs; without one the whole pipeline does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    /// The only role that runs, in a layer of roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The only stream that is worked in; without one all are, or with a role that of every repository, unless its own file names another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamName>,
    /// The only requirement that is worked on, by its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// The task, if it is not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The trial run that it is, or that it removes: no session runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mock: Option<MockTag>,
    /// Whether the files of the requirement stay after the merge.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_files: bool,
}

/// Why what a run is asked to do does not go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OddAsk {
    /// The layer is one agent.
    #[error("the {0} has no roles: leave the role out")]
    Role(Layer),
    /// The layer works in no stream, or in that of its requirement.
    #[error("the {0} is told no stream: leave it out")]
    Stream(Layer),
    /// The layer works on no requirement.
    #[error("the {0} works on no requirement: leave it out")]
    Requirement(Layer),
    /// It would otherwise depend on the settings which requirements are implemented.
    #[error("the implementer works on one requirement: name its file")]
    NoRequirement,
    /// Only what is implemented leaves files behind.
    #[error("the {0} implements nothing, so no files go after it: leave it out")]
    KeepFiles(Layer),
}

impl PipelineAsk {
    /// Whether it has a requirement implemented. A trial only makes code up.
    pub fn implements(&self) -> bool {
        self.layer == Some(Layer::Implementer) && self.mock.is_none()
    }

    /// Refuses what does not go together for a layer. Whether roles, files and tasks are there, the run itself finds out.
    ///
    /// # Errors
    /// With what is odd about it.
    pub fn check(&self) -> Result<(), OddAsk> {
        let Some(layer) = self.layer else {
            return Ok(());
        };
        if self.role.is_some() && layer.cast() == Cast::Single {
            return Err(OddAsk::Role(layer));
        }
        let has_streams = matches!(layer, Layer::Observers | Layer::Decider);
        if self.stream.is_some() && !has_streams {
            return Err(OddAsk::Stream(layer));
        }
        if self.keep_files && layer != Layer::Implementer {
            return Err(OddAsk::KeepFiles(layer));
        }
        match (layer, &self.requirement) {
            (Layer::Implementer, None) => Err(OddAsk::NoRequirement),
            (Layer::Planner, _) | (Layer::Implementer, Some(_)) => Ok(()),
            (Layer::Narrator | Layer::Observers | Layer::Decider | Layer::Innovators, Some(_)) => {
                Err(OddAsk::Requirement(layer))
            }
            (Layer::Narrator | Layer::Observers | Layer::Decider | Layer::Innovators, None) => {
                Ok(())
            }
        }
    }
}

/// Where a run begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryPoint {
    /// With the narrator: all of it.
    #[default]
    Narrator,
    /// With the observers.
    Observers,
    /// With the decider.
    Decider,
    /// With the requirements that are there: planners, and then deliveries.
    Requirements,
    /// The innovators, whose cycle is their own, up to issues.
    Innovators,
    /// With the proposals that are there.
    Proposals,
    /// The labels of requirements, and nothing else.
    Labels,
}

/// A text that names no step with which a run begins.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no run begins with `{asked}`{}: it begins with narrator, observers, decider, requirements, innovators, proposals or labels",
    meant(*.nearest)
)]
pub struct InvalidEntry {
    asked: String,
    /// The one that begins alike.
    nearest: Option<EntryPoint>,
}

fn meant(nearest: Option<EntryPoint>) -> String {
    let meant = nearest.map(|entry| format!(" (did you mean `{}`?)", entry.name()));
    meant.unwrap_or_default()
}

impl FromStr for EntryPoint {
    type Err = InvalidEntry;

    fn from_str(text: &str) -> Result<Self, InvalidEntry> {
        for entry in [Self::Requirements, Self::Proposals, Self::Labels] {
            if text.trim().eq_ignore_ascii_case(entry.name()) {
                return Ok(entry);
            }
        }
        match text.parse() {
            Ok(Layer::Narrator) => Ok(Self::Narrator),
            Ok(Layer::Observers) => Ok(Self::Observers),
            Ok(Layer::Decider) => Ok(Self::Decider),
            Ok(Layer::Innovators) => Ok(Self::Innovators),
            Ok(Layer::Planner | Layer::Implementer) | Err(_) => Err(InvalidEntry {
                asked: clip(text.trim(), ENTRY_CHARS_MAX),
                nearest: Self::beginning_like(text.trim()),
            }),
        }
    }
}

impl EntryPoint {
    /// Every step with which a run begins.
    const ALL: [Self; 7] = [
        Self::Narrator,
        Self::Observers,
        Self::Decider,
        Self::Requirements,
        Self::Innovators,
        Self::Proposals,
        Self::Labels,
    ];

    /// The step that a text begins like: no two share as many letters at the beginning.
    fn beginning_like(text: &str) -> Option<Self> {
        let begins = text.get(..ALIKE_LETTERS)?.to_ascii_lowercase();
        let mut all = Self::ALL.into_iter();
        all.find(|entry| entry.name().starts_with(&begins))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Narrator => "narrator",
            Self::Observers => "observers",
            Self::Decider => "decider",
            Self::Requirements => "requirements",
            Self::Innovators => "innovators",
            Self::Proposals => "proposals",
            Self::Labels => "labels",
        }
    }

    /// The steps of a run that begins here.
    pub fn steps(self) -> Vec<StepKind> {
        let layers: &[Layer] = match self {
            Self::Narrator => &[
                Layer::Narrator,
                Layer::Observers,
                Layer::Decider,
                Layer::Planner,
            ],
            Self::Observers => &[Layer::Observers, Layer::Decider, Layer::Planner],
            Self::Decider => &[Layer::Decider, Layer::Planner],
            Self::Requirements => &[Layer::Planner],
            Self::Innovators => &[Layer::Innovators],
            Self::Proposals => &[],
            // It needs no file but that of the labels.
            Self::Labels => return vec![StepKind::Labels],
        };
        let layers = layers.iter().copied().map(StepKind::Layer);
        let last = match self {
            Self::Innovators | Self::Proposals => StepKind::Proposals,
            Self::Labels => StepKind::Labels,
            Self::Narrator | Self::Observers | Self::Decider | Self::Requirements => {
                StepKind::Requirements
            }
        };
        let first = std::iter::once(StepKind::Bootstrap);
        first.chain(layers).chain([last]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_takes_only_what_it_works_on() {
        let ask = |layer, role: Option<&str>, requirement: Option<&str>| {
            let ask = PipelineAsk {
                layer: Some(layer),
                role: role.map(|role| role.parse().unwrap()),
                requirement: requirement.map(str::to_owned),
                ..PipelineAsk::default()
            };
            ask.check()
        };
        assert_eq!(ask(Layer::Observers, Some("qa"), None), Ok(()));
        assert_eq!(ask(Layer::Planner, None, None), Ok(()));
        assert_eq!(ask(Layer::Implementer, None, Some("x.yml")), Ok(()));
        let role = ask(Layer::Narrator, Some("qa"), None);
        assert_eq!(role, Err(OddAsk::Role(Layer::Narrator)));
        let file = ask(Layer::Decider, None, Some("x.yml"));
        assert_eq!(file, Err(OddAsk::Requirement(Layer::Decider)));
        let none = ask(Layer::Implementer, None, None);
        assert_eq!(none, Err(OddAsk::NoRequirement));
    }

    #[test]
    fn only_an_implementer_outside_a_trial_implements() {
        let ask = |layer, mock: Option<&str>| PipelineAsk {
            layer,
            mock: mock.map(|tag| tag.parse().unwrap()),
            ..PipelineAsk::default()
        };
        assert!(ask(Some(Layer::Implementer), None).implements());
        assert!(!ask(Some(Layer::Implementer), Some("mock-1")).implements());
        assert!(!ask(Some(Layer::Planner), None).implements());
        assert!(!ask(None, None).implements());
    }

    #[test]
    fn only_observers_and_deciders_are_told_a_stream() {
        for layer in Layer::ALL {
            let ask = PipelineAsk {
                layer: Some(layer),
                stream: Some("backend".parse().unwrap()),
                requirement: (layer == Layer::Implementer).then(|| "x.yml".to_owned()),
                ..PipelineAsk::default()
            };
            let is_told = [Layer::Observers, Layer::Decider].contains(&layer);
            let expected = if is_told {
                Ok(())
            } else {
                Err(OddAsk::Stream(layer))
            };
            assert_eq!(ask.check(), expected);
        }
    }

    #[test]
    fn only_an_implementer_may_keep_files() {
        let ask = |layer| PipelineAsk {
            layer: Some(layer),
            requirement: Some("x.yml".to_owned()),
            keep_files: true,
            ..PipelineAsk::default()
        };
        assert_eq!(ask(Layer::Implementer).check(), Ok(()));
        let planner = ask(Layer::Planner).check();
        assert_eq!(planner, Err(OddAsk::KeepFiles(Layer::Planner)));
    }

    #[test]
    fn every_step_that_a_run_begins_with_is_called_by_its_name() {
        for entry in EntryPoint::ALL {
            assert_eq!(entry.name().parse(), Ok(entry));
            let misspelt = format!("{}x", &entry.name()[..ALIKE_LETTERS]);
            let told = misspelt.parse::<EntryPoint>().unwrap_err().to_string();
            let meant = format!("(did you mean `{}`?)", entry.name());
            assert!(told.contains(&meant), "{told}");
        }
        let none = "planner".parse::<EntryPoint>().unwrap_err().to_string();
        assert!(!none.contains("did you mean"), "{none}");
    }
}
