//! Texts that people and agents send about a delivery: refused when they are blank, too long or hold a secret.

use std::borrow::Cow;

use crate::fence::{clip_encoded, encoded_len};
use crate::redact::{holds_secret, presentable, storable};

/// Longest summary of a delivery, in characters.
pub const TITLE_CHARS_MAX: usize = 200;

/// Longest description that is kept of an issue, in bytes as JSON.
pub const DESCRIPTION_BYTES_MAX: usize = 8_000;

/// Most acceptance criteria of one delivery.
pub const CRITERIA_MAX: usize = 20;

/// Longest acceptance criterion, in characters.
pub const CRITERION_CHARS_MAX: usize = 200;

/// Longest acceptance criteria together, in bytes as JSON.
pub const CRITERIA_BYTES_MAX: usize = 6_000;

/// Longest plan, in bytes as JSON.
pub const PLAN_BYTES_MAX: usize = 16_000;

/// Most files that a plan names, and the longest name of one, in characters.
pub(super) const TARGETS_MAX: (usize, usize) = (50, 200);

/// Longest feedback, reason or analysis, in characters.
pub const FEEDBACK_CHARS_MAX: usize = 1_000;

/// Why a text is refused: a code and a sentence.
pub(super) type Refused = (&'static str, String);

/// What a text is for, which decides the codes of its refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Summary,
    Description,
    Criterion,
    Feedback,
    Reason,
    Plan,
    Analysis,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Description => "description",
            Self::Criterion => "acceptance_criteria",
            Self::Feedback => "feedback",
            Self::Reason => "reason",
            Self::Plan => "content",
            Self::Analysis => "analysis",
        }
    }

    /// Codes of a text that is empty and of one that is too long.
    fn codes(self) -> (&'static str, &'static str) {
        match self {
            Self::Summary => ("summary_empty", "summary_too_long"),
            Self::Description => ("description_empty", "description_too_long"),
            Self::Criterion => ("criterion_empty", "criterion_too_long"),
            Self::Feedback => ("feedback_empty", "feedback_too_long"),
            Self::Reason => ("reason_empty", "reason_too_long"),
            Self::Plan => ("plan_empty", "plan_too_long"),
            Self::Analysis => ("analysis_empty", "analysis_too_long"),
        }
    }

    /// The text; one that is shown on one line loses its line ends.
    fn on_its_lines(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Summary | Self::Criterion => Cow::Owned(one_line(text)),
            Self::Description | Self::Feedback | Self::Reason | Self::Plan | Self::Analysis => {
                Cow::Borrowed(text)
            }
        }
    }

    /// Its limit, and whether it counts bytes as JSON instead of characters.
    fn limit(self) -> (usize, bool) {
        match self {
            Self::Summary => (TITLE_CHARS_MAX, false),
            Self::Description => (DESCRIPTION_BYTES_MAX, true),
            Self::Criterion => (CRITERION_CHARS_MAX, false),
            Self::Feedback | Self::Reason | Self::Analysis => (FEEDBACK_CHARS_MAX, false),
            Self::Plan => (PLAN_BYTES_MAX, true),
        }
    }
}

/// The text as it is stored.
///
/// # Errors
/// When it is blank, too long, or holds a secret.
pub(super) fn checked(what: What, text: &str) -> Result<String, Refused> {
    let name = what.name();
    let (empty, too_long) = what.codes();
    let text = &what.on_its_lines(text);
    let shown = presentable(text.trim(), usize::MAX);
    if shown.trim().is_empty() {
        return Err((empty, format!("`{name}` is empty")));
    }
    let (max, in_bytes) = what.limit();
    let (long, unit) = if in_bytes {
        (encoded_len(text.trim()), "bytes as JSON")
    } else {
        (text.trim().chars().count(), "characters")
    };
    if long > max {
        return Err((
            too_long,
            format!("`{name}` has {long} {unit}, at most {max}"),
        ));
    }
    no_secret(name, text)?;
    Ok(shown)
}

