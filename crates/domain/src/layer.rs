//! Layers of the pipeline, whose agents hand work on by files: who they are and what they are called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::redact::presentable;

/// One stage of the pipeline.
///
/// The names of folders and of stored records are those of the enum; commands take more, see [`Layer::from_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Sums up what changed lately.
    Narrator,
    /// Look at the code, each from its own side, and write down what they see.
    Observers,
    /// Makes requirements of what the observers saw.
    Decider,
    /// Thinks a requirement through that is not ready to be implemented.
    Planner,
    /// Changes the code as a requirement says.
    Implementer,
    /// Think about where the project should go, each in its own way, and propose it.
    Innovators,
}

/// Who acts in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cast {
    /// The layer itself is the one agent.
    Single,
    /// Each of its roles is an agent.
    Multi,
}

/// Why a text names no layer that can be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLayer {
    /// No layer is called that.
    #[error(
        "there is no layer `{asked}`{}: the layers are narrator, observers, decider, planner, implementer and innovators",
        meant(*.nearest)
    )]
    Unknown {
        /// What was asked for, without secrets.
        asked: String,
        /// The one that begins alike.
        nearest: Option<Layer>,
    },
    /// A layer of the origin whose work no agent does here.
    #[error(
        "no run has an integrator: `gaffer weave OWNER/REPO PR...` joins the implementers' pull requests into one change"
    )]
    Integrator,
}

/// What a text of an unknown layer shows of itself.
const UNKNOWN_CHARS_MAX: usize = 40;

/// How many letters at the beginning make a name alike: no two layers share as many.
pub(crate) const ALIKE_LETTERS: usize = 3;

fn meant(nearest: Option<Layer>) -> String {
    let meant = nearest.map(|layer| format!(" (did you mean `{layer}`?)"));
    meant.unwrap_or_default()
}

impl Layer {
    /// Every layer, in the order of the pipeline; the innovators have a cycle of their own.
    pub const ALL: [Self; 6] = [
        Self::Narrator,
        Self::Observers,
        Self::Decider,
        Self::Planner,
        Self::Implementer,
        Self::Innovators,
    ];

    /// Its name, which is that of its folder too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Narrator => "narrator",
            Self::Observers => "observers",
            Self::Decider => "decider",
            Self::Planner => "planner",
            Self::Implementer => "implementer",
            Self::Innovators => "innovators",
        }
    }

    /// One of its agents, which branches are named after.
    pub fn singular(self) -> &'static str {
        match self {
            Self::Narrator => "narrator",
            Self::Observers => "observer",
            Self::Decider => "decider",
            Self::Planner => "planner",
            Self::Implementer => "implementer",
            Self::Innovators => "innovator",
        }
    }

    /// The name of its folder in the older generation of layouts.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Narrator => "narrators",
            Self::Observers => "observers",
            Self::Decider => "deciders",
            Self::Planner => "planners",
            Self::Implementer => "implementers",
            Self::Innovators => "innovators",
        }
    }

    /// Its short name in commands. `i` is the implementer, so the innovators have the `x`.
    pub fn alias(self) -> char {
        match self {
            Self::Narrator => 'n',
            Self::Observers => 'o',
            Self::Decider => 'd',
            Self::Planner => 'p',
            Self::Implementer => 'i',
            Self::Innovators => 'x',
        }
    }

    /// Whether the layer is one agent or has roles.
    pub fn cast(self) -> Cast {
        match self {
            Self::Narrator | Self::Decider | Self::Planner | Self::Implementer => Cast::Single,
            Self::Observers | Self::Innovators => Cast::Multi,
        }
    }

    /// What the names of its branches begin with.
    pub fn branch_prefix(self) -> String {
        format!("jules-{}-", self.singular())
    }

    /// The layer that a text begins like.
    fn beginning_like(text: &str) -> Option<Self> {
        let begins = text.get(..ALIKE_LETTERS)?;
        let mut layers = Self::ALL.into_iter();
        layers.find(|layer| layer.name().starts_with(begins))
    }

    /// Whether it works from the worker branch. The implementer changes the code of the target.
    pub fn is_on_worker_branch(self) -> bool {
        match self {
            Self::Implementer => false,
            Self::Narrator | Self::Observers | Self::Decider | Self::Planner | Self::Innovators => {
                true
            }
        }
    }
}

