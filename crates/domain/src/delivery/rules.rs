//! The settings of a source for its deliveries, copied to each delivery when it is created: later edits change none.

mod odd;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::{Checkpoints, Endpoint, Phase};
use crate::ids::BranchName;
use crate::redact::{holds_secret, presentable};

pub use odd::OddRules;

/// Most rounds and attempts that a source may allow: beyond them a person looks anyway.
pub const ROUNDS_MAX: u32 = 20;

/// Longest name of a label, a workflow file or an environment, in characters.
const NAME_CHARS_MAX: usize = 100;

/// Longest label, in characters: GitHub creates no longer one.
const LABEL_CHARS_MAX: usize = 50;

/// Longest part of a refused value that an error repeats, in characters.
const REFUSED_CHARS_MAX: usize = 60;

/// Jules starts a task by itself for an issue with this label.
const LABEL_OF_JULES: &str = "jules";

/// Settings of a source for its deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Issues with this label become deliveries; none without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<IntakeLabel>,
    /// The last phase before a delivery closes.
    pub endpoint: Endpoint,
    /// The phases after which a person is awaited.
    pub checkpoints: Checkpoints,
    /// Who may act at checkpoints.
    pub checkpoints_by: CheckpointsBy,
    /// Who plans.
    pub plan_by: PlanBy,
    /// Who reviews; the source's agent, or a person where there is none, if nothing was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_by: Option<ReviewBy>,
    /// How often a change may be sent back by its review.
    pub review_rounds: u32,
    /// How many sessions may work on one delivery, without a person who asks for more.
    pub attempts: u32,
    /// How the merged change is deployed.
    pub deploy: Deploy,
    /// How the deployed change is observed.
    pub observe: Observe,
    /// Whether the issue is told how far its delivery is.
    pub comment: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            label: None,
            endpoint: Endpoint::default(),
            checkpoints: Checkpoints::default(),
            checkpoints_by: CheckpointsBy::People,
            plan_by: PlanBy::Jules,
            review_by: None,
            review_rounds: 3,
            attempts: 3,
            deploy: Deploy::None,
            observe: Observe::None,
            comment: true,
        }
    }
}

impl Rules {
    /// The rules while an agent can or cannot be woken. Without one, a person reviews in its place.
    pub fn with_agent(&self, can_be_woken: bool) -> Cow<'_, Self> {
        match self.review_by {
            Some(ReviewBy::Agent) if !can_be_woken => Cow::Owned(Self {
                review_by: Some(ReviewBy::Human),
                ..self.clone()
            }),
            None if can_be_woken => Cow::Owned(Self {
                review_by: Some(ReviewBy::Agent),
                ..self.clone()
            }),
            None | Some(_) => Cow::Borrowed(self),
        }
    }

    /// Who reviews.
    pub fn reviewer(&self) -> ReviewBy {
        self.review_by.unwrap_or(ReviewBy::Human)
    }

    /// What is odd about them, if anything is.
    ///
    /// # Errors
    /// With a sentence for the person who set them.
    pub fn check(&self) -> Result<(), OddRules> {
        if self.review_rounds > ROUNDS_MAX {
            return Err(OddRules::Rounds(self.review_rounds));
        }
        if self.attempts == 0 || self.attempts > ROUNDS_MAX {
            return Err(OddRules::Attempts(self.attempts));
        }
        let end = self.endpoint.phase();
        if let Some(late) = self.checkpoints.phases().iter().find(|it| **it > end) {
            return Err(OddRules::NeverReached(*late, end));
        }
        if self.deploy != Deploy::None && end < Phase::Deploy {
            return Err(OddRules::NeverDeployed);
        }
        if self.observe != Observe::None && end < Phase::Observe {
            return Err(OddRules::NeverObserved);
        }
        Ok(())
    }
}

/// A refused value as an error repeats it.
fn refused(value: &str) -> String {
    presentable(value, REFUSED_CHARS_MAX)
}

/// The label of issues that become deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IntakeLabel(String);

impl IntakeLabel {
    /// As it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether an issue with these labels is taken. Case does not count, as on GitHub.
    pub fn is_among(&self, labels: &[String]) -> bool {
        labels
            .iter()
            .any(|label| label.eq_ignore_ascii_case(&self.0))
    }
}

