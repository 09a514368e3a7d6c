//! Quality: texts that are there and say too little.

use super::artefacts::{Artefact, ArtefactKind, Artefacts};
use super::finding::{Report, Rule};
use crate::yaml::Node;

/// A sentence that says something has at least this many characters.
const SENTENCE_CHARS_MIN: usize = 20;

/// A criterion has at least this many.
const CRITERION_CHARS_MIN: usize = 8;

/// What a verification holds that was left open.
const OPEN: [&str; 3] = ["todo", "tbd", "fixme"];

/// Everything that warns about a text.
pub(super) fn check(report: &mut Report, artefacts: &Artefacts) {
    for event in artefacts.of_kinds(&[ArtefactKind::Pending, ArtefactKind::Decided]) {
        sentence(report, event, "statement");
    }
    for requirement in artefacts.of_kinds(&[ArtefactKind::Requirement]) {
        for key in ["problem", "impact", "desired_outcome"] {
            sentence(report, requirement, key);
        }
        for item in requirement.list("acceptance_criteria") {
            if length(item) < CRITERION_CHARS_MIN {
                let what = "a criterion says too little to be seen fulfilled";
                report.add(Rule::ShortText, &requirement.file, item.line, what);
            }
        }
        for item in requirement.list("verification_commands") {
            verification(report, requirement, item);
        }
    }
}

fn sentence(report: &mut Report, artefact: &Artefact, key: &str) {
    let Some(node) = artefact.get(key) else {
        return;
    };
    if node.text().is_some() && length(node) < SENTENCE_CHARS_MIN {
        let what = format!("`{key}` has under {SENTENCE_CHARS_MIN} characters");
        report.add(Rule::ShortText, &artefact.file, node.line, what);
    }
}

fn length(node: &Node) -> usize {
    node.text().unwrap_or_default().trim().chars().count()
}

/// Whether a text has a place to fill in, such as `<crate>`. Neither `a < b > c` nor `Vec<u8>` is one.
fn has_gap(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let (before, after) = (text.get(..at), text.get(at + 1..));
        let begins = before.is_some_and(|before| !before.ends_with(word));
        let inner = after.and_then(|after| Some(after.split_once('>')?.0));
        begins && inner.is_some_and(|inner| inner == inner.trim())
    })
}

fn verification(report: &mut Report, requirement: &Artefact, item: &Node) {
    let text = item.text().unwrap_or_default().to_lowercase();
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    if has_gap(&text) || words.any(|word| OPEN.contains(&word)) {
        let what = "the verification is left open";
        report.add(Rule::Vague, &requirement.file, item.line, what);
    }
}
