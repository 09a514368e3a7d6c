//! What one run of `gaffer init` did, kept and found to differ.

use serde::Serialize;

use crate::render::Answer;

/// What one run did, kept and found to differ.
#[derive(Debug, Default, Serialize)]
pub(super) struct InitNotes {
    done: Vec<String>,
    kept: Vec<String>,
    differs: Vec<Difference>,
    warnings: Vec<String>,
    /// The stored results that stay even if the rest fails, in one line.
    #[serde(skip)]
    stored: String,
}

/// An existing setting that differs from the requested one.
#[derive(Debug, Serialize)]
struct Difference {
    what: String,
    how: String,
    next: String,
}

impl InitNotes {
    /// Records a step.
    pub(super) fn done(&mut self, what: impl Into<String>) {
        self.done.push(what.into());
    }

    /// Records a step whose result is stored.
    pub(super) fn stored_now(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.stored.is_empty() {
            self.stored.push_str("; ");
        }
        self.stored.push_str(&what);
        self.done.push(what);
    }

    /// What is stored by now, in one line.
    pub(super) fn stored(&self) -> &str {
        &self.stored
    }

    /// Records an existing setting.
    pub(super) fn kept(&mut self, what: impl Into<String>) {
        self.kept.push(what.into());
    }

    /// Records an existing setting that differs from the requested one and stays.
    pub(super) fn differs(&mut self, what: &str, how: &str, next: &str) {
        self.differs.push(Difference {
            what: what.to_owned(),
            how: how.to_owned(),
            next: next.to_owned(),
        });
    }

    /// Whether there is nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        let all = [&self.done, &self.kept, &self.warnings];
        self.differs.is_empty() && all.iter().all(|lines| lines.is_empty())
    }

    /// The number of settings that differ from the requested ones.
    pub(super) fn differing(&self) -> usize {
        self.differs.len()
    }

    /// Records a warning.
    pub(super) fn warn(&mut self, what: impl Into<String>) {
        self.warnings.push(what.into());
    }

    /// Everything as lines for people.
    pub(super) fn append_notes(&self, answer: Answer) -> Answer {
        let plain = |word: &str, all: &[String]| {
            all.iter()
                .map(|line| format!("{word:<8} {line}"))
                .collect::<Vec<_>>()
        };
        let differing = self
            .differs
            .iter()
            .map(|it| format!("{:<8} {}: {}; {}", "differs", it.what, it.how, it.next));
        plain("done", &self.done)
            .into_iter()
            .chain(plain("kept", &self.kept))
            .chain(differing)
            .chain(plain("warning", &self.warnings))
            .fold(answer, Answer::line)
    }
}
