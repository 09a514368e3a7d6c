//! What a session that reviews has to answer: one fenced JSON object, parsed strictly.

use serde::Deserialize;

use super::Verdict;
use super::text::{self, What};

/// The answer of a session that reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewOutput {
    /// The verdict.
    pub verdict: Verdict,
    /// In a few words.
    pub summary: String,
    /// What has to change; there with `not_pass`.
    pub feedback: Option<String>,
}

/// Why an answer cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer of the review is malformed: {0}")]
pub struct MalformedReview(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    verdict: Verdict,
    summary: String,
    #[serde(default)]
    feedback: Option<String>,
}

/// Reads the last message of a session that reviews.
///
/// # Errors
/// When there is not exactly one fenced object of the wanted form, or its feedback is missing or unusable.
pub fn parse(message: &str) -> Result<ReviewOutput, MalformedReview> {
    let odd = |why: &str| MalformedReview(why.to_owned());
    let body = fenced(message).ok_or_else(|| odd("it has not exactly one block of fenced JSON"))?;
    let written: Written = serde_json::from_str(body)
        .map_err(|_| odd("its block is no object with `verdict`, `summary` and `feedback`"))?;
    let refused = |(_, sentence): text::Refused| MalformedReview(sentence);
    let summary = text::checked(What::Summary, &written.summary).map_err(refused)?;
    let feedback = match written.verdict {
        Verdict::NotPass => {
            let feedback = written.feedback.as_deref().unwrap_or_default();
            Some(text::checked(What::Feedback, feedback).map_err(refused)?)
        }
        Verdict::Pass => None,
    };
    Ok(ReviewOutput {
        verdict: written.verdict,
        summary,
        feedback,
    })
}

/// The text of the only fenced block that is marked as JSON.
fn fenced(message: &str) -> Option<&str> {
    let mut parts = message.split("```json\n");
    let (_, block) = (parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (body, _) = block.split_once("\n```")?;
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fenced_object_is_read() {
        let text = "Done.\n```json\n{\"verdict\": \"not_pass\", \"summary\": \"Tests are missing\", \"feedback\": \"Test the cart.\"}\n```\n";
        let output = parse(text).unwrap();
        assert_eq!(output.verdict, Verdict::NotPass);
        assert_eq!(output.feedback.as_deref(), Some("Test the cart."));
        let pass = "```json\n{\"verdict\":\"pass\",\"summary\":\"Good\"}\n```";
        assert_eq!(parse(pass).unwrap().verdict, Verdict::Pass);
    }

    #[test]
    fn anything_else_is_malformed() {
        for text in [
            "",
            "pass",
            r#"{"verdict":"pass","summary":"Good"}"#,
            "```json\n{\"verdict\":\"pass\"}\n```",
            "```json\n{\"verdict\":\"good\",\"summary\":\"Good\"}\n```",
            "```json\n{\"verdict\":\"pass\",\"summary\":\" \"}\n```",
            "```json\n{\"verdict\":\"not_pass\",\"summary\":\"Bad\"}\n```",
            "```json\n{\"verdict\":\"not_pass\",\"summary\":\"Bad\",\"feedback\":\" \"}\n```",
            "```json\n{\"verdict\":\"pass\",\"summary\":\"Good\",\"merge\":true}\n```",
            "```json\n{\"verdict\":\"pass\",\"summary\":\"Good\"}",
            "```json\n{\"verdict\":\"pass\",\"summary\":\"a\"}\n```\n```json\n{\"verdict\":\"pass\",\"summary\":\"a\"}\n```",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