/// Refuses what looks like a secret.
pub(super) fn no_secret(name: &str, text: &str) -> Result<(), Refused> {
    // Hidden characters could split a secret.
    let visible = crate::fence::clip(text, usize::MAX);
    if holds_secret(&visible) {
        return Err((
            "secret_in_text",
            format!(
                "`{name}` holds what looks like a secret: take it out, since it is stored and sent to Jules"
            ),
        ));
    }
    Ok(())
}

/// An optional text: nothing where it is blank.
pub(super) fn optional(what: What, text: Option<&str>) -> Result<Option<String>, Refused> {
    let given = text.map(str::trim).filter(|text| !text.is_empty());
    given.map(|text| checked(what, text)).transpose()
}

/// Acceptance criteria as they are stored.
pub(super) fn criteria(lines: &[String]) -> Result<Vec<String>, Refused> {
    if lines.len() > CRITERIA_MAX {
        return Err((
            "too_many_criteria",
            format!(
                "{} acceptance criteria, at most {CRITERIA_MAX}",
                lines.len()
            ),
        ));
    }
    let bytes: usize = lines.iter().map(|line| encoded_len(line)).sum();
    if bytes > CRITERIA_BYTES_MAX {
        return Err((
            "criteria_too_long",
            format!(
                "the acceptance criteria have {bytes} bytes as JSON, at most {CRITERIA_BYTES_MAX}"
            ),
        ));
    }
    let line = |line: &String| checked(What::Criterion, line);
    lines.iter().map(line).collect()
}

/// A plan of Jules as it is stored: cut and without secrets, since Jules cannot be asked for another one.
pub(super) fn stored_plan(text: &str) -> String {
    storable(text, PLAN_BYTES_MAX)
}

/// What is kept of an issue: of a text from outside, cut and without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueText {
    /// Its title, as a summary.
    pub summary: String,
    /// Its body.
    pub description: Option<String>,
    /// Its `- [ ]` lines.
    pub acceptance_criteria: Vec<String>,
}

/// Reads an issue: what it is about, and the lines of its task list as acceptance criteria.
pub fn of_issue(number: u64, title: &str, body: Option<&str>) -> IssueText {
    let summary = presentable(&one_line(title), TITLE_CHARS_MAX.saturating_sub(30));
    let body = body.unwrap_or_default();
    let tasks = body.lines().filter_map(task);
    let tasks = tasks.map(|line| presentable(line, CRITERION_CHARS_MAX - 1));
    let mut left = CRITERIA_BYTES_MAX;
    let fits = |line: &String| {
        let bytes = encoded_len(line);
        let fits = bytes <= left && !line.trim().is_empty();
        left = left.saturating_sub(if fits { bytes } else { 0 });
        fits
    };
    let stored = storable(body.trim(), DESCRIPTION_BYTES_MAX);
    IssueText {
        summary: format!("GitHub Issue #{number}: {summary}"),
        description: Some(stored).filter(|text| !text.is_empty()),
        acceptance_criteria: tasks.filter(fits).take(CRITERIA_MAX).collect(),
    }
}

/// A part into which a delivery is split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is about.
    pub summary: String,
    /// When it is done.
    pub acceptance_criteria: Vec<String>,
}

/// Parts as people type them: a line each, and below it its criteria, which are read as those of an issue. None where a
/// criterion belongs to no part.
pub fn typed_parts(text: &str) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match task(line) {
            Some("") => {}
            Some(criterion) => {
                let criteria = &mut parts.last_mut()?.acceptance_criteria;
                criteria.push(criterion.to_owned());
            }
            None => parts.push(Part {
                summary: line.to_owned(),
                acceptance_criteria: Vec::new(),
            }),
        }
    }
    Some(parts)
}

