//! Questions to whoever sits at the terminal.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use secrecy::SecretString;

/// Somebody who can be asked.
pub(crate) trait Person {
    /// One line, trimmed; empty when nothing was typed.
    fn line(&mut self, question: &str) -> Result<String>;

    /// One line that is not shown while it is typed.
    fn hidden(&mut self, question: &str) -> Result<SecretString>;
}

/// The terminal this process runs in.
struct Terminal(console::Term);

/// The person at the terminal; none when there is no terminal or nothing is to be asked.
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
}

/// Somebody whose answers are known beforehand.
#[cfg(test)]
pub(crate) struct Scripted {
    /// What they say, in order.
    pub(crate) answers: std::collections::VecDeque<&'static str>,
    /// What they were asked.
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
}
