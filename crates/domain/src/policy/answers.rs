//! Who answers a question: one after the other, each with a deadline.

use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Span, SpanRelativeTo};
use serde::{Deserialize, Serialize};

use crate::nearest::meant;

/// An agent's default time to answer: a night.
pub const AGENT_WITHIN: SignedDuration = SignedDuration::from_hours(8);

/// Shortest and longest deadline: a session is asked about no more often, and watched no longer.
const WITHIN: std::ops::RangeInclusive<SignedDuration> =
    SignedDuration::from_mins(1)..=SignedDuration::from_hours(7 * 24);

/// Longest chain.
const STEPS_MAX: usize = 6;

/// Who may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    /// The job's agent, which is woken.
    Agent,
    /// Gaffer itself: it asks the session to decide on its own and to go on.
    Nudge,
    /// A person, who sees the question.
    Human,
}

impl Answerer {
    /// The word used in the store and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Nudge => "nudge",
            Self::Human => "human",
        }
    }
}

/// One step of a chain, written `agent:2h` or `human`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Answer {
    /// Whose turn it is.
    pub who: Answerer,
    /// How long its turn lasts; `None` for no limit.
    pub within: Option<SignedDuration>,
}

/// Why a chain cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidAnswers(String);

/// A source's chain: the first has their turn at once, each next one when the deadline of the one before has passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Answer>", into = "Vec<Answer>")]
pub struct Answers(Vec<Answer>);

impl Answers {
    /// A chain of these steps.
    pub fn new(steps: Vec<Answer>) -> Result<Self, InvalidAnswers> {
        let odd = |text: String| Err(InvalidAnswers(text));
        let Some((_, before)) = steps.split_last() else {
            return odd("no one is to answer: name `agent`, `nudge` or `human`".to_owned());
        };
        if steps.len() > STEPS_MAX {
            return odd(format!("{} steps, at most {STEPS_MAX}", steps.len()));
        }
        if let Some(endless) = before.iter().find(|step| step.within.is_none()) {
            let who = endless.who.word();
            return odd(format!(
                "only the last one may do without a deadline: write for example `{who}:2h`"
            ));
        }
        Ok(Self(steps))
    }

    /// Its steps.
    pub fn steps(&self) -> &[Answer] {
        &self.0
    }

    /// The steps in the order of their turns: a person always comes last, even where none is named.
    pub fn in_turn(&self) -> Vec<Answer> {
        let mut steps = self.0.clone();
        if steps.iter().all(|step| step.who != Answerer::Human) {
            steps.push(PERSON);
        }
        steps
    }

    /// The chain without an agent: the next answerer also gets the agent's turns.
    pub fn without_agent(&self) -> Self {
        let others = self.0.iter().filter(|step| step.who != Answerer::Agent);
        let others: Vec<Answer> = others.copied().collect();
        Self(if others.is_empty() {
            vec![PERSON]
        } else {
            others
        })
    }

    /// How long the agent has.
    pub fn agent_within(&self) -> SignedDuration {
        let agent = self.0.iter().find(|step| step.who == Answerer::Agent);
        agent.and_then(|step| step.within).unwrap_or(AGENT_WITHIN)
    }
}

const PERSON: Answer = Answer {
    who: Answerer::Human,
    within: None,
};

impl Default for Answers {
    fn default() -> Self {
        let agent = Answer {
            who: Answerer::Agent,
            within: Some(AGENT_WITHIN),
        };
        Self(vec![agent, PERSON])
    }
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&steps.join(", then "))
    }
}

impl TryFrom<Vec<Answer>> for Answers {
    type Error = InvalidAnswers;

    fn try_from(steps: Vec<Answer>) -> Result<Self, InvalidAnswers> {
        Self::new(steps)
    }
}

impl From<Answers> for Vec<Answer> {
    fn from(answers: Answers) -> Self {
        answers.0
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            Some(within) => write!(f, "{}:{within:#}", self.who.word()),
            None => f.write_str(self.who.word()),
        }
    }
}

impl FromStr for Answer {
    type Err = InvalidAnswers;

    fn from_str(text: &str) -> Result<Self, InvalidAnswers> {
        let (who, within) = match text.split_once(':') {
            Some((who, within)) => (who, Some(within)),
            None => (text, None),
        };
        let all = [Answerer::Agent, Answerer::Nudge, Answerer::Human];
        let word = who.trim();
        let who = all.into_iter().find(|it| it.word() == word);
        let who = who.ok_or_else(|| {
            let near = meant(word, all.map(Answerer::word));
            InvalidAnswers(format!(
                "`agent`, `nudge` or `human` answers, as in `agent:2h`{near}"
            ))
        })?;
        let within = within.map(deadline).transpose()?;
        Ok(Self { who, within })
    }
}

fn deadline(text: &str) -> Result<SignedDuration, InvalidAnswers> {
    let span: Option<Span> = text.trim().parse().ok();
    let read = span.and_then(|it| it.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    read.filter(|within| WITHIN.contains(within))
        .ok_or_else(|| {
            InvalidAnswers("a deadline is a time from `1m` to `7d`, as `2h` is".to_owned())
        })
}

crate::by_text::by_text!(Answer);

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(steps: &[&str]) -> Result<Answers, InvalidAnswers> {
        let steps: Result<Vec<Answer>, InvalidAnswers> =
            steps.iter().map(|it| it.parse()).collect();
        Answers::new(steps?)
    }

    fn words(steps: &[Answer]) -> Vec<String> {
        steps.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_chain_is_written_as_it_is_read() {
        let written = ["agent:2h", "nudge:20m", "human"];
        let answers = chain(&written).unwrap();
        assert_eq!(words(answers.steps()), written);
        let json = serde_json::to_string(&answers).unwrap();
        assert_eq!(json, r#"["agent:2h","nudge:20m","human"]"#);
        assert_eq!(serde_json::from_str::<Answers>(&json).unwrap(), answers);
        assert_eq!(Answers::default().to_string(), "agent:8h, then human");
    }

    #[test]
    fn odd_chains_are_refused() {
        for odd in [
            &[][..],
            &["agent", "human"],
            &["somebody:2h"],
            &["agent:2"],
            &["agent:-2h"],
            &["agent:0s"],
            &["agent:30s"],
            &["agent:8d"],
            &["agent:"],
            &["nudge:1h"; 7],
        ] {
            assert!(chain(odd).is_err(), "{odd:?}");
        }
        let told = chain(&["agnet:2h"]).unwrap_err().to_string();
        assert!(told.ends_with("(did you mean `agent`?)"), "{told}");
    }

    #[test]
    fn at_last_a_person_answers_and_without_an_agent_nobody_waits_for_one() {
        for (steps, with, without) in [
            (&["agent:2h", "human"][..], "agent:2h human", "human"),
            (&["agent"], "agent human", "human"),
            (&["nudge:20m"], "nudge:20m human", "nudge:20m human"),
            (&["human:1h", "agent"], "human:1h agent", "human:1h"),
            (
                &["agent:1h", "nudge:5m"],
                "agent:1h nudge:5m human",
                "nudge:5m human",
            ),
        ] {
            let answers = chain(steps).unwrap();
            assert_eq!(words(&answers.in_turn()).join(" "), with);
            assert_eq!(words(&answers.without_agent().in_turn()).join(" "), without);
        }
    }
}
