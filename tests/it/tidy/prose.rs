//! Text of every kind: spaces at line ends, paths of one machine, and sentences in Markdown.

use super::Finding;
use super::code::line_at;

/// Folders of the machines this was written on. They are put together here, so that this file
/// does not hold what it looks for.
const MACHINE_FOLDERS: [&str; 2] = [concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// Abbreviations after which a capital letter opens no sentence.
const ABBREVIATIONS: [&str; 5] = ["e.g", "i.e", "etc", "cf", "vs"];

/// No line ends in a space, a tab or a carriage return. Recorded answers stay as they were.
pub(super) fn trailing_space(path: &str, text: &str) -> Vec<Finding> {
    if is_recorded(path) {
        return Vec::new();
    }
    let lines = (1..).zip(text.split('\n'));
    let found = lines.filter(|(_, line)| line.ends_with([' ', '\t', '\r']));
    found
        .map(|(line, _)| Finding::new(path, line, "take away the space at the line's end"))
        .collect()
}

/// No file points into a folder that only one machine has.
pub(super) fn machine_path(path: &str, text: &str) -> Vec<Finding> {
    let found = MACHINE_FOLDERS.iter().flat_map(|folder| {
        text.match_indices(folder)
            .filter(|(at, _)| opens_a_path(text, *at))
    });
    let advice = "a path of one machine: write it from the repository's root, or pass it in";
    found
        .map(|(at, _)| Finding::new(path, line_at(text, at), advice))
        .collect()
}

/// Pronouns of no subject: a comment names who acts.
const NO_SUBJECT: [&str; 4] = ["whoever", "somebody", "nobody", "anybody"];

/// The pages beside those of `docs`.
const PAGES: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Longest line of a comment, in characters.
const COMMENT_CHARS_MAX: usize = 140;

/// Comments name their subject, and their lines fit on a screen. Words in backticks are names.
pub(super) fn comments(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let lines = (1..).zip(text.lines());
    let comments = lines.filter(|(_, line)| line.trim_start().starts_with("//"));
    comments
        .filter_map(|(line, comment)| {
            let advice = wrong_comment(comment.trim_start())?;
            Some(Finding::new(path, line, advice))
        })
        .collect()
}

fn wrong_comment(comment: &str) -> Option<String> {
    if comment.chars().count() > COMMENT_CHARS_MAX {
        return Some(format!(
            "keep a comment's line to {COMMENT_CHARS_MAX} characters"
        ));
    }
    without_subject(comment)
}

/// What to do about the first pronoun of no subject in a line, if it has one.
fn without_subject(line: &str) -> Option<String> {
    let prose = without_code(line).to_lowercase();
    let mut words = prose.split(|it: char| !it.is_alphabetic());
    let word = words.find(|word| NO_SUBJECT.contains(word))?;
    Some(format!("name who is meant by `{word}`"))
}

/// The pages of the project name their subject as comments do.
pub(super) fn subjects(path: &str, text: &str) -> Vec<Finding> {
    let is_page = path.starts_with("docs/") && path.ends_with(".md");
    if !(is_page || PAGES.contains(&path)) {
        return Vec::new();
    }
    outside_fences(text)
        .filter_map(|(line, text)| Some(Finding::new(path, line, without_subject(text)?)))
        .collect()
}

/// Markdown has one sentence per line, so that a change of one sentence is a change of one line.
pub(super) fn one_sentence_per_line(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".md") || is_recorded(path) {
        return Vec::new();
    }
    let lines = outside_fences(text).filter(|(_, text)| !text.starts_with('|'));
    let advice = "start the second sentence on its own line";
    lines
        .filter(|(_, text)| holds_two_sentences(text))
        .map(|(line, _)| Finding::new(path, line, advice))
        .collect()
}

/// The lines of a Markdown text outside of its blocks of code, without the spaces before them, each with its number.
fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    let lines = (1..).zip(text.lines().map(str::trim_start));
    lines.filter(move |(_, text)| match fence {
        Some(open) => {
            fence = fence.filter(|_| !text.starts_with(open));
            false
        }
        None => {
            fence = ["```", "~~~"]
                .into_iter()
                .find(|fence| text.starts_with(fence));
            fence.is_none()
        }
    })
}

/// Whether a file is kept as another service sent it.
fn is_recorded(path: &str) -> bool {
    path.split('/').any(|part| part == "fixtures")
}

/// Whether a path begins at `at`, rather than going on: `crates/x/…` is not absolute.
fn opens_a_path(text: &str, at: usize) -> bool {
    let (before, _) = text.split_at(at);
    let goes_on = |it: char| it.is_alphanumeric() || "._-*~})>".contains(it);
    !before.chars().next_back().is_some_and(goes_on)
}