/// The text of an open line of a task list.
fn task(line: &str) -> Option<&str> {
    let item = line.trim_start();
    let marked = ["- ", "* ", "+ "]
        .iter()
        .find_map(|it| item.strip_prefix(it));
    marked?.trim_start().strip_prefix("[ ]").map(str::trim)
}

/// A text without its line ends.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// A short text from outside, such as why a session failed.
pub(super) fn short(text: &str, chars_max: usize) -> String {
    clip_encoded(&presentable(text, chars_max), chars_max.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn blank_long_and_secret_texts_are_refused() {
        let code = |what, text: &str| checked(what, text).unwrap_err().0;
        for (what, name) in [
            (What::Feedback, "feedback"),
            (What::Reason, "reason"),
            (What::Plan, "plan"),
            (What::Summary, "summary"),
            (What::Analysis, "analysis"),
        ] {
            for blank in ["", " \n\t", "\u{200b}"] {
                assert_eq!(code(what, blank), format!("{name}_empty"));
            }
            let long = "x".repeat(what.limit().0 + 1);
            assert_eq!(code(what, &long), format!("{name}_too_long"));
            let secret = "use ghp_0123\u{200b}456789abcdefghijABCDEFGHIJ012345";
            assert_eq!(code(what, secret), "secret_in_text");
            assert_eq!(checked(what, " good \n").unwrap(), "good");
        }
        for what in [What::Summary, What::Criterion] {
            assert_eq!(checked(what, " one\n\n two\t").unwrap(), "one two");
        }
        assert_eq!(optional(What::Reason, Some(" ")), Ok(None));
        let many = vec!["x".to_owned(); CRITERIA_MAX + 1];
        assert_eq!(criteria(&many).unwrap_err().0, "too_many_criteria");
    }

    #[test]
    fn parts_are_typed_with_their_criteria_below_them() {
        let typed = "The box\n  - [ ] it is there\n* [ ] it is round\n- [ ]\n\nThe index\n";
        let parts = typed_parts(typed).unwrap();
        let told = |part: &Part| (part.summary.clone(), part.acceptance_criteria.join(", "));
        let told: Vec<(String, String)> = parts.iter().map(told).collect();
        let wanted = [("The box", "it is there, it is round"), ("The index", "")];
        assert_eq!(told, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!(typed_parts(" \n"), Some(Vec::new()));
        assert_eq!(typed_parts("- [ ] it is there\nThe box"), None);
    }

    #[test]
    fn an_issue_is_taken_with_its_open_tasks() {
        let body = "Add search.\n\n- [ ] finds by name\n- [x] done before\n  * [ ] finds by tag\n- [ ]\n-[ ] no item\nkey ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let text = of_issue(12, " Add\n search\u{202e} ", Some(body));
        expect![[r#"
            IssueText {
                summary: "GitHub Issue #12: Add search",
                description: Some(
                    "Add search.\n\n- [ ] finds by name\n- [x] done before\n  * [ ] finds by tag\n- [ ]\n-[ ] no item\nkey [secret]",
                ),
                acceptance_criteria: [
                    "finds by name",
                    "finds by tag",
                ],
            }
        "#]]
        .assert_debug_eq(&text);
        let bare = of_issue(13, &"x".repeat(1_000), None);
        assert!(bare.summary.chars().count() <= TITLE_CHARS_MAX);
        assert_eq!(bare.description, None);
        let wide = format!("- [ ] {}\n", "\u{1F980}".repeat(150));
        let wide = of_issue(15, "t", Some(&wide.repeat(30)));
        assert_eq!(wide.acceptance_criteria.len(), 10);
        assert!(criteria(&wide.acceptance_criteria).is_ok());
        let long = of_issue(14, "t", Some(&"- [ ] y\n".repeat(10_000)));
        assert_eq!(long.acceptance_criteria.len(), CRITERIA_MAX);
        assert!(encoded_len(&long.description.unwrap()) <= DESCRIPTION_BYTES_MAX);
    }
}
