//! Settings of a source for its sprints: which of them run at once, how many of their members, and how what they make is merged.

use std::fmt;
use std::str::FromStr;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::{MEMBER_TIMEOUT, MEMBERS_MAX};
use crate::ids::SprintNumber;
use crate::redact::presentable;

/// Shortest time that a source may wait for a member.
const MEMBER_TIMEOUT_MIN: SignedDuration = SignedDuration::from_mins(1);

/// Longest time that a source may wait for a member: while one works, the others are not woven.
const MEMBER_TIMEOUT_MAX: SignedDuration = SignedDuration::from_hours(24);

/// Most numbers that a setting lists.
const LISTED_MAX: usize = 100;

/// Longest part of a refused value that an error repeats, in characters.
const REFUSED_CHARS_MAX: usize = 60;

/// How the sprints of a source go. A sprint keeps what it was started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SprintRules {
    /// The numbers whose members work at once; all others are sequential.
    pub parallel: Parallel,
    /// How many members of a parallel sprint work at once; all of them without it.
    pub at_once: Option<u32>,
    /// How long a member is waited for, from the start of its session or from its conflict on.
    #[serde(with = "crate::policy::duration")]
    pub member_timeout: SignedDuration,
    /// Who starts the sprint after one of which something was merged.
    pub next: NextSprint,
    /// How what the members of a parallel sprint make is merged.
    pub integration: Integration,
}

impl Default for SprintRules {
    fn default() -> Self {
        Self {
            parallel: Parallel::Always,
            at_once: None,
            member_timeout: MEMBER_TIMEOUT,
            next: NextSprint::ByHand,
            integration: Integration::Consolidated,
        }
    }
}

/// How one sprint goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SprintMode {
    /// How many members work at once; all of them without it.
    pub at_once: Option<u32>,
    /// How long each of them is waited for.
    pub member_timeout: SignedDuration,
    /// How what they make is merged.
    pub integration: Integration,
}

impl Default for SprintMode {
    fn default() -> Self {
        SprintRules::default().mode(SprintNumber::FIRST)
    }
}

impl SprintRules {
    /// How the sprint of this number goes. In a sequential one, each member begins when the one before is merged or ended.
    pub fn mode(&self, number: SprintNumber) -> SprintMode {
        let (at_once, integration) = match self.parallel.holds(number) {
            true => (self.at_once, self.integration),
            false => (Some(1), Integration::Individual),
        };
        SprintMode {
            at_once,
            member_timeout: self.member_timeout,
            integration,
        }
    }

    /// Whether nothing of it was set.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses settings that cannot be meant.
    ///
    /// # Errors
    /// With what is odd about them.
    pub fn check(&self) -> Result<(), OddSprints> {
        let most = u32::try_from(MEMBERS_MAX).unwrap_or(u32::MAX);
        if let Some(count) = self.at_once.filter(|count| !(1..=most).contains(count)) {
            return Err(OddSprints::AtOnce(count));
        }
        let timeout = self.member_timeout;
        match (MEMBER_TIMEOUT_MIN..=MEMBER_TIMEOUT_MAX).contains(&timeout) {
            true => Ok(()),
            false => Err(OddSprints::MemberTimeout(timeout)),
        }
    }
}

/// How long a member is waited for whose record says nothing else.
pub(super) fn usual_timeout() -> SignedDuration {
    MEMBER_TIMEOUT
}

pub(super) fn is_usual_timeout(timeout: &SignedDuration) -> bool {
    *timeout == MEMBER_TIMEOUT
}

/// The sprints whose members work at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Parallel {
    /// All of them.
    Always,
    /// These.
    Only(Vec<SprintNumber>),
    /// Those whose number is a multiple of this one.
    Every(SprintNumber),
    /// All but these.
    Except(Vec<SprintNumber>),
}

impl Parallel {
    /// Whether the members of this sprint work at once.
    pub fn holds(&self, number: SprintNumber) -> bool {
        match self {
            Self::Always => true,
            Self::Only(numbers) => numbers.contains(&number),
            Self::Every(step) => number.number().is_multiple_of(step.number()),
            Self::Except(numbers) => !numbers.contains(&number),
        }
    }
}

impl FromStr for Parallel {
    type Err = OddSprints;

    fn from_str(text: &str) -> Result<Self, OddSprints> {
        if text == "always" {
            return Ok(Self::Always);
        }
        let odd = || OddSprints::Parallel(presentable(text, REFUSED_CHARS_MAX));
        let (word, rest) = text.split_once('=').ok_or_else(odd)?;
        let numbers: Result<Vec<SprintNumber>, _> = rest.split(',').map(str::parse).collect();
        let mut numbers = numbers.map_err(|_| odd())?;
        numbers.sort();
        numbers.dedup();
        match (word, numbers.as_slice()) {
            ("every", [step]) => Ok(Self::Every(*step)),
            ("only", [_, ..]) if numbers.len() <= LISTED_MAX => Ok(Self::Only(numbers)),
            ("except", [_, ..]) if numbers.len() <= LISTED_MAX => Ok(Self::Except(numbers)),
            (_, _) => Err(odd()),
        }
    }
}

