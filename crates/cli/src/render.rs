//! The only place that writes to stdout and stderr: tables and lines for people, JSON for programs.

use std::io::{self, ErrorKind, IsTerminal, Write};

use clap::builder::StyledStr;
use client::wire::Reason;
use console::{Style, Term, truncate_str};
use domain::fence::clip;
use jiff::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec};
use serde::Serialize;
use serde_json::Value;

mod layout;
pub(crate) mod next;

pub(crate) use layout::Look;

/// What a command has to say, for people and for programs alike.
#[derive(Debug)]
pub(crate) struct Answer {
    json: Value,
    parts: Vec<Part>,
    piped: Option<String>,
}

#[derive(Debug)]
enum Part {
    Line(String),
    Table {
        head: Vec<&'static str>,
        rows: Vec<Vec<String>>,
    },
    Pairs(Vec<(&'static str, String)>),
    /// A finding: how bad, and then what, why and what fixes it, each on a line of its own.
    Finding {
        bad: &'static str,
        lines: Vec<String>,
    },
}

impl Answer {
    /// An answer with its JSON form, which has to stay compatible over versions.
    pub(crate) fn new(json: Value) -> Self {
        Self {
            json,
            parts: Vec::new(),
            piped: None,
        }
    }

    /// Adds a line for people.
    pub(crate) fn line(mut self, line: impl Into<String>) -> Self {
        self.parts.push(Part::Line(line.into()));
        self
    }

    /// The text for a program at the other end of a pipe, in place of that for people.
    pub(crate) fn piped(mut self, text: String) -> Self {
        self.piped = Some(text);
        self
    }

    /// Adds what another answer has for people.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// Adds a table for people, or the text `none` in place of an empty one.
    pub(crate) fn table(
        mut self,
        head: &[&'static str],
        rows: Vec<Vec<String>>,
        none: &str,
    ) -> Self {
        self.parts.push(if rows.is_empty() {
            Part::Line(none.to_owned())
        } else {
            Part::Table {
                head: head.to_vec(),
                rows,
            }
        });
        self
    }

    /// Adds names with their values for people; a value that is empty is left out.
    pub(crate) fn pairs(mut self, pairs: Vec<(&'static str, String)>) -> Self {
        self.parts.push(Part::Pairs(
            pairs
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .collect(),
        ));
        self
    }

    /// Adds a finding: its severity, and its lines.
    pub(crate) fn finding(mut self, bad: &'static str, lines: Vec<String>) -> Self {
        self.parts.push(Part::Finding { bad, lines });
        self
    }

    /// Adds how many findings there are.
    pub(crate) fn findings(self, errors: usize, warnings: usize) -> Self {
        let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
        self.line(format!("{errors}, {warnings}."))
    }

    /// What people read where no terminal shows it.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.shown(Look::default())
    }

    /// What people read.
    pub(crate) fn shown(&self, look: Look) -> String {
        // Text from outside must not move the cursor or hide anything.
        let clean = |text: &str| clip(text, usize::MAX);
        let parts = self.parts.iter().map(|part| match part {
            Part::Line(line) => clean(line),
            Part::Table { head, rows } => {
                let row = |row: &Vec<String>| row.iter().map(|cell| clean(cell)).collect();
                let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
                layout::of_rows(head, &rows, look)
            }
            Part::Pairs(pairs) => {
                let pair = |(name, value): &(&'static str, String)| (*name, clean(value));
                layout::of_pairs(&pairs.iter().map(pair).collect::<Vec<_>>(), look)
            }
            Part::Finding { bad, lines } => {
                let lines: Vec<_> = lines.iter().map(|line| clean(line)).collect();
                layout::of_finding(bad, &lines, look)
            }
        });
        parts.collect::<Vec<_>>().join("\n")
    }
}

/// Any value as JSON. Our own types are plain data with text keys, so it cannot fail; a value that did would show as null.
pub(crate) fn value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// So many of something, for people.
pub(crate) fn counted(count: usize, word: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural}")
}

/// What there is, for people; empty where there is none.
pub(crate) fn or_empty(it: Option<impl ToString>) -> String {
    it.map(|it| it.to_string()).unwrap_or_default()
}

/// What there is, or a dash in its cell of a table.
pub(crate) fn or_dash(it: Option<impl ToString>) -> String {
    it.map_or_else(|| "-".to_owned(), |it| it.to_string())
}

/// A time for people, in UTC.
pub(crate) fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

pub(crate) fn answer(answer: &Answer, as_json: bool) -> io::Result<()> {
    if as_json {
        return json_line(&answer.json);
    }
    match &answer.piped {
        Some(text) if !io::stdout().is_terminal() => line(text),
        Some(_) | None => line(&answer.shown(look(&Term::stdout()))),
    }
}

/// Shows an answer in place of the terminal's content, as much of it as fits.
pub(crate) fn screen(answer: &Answer, term: &Term) -> io::Result<()> {
    let (rows, columns) = term.size();
    let text = answer.shown(look(term));
    term.hide_cursor()?;
    term.move_cursor_to(0, 0)?;
    for line in text.lines().take(usize::from(rows).saturating_sub(1)) {
        term.clear_line()?;
        term.write_line(&truncate_str(line, columns.into(), "…"))?;
    }
    term.clear_to_end_of_screen()?;
    term.show_cursor()
}

/// How a terminal shows things; anything else gets plain lines of any length.
fn look(term: &Term) -> Look {
    let is_term = term.is_term();
    Look {
        width: is_term.then(|| usize::from(term.size().1)),
        colour: is_term && console::colors_enabled(),
    }
}

/// Prints one JSON value on a line of its own.
pub(crate) fn json_line(value: &Value) -> io::Result<()> {
    line(&value.to_string())
}

pub(crate) fn line(text: &str) -> io::Result<()> {
    raw(format!("{text}\n").as_bytes())
}

/// Prints raw bytes. Fails with [`is_unread`] when the reader is gone.
pub(crate) fn raw(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| {
        if error.kind() == ErrorKind::BrokenPipe {
            return io::Error::other(Unread);
        }
        error
    })
}

/// Prints what a long-running process is, whether or not that is read.
pub(crate) fn announcement(what: &Answer, as_json: bool) -> io::Result<()> {
    match answer(what, as_json) {
        Err(error) if is_of_unread(&error) => Ok(()),
        told => told,
    }
}

/// A reader that has seen enough, such as `head`: the command has nothing more to do.
#[derive(Debug, thiserror::Error)]
#[error("the reader of the output is gone")]
struct Unread;

fn is_of_unread(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Unread>())
}

/// Whether a command ended because its output has no reader any more, which is no failure.
pub(crate) fn is_unread(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|it| it.downcast_ref::<io::Error>());
    causes.any(is_of_unread)
}

