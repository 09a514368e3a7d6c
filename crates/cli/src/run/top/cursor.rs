//! The job under the cursor, and the actions of keys. An action that writes asks first.

use client::wire::{JobView, Waiting};
use domain::ids::JobId;

use super::keys::Key;

/// Jobs that are listed at a time; the list moves with the cursor.
const LISTED: usize = 10;

/// Lines of a question or a plan that are shown.
const WORDS_SHOWN: usize = 6;

/// What the keys do.
const KEYS: &str =
    "`j` `k` select, `a` approve, `s` answer, `m` merge, `c` cancel, `o` open in the browser.";

/// An action on a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TopAction {
    /// Its plan is approved.
    Approve,
    /// Sends this to its session.
    Say(String),
    /// Its pull request may be merged.
    Merge,
    /// It is cancelled.
    Cancel,
    /// Its page is opened, which writes nothing.
    Open,
}

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// Only the display.
    Seen,
    /// This is to be done with that job.
    Do(JobId, TopAction),
    /// Ends the program.
    Quit,
}

#[derive(Debug, Default)]
enum Mode {
    /// A job is chosen.
    #[default]
    Choosing,
    /// An answer is typed.
    Typing(JobId, String),
    /// It is asked whether this is meant.
    Asking(JobId, TopAction),
}

/// The job under the cursor, and what is being done with it.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    chosen: Option<JobId>,
    mode: Mode,
    note: String,
}

impl Cursor {
    /// Shows the outcome of an action.
    pub(super) fn set_note(&mut self, note: String) {
        self.note = note;
    }

    /// The result of a key among these jobs.
    pub(super) fn press(&mut self, key: Key, jobs: &[&JobView]) -> Pressed {
        match std::mem::take(&mut self.mode) {
            Mode::Choosing => self.choose(key, jobs),
            Mode::Typing(job, text) => self.typed(key, job, text),
            Mode::Asking(job, action) => {
                self.note.clear();
                if matches!(key, Key::Char('y' | 'Y')) {
                    return Pressed::Do(job, action);
                }
                self.note = "Nothing was done.".to_owned();
                Pressed::Seen
            }
        }
    }

    fn choose(&mut self, key: Key, jobs: &[&JobView]) -> Pressed {
        self.note.clear();
        let at = self.at(jobs);
        match key {
            Key::Char('q' | 'Q') => return Pressed::Quit,
            Key::Up | Key::Char('k') => self.choose_at(at.saturating_sub(1), jobs),
            Key::Down | Key::Char('j') => self.choose_at(at + 1, jobs),
            Key::Char(letter) => {
                if let Some(job) = jobs.get(at) {
                    return self.begin(letter, job);
                }
            }
            Key::Enter | Key::Escape | Key::Backspace => {}
        }
        Pressed::Seen
    }

    /// Begins the action of a letter, if it is possible with this job.
    fn begin(&mut self, letter: char, job: &JobView) -> Pressed {
        let id = job.job_id.clone();
        match letter {
            'o' => return Pressed::Do(id, TopAction::Open),
            'a' if !matches!(job.waiting, Some(Waiting::Plan { .. })) => {
                self.note = format!("Job {id} has no plan that waits.");
            }
            'm' if job.pull_request.is_none() => {
                self.note = format!("Job {id} has no pull request yet.");
            }
            'a' => self.mode = Mode::Asking(id, TopAction::Approve),
            'm' => self.mode = Mode::Asking(id, TopAction::Merge),
            'c' => self.mode = Mode::Asking(id, TopAction::Cancel),
            's' => self.mode = Mode::Typing(id, String::new()),
            _ => {}
        }
        Pressed::Seen
    }

    fn typed(&mut self, key: Key, job: JobId, mut text: String) -> Pressed {
        self.mode = match key {
            Key::Escape => Mode::Choosing,
            Key::Enter if text.trim().is_empty() => Mode::Choosing,
            Key::Enter => Mode::Asking(job, TopAction::Say(text)),
            Key::Backspace => {
                text.pop();
                Mode::Typing(job, text)
            }
            Key::Char(typed) => {
                text.push(typed);
                Mode::Typing(job, text)
            }
            Key::Up | Key::Down => Mode::Typing(job, text),
        };
        Pressed::Seen
    }

