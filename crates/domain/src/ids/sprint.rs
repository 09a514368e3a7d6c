//! The number of a sprint, and what is named after it on GitHub.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{BranchName, EffectId, InvalidId, JobId, PersonaName, RepoName, counted};

/// The number of a sprint of a repository, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct SprintNumber(u32);

impl SprintNumber {
    /// The number of the first sprint.
    pub const FIRST: Self = Self(1);

    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The number after this one.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The label on the pull requests of its members.
    pub fn label(self) -> String {
        format!("jules-sprint-{}", self.0)
    }

    /// The branch that its members are woven into.
    pub fn branch(self) -> BranchName {
        BranchName(format!("jules-sprint-{}-integration", self.0))
    }

    /// The sprint whose members are woven into this branch; none if it is another branch.
    pub fn of_branch(branch: &BranchName) -> Option<Self> {
        let rest = branch.as_str().strip_prefix("jules-sprint-")?;
        rest.strip_suffix("-integration")?.parse().ok()
    }

    /// The job of a member, or of the integration: the same start made twice has the same jobs.
    pub fn job(self, repo: &RepoName, whose: Option<&PersonaName>, at: jiff::Timestamp) -> JobId {
        let name = format!("{}:sprint:{}", repo.key(), self.0);
        let purpose = whose.map_or_else(|| "integration".to_owned(), |it| format!("member:{it}"));
        JobId::asked_by(&name, &purpose, at)
    }

    /// Names one message of a sprint, so that it is sent once.
    pub fn once(self, purpose: &str) -> String {
        let id = EffectId::from_name(purpose);
        format!("sprint-{}-{id}", self.0)
    }
}

impl TryFrom<u32> for SprintNumber {
    type Error = InvalidId;

    fn try_from(number: u32) -> Result<Self, InvalidId> {
        match number {
            0 => Err(invalid("0")),
            number => Ok(Self(number)),
        }
    }
}

impl From<SprintNumber> for u32 {
    fn from(number: SprintNumber) -> u32 {
        number.0
    }
}

impl FromStr for SprintNumber {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let number = counted(text).and_then(|number| u32::try_from(number).ok());
        number.map(Self).ok_or_else(|| invalid(text))
    }
}

impl fmt::Display for SprintNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn invalid(text: &str) -> InvalidId {
    InvalidId::new("sprint number", text, "a whole number from 1 to 4294967295")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_names_a_label_a_branch_and_jobs() {
        let number: SprintNumber = "50".parse().unwrap();
        assert_eq!(number.label(), "jules-sprint-50");
        let branch = number.branch();
        assert_eq!(branch.as_str(), "jules-sprint-50-integration");
        assert_eq!(SprintNumber::of_branch(&branch), Some(number));
        assert_eq!(branch.as_str().parse(), Ok(branch));
        for other in [
            "main",
            "jules-sprint-50",
            "jules-sprint-x-integration",
            "jules-sprint-0-integration",
            "my-jules-sprint-50-integration",
        ] {
            let other = other.parse().unwrap();
            assert_eq!(SprintNumber::of_branch(&other), None, "{other}");
        }
        let repo: RepoName = "Acme/Shop".parse().unwrap();
        let (curator, at) = ("curator".parse().unwrap(), jiff::Timestamp::UNIX_EPOCH);
        let job = number.job(&repo, Some(&curator), at);
        let same = number.job(&"acme/shop".parse().unwrap(), Some(&curator), at);
        assert_eq!(job, same);
        assert_ne!(job, number.job(&repo, None, at));
        assert_ne!(job, number.next().job(&repo, Some(&curator), at));
    }

    #[test]
    fn zero_a_sign_and_words_are_no_number() {
        for odd in ["0", "-1", "+1", "", "x", "4294967296", " 1"] {
            assert!(odd.parse::<SprintNumber>().is_err(), "{odd}");
        }
        let largest = u32::MAX.to_string();
        assert!(largest.parse::<SprintNumber>().is_ok());
        let told = "4000000000000".parse::<SprintNumber>().unwrap_err();
        assert!(told.to_string().contains(&largest), "{told}");
        assert!(serde_json::from_str::<SprintNumber>("0").is_err());
        assert_eq!(
            serde_json::to_string(&SprintNumber::FIRST.next()).unwrap(),
            "2"
        );
    }
}
