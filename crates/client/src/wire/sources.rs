//! Sources: the repositories that are worked on, with their settings.

use domain::delivery::Rules;
use domain::ids::{AccountName, AgentName, BranchName, RepoName};
use domain::policy::{Policy, Source, Timing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form;

/// `GET /api/sources`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sources {
    /// All of them, by name.
    pub sources: Vec<SourceView>,
}

/// A source with its settings. It has no credential: those are the installation's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceView {
    /// The repository.
    #[schemars(with = "form::RepoName")]
    pub repo: RepoName,
    /// The Jules account that works on it.
    #[schemars(with = "form::AccountName")]
    pub account: AccountName,
    /// The agent that is woken for its jobs; without one a person looks.
    #[schemars(with = "Option<form::AgentName>")]
    pub agent: Option<AgentName>,
    /// The base branch of jobs that name none.
    #[schemars(with = "Option<form::BranchName>")]
    pub branch: Option<BranchName>,
    /// Whether nothing is written to Jules or GitHub for it.
    pub paused: bool,
    /// What may be done without asking.
    #[schemars(with = "form::Settings")]
    pub policy: Policy,
    /// How long to wait for what; durations have units.
    #[schemars(with = "form::Settings")]
    pub timing: Timing,
    /// How issues become deliveries, and how those go.
    #[schemars(with = "form::Settings")]
    pub deliveries: Rules,
}

impl From<Source> for SourceView {
    fn from(source: Source) -> Self {
        let Source {
            repo,
            account,
            agent,
            paused,
            branch,
            policy,
            timing,
            deliveries,
        } = source;
        Self {
            repo,
            account,
            agent,
            branch,
            paused,
            policy,
            timing,
            deliveries,
        }
    }
}

/// `DELETE /api/sources/{owner}/{name}`: it is removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRemoved {
    /// The repository. Its jobs and its deliveries can still be shown.
    #[schemars(with = "form::RepoName")]
    pub removed: RepoName,
}
