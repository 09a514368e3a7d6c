//! One figure, and what it was meant to be.

use serde::Serialize;

/// What a figure was meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    /// To which part of the report it belongs.
    pub(crate) section: &'static str,
    /// What was measured.
    pub(crate) name: String,
    /// How much.
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// What it was meant to be, if anything was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Target>,
}

impl Figure {
    /// A figure without a target.
    pub(crate) fn new(
        section: &'static str,
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
    ) -> Self {
        Self {
            section,
            name: name.into(),
            value,
            unit,
            target: None,
        }
    }

    /// The same with a target.
    pub(crate) fn aimed(self, target: Target) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    /// The target in words, and whether it was met.
    pub(crate) fn aim(&self) -> (String, &'static str) {
        let met = |met: bool| if met { "met" } else { "missed" };
        match self.target {
            None => (String::new(), ""),
            Some(Target::AtMost(most)) => (format!("at most {most}"), met(self.value <= most)),
            Some(Target::AtLeast(least)) => (format!("at least {least}"), met(self.value >= least)),
        }
    }
}
