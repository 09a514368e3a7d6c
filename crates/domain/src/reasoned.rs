//! A reason as every surface tells it: of what does not move, and of what is wrong.

use serde::{Deserialize, Serialize};

use crate::redact::presentable;
use crate::when::to_the_second;

/// Longest sentence, in characters: it may hold a whole question.
const SENTENCE_CHARS_MAX: usize = 8_200;

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Reason")
)]
pub struct Reasoned {
    /// For programs, for example `checks_failed`.
    pub code: String,
    /// For people: what is the case, and what to do.
    pub sentence: String,
}

impl Reasoned {
    /// A reason whose sentence may hold any text from outside.
    pub fn new(code: &str, sentence: &str) -> Self {
        Self {
            code: code.to_owned(),
            sentence: shown(sentence),
        }
    }
}

/// A sentence as it is shown: times to the second, nothing that looks like a secret, and not too long.
pub(crate) fn shown(sentence: &str) -> String {
    presentable(&to_the_second(sentence), SENTENCE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_fit_to_be_shown() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let told = format!("{secret} is refused since 2026-03-01T12:00:00.123Z.");
        let reason = Reasoned::new("github_sign_in", &told);
        let sentence = "[secret] is refused since 2026-03-01T12:00:00Z.";
        assert_eq!(
            (&*reason.code, &*reason.sentence),
            ("github_sign_in", sentence)
        );
        let long = Reasoned::new("resting", &"x".repeat(SENTENCE_CHARS_MAX + 1));
        assert!(long.sentence.ends_with("x…"));
    }
}