impl fmt::Display for Parallel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |numbers: &[SprintNumber]| {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            numbers.join(",")
        };
        match self {
            Self::Always => f.write_str("always"),
            Self::Only(numbers) => write!(f, "only={}", listed(numbers)),
            Self::Every(step) => write!(f, "every={step}"),
            Self::Except(numbers) => write!(f, "except={}", listed(numbers)),
        }
    }
}

crate::by_text::by_text!(Parallel);

/// Who starts the next sprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextSprint {
    /// A person or an agent.
    ByHand,
    /// Gaffer, at the end of one of which something was merged.
    AtOnce,
}

impl NextSprint {
    /// Its word in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::ByHand => "by-hand",
            Self::AtOnce => "at-once",
        }
    }
}

/// How what the members of a sprint make is merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integration {
    /// Woven into one pull request.
    #[default]
    Consolidated,
    /// One after the other, each by its own pull request.
    Individual,
}

impl Integration {
    /// Its word in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Consolidated => "consolidated",
            Self::Individual => "individual",
        }
    }

    /// Whether it is what a sprint does that says nothing else.
    pub(super) fn is_consolidated(&self) -> bool {
        *self == Self::Consolidated
    }
}

/// Why settings of sprints are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OddSprints {
    /// It names no sprints.
    #[error(
        "`{0}` does not fit: sprints are parallel `always`, `only=50,55`, `every=5` or `except=7`, with at most {LISTED_MAX} numbers"
    )]
    Parallel(String),
    /// No member, or too many.
    #[error("{0} does not fit: from 1 to {MEMBERS_MAX} members work at once")]
    AtOnce(u32),
    /// No time, or too much.
    #[error(
        "{0:#} does not fit: a member is waited for from {MEMBER_TIMEOUT_MIN:#} to {MEMBER_TIMEOUT_MAX:#}"
    )]
    MemberTimeout(SignedDuration),
}

impl OddSprints {
    /// The setting that it is about.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Parallel(_) => "parallel",
            Self::AtOnce(_) => "at_once",
            Self::MemberTimeout(_) => "member_timeout",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: u32) -> SprintNumber {
        number.to_string().parse().unwrap()
    }

    #[test]
    fn which_sprints_are_parallel() {
        // A setting, and those of the sprints 1 to 10 whose members work at once.
        let cases: [(&str, &[u32]); 4] = [
            ("always", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
            ("only=2,9", &[2, 9]),
            ("every=5", &[5, 10]),
            ("except=7,1,7", &[2, 3, 4, 5, 6, 8, 9, 10]),
        ];
        for (text, wanted) in cases {
            let parallel: Parallel = text.parse().unwrap();
            let at_once: Vec<u32> = (1..=10).filter(|it| parallel.holds(number(*it))).collect();
            assert_eq!(at_once, wanted, "{text}");
            assert_eq!(parallel.to_string().parse::<Parallel>(), Ok(parallel));
        }
    }

    #[test]
    fn odd_settings_are_refused() {
        for text in [
            "",
            "never",
            "only",
            "only=",
            "only=0",
            "only=a",
            "every=0",
            "every=2,3",
            "except=",
            "always=1",
            "every=-1",
        ] {
            let refused = text.parse::<Parallel>();
            assert!(matches!(refused, Err(OddSprints::Parallel(_))), "{text}");
        }
        let at_once = |count| SprintRules {
            at_once: Some(count),
            ..SprintRules::default()
        };
        assert_eq!(at_once(0).check(), Err(OddSprints::AtOnce(0)));
        assert_eq!(at_once(61).check(), Err(OddSprints::AtOnce(61)));
        assert_eq!(at_once(1).check(), Ok(()));
        let waited = |seconds| {
            let member_timeout = SignedDuration::from_secs(seconds);
            let rules = SprintRules {
                member_timeout,
                ..SprintRules::default()
            };
            rules.check()
        };
        for seconds in [-60, 0, 59, 86_401] {
            let refused = OddSprints::MemberTimeout(SignedDuration::from_secs(seconds));
            assert_eq!(waited(seconds), Err(refused));
        }
        for seconds in [60, 86_400] {
            assert_eq!(waited(seconds), Ok(()));
        }
        assert_eq!(
            OddSprints::MemberTimeout(SignedDuration::from_secs(30)).to_string(),
            "30s does not fit: a member is waited for from 1m to 24h"
        );
    }

    #[test]
    fn a_sprint_that_is_not_parallel_goes_one_by_one() {
        let rules = SprintRules {
            parallel: "every=5".parse().unwrap(),
            at_once: Some(3),
            ..SprintRules::default()
        };
        let mode = |it| {
            let mode = rules.mode(number(it));
            (mode.at_once, mode.integration)
        };
        assert_eq!(mode(5), (Some(3), Integration::Consolidated));
        assert_eq!(mode(6), (Some(1), Integration::Individual));
    }
}
