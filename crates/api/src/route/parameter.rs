//! Parameters in the query and the headers of a call. Those of one subject alone stand beside its rows.

use client::wire::{IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_BYTES_MAX};

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// A number from one to another, and what is meant without it.
    Number {
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
        /// What is meant without it.
        default: u32,
    },
    /// A text that matches a form of the document.
    Form(&'static str),
    /// What a job is called by.
    Job,
    /// States of a job, separated by commas.
    States,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text that an earlier answer held.
    Cursor,
    /// Yes or no, in digits or words.
    Switch,
    /// Names of sets of tools, with commas between them.
    Toolsets,
    /// A name in a header, of visible ASCII characters.
    Name {
        /// Its length at most, in bytes.
        longest: usize,
    },
}

/// One parameter of a query, or a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Whether it is a header.
    pub in_header: bool,
    /// The type of its value.
    pub takes: ParameterType,
    /// Its meaning, in a sentence.
    pub means: &'static str,
}

/// The name of an order.
pub(crate) const KEY: Parameter = Parameter {
    name: IDEMPOTENCY_KEY,
    in_header: true,
    takes: ParameterType::Name {
        longest: IDEMPOTENCY_KEY_BYTES_MAX,
    },
    means: "Names the order: the same name with the same body is carried out once.",
};

impl Parameter {
    /// A parameter of a query.
    pub(crate) const fn query(
        name: &'static str,
        takes: ParameterType,
        means: &'static str,
    ) -> Self {
        Self {
            name,
            in_header: false,
            takes,
            means,
        }
    }

    /// A number in a query.
    pub(crate) const fn number(
        name: &'static str,
        min: u32,
        max: u32,
        default: u32,
        means: &'static str,
    ) -> Self {
        Self::query(name, ParameterType::Number { min, max, default }, means)
    }

    /// How long a list may be.
    pub(crate) const fn limit(max: u32, default: u32) -> Self {
        Self::number("limit", 1, max, default, "How many at most.")
    }
}
