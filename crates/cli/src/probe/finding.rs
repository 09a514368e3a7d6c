//! The open questions about Jules, and what was found.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The open questions, in their usual order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    Discovery,
    ActivityFilter,
    SessionFilter,
    FieldMask,
    CreateFields,
    PuttingAway,
    PausedAndFailed,
    QuotaRefusal,
    RequestsPerMinute,
    WhatCounts,
    Fields,
    AutoApproval,
    ModeWithoutApproval,
    Lengths,
    Patches,
    WrongKey,
    PullRequests,
    Evolving,
}

impl Question {
    /// All of them.
    pub(super) const ALL: [Self; 18] = [
        Self::Discovery,
        Self::ActivityFilter,
        Self::SessionFilter,
        Self::FieldMask,
        Self::CreateFields,
        Self::PuttingAway,
        Self::PausedAndFailed,
        Self::QuotaRefusal,
        Self::RequestsPerMinute,
        Self::WhatCounts,
        Self::Fields,
        Self::AutoApproval,
        Self::ModeWithoutApproval,
        Self::Lengths,
        Self::Patches,
        Self::WrongKey,
        Self::PullRequests,
        Self::Evolving,
    ];

    /// The question in one line.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Discovery => "What does the service's own description say?",
            Self::ActivityFilter => "Is a filter on activities taken, also with `>=`?",
            Self::SessionFilter => "Which filters on sessions are taken?",
            Self::FieldMask => "Is a field mask honoured?",
            Self::CreateFields => {
                "Does create take `environmentVariablesEnabled` and `workingBranch`, and where?"
            }
            Self::PuttingAway => {
                "What do archive, unarchive and delete answer, and does delete give the slot back?"
            }
            Self::PausedAndFailed => "What does a message to a paused or failed session do?",
            Self::QuotaRefusal => "How is a task over the limit refused?",
            Self::RequestsPerMinute => "How many requests a minute are answered?",
            Self::WhatCounts => "Do waiting sessions hold a slot, and do messages count as tasks?",
            Self::Fields => "Which of the doubtful fields are really sent?",
            Self::AutoApproval => "Does a timer approve plans of sessions made through the API?",
            Self::ModeWithoutApproval => "May approval be off while no automation mode is chosen?",
            Self::Lengths => "How long may a prompt and a message be?",
            Self::Patches => {
                "Does an activity's patch hold everything so far, or only its own part?"
            }
            Self::WrongKey => "How is a wrong key refused?",
            Self::PullRequests => {
                "When does the CI fixer act, and does a plain comment wake a session?"
            }
            Self::Evolving => "Does the service still change?",
        }
    }

    /// Its number, from 1.
    fn number(self) -> usize {
        Self::ALL
            .iter()
            .position(|it| *it == self)
            .unwrap_or_default()
            + 1
    }
}

/// What was done about a question and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) done: String,
    pub(super) seen: String,
    pub(super) outcome: Outcome,
}

/// Whether a question is settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The answer.
    Answer(String),
    /// It could not be settled, and why.
    Open(String),
}

/// All findings; what was never reached is open.
#[derive(Debug, Default)]
pub(super) struct Findings(BTreeMap<Question, Finding>);

impl Findings {
    /// A question is settled.
    pub(super) fn settled(
        &mut self,
        question: Question,
        (done, seen): (&str, impl Into<String>),
        answer: impl Into<String>,
    ) {
        self.note(
            question,
            (done, seen.into()),
            Outcome::Answer(answer.into()),
        );
    }

    /// A question stays open.
    pub(super) fn open(
        &mut self,
        question: Question,
        (done, seen): (&str, impl Into<String>),
        why: impl Into<String>,
    ) {
        self.note(question, (done, seen.into()), Outcome::Open(why.into()));
    }

    fn note(&mut self, question: Question, (done, seen): (&str, String), outcome: Outcome) {
        let finding = Finding {
            done: done.to_owned(),
            seen,
            outcome,
        };
        self.0.insert(question, finding);
    }

    /// The answer to a question, if it is settled.
    pub(super) fn answer(&self, question: Question) -> Option<String> {
        match &self.0.get(&question)?.outcome {
            Outcome::Answer(text) => Some(text.clone()),
            Outcome::Open(_) => None,
        }
    }

    /// Every question with what is known of it.
    pub(super) fn all(&self) -> Vec<(usize, Question, Finding)> {
        let found = |question: Question| {
            self.0.get(&question).cloned().unwrap_or_else(|| Finding {
                done: "nothing".to_owned(),
                seen: String::new(),
                outcome: Outcome::Open("the probe did not come so far".to_owned()),
            })
        };
        Question::ALL
            .into_iter()
            .map(|question| (question.number(), question, found(question)))
            .collect()
    }

    /// As programs see them.
    pub(super) fn json(&self) -> Value {
        let one = |(number, question, finding): (usize, Question, Finding)| {
            let (settled, text) = match &finding.outcome {
                Outcome::Answer(text) => (true, text),
                Outcome::Open(text) => (false, text),
            };
            json!({
                "number": number, "question": question.words(), "done": finding.done, "seen": finding.seen,
                "settled": settled, "answer": text,
            })
        };
        Value::Array(self.all().into_iter().map(one).collect())
    }
}
