//! The name of a trial run: what its layers would have written is made up, and no session runs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How long a tag may be, since it is part of names of files.
const TAG_CHARS_MAX: usize = 40;

/// What every tag holds, so that nothing real is taken for a trial.
const MARK: &str = "mock";

/// The name of one trial run. Each file that it makes up holds it, by which all of them are found and removed again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MockTag(String);

/// A text that is no tag of a trial run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tag of a trial run has 1 to {TAG_CHARS_MAX} of a-z, 0-9 and `-`, and `{MARK}` is part of it"
)]
pub struct InvalidTag;

impl FromStr for MockTag {
    type Err = InvalidTag;

    fn from_str(text: &str) -> Result<Self, InvalidTag> {
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let mut words = text.split('-');
        let is_slug = words.all(|word| !word.is_empty() && word.chars().all(letter));
        let fits = is_slug && text.len() <= TAG_CHARS_MAX && text.contains(MARK);
        fits.then(|| Self(text.to_owned())).ok_or(InvalidTag)
    }
}

impl TryFrom<String> for MockTag {
    type Error = InvalidTag;

    fn try_from(text: String) -> Result<Self, InvalidTag> {
        text.parse()
    }
}

impl From<MockTag> for String {
    fn from(tag: MockTag) -> Self {
        tag.0
    }
}

impl fmt::Display for MockTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_that_it_is_a_trial() {
        for text in [
            "",
            "run-1",
            "Mock",
            "mock run",
            "mock_1",
            "mock/..",
            "-mock",
            &"mock".repeat(11),
        ] {
            assert_eq!(text.parse::<MockTag>(), Err(InvalidTag), "{text}");
        }
        for text in ["mock", "a-mock-2", "mockery"] {
            assert!(text.parse::<MockTag>().is_ok(), "{text}");
        }
    }
}
