//! Requests and answers of the HTTP API, as JSON, and the calls of each subject beside its types.
//!
//! Requests refuse unknown fields, so that a typing error is reported, except where others define the fields; answers
//! may gain fields at any time.

mod constraints;
mod deliveries;
mod events;
mod form;
mod inbox;
mod job;
mod mail;
mod orders;
mod outcome;
mod pipelines;
mod problem;
mod push;
mod report;
mod schedule;
mod sources;
mod sprints;
mod workers;

pub use self::{
    constraints::*, deliveries::*, events::*, inbox::*, job::*, mail::*, orders::*, outcome::*,
    pipelines::*, problem::*, push::*, report::*, schedule::*, sources::*, sprints::*, workers::*,
};

/// The header in which a client says through which surface an order was given, for the record: one of
/// [`Through::ALL`]. Any other value, or none, counts as HTTP; it grants nothing, and is recorded beside the token.
pub const THROUGH: &str = "gaffer-through";

/// Through what an order was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Through {
    /// The command line.
    CommandLine,
    /// A tool of the MCP server.
    Mcp,
    /// A form of the dashboard.
    Dashboard,
    /// Any other caller of the API.
    #[default]
    Http,
}

impl Through {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::CommandLine, Self::Mcp, Self::Dashboard, Self::Http];

    /// The value of the header.
    pub const fn word(self) -> &'static str {
        match self {
            Self::CommandLine => "command-line",
            Self::Mcp => "mcp",
            Self::Dashboard => "dashboard",
            Self::Http => "http",
        }
    }
}

/// The header that names a request.
pub use domain::refusal::IDEMPOTENCY_KEY;

/// Longest such name, in bytes.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;

/// The last page that the pieces of a patch can have.
pub const ARTIFACTS_PAGE_MAX: u32 = 99;

/// How many jobs a list holds when nothing else is asked for.
pub const JOBS_LIMIT: u32 = 50;

/// How many jobs a list holds at most.
pub const JOBS_LIMIT_MAX: u32 = 200;

#[cfg(test)]
mod tests;
