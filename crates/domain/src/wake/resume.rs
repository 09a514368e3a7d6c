//! The agent's own value, by which it resumes its work.

use serde::{Deserialize, Serialize};

use crate::fence::is_invisible;
use crate::redact::holds_secret;

/// Longest, in characters.
const CHARS_MAX: usize = 200;

/// A value that an agent wants to find in each of its wakes, for example the id of its own session. Gaffer does not
/// interpret it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Resume(String);

/// It cannot be sent with a wake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidResume(&'static str);

impl Resume {
    /// The value.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Resume {
    type Err = InvalidResume;

    fn from_str(text: &str) -> Result<Self, InvalidResume> {
        if text.trim().is_empty() || text.chars().count() > CHARS_MAX {
            return Err(InvalidResume("a resume id has 1 to 200 characters"));
        }
        if text.chars().any(|c| is_invisible(c) || c.is_control()) {
            return Err(InvalidResume(
                "a resume id has only characters that can be seen, on one line",
            ));
        }
        if holds_secret(text) {
            return Err(InvalidResume(
                "a resume id must not hold what looks like a secret: it is stored and shown",
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for Resume {
    type Error = InvalidResume;

    fn try_from(text: String) -> Result<Self, InvalidResume> {
        text.parse()
    }
}

impl From<Resume> for String {
    fn from(resume: Resume) -> Self {
        resume.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resume_id_is_one_short_visible_line() {
        let longest = "\u{1F980}".repeat(CHARS_MAX);
        for fine in ["7f3a", "claude --resume 7f3a \"x\"", longest.as_str()] {
            assert_eq!(fine.parse::<Resume>().unwrap().as_str(), fine);
        }
        let long = "x".repeat(CHARS_MAX + 1);
        for odd in [
            "",
            " ",
            "a\nb",
            "a\tb",
            "a\u{202e}b",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            long.as_str(),
        ] {
            assert!(odd.parse::<Resume>().is_err(), "{odd:?}");
        }
    }
}
