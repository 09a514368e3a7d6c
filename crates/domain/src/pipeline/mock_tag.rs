//! The name of a trial run: what its layers would have written is made up, and no session runs.

use crate::ids::text_id;

/// How long a tag may be, since it is part of names of files.
const TAG_CHARS_MAX: usize = 40;

/// What every tag holds, so that nothing real is taken for a trial.
const MARK: &str = "mock";

text_id!(
    /// The name of one trial run. Each file that it makes up holds it, by which all of them are found and removed again.
    MockTag, "tag of a trial run", "1 to 40 of a-z, 0-9 and `-`, with `mock` in it", is_tag;
    /// The name of a trial run, with `mock` in it.
    { "pattern": "^([a-z0-9]+-)*[a-z0-9]*mock[a-z0-9]*(-[a-z0-9]+)*$", "maxLength": 40, "examples": ["mock-1"] }
);

fn is_tag(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut words = text.split('-');
    let is_slug = words.all(|word| !word.is_empty() && word.chars().all(letter));
    is_slug && text.len() <= TAG_CHARS_MAX && text.contains(MARK)
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
            assert!(text.parse::<MockTag>().is_err(), "{text}");
        }
        for text in ["mock", "a-mock-2", "mockery"] {
            assert!(text.parse::<MockTag>().is_ok(), "{text}");
        }
    }
}
