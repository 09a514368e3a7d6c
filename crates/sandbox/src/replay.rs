//! A recorded Jules: answers the requests of a transcript with the answers that were recorded.
//! What is answered depends on what was written before, as in the recording: a read that came after a write is answered so only after that write.

mod server;
mod tape;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::scenario::read_json;

pub use server::Replay;

/// The key that a recorded Jules takes; any other one is answered as the wrong key of the recording was.
pub const REPLAY_KEY: &str = "replay-key";

/// One request and its answer: a line of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// What was asked.
    pub request: Asked,
    /// What was answered.
    pub response: Answered,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// `GET`, `POST` or `DELETE`.
    pub method: String,
    /// The path below `/v1alpha`; empty for the description of the service.
    pub path: String,
    /// The query, not encoded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<(String, String)>,
    /// What was sent along, with private parts masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// [`digest`] of what was really sent along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_digest: Option<String>,
    /// Whether a wrong key was shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrong_key: bool,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The HTTP status.
    pub status: u16,
    /// Some of its headers.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub headers: std::collections::BTreeMap<String, String>,
    /// Its body with private parts masked: JSON, or a text; null when it was empty.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
}

/// By what a body is recognised without being kept.
#[must_use]
pub fn digest(body: &Value) -> String {
    hex::encode(Sha256::digest(body.to_string()))
}

/// Everything that was recorded, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript(pub Vec<Exchange>);

impl Transcript {
    /// Reads a transcript: one exchange a line.
    ///
    /// # Errors
    /// [`Error::ScenarioFile`] when the file cannot be read, [`Error::Scenario`] naming the line and field that is wrong.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::ScenarioFile {
            path: path.to_owned(),
            source,
        })?;
        Self::from_lines(&text)
    }

    /// Reads a transcript from text.
    ///
    /// # Errors
    /// [`Error::Scenario`] naming the line and field that is wrong.
    pub fn from_lines(text: &str) -> Result<Self, Error> {
        let lines = text.lines().enumerate();
        let read = |(at, line): (usize, &str)| {
            read_json(line.as_bytes()).map_err(|(field, problem)| Error::Scenario {
                field: format!("line {}: {field}", at + 1),
                problem,
            })
        };
        let full = lines.filter(|(_, line)| !line.trim().is_empty());
        full.map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The transcript as text.
    #[must_use]
    pub fn to_lines(&self) -> String {
        let line = |it: &Exchange| serde_json::to_string(it).unwrap_or_default();
        self.0.iter().map(|it| line(it) + "\n").collect()
    }
}

#[cfg(test)]
mod tests;