impl FromStr for Layer {
    type Err = InvalidLayer;

    /// Takes a name, one agent of the layer, several of them, and the short name; in any case of letters.
    fn from_str(text: &str) -> Result<Self, InvalidLayer> {
        let asked = text.trim().to_ascii_lowercase();
        if ["integrator", "integrators", "g"].contains(&asked.as_str()) {
            return Err(InvalidLayer::Integrator);
        }
        let named = |layer: &Self| {
            let names = [layer.name(), layer.singular(), layer.plural()];
            names.contains(&asked.as_str()) || asked.chars().eq([layer.alias()])
        };
        let found = Self::ALL.into_iter().find(named);
        found.ok_or_else(|| InvalidLayer::Unknown {
            nearest: Self::beginning_like(&asked),
            asked: presentable(text, UNKNOWN_CHARS_MAX),
        })
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_found_by_each_of_its_names() {
        for layer in Layer::ALL {
            let alias = layer.alias().to_string();
            for name in [layer.name(), layer.singular(), layer.plural(), &alias] {
                assert_eq!(name.parse(), Ok(layer), "{name}");
                assert_eq!(name.to_uppercase().parse(), Ok(layer), "{name}");
            }
        }
    }

    #[test]
    fn no_two_layers_share_a_name() {
        let names = |layer: Layer| {
            let mut names = vec![layer.name(), layer.singular(), layer.plural()];
            names.dedup();
            names
        };
        let aliases: std::collections::BTreeSet<_> = Layer::ALL.map(Layer::alias).into();
        assert_eq!(aliases.len(), Layer::ALL.len());
        for one in Layer::ALL {
            for other in Layer::ALL {
                let shared = names(one).iter().any(|name| names(other).contains(name));
                assert_eq!(shared, one == other, "{one} and {other}");
            }
        }
    }

    #[test]
    fn each_misspelt_layer_is_offered_and_none_by_chance() {
        for layer in Layer::ALL {
            let misspelt = format!("{}x", &layer.name()[..ALIKE_LETTERS]);
            let nearest = Some(layer);
            let asked = misspelt.clone();
            let unknown = InvalidLayer::Unknown { asked, nearest };
            assert_eq!(misspelt.parse::<Layer>(), Err(unknown));
        }
    }

    #[test]
    fn the_integrator_is_known_and_refused() {
        for name in ["integrator", "Integrators", "g"] {
            assert_eq!(name.parse::<Layer>(), Err(InvalidLayer::Integrator));
        }
        let said = InvalidLayer::Integrator.to_string();
        assert!(said.contains("`gaffer weave "), "{said}");
    }

    #[test]
    fn an_unknown_layer_names_those_there_are() {
        let said = |text: &str| text.parse::<Layer>().unwrap_err().to_string();
        for text in ["", "observer s", "in", "no", "..", "naratоr"] {
            assert!(said(text).contains("observers, decider"), "{text}");
        }
        assert!(said("observr").contains("`observr` (did you mean `observers`?): "));
        assert!(said("inovators").contains("`inovators`: "));
        let hidden = said("ghp_0123456789abcdefghijABCDEFGHIJ012345\u{202e}");
        assert!(hidden.contains("`[secret]`"), "{hidden}");
    }

    #[test]
    fn only_observers_and_innovators_have_roles() {
        let multi: Vec<_> = Layer::ALL
            .into_iter()
            .filter(|it| it.cast() == Cast::Multi)
            .collect();
        assert_eq!(multi, [Layer::Observers, Layer::Innovators]);
    }

    #[test]
    fn branches_are_named_after_one_agent() {
        let prefixes = Layer::ALL.map(Layer::branch_prefix);
        let expected = [
            "jules-narrator-",
            "jules-observer-",
            "jules-decider-",
            "jules-planner-",
            "jules-implementer-",
            "jules-innovator-",
        ];
        assert_eq!(prefixes, expected);
    }
}
