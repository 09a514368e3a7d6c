//! Named scenarios, each for one situation: every one is a file that a user could have written.

use crate::Error;

use super::Scenario;

/// A scenario with a name.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// What is to be seen in it, in a sentence.
    pub shows: &'static str,
    /// The scenario as a file has it.
    pub json: &'static str,
}

/// All of them.
pub const NAMED: [Named; 6] = [
    Named {
        name: "question",
        shows: "Jules asks before it goes on: answer with `gaffer job say latest TEXT`.",
        json: include_str!("named/question.json"),
    },
    Named {
        name: "plan",
        shows: "Jules shows a plan; in a source whose plans a person approves it waits for `gaffer job approve latest`.",
        json: include_str!("named/plan.json"),
    },
    Named {
        name: "failing-check",
        shows: "A required check is red on the first head: the session is told and pushes again.",
        json: include_str!("named/failing-check.json"),
    },
    Named {
        name: "silence",
        shows: "Jules falls silent and goes on only after a message; `--stuck-after 20s` on the source makes it known sooner.",
        json: include_str!("named/silence.json"),
    },
    Named {
        name: "failure",
        shows: "The session fails with a reason: `gaffer job retry latest` gives the job another.",
        json: include_str!("named/failure.json"),
    },
    Named {
        name: "conflict",
        shows: "All jobs change the same lines: of two at the same time the one that is merged second conflicts.",
        json: include_str!("named/conflict.json"),
    },
];

impl Named {
    /// The one of this name.
    pub fn parse(name: &str) -> Option<Self> {
        NAMED.into_iter().find(|named| named.name == name)
    }

    /// The scenario itself.
    ///
    /// # Errors
    /// [`Error::Scenario`] naming the field that is wrong, which a test rules out.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        Scenario::from_json(self.json)
    }
}