    /// The index of the cursor; the first one when its job is missing.
    fn at(&self, jobs: &[&JobView]) -> usize {
        let chosen = jobs
            .iter()
            .position(|job| Some(&job.job_id) == self.chosen.as_ref());
        chosen.unwrap_or(0)
    }

    fn choose_at(&mut self, at: usize, jobs: &[&JobView]) {
        let last = jobs.len().saturating_sub(1);
        self.chosen = jobs.get(at.min(last)).map(|job| job.job_id.clone());
    }

    /// The list with the cursor, and what is asked.
    pub(super) fn lines(&self, jobs: &[&JobView]) -> Vec<String> {
        let at = self.at(jobs);
        let first = (at + 1).saturating_sub(LISTED);
        let shown = jobs.iter().enumerate().skip(first).take(LISTED);
        let mut lines: Vec<String> = shown.map(|(nth, job)| row(job, nth == at)).collect();
        if jobs.is_empty() {
            lines.push("No job is open.".to_owned());
        }
        if jobs.len() > LISTED {
            lines.push(format!("  {} of {} jobs", at + 1, jobs.len()));
        }
        if let Some(job) = jobs.get(at) {
            lines.extend(words(job).into_iter().take(WORDS_SHOWN));
        }
        lines.push(match &self.mode {
            Mode::Choosing if self.note.is_empty() => KEYS.to_owned(),
            Mode::Choosing => self.note.clone(),
            Mode::Typing(job, text) => {
                format!("Answer to {job} (Enter sends, Esc leaves): {text}_")
            }
            Mode::Asking(job, action) => format!(
                "{} `y` does it, any other key does not.",
                question(job, action)
            ),
        });
        lines
    }
}

fn question(job: &JobId, action: &TopAction) -> String {
    match action {
        TopAction::Approve => format!("Approve the plan of {job}?"),
        TopAction::Say(text) => format!("Say \"{text}\" to {job}?"),
        TopAction::Merge => format!("Merge the pull request of {job}?"),
        TopAction::Cancel => format!("Cancel {job}?"),
        TopAction::Open => format!("Open {job}?"),
    }
}

/// One job in one line, its id first, so that it is never cut.
fn row(job: &JobView, is_chosen: bool) -> String {
    let mark = if is_chosen { ">" } else { " " };
    let pull = job.pull_request.as_ref().map(ToString::to_string);
    let place = pull.unwrap_or_else(|| job.repo.to_string());
    format!(
        "{mark} {}  {:<10}  {place}  {}",
        job.job_id, job.state, job.title
    )
}

