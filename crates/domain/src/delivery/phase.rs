//! Where a delivery is and how it goes there: phases, their status and executor, the verdict, endpoint and checkpoints.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A phase of a delivery. The order of the variants is the order of the phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It was taken in.
    Intake,
    /// A plan is made.
    Plan,
    /// The change is made.
    Implement,
    /// The change is reviewed.
    Review,
    /// Checks run, and the pull request is merged.
    Verify,
    /// The merged change is deployed.
    Deploy,
    /// The deployed change is observed.
    Observe,
    /// It is closed.
    Close,
}

/// How a phase goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It has not begun.
    Pending,
    /// It is under way.
    Running,
    /// It came to a good end.
    Succeeded,
    /// It came to a bad end, and waits for a retry.
    Failed,
    /// It is under way, and a question is open.
    Blocked,
}

/// What executes a phase. A person executes none: people act between phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// Fixed rules.
    System,
    /// A deciding party: Jules, an agent, or a person in its place.
    Agent,
}

/// What a review came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The change is good.
    Pass,
    /// The change has to be worked on.
    NotPass,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::Intake,
        Self::Plan,
        Self::Implement,
        Self::Review,
        Self::Verify,
        Self::Deploy,
        Self::Observe,
        Self::Close,
    ];

    /// The phases of integration (CI), in order.
    pub const CI: [Self; 4] = [Self::Intake, Self::Plan, Self::Implement, Self::Review];

    /// The phases of delivery (CD), in order: the merge, and what follows it.
    pub const CD: [Self; 4] = [Self::Verify, Self::Deploy, Self::Observe, Self::Close];

    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Intake => "intake",
            Self::Plan => "plan",
            Self::Implement => "implement",
            Self::Review => "review",
            Self::Verify => "verify",
            Self::Deploy => "deploy",
            Self::Observe => "observe",
            Self::Close => "close",
        }
    }

    /// The phase of a word; `None` for any other.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.word() == word)
    }

    /// Whether a retry of it may say what to do otherwise: a session, the agent or a person works by that.
    pub const fn takes_reason(self) -> bool {
        match self {
            Self::Plan | Self::Implement | Self::Review | Self::Verify => true,
            Self::Intake | Self::Deploy | Self::Observe | Self::Close => false,
        }
    }

    /// What executes it.
    pub const fn executor(self) -> Executor {
        match self {
            Self::Plan | Self::Implement | Self::Review => Executor::Agent,
            Self::Intake | Self::Verify | Self::Deploy | Self::Observe | Self::Close => {
                Executor::System
            }
        }
    }

    /// The phase after it; the last one stays.
    pub const fn next(self) -> Self {
        match self {
            Self::Intake => Self::Plan,
            Self::Plan => Self::Implement,
            Self::Implement => Self::Review,
            Self::Review => Self::Verify,
            Self::Verify => Self::Deploy,
            Self::Deploy => Self::Observe,
            Self::Observe | Self::Close => Self::Close,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl RunStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::Running,
        Self::Succeeded,
        Self::Failed,
        Self::Blocked,
    ];

    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
        }
    }

    /// Whether the phase is under way, with an open question or without.
    pub fn is_under_way(self) -> bool {
        match self {
            Self::Running | Self::Blocked => true,
            Self::Pending | Self::Succeeded | Self::Failed => false,
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Verdict {
    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::NotPass => "not_pass",
        }
    }
}

/// Why a word is no phase of the wanted kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OddPhase {
    /// No delivery ends there.
    #[error("an endpoint is `plan`, `implement`, `review`, `verify`, `deploy` or `observe`")]
    Endpoint,
    /// No person is awaited there.
    #[error("a checkpoint is `plan`, `implement` or `review`")]
    Checkpoint,
}

/// The last phase of a delivery before it closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Endpoint(Phase);

impl Endpoint {
    /// The end of a delivery that merges its pull request and does nothing more.
    pub const VERIFY: Self = Self(Phase::Verify);

    /// Which phase it is.
    pub fn phase(self) -> Phase {
        self.0
    }

    /// Whether the pull request is merged on the way.
    pub fn merges(self) -> bool {
        self.0 >= Phase::Verify
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self(Phase::Deploy)
    }
}

