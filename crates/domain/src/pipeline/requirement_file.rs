//! A requirement of the exchange as its file shows it.

use serde::{Deserialize, Serialize};

use crate::ids::ArtefactId;

/// Which requirement, and which files belong to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementRef {
    /// Its id.
    pub id: ArtefactId,
    /// Its file.
    pub path: String,
    /// The files of the events that led to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
}

/// A requirement as its file shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRequirement {
    /// Which.
    pub reference: RequirementRef,
    /// Its title.
    pub title: String,
    /// Its label.
    pub label: String,
    /// Whether it asks to be thought through before it is implemented.
    pub needs_planning: bool,
}
