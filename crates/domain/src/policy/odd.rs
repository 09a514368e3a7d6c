//! Settings of a source that do not go together.

use super::Source;
use crate::delivery::{OddRules, PlanBy, ReviewBy};
use crate::ids::{BranchName, SprintNumber};
use crate::sprint::OddSprints;

/// Why settings of a source do not go together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OddSource {
    /// Merges by themselves would merge what nothing has checked, which is never meant.
    #[error("merges on green without any check would merge what nothing has checked")]
    NothingChecked,
    /// Plans would be awaited that nothing sends.
    #[error(
        "`agent` cannot plan, since the source has no agent: set one, or let `jules` or `human` plan"
    )]
    NoPlanner,
    /// Reviews would be awaited of an agent that is not there.
    #[error(
        "`agent` cannot review, since the source has no agent: set one, or let `human`, `jules` or `nobody` review"
    )]
    NoReviewer,
    /// A pipeline reads the user's files on the branch of its source.
    #[error("a pipeline works on the branch of its source, and this source names none")]
    NoBranch,
    /// What agents write would be merged into the code.
    #[error(
        "the worker branch of a pipeline is the branch of its source: it has to be another one"
    )]
    SameBranch,
    /// A sprint would be woven into the branch that people or agents work on.
    #[error("`{branch}` is a branch that a sprint is woven into: it has to be another one")]
    OfSprint {
        /// The setting.
        field: &'static str,
        /// The branch.
        branch: BranchName,
    },
    /// The rules of its deliveries.
    #[error(transparent)]
    Deliveries(#[from] OddRules),
    /// The rules of its sprints.
    #[error(transparent)]
    Sprints(#[from] OddSprints),
}

impl OddSource {
    /// The setting that it is about, as it is written in a source.
    pub fn field(&self) -> String {
        match self {
            Self::NothingChecked => "policy".to_owned(),
            Self::NoPlanner => "deliveries.plan_by".to_owned(),
            Self::NoReviewer => "deliveries.review_by".to_owned(),
            Self::NoBranch | Self::SameBranch => "pipeline".to_owned(),
            Self::OfSprint { field, .. } => (*field).to_owned(),
            Self::Deliveries(odd) => format!("deliveries.{}", odd.field()),
            Self::Sprints(odd) => format!("sprints.{}", odd.field()),
        }
    }
}

impl Source {
    /// Refuses settings that do not go together.
    ///
    /// # Errors
    /// With what is odd about them.
    pub fn check(&self) -> Result<(), OddSource> {
        let policy = &self.policy;
        let needs_no_check = policy.min_checks == 0 && policy.required_checks.is_empty();
        if policy.merge.is_by_itself() && needs_no_check {
            return Err(OddSource::NothingChecked);
        }
        if self.deliveries.plan_by == PlanBy::Agent && self.agent.is_none() {
            return Err(OddSource::NoPlanner);
        }
        if self.deliveries.review_by == Some(ReviewBy::Agent) && self.agent.is_none() {
            return Err(OddSource::NoReviewer);
        }
        let worker = self.pipeline.as_ref().map(|rules| &rules.worker);
        for (field, branch) in [("branch", self.branch.as_ref()), ("pipeline", worker)] {
            let of_sprint = branch.filter(|it| SprintNumber::of_branch(it).is_some());
            if let Some(branch) = of_sprint.cloned() {
                return Err(OddSource::OfSprint { field, branch });
            }
        }
        if let Some(rules) = &self.pipeline {
            let branch = self.branch.as_ref().ok_or(OddSource::NoBranch)?;
            if *branch == rules.worker {
                return Err(OddSource::SameBranch);
            }
        }
        self.sprints.check().map_err(OddSource::Sprints)?;
        self.deliveries.check().map_err(OddSource::Deliveries)
    }
}

#[cfg(test)]
mod tests {
    use super::super::MergePolicy;
    use super::*;
    use crate::pipeline::PipelineRules;

    fn source(change: impl Fn(&mut Source)) -> Result<(), OddSource> {
        let mut source = Source::new("acme/shop".parse().unwrap(), "default".parse().unwrap());
        change(&mut source);
        source.check()
    }

    #[test]
    fn merging_what_nothing_has_checked_is_refused() {
        let merging = |merge, min_checks, required: &[&str]| {
            source(|source| {
                source.policy.merge = merge;
                source.policy.min_checks = min_checks;
                let required = required.iter().map(|name| (*name).to_owned());
                source.policy.required_checks = required.collect();
            })
        };
        let refused = Err(OddSource::NothingChecked);
        assert_eq!(merging(MergePolicy::OnGreen, 0, &[]), refused);
        assert_eq!(merging(MergePolicy::Integration, 0, &[]), refused);
        assert_eq!(merging(MergePolicy::OnGreen, 0, &["build"]), Ok(()));
        assert_eq!(merging(MergePolicy::Human, 0, &[]), Ok(()));
        assert_eq!(merging(MergePolicy::OnGreen, 1, &[]), Ok(()));
    }

    #[test]
    fn a_pipeline_needs_two_branches() {
        let branches = |target: Option<&str>, worker: &str| {
            source(|source| {
                source.branch = target.map(|branch| branch.parse().unwrap());
                source.pipeline = Some(PipelineRules {
                    worker: worker.parse().unwrap(),
                    ..PipelineRules::default()
                });
            })
        };
        assert_eq!(branches(None, "jules"), Err(OddSource::NoBranch));
        assert_eq!(branches(Some("jules"), "jules"), Err(OddSource::SameBranch));
        assert_eq!(branches(Some("main"), "jules"), Ok(()));
    }

    #[test]
    fn the_branch_of_a_sprint_is_neither_the_target_nor_the_worker_branch() {
        let branches = |target: &str, worker: Option<&str>| {
            source(|source| {
                source.branch = target.parse().ok();
                source.pipeline = worker.map(|worker| PipelineRules {
                    worker: worker.parse().unwrap(),
                    ..PipelineRules::default()
                });
            })
        };
        let of_sprint = "jules-sprint-7-integration";
        let refused = |field| {
            let branch = of_sprint.parse().unwrap();
            Err(OddSource::OfSprint { field, branch })
        };
        assert_eq!(branches(of_sprint, None), refused("branch"));
        assert_eq!(branches("main", Some(of_sprint)), refused("pipeline"));
        assert_eq!(branches("main", Some("jules-sprint-7")), Ok(()));
    }

    #[test]
    fn plans_and_reviews_of_an_agent_need_one() {
        let planned = |agent: Option<&str>| {
            source(|source| {
                source.deliveries.plan_by = PlanBy::Agent;
                source.agent = agent.map(|agent| agent.parse().unwrap());
            })
        };
        assert_eq!(planned(None), Err(OddSource::NoPlanner));
        assert_eq!(planned(Some("zai")), Ok(()));
        let reviewed = |agent: Option<&str>| {
            source(|source| {
                source.deliveries.review_by = Some(ReviewBy::Agent);
                source.agent = agent.map(|agent| agent.parse().unwrap());
            })
        };
        assert_eq!(reviewed(None), Err(OddSource::NoReviewer));
        assert_eq!(reviewed(Some("zai")), Ok(()));
        let endless = source(|source| source.deliveries.attempts = 0);
        assert_eq!(endless, Err(OddSource::Deliveries(OddRules::Attempts(0))));
    }
}
