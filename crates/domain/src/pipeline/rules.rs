//! Settings of a source for its pipeline. The repository itself cannot loosen any of them.

use serde::{Deserialize, Serialize};

use crate::delivery::Actor;
use crate::ids::BranchName;

/// How many merges of the exchange in any 24 hours, apart from those of code.
pub const EXCHANGE_MERGES_PER_DAY: u32 = 60;

/// The names of the checks that Gaffer works out itself for pull requests of a pipeline.
pub const OWN_CHECKS: [&str; 2] = [SCOPE_CHECK, DOCTOR_CHECK];

/// Whether a session changed only what its layer may change.
pub const SCOPE_CHECK: &str = "jules/scope";

/// Whether the files of the pipeline are in order after the merge.
pub const DOCTOR_CHECK: &str = "jules/doctor";

/// How the pipeline of a source runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineRules {
    /// Who decides that a pull request of the exchange is merged.
    pub exchange: Exchange,
    /// Who decides that a requirement is implemented.
    pub implement: Implement,
    /// The branch that has the exchange.
    pub worker: BranchName,
}

impl Default for PipelineRules {
    fn default() -> Self {
        Self {
            exchange: Exchange::Human,
            implement: Implement::Human,
            worker: BranchName::jules(),
        }
    }
}

impl PipelineRules {
    /// Whether this actor may order that a requirement is implemented: where people decide about that, no agent does.
    pub fn may_implement(&self, by: &Actor) -> bool {
        match self.implement {
            Implement::Auto => true,
            Implement::Human => by.is_person(),
        }
    }
}

/// Who decides that a pull request of the exchange is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// A person does.
    Human,
    /// Both checks of our own are enough, with every other check that there is.
    Auto,
}

/// Who decides that a requirement is implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Implement {
    /// A person does.
    Human,
    /// It begins by itself.
    Auto,
}

impl Exchange {
    /// Its word in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Auto => "auto",
        }
    }
}

impl Implement {
    /// Its word in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Auto => "auto",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_people_decide_no_agent_has_a_requirement_implemented() {
        let (person, agent) = (Actor::person("mona"), Actor::agent("zai"));
        for (implement, of_person, of_agent) in [
            (Implement::Human, true, false),
            (Implement::Auto, true, true),
        ] {
            let rules = PipelineRules {
                implement,
                ..PipelineRules::default()
            };
            assert_eq!(rules.may_implement(&person), of_person, "{implement:?}");
            assert_eq!(rules.may_implement(&agent), of_agent, "{implement:?}");
        }
    }
}
