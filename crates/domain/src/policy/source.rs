//! A source: a repository Gaffer works on, and every setting of it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Policy, Timing};
use crate::delivery::{ReviewBy, Rules};
use crate::ids::{AccountName, AgentName, BranchName, RepoName};
use crate::job::Job;
use crate::pipeline::PipelineRules;
use crate::sprint::SprintRules;

/// A repository Gaffer works on, with its policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The repository.
    pub repo: RepoName,
    /// The Jules account that works on it.
    pub account: AccountName,
    /// The agent for jobs that name none; without one, events wait for a person.
    pub agent: Option<AgentName>,
    /// While set, nothing is written to Jules or GitHub for this source.
    pub paused: bool,
    /// Base branch of new jobs that name none; without one every job has to name its own.
    pub branch: Option<BranchName>,
    /// What Gaffer may do without asking.
    pub policy: Policy,
    /// How long to wait for what.
    pub timing: Timing,
    /// How issues become deliveries, and how those go.
    #[serde(default)]
    pub deliveries: Rules,
    /// How its pipeline runs; without them it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineRules>,
    /// How its sprints go.
    #[serde(default, skip_serializing_if = "SprintRules::is_usual")]
    pub sprints: SprintRules,
}

impl Source {
    /// A source with safe defaults, without an agent and a branch of its own.
    pub fn new(repo: RepoName, account: AccountName) -> Self {
        Self {
            repo,
            account,
            agent: None,
            paused: false,
            branch: None,
            policy: Policy::default(),
            timing: Timing::default(),
            pipeline: None,
            sprints: SprintRules::default(),
            deliveries: Rules::default(),
        }
    }

    /// The rules of a delivery that is created now: where no reviewer is set, the agent of the source reviews, if it has one.
    pub fn delivery_rules(&self) -> Rules {
        let of_source = self.agent.as_ref().map(|_| ReviewBy::Agent);
        Rules {
            review_by: self.deliveries.review_by.or(of_source),
            ..self.deliveries.clone()
        }
    }

    /// The policy for a job whose agent (its own or the source's) can or cannot be woken. Without a reachable agent
    /// the next answerer has the turn.
    pub fn policy_for(&self, can_be_woken: bool, job: &Job) -> Cow<'_, Policy> {
        let mut policy = match self.for_job(job) {
            Cow::Borrowed(source) => Cow::Borrowed(&source.policy),
            Cow::Owned(source) => Cow::Owned(source.policy),
        };
        let approver = job.plan_approver(policy.plan_approval);
        if approver != policy.plan_approval {
            policy.to_mut().plan_approval = approver;
        }
        if can_be_woken {
            policy
        } else {
            Cow::Owned(policy.without_agent())
        }
    }

    /// Whether the two differ in nothing but their pause.
    pub fn is_same_but_paused(&self, other: &Self) -> bool {
        let same = Self {
            paused: other.paused,
            ..self.clone()
        };
        same == *other
    }

    /// Whether its pull requests are judged like under other settings of the same source, apart from a pause.
    pub fn judges_like(&self, other: &Self) -> bool {
        self.policy == other.policy && self.timing.judges_like(&other.timing)
    }
}
