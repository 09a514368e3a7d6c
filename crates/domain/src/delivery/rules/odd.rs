//! Why settings of deliveries are refused.

use super::{LABEL_CHARS_MAX, ROUNDS_MAX};
use crate::delivery::Phase;

/// Why settings are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OddRules {
    /// The label starts Jules by itself.
    #[error(
        "the label `jules` starts Jules by itself, so each issue would cost a second task: choose another one"
    )]
    LabelOfJules,
    /// It is no label.
    #[error(
        "`{0}` is no label: a label has 1 to {LABEL_CHARS_MAX} visible characters and no comma"
    )]
    Label(String),
    /// Too many rounds of review.
    #[error("{0} is too many: review rounds are a number from 0 to {ROUNDS_MAX}")]
    Rounds(u32),
    /// No attempt, or too many.
    #[error("{0} does not fit: attempts are a number from 1 to {ROUNDS_MAX}")]
    Attempts(u32),
    /// A checkpoint would never be reached.
    #[error(
        "checkpoint `{0}` comes after endpoint `{1}`, so it would never be reached: leave it out, or set endpoint `{0}` or a later one"
    )]
    NeverReached(Phase, Phase),
    /// It would never be deployed.
    #[error(
        "deliveries end before deploy, so nothing would be deployed: set endpoint `deploy` or `observe`, or deploy `none`"
    )]
    NeverDeployed,
    /// It would never be observed.
    #[error(
        "deliveries end before observe, so nothing would be observed: set endpoint `observe`, or observe `none`"
    )]
    NeverObserved,
    /// It is no way to deploy.
    #[error(
        "`{0}` does not fit: deploy is `none`, `workflow:FILE@BRANCH` or `deployment:ENVIRONMENT`"
    )]
    Deploy(String),
    /// It is no way to observe.
    #[error(
        "`{0}` does not fit: observe is `none` or `soak:TIME`, for example `soak:30m`, and at most a week"
    )]
    Observe(String),
}

impl OddRules {
    /// The setting that it is about.
    pub fn field(&self) -> &'static str {
        match self {
            Self::LabelOfJules | Self::Label(_) => "label",
            Self::Rounds(_) => "review_rounds",
            Self::Attempts(_) => "attempts",
            Self::NeverReached(..) => "checkpoints",
            Self::NeverDeployed | Self::Deploy(_) => "deploy",
            Self::NeverObserved | Self::Observe(_) => "observe",
        }
    }
}