fn holds_two_sentences(line: &str) -> bool {
    let prose = without_code(without_marker(line));
    prose.match_indices(". ").any(|(at, stop)| {
        let (before, from) = prose.split_at(at);
        let after = from.get(stop.len()..).unwrap_or_default();
        let capital = after
            .trim_start()
            .chars()
            .next()
            .is_some_and(char::is_uppercase);
        capital
            && !ABBREVIATIONS
                .iter()
                .any(|short| ends_in_word(before, short))
    })
}

/// The line without the number of a numbered list.
fn without_marker(line: &str) -> &str {
    let line = line.trim_start_matches(['>', ' ', '-', '*', '#']);
    let digits = line.trim_start_matches(|it: char| it.is_ascii_digit());
    match digits.strip_prefix(". ") {
        Some(item) if digits.len() < line.len() => item,
        Some(_) | None => line,
    }
}

/// The line with each `code` span as one lower-case letter.
fn without_code(line: &str) -> String {
    let mut spans = line.split('`').enumerate();
    spans
        .by_ref()
        .map(|(at, span)| if at % 2 == 0 { span } else { "x" })
        .collect()
}

fn ends_in_word(before: &str, word: &str) -> bool {
    before
        .strip_suffix(word)
        .is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
}

#[test]
fn a_space_at_the_end_is_found() {
    let findings = trailing_space("a.toml", "a\nb \nc\t\nd\r\ne");
    let lines: Vec<_> = findings.iter().map(|finding| finding.line).collect();
    assert_eq!(lines, [2, 3, 4]);
    assert_eq!(trailing_space("a.toml", "a\n\nb\n"), []);
    assert_eq!(trailing_space("tests/fixtures/a.json", "a \n"), []);
}

#[test]
fn a_path_of_one_machine_is_found() {
    for folder in MACHINE_FOLDERS {
        let told = machine_path("a.md", &format!("x\nsee {folder}main"));
        assert_eq!(told.len(), 1, "{folder}");
        let told = machine_path("a.rs", &format!("\"{folder}\""));
        assert_eq!(told.len(), 1, "{folder}");
        let told = machine_path("a.rs", &format!("crates{folder}a.rs"));
        assert_eq!(told, [], "{folder}");
    }
    assert_eq!(machine_path("a.md", "workers/root"), []);
}

#[test]
fn a_comment_without_subject_or_end_is_found() {
    let count = |text: &str| comments("a.rs", text).len();
    assert_eq!(count("/// Whoever asks gets it.\n//! Nobody does."), 2);
    assert_eq!(count(&format!("// {}", "a ".repeat(COMMENT_CHARS_MAX))), 1);
    assert_eq!(count("/// Either `agent` or `nobody`.\nlet nobody = 1;"), 0);
    assert_eq!(comments("a.md", "// somebody"), []);
}

#[test]
fn a_page_without_subject_is_found() {
    let found = subjects(
        "docs/a.md",
        "Whoever asks.\n```\nnobody\n```\n| `nobody` | nobody |",
    );
    let lines: Vec<_> = found.iter().map(|finding| finding.line).collect();
    assert_eq!(lines, [1, 5]);
    assert_eq!(subjects("README.md", "Somebody.").len(), 1);
    assert_eq!(subjects("crates/a.md", "Somebody."), []);
}

#[test]
fn a_second_sentence_is_found() {
    let two = |text: &str| one_sentence_per_line("a.md", text).len();
    assert_eq!(two("One here. Two there."), 1);
    assert_eq!(two("1. One here. Two there."), 1);
    assert_eq!(two("Ends in `code`. Then goes on."), 1);
    assert_eq!(two("```\nOne. Two.\n```\nThree. Four."), 1);
    assert_eq!(two("| one. Two | x |\n\nOne.  Two."), 1);
}

#[test]
fn one_sentence_is_left_alone() {
    let one = |text: &str| one_sentence_per_line("a.md", text);
    assert_eq!(one("1. One here.\n2. Two there.\n> - 3. Three."), []);
    let told = one("Some, e.g. Jules, i.e. Google's, etc. That is all.");
    assert_eq!(told, []);
    assert_eq!(one("A version 1.2. or `a. B` in code."), []);
    assert_eq!(one("~~~\nOne. Two.\n```\nThree. Four.\n~~~"), []);
    assert_eq!(one_sentence_per_line("a.txt", "One. Two."), []);
    let told = one_sentence_per_line("tests/fixtures/a.md", "One. Two.");
    assert_eq!(told, []);
    let told = one_sentence_per_line("a.md", "The crate decides. Etcetc. Then");
    assert_eq!(told.len(), 1);
}