impl TryFrom<Phase> for Endpoint {
    type Error = OddPhase;

    fn try_from(phase: Phase) -> Result<Self, OddPhase> {
        let is_between = phase > Phase::Intake && phase < Phase::Close;
        is_between.then_some(Self(phase)).ok_or(OddPhase::Endpoint)
    }
}

impl FromStr for Endpoint {
    type Err = OddPhase;

    fn from_str(word: &str) -> Result<Self, OddPhase> {
        Phase::from_word(word).ok_or(OddPhase::Endpoint)?.try_into()
    }
}

impl TryFrom<String> for Endpoint {
    type Error = OddPhase;

    fn try_from(word: String) -> Result<Self, OddPhase> {
        word.parse()
    }
}

impl From<Endpoint> for String {
    fn from(endpoint: Endpoint) -> Self {
        endpoint.0.word().to_owned()
    }
}

/// The phases after which a person is awaited: agent phases only, in order, each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Checkpoints(Vec<Phase>);

impl Checkpoints {
    /// No person is awaited.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Whether a person is awaited after a phase.
    pub fn has(&self, phase: Phase) -> bool {
        self.0.contains(&phase)
    }

    /// In order.
    pub fn phases(&self) -> &[Phase] {
        &self.0
    }

    /// The checkpoints at some phases.
    ///
    /// # Errors
    /// When one of them is no agent phase.
    pub fn at(phases: &[Phase]) -> Result<Self, OddPhase> {
        let mut phases = phases.to_vec();
        phases.sort_unstable();
        phases.dedup();
        let is_odd = |phase: &Phase| phase.executor() == Executor::System;
        if phases.iter().any(is_odd) {
            return Err(OddPhase::Checkpoint);
        }
        Ok(Self(phases))
    }
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self(vec![Phase::Plan, Phase::Implement, Phase::Review])
    }
}

impl TryFrom<Vec<String>> for Checkpoints {
    type Error = OddPhase;

    fn try_from(words: Vec<String>) -> Result<Self, OddPhase> {
        let phases: Option<Vec<Phase>> = words.iter().map(|word| Phase::from_word(word)).collect();
        Self::at(&phases.ok_or(OddPhase::Checkpoint)?)
    }
}

impl From<Checkpoints> for Vec<String> {
    fn from(checkpoints: Checkpoints) -> Self {
        let words = checkpoints.0.iter().map(|phase| phase.word().to_owned());
        words.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other_and_close_is_the_last() {
        for pair in Phase::ALL.windows(2) {
            assert_eq!(pair[0].next(), pair[1]);
            assert!(pair[0] < pair[1]);
        }
        assert_eq!(Phase::Close.next(), Phase::Close);
        assert_eq!([Phase::CI, Phase::CD].concat(), Phase::ALL);
        let agents = Phase::ALL.into_iter();
        let agents: Vec<Phase> = agents
            .filter(|phase| phase.executor() == Executor::Agent)
            .collect();
        assert_eq!(agents, Checkpoints::default().phases());
    }

    #[test]
    fn only_phases_between_intake_and_close_are_endpoints() {
        for phase in Phase::ALL {
            let is_one = !matches!(phase, Phase::Intake | Phase::Close);
            assert_eq!(phase.word().parse::<Endpoint>().is_ok(), is_one, "{phase}");
        }
        for wrong in ["", "Verify", "merge"] {
            assert_eq!(wrong.parse::<Endpoint>(), Err(OddPhase::Endpoint));
        }
        assert_eq!(
            serde_json::to_string(&Endpoint::default()).unwrap(),
            r#""deploy""#
        );
    }

    #[test]
    fn checkpoints_are_agent_phases_in_order() {
        let read = |text: &str| serde_json::from_str::<Checkpoints>(text);
        let some = read(r#"["review","plan","review"]"#).unwrap();
        assert_eq!(some.phases(), [Phase::Plan, Phase::Review]);
        assert_eq!(
            serde_json::to_string(&some).unwrap(),
            r#"["plan","review"]"#
        );
        assert_eq!(read("[]").unwrap(), Checkpoints::none());
        for wrong in [r#"["verify"]"#, r#"["intake"]"#, r#"["merge"]"#, r#"[""]"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
