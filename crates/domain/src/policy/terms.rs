//! Terms of one job apart from its task: it may be stricter than its source, never looser.

use serde::{Deserialize, Serialize};

use super::{PlanApproval, Policy};

/// The requested terms; anything else is as the source says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Terms {
    /// Whether its plans wait for an approval. `false` changes nothing: it is valid only where the source approves
    /// them anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_plan_approval: Option<bool>,
    /// What its sessions do with their work when they are done.
    #[serde(skip_serializing_if = "Automation::is_usual")]
    pub automation: Automation,
}

/// What a session does with its work when it is done, in Jules's words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Automation {
    /// It opens a pull request.
    #[default]
    AutoCreatePr,
    /// It keeps it: the patch is among what the job has produced, and the job ends without a pull request.
    AutomationModeUnspecified,
}

impl Automation {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::AutoCreatePr, Self::AutomationModeUnspecified];

    /// Jules's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AutoCreatePr => "AUTO_CREATE_PR",
            Self::AutomationModeUnspecified => "AUTOMATION_MODE_UNSPECIFIED",
        }
    }

    /// Whether it is what is meant when nothing is said.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Terms {
    /// Whether nothing was asked for.
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether they ask for less care than a policy does.
    pub fn loosen(&self, policy: &Policy) -> bool {
        self.require_plan_approval == Some(false) && policy.plan_approval != PlanApproval::Auto
    }

    /// Who approves plans under these terms: where the source asks no one, the agent does.
    pub fn approver(&self, usual: PlanApproval) -> PlanApproval {
        match usual {
            PlanApproval::Auto if self.require_plan_approval == Some(true) => PlanApproval::Agent,
            PlanApproval::Auto
            | PlanApproval::Agent
            | PlanApproval::Human
            | PlanApproval::Delivery => usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(plan_approval: PlanApproval) -> Policy {
        Policy {
            plan_approval,
            ..Policy::default()
        }
    }

    #[test]
    fn a_job_is_never_looser_than_its_source() {
        let wanted = |require_plan_approval| Terms {
            require_plan_approval,
            ..Terms::default()
        };
        let (auto, agent, human) = (PlanApproval::Auto, PlanApproval::Agent, PlanApproval::Human);
        for usual in [auto, agent, human] {
            assert_eq!(wanted(None).approver(usual), usual);
            assert_eq!(wanted(Some(false)).approver(usual), usual);
            assert!(!wanted(Some(true)).loosen(&policy(usual)));
            assert_eq!(wanted(Some(false)).loosen(&policy(usual)), usual != auto);
        }
        assert_eq!(wanted(Some(true)).approver(auto), agent);
        assert_eq!(wanted(Some(true)).approver(human), human);
    }

    #[test]
    fn what_was_not_asked_for_is_not_stored() {
        assert_eq!(serde_json::to_string(&Terms::default()).unwrap(), "{}");
        let whole = Terms {
            require_plan_approval: Some(true),
            automation: Automation::AutomationModeUnspecified,
        };
        let written =
            r#"{"require_plan_approval":true,"automation":"AUTOMATION_MODE_UNSPECIFIED"}"#;
        assert_eq!(serde_json::to_string(&whole).unwrap(), written);
        assert_eq!(serde_json::from_str::<Terms>(written).unwrap(), whole);
        for mode in Automation::ALL {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
        }
    }
}