/// Whether the reader of stdout is known to be gone, for a command with nothing to print just now.
pub(crate) fn reader_is_gone() -> bool {
    let stdout = io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec::default();
    let polled = rustix::event::poll(&mut watched, Some(&at_once)).is_ok();
    polled && watched[0].revents().contains(PollFlags::ERR)
}

/// Prints a note to a person that is no answer. A missing reader is no failure.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Overwrites the line of a terminal. The text is cut to its width, since a wrapped line stays.
pub(crate) fn rewritten(term: &Term, text: &str) {
    let (_, columns) = term.size();
    let _ = term.clear_line();
    let _ = term.write_str(&truncate_str(text, columns.into(), "…"));
    let _ = term.flush();
}

/// A failure as it is printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ErrorText {
    /// For programs.
    pub(crate) code: String,
    /// What failed and why, in one line.
    #[serde(rename = "error")]
    pub(crate) what: String,
    /// What to do next, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// All reasons of a refusal that has more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasons: Vec<Reason>,
    /// What is there already and stands in the way, by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) existing: Option<String>,
    /// How the process ends.
    #[serde(skip)]
    pub(crate) exit: u8,
}

pub(crate) fn failure(told: &ErrorText, as_json: bool, program: &str) {
    if as_json {
        return note(&value(told).to_string());
    }
    let colour = Term::stderr().is_term() && console::colors_enabled_stderr();
    let style = |style: Style| Some(style.force_styling(true)).filter(|_| colour);
    let program = format!("{program}:");
    let name = layout::paint(&program, style(Style::new().red().bold()).as_ref());
    note(&format!("{name} {}", told.what));
    if let Some(next) = &told.next {
        let name = layout::paint("next:", style(Style::new().cyan()).as_ref());
        note(&format!("{name} {next}"));
    }
}

/// Prints help or the version, which are answers.
pub(crate) fn help(help: &clap::Error) -> io::Result<()> {
    unless_gone(help.print())
}

/// Prints the help of an incomplete command on stderr.
pub(crate) fn usage(help: &StyledStr) {
    let terminal = Term::stderr();
    let text = if terminal.is_term() && console::colors_enabled_stderr() {
        help.ansi().to_string()
    } else {
        help.to_string()
    };
    note(text.trim_end());
}

/// A reader that has seen enough is no failure.
fn unless_gone(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
