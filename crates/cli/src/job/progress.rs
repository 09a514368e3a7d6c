//! Progress of a waiting command on stderr: on a terminal one line that is overwritten, elsewhere a line whenever
//! something changed.

use client::wire::JobView;
use console::Term;
use domain::redact::presentable;
use tokio::time::Instant;

use crate::render;

/// Longest line, in characters: a wrapped line could not be overwritten.
const LINE_CHARS_MAX: usize = 300;

/// What is shown meanwhile.
pub(crate) struct Progress {
    term: Option<Term>,
    /// One of several jobs: its lines begin with its name, and none is overwritten.
    one_of_several: Option<String>,
    shown: Option<(String, Instant)>,
}

impl Progress {
    /// Nothing was shown yet. Beside JSON nothing is shown.
    pub(crate) fn new(as_json: bool) -> Self {
        Self {
            term: (!as_json).then(Term::stderr),
            one_of_several: None,
            shown: None,
        }
    }

    /// The same for one of several jobs that are waited for.
    pub(super) fn one_of_several(as_json: bool, name: &str) -> Self {
        let mut progress = Self::new(as_json);
        progress.one_of_several = Some(name.to_owned());
        progress
    }

    /// Shows a job's state, and what it waits for.
    pub(super) fn job(&mut self, job: &JobView) {
        self.waiting(&job.state, &job.waits_for.sentence);
    }

    /// Shows where something is, and what it waits for.
    pub(crate) fn waiting(&mut self, place: &str, what: &str) {
        self.show(format!("{place}, waiting for {what}"));
    }

    /// Shows that the server does not answer.
    pub(crate) fn away(&mut self, words: &str) {
        self.show(words.to_owned());
    }

    /// Shows this text: on a terminal with its start time, elsewhere only if it is new.
    fn show(&mut self, words: String) {
        let Some(term) = &self.term else { return };
        let since = match &self.shown {
            Some((shown, since)) if *shown == words => *since,
            Some(_) | None => Instant::now(),
        };
        let is_new = self.shown.as_ref().is_none_or(|(shown, _)| *shown != words);
        let line = match &self.one_of_several {
            Some(name) => presentable(&format!("{name}: {words}"), LINE_CHARS_MAX),
            None => presentable(&words, LINE_CHARS_MAX),
        };
        if term.is_term() && self.one_of_several.is_none() {
            let age = since.elapsed().as_secs();
            render::rewritten(term, &format!("{line} ({age} s)"));
        } else if is_new {
            render::note(&line);
        }
        self.shown = Some((words, since));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let term = self.term.as_ref().filter(|term| term.is_term());
        if let (Some(term), None) = (term, &self.one_of_several) {
            render::rewritten(term, "");
        }
    }
}