/// The text of what waits for an answer.
fn words(job: &JobView) -> Vec<String> {
    let inward = |line: &str| format!("    {line}");
    match &job.waiting {
        Some(Waiting::Question { text, .. }) => {
            let text = text
                .as_deref()
                .unwrap_or("(the words of its question have not come yet)");
            text.lines().map(inward).collect()
        }
        Some(Waiting::Plan { steps, .. }) => {
            let steps = (1..).zip(steps);
            steps
                .map(|(nth, step)| inward(&format!("{nth}. {}", step.title)))
                .collect()
        }
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn jobs() -> Vec<JobView> {
        let job = |id: char, pull: Option<&str>, waiting: serde_json::Value| {
            let job = json!({
                "job_id": format!("01j0000000000000000000000{id}"), "state": "asking",
                "session_id": null, "session_state": null, "repo": "acme/shop", "branch": "main",
                "title": "Add a search box", "attempt": 1, "created_at": "2026-03-01T12:00:00Z",
                "pull_request": pull, "agent": null, "account": "default", "last_activity": null,
                "ended": null, "waiting": waiting,
            });
            serde_json::from_value(job).unwrap()
        };
        let since = "2026-03-01T12:00:00Z";
        let plan = json!({ "for": "plan", "since": since, "plan_id": null,
            "steps": [{ "title": "Sweep", "description": "" }] });
        vec![
            job(
                'a',
                None,
                json!({ "for": "question", "since": since, "text": "Which?" }),
            ),
            job('b', None, plan),
            job('c', Some("acme/shop#7"), serde_json::Value::Null),
        ]
    }

    /// Presses keys one after the other and returns the result of the last one.
    fn pressed(cursor: &mut Cursor, keys: &str) -> Pressed {
        let jobs = jobs();
        let jobs: Vec<&JobView> = jobs.iter().collect();
        let mut last = Pressed::Seen;
        for key in keys.chars() {
            let key = match key {
                '\n' => Key::Enter,
                '\u{1b}' => Key::Escape,
                '\u{8}' => Key::Backspace,
                '^' => Key::Up,
                'v' => Key::Down,
                other => Key::Char(other),
            };
            last = cursor.press(key, &jobs);
        }
        last
    }

    fn shown(cursor: &Cursor) -> String {
        let jobs = jobs();
        let jobs: Vec<&JobView> = jobs.iter().collect();
        cursor.lines(&jobs).join("\n")
    }

    #[test]
    fn what_writes_is_done_only_after_a_yes() {
        let job = |id: char| format!("01j0000000000000000000000{id}").parse().unwrap();
        for (keys, id, action) in [
            ("ja", 'b', TopAction::Approve),
            ("jjm", 'c', TopAction::Merge),
            ("c", 'a', TopAction::Cancel),
            (
                "soh no\u{8}\u{8}k\n",
                'a',
                TopAction::Say("oh k".to_owned()),
            ),
        ] {
            let mut cursor = Cursor::default();
            assert_eq!(pressed(&mut cursor, keys), Pressed::Seen, "{keys}");
            assert!(shown(&cursor).contains(" `y` does it"), "{keys}");
            assert_eq!(pressed(&mut cursor, "y"), Pressed::Do(job(id), action));
            let mut cursor = Cursor::default();
            for no in ["n", "\n", "\u{1b}", "q"] {
                pressed(&mut cursor, keys);
                assert_eq!(pressed(&mut cursor, no), Pressed::Seen, "{keys}{no}");
                assert!(shown(&cursor).contains("Nothing was done."));
                pressed(&mut cursor, "^^^");
            }
        }
        assert_eq!(
            pressed(&mut Cursor::default(), "o"),
            Pressed::Do(job('a'), TopAction::Open)
        );
        assert_eq!(pressed(&mut Cursor::default(), "jq"), Pressed::Quit);
        assert_eq!(pressed(&mut Cursor::default(), "s\u{1b}q"), Pressed::Quit);
    }

    #[test]
    fn what_a_job_does_not_have_is_told_at_once() {
        for (keys, note) in [("a", "no plan that waits"), ("m", "no pull request yet")] {
            let mut cursor = Cursor::default();
            pressed(&mut cursor, keys);
            assert!(shown(&cursor).contains(note), "{}", shown(&cursor));
        }
    }

    #[test]
    fn the_cursor_stays_on_its_job_and_ids_stand_first() {
        let mut cursor = Cursor::default();
        pressed(&mut cursor, "vv^");
        let text = shown(&cursor);
        assert!(
            text.contains("> 01j0000000000000000000000b  asking"),
            "{text}"
        );
        assert!(text.contains("    1. Sweep"), "{text}");
        let jobs = jobs();
        let fewer: Vec<&JobView> = jobs.iter().skip(1).collect();
        assert!(cursor.lines(&fewer)[0].starts_with("> 01j0000000000000000000000b"));
        let gone: Vec<&JobView> = jobs.iter().take(1).collect();
        assert!(cursor.lines(&gone)[0].starts_with("> 01j0000000000000000000000a"));
        assert_eq!(cursor.lines(&[])[0], "No job is open.");
    }
}
