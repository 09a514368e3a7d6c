//! The policy for jobs of a pipeline: what they change is judged by two checks of Gaffer's own.

use std::borrow::Cow;

use jiff::SignedDuration;

use super::{MergePolicy, PlanApproval, Policy, Source, Timing};
use crate::ids::BranchName;
use crate::job::Job;
use crate::pipeline::{EXCHANGE_MERGES_PER_DAY, Exchange, OWN_CHECKS, PipelineRules};

/// How long a session that is done is waited for a pull request: Jules lists one late, and with nothing to report there is none.
const LATE_OUTPUTS: SignedDuration = SignedDuration::from_secs(120);

impl Source {
    /// The settings for its pipeline. One that is off finishes what was begun as people would.
    pub fn pipeline_rules(&self) -> PipelineRules {
        self.pipeline.clone().unwrap_or_default()
    }

    /// The source as it counts for a job: of a pipeline's job that changes the exchange, both checks of our own decide,
    /// only people merge code that was made up, and a sprint's one pull request may be merged on green where the others may not.
    pub fn for_job(&self, job: &Job) -> Cow<'_, Self> {
        if job.part.as_ref().is_some_and(|part| part.is_mock_code()) {
            return Cow::Owned(self.merging(MergePolicy::Human));
        }
        let sprint = job.sprint();
        let is_integration = sprint.is_some_and(|part| part.persona.is_none());
        if is_integration && self.policy.merge == MergePolicy::Integration {
            return Cow::Owned(self.merging(MergePolicy::OnGreen));
        }
        let is_of_exchange = job.part.as_ref().is_some_and(|part| part.is_of_exchange());
        if !is_of_exchange {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self {
            policy: self.policy.of_exchange(self.pipeline_rules().exchange),
            timing: Timing {
                watch_completed: LATE_OUTPUTS,
                ..self.timing.clone()
            },
            ..self.clone()
        })
    }

    /// Whether a branch that was to be deleted for a job still goes, after the merge of its pull request or without one. What Gaffer itself
    /// made and takes back goes whatever the source says.
    pub fn still_deletes(&self, job: &Job, branch: &BranchName, is_merged: bool) -> bool {
        let is_taken_back = !is_merged && job.proposal_branch().as_ref() == Some(branch);
        is_taken_back || self.for_job(job).policy.delete_branch
    }

    /// The same with another policy of merging.
    fn merging(&self, merge: MergePolicy) -> Self {
        Self {
            policy: Policy {
                merge,
                ..self.policy.clone()
            },
            ..self.clone()
        }
    }
}

impl Policy {
    fn of_exchange(&self, exchange: Exchange) -> Self {
        let (merge, plan_approval) = match exchange {
            Exchange::Auto => (MergePolicy::OnGreen, PlanApproval::Auto),
            Exchange::Human => (MergePolicy::Human, self.plan_approval),
        };
        Self {
            merge,
            plan_approval,
            min_checks: 1,
            required_checks: OWN_CHECKS.map(str::to_owned).to_vec(),
            // What a layer may change is the business of the check of scopes.
            protected_paths: Vec::new(),
            // Of a red one that its session cannot repair, people hear on the pull request itself.
            comment_when_blocked: true,
            merges_per_day: EXCHANGE_MERGES_PER_DAY,
            delete_branch: true,
            ..self.clone()
        }
    }
}
