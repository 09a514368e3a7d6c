//! Questions to the person at the terminal.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use secrecy::SecretString;

use crate::error::Error;

/// A person who can be asked.
pub(crate) trait Person {
    /// One line, trimmed; empty when nothing was typed.
    fn line(&mut self, question: &str) -> Result<String>;

    /// One line that is not shown while it is typed.
    fn hidden(&mut self, question: &str) -> Result<SecretString>;

    /// Reports what was wrong with an answer.
    fn show_error(&mut self, wrong: &Error);
}

/// Maximum number of times a question is asked: a closed terminal answers nothing for ever.
const ASKED_MAX: usize = 5;

/// Asks the same question again until the answer can be used.
pub(crate) fn ask<T>(
    person: &mut dyn Person,
    question: &str,
    read: impl Fn(&str) -> Result<T, Error>,
) -> Result<T> {
    again(person, |person| Ok(read(&person.line(question)?)))
}

/// The same for what is not shown while it is typed.
pub(crate) fn ask_hidden<T>(
    person: &mut dyn Person,
    question: &str,
    read: impl Fn(SecretString) -> Result<T, Error>,
) -> Result<T> {
    again(person, |person| Ok(read(person.hidden(question)?)))
}

fn again<T>(
    person: &mut dyn Person,
    ask: impl Fn(&mut dyn Person) -> Result<Result<T, Error>>,
) -> Result<T> {
    let mut asked = 1;
    loop {
        match ask(person)? {
            Err(wrong) if asked < ASKED_MAX => person.show_error(&wrong),
            read => return Ok(read?),
        }
        asked += 1;
    }
}

/// The terminal this process runs in.
struct Terminal(console::Term);

/// The person at the terminal; `None` when there is no terminal or nothing is to be asked.
pub(crate) fn here(ask_nothing: bool) -> Option<Box<dyn Person>> {
    let asks = !ask_nothing && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    asks.then(|| Box::new(Terminal(console::Term::stderr())) as Box<dyn Person>)
}

impl Person for Terminal {
    fn line(&mut self, question: &str) -> Result<String> {
        self.0
            .write_str(&format!("{question}: "))
            .and_then(|()| self.0.read_line())
            .map(|line| line.trim().to_owned())
            .context("asking at the terminal")
    }

    fn hidden(&mut self, question: &str) -> Result<SecretString> {
        self.0
            .write_str(&format!("{question} (not shown): "))
            .and_then(|()| self.0.read_secure_line())
            .map(|line| SecretString::from(line.trim()))
            .context("asking at the terminal")
    }

    fn show_error(&mut self, wrong: &Error) {
        let (what, next) = match wrong {
            Error::Usage { what, next }
            | Error::Refused { what, next, .. }
            | Error::Unfit { what, next, .. } => (what, next),
        };
        // If this cannot be shown, the question still comes again.
        let _ = self.0.write_line(&format!("  {what}: {next}."));
    }
}

/// A person whose answers are known beforehand.
#[cfg(test)]
pub(crate) struct Scripted {
    /// Their answers, in order.
    pub(crate) answers: std::collections::VecDeque<&'static str>,
    /// The questions so far.
    pub(crate) asked: Vec<String>,
}

#[cfg(test)]
impl Person for Scripted {
    fn line(&mut self, question: &str) -> Result<String> {
        self.asked.push(question.to_owned());
        self.answers
            .pop_front()
            .map(str::to_owned)
            .context("nothing more to say")
    }

    fn hidden(&mut self, question: &str) -> Result<SecretString> {
        self.line(question).map(SecretString::from)
    }

    fn show_error(&mut self, wrong: &Error) {
        self.asked.push(wrong.to_string());
    }
}
