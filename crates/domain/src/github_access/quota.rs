//! What GitHub still grants to our credentials, and what was asked of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What is left of one of GitHub's budgets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "BudgetView")
)]
pub struct GitHubBudget {
    /// Whose it is: `token`, `app` or `installation 7`.
    pub owner: String,
    /// Of what: `core`, `graphql` and so on.
    pub resource: String,
    /// Requests granted until the reset.
    pub limit: u64,
    /// Requests left.
    pub remaining: u64,
    /// When it is full again.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Moment"))]
    pub reset: Timestamp,
    /// Until when GitHub asked to stay away altogether.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub stay_away: Option<Timestamp>,
}

/// What a process has asked of GitHub since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "UsageView")
)]
pub struct GitHubUsage {
    /// Requests that GitHub answered, or may have.
    pub requests: u64,
    /// How many of them were answered "not modified", which costs none of the budget.
    pub not_modified: u64,
}