impl FromStr for IntakeLabel {
    type Err = OddRules;

    fn from_str(label: &str) -> Result<Self, OddRules> {
        let label = label.trim();
        if label.eq_ignore_ascii_case(LABEL_OF_JULES) {
            return Err(OddRules::LabelOfJules);
        }
        // GitHub takes several labels with commas between them.
        let fits = label.chars().count() <= LABEL_CHARS_MAX && !label.contains(',');
        let named = named(label).filter(|_| fits && !holds_secret(label));
        named
            .ok_or_else(|| OddRules::Label(refused(label)))
            .map(Self)
    }
}

impl TryFrom<String> for IntakeLabel {
    type Error = OddRules;

    fn try_from(label: String) -> Result<Self, OddRules> {
        label.parse()
    }
}

impl From<IntakeLabel> for String {
    fn from(label: IntakeLabel) -> Self {
        label.0
    }
}

fn named(name: &str) -> Option<String> {
    let fits = !name.is_empty() && name.chars().count() <= NAME_CHARS_MAX;
    (fits && !name.contains(char::is_control)).then(|| name.to_owned())
}

/// Who may act at checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointsBy {
    /// Only people.
    People,
    /// Agents too.
    Anyone,
}

/// Who plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanBy {
    /// The session that will implement it.
    Jules,
    /// The agent sends it.
    Agent,
    /// A person sends it.
    Human,
}

/// Who reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewBy {
    /// The agent is woken, and after a while a person is awaited.
    Agent,
    /// A person.
    Human,
    /// A second session of Jules.
    Jules,
    /// No review: every change passes.
    Nobody,
}

/// How a merged change is deployed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Deploy {
    /// Nothing is deployed.
    None,
    /// A workflow is dispatched and its run awaited.
    Workflow {
        /// Its file below `.github/workflows`.
        file: String,
        /// The branch on which it runs.
        branch: BranchName,
    },
    /// Another system deploys: the delivery awaits the deployment status of the merge commit.
    Deployment {
        /// To which environment.
        environment: String,
    },
}

/// How a deployed change is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Observe {
    /// Not at all.
    None,
    /// No check of the merge commit may fail for this long.
    Soak(SignedDuration),
}

/// Longest time that a change is observed.
const SOAK_MAX: SignedDuration = SignedDuration::from_hours(7 * 24);

impl FromStr for Deploy {
    type Err = OddRules;

    fn from_str(text: &str) -> Result<Self, OddRules> {
        if text == "none" {
            return Ok(Self::None);
        }
        let odd = || OddRules::Deploy(refused(text));
        if let Some(environment) = text.strip_prefix("deployment:") {
            let environment = named(environment).ok_or_else(odd)?;
            return Ok(Self::Deployment { environment });
        }
        let workflow = text.strip_prefix("workflow:");
        let (file, branch) = workflow
            .and_then(|workflow| workflow.split_once('@'))
            .ok_or_else(odd)?;
        let is_file = [".yml", ".yaml"].iter().any(|end| file.ends_with(end));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let file = named(file)
            .filter(|file| is_file && file.chars().all(is_plain))
            .ok_or_else(odd)?;
        let branch = branch.parse().map_err(|_| odd())?;
        Ok(Self::Workflow { file, branch })
    }
}

impl fmt::Display for Deploy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Workflow { file, branch } => write!(f, "workflow:{file}@{branch}"),
            Self::Deployment { environment } => write!(f, "deployment:{environment}"),
        }
    }
}

impl FromStr for Observe {
    type Err = OddRules;

    fn from_str(text: &str) -> Result<Self, OddRules> {
        if text == "none" {
            return Ok(Self::None);
        }
        let odd = || OddRules::Observe(refused(text));
        let time = text.strip_prefix("soak:").ok_or_else(odd)?;
        let time: SignedDuration = time.parse().map_err(|_| odd())?;
        let fits = time > SignedDuration::ZERO && time <= SOAK_MAX;
        fits.then_some(Self::Soak(time)).ok_or_else(odd)
    }
}

impl fmt::Display for Observe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Soak(time) => write!(f, "soak:{time:#}"),
        }
    }
}

crate::by_text::by_text!(Deploy, Observe);

#[cfg(test)]
mod tests;
