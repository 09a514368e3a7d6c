//! Tidy: reads the whole tree and fails where it breaks a project rule.
//!
//! Each rule is a pure function over a path and a text, with its own planted violation beside it;
//! here they are run over what is really there.

mod arrows;
mod attributes;
mod circles;
mod code;
mod doubled;
mod literals;
mod modules;
mod programs;
mod prose;
mod purity;
mod rows;
mod shape;
mod shrinking;
mod tokens;
mod told;
mod tree;
mod tuples;
mod writers;

use std::error::Error;
use std::fmt;

type Outcome = Result<(), Box<dyn Error>>;

/// One broken rule: where, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    advice: String,
}

impl Finding {
    fn new(path: &str, line: usize, advice: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.advice)
    }
}

/// Fails with every finding on its own line.
#[track_caller]
fn none(findings: &[Finding]) {
    assert!(findings.is_empty(), "{}", listing(findings));
}

fn listing(findings: &[Finding]) -> String {
    let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
    format!("{} to tidy:\n{}", lines.len(), lines.join("\n"))
}

/// Runs one rule over every text file of the tree.
fn everywhere(rule: impl Fn(&str, &str) -> Vec<Finding>) {
    let files = tree::FILES.iter();
    let findings = files.flat_map(|file| rule(&file.path, &file.text));
    none(&findings.collect::<Vec<_>>());
}

#[test]
fn the_walk_sees_the_tree_and_nothing_built() {
    let files = &tree::FILES;
    let seen = |path: &str| files.iter().any(|file| file.path == path);
    for path in [
        ".ci/run",
        "Cargo.toml",
        "crates/domain/src/lib.rs",
        "tests/it/tidy.rs",
    ] {
        assert!(
            seen(path),
            "{path} was not walked, so nothing in it was checked"
        );
    }
    assert!(!files.iter().any(|file| file.path.starts_with("target/")));
}

#[test]
fn every_file_says_what_lives_in_it() {
    everywhere(shape::head);
}

#[test]
fn files_stay_short() {
    everywhere(shape::length);
}

#[test]
fn names_say_what_is_inside() {
    everywhere(shape::names);
}

#[test]
fn types_have_names_of_their_own() {
    none(&doubled::unique(&tree::FILES));
}

#[test]
fn files_use_each_other_in_no_circle() {
    none(&circles::few(&tree::FILES));
}

#[test]
fn parameters_are_no_tuples() {
    none(&tuples::few(&tree::FILES));
}

#[test]
fn no_test_is_ignored() {
    everywhere(attributes::honest);
}

#[test]
fn lines_end_where_their_text_ends() {
    everywhere(prose::trailing_space);
}

#[test]
fn no_file_names_a_folder_of_one_machine() {
    everywhere(prose::machine_path);
}

#[test]
fn comments_name_their_subject_on_short_lines() {
    everywhere(prose::comments);
}

#[test]
fn pages_name_their_subject() {
    everywhere(prose::subjects);
}

#[test]
fn markdown_has_one_sentence_per_line() {
    everywhere(prose::one_sentence_per_line);
}

#[test]
fn crates_depend_along_the_arrows() -> Outcome {
    none(&arrows::along(&arrows::packages(&tree::root()?)?));
    Ok(())
}

#[test]
fn pure_crates_depend_on_nothing_that_acts() -> Outcome {
    none(&purity::dependencies(&arrows::packages(&tree::root()?)?));
    Ok(())
}

#[test]
fn pure_crates_touch_no_world() {
    everywhere(purity::source);
}

#[test]
fn only_the_command_line_starts_programs() {
    everywhere(programs::started);
}

#[test]
fn what_a_repository_gets_is_a_file_here() {
    everywhere(literals::short);
}

#[test]
fn only_the_dispatcher_gets_hands() {
    everywhere(writers::confined);
}

#[test]
fn the_hands_are_where_the_rule_looks_for_them() {
    none(&writers::watched(&tree::FILES));
}

#[test]
fn stories_that_are_told_on_aws_are_there() {
    none(&told::listed(&tree::FILES));
}

#[test]
fn what_was_asked_for_leads_to_tests_that_there_are() {
    none(&rows::mapped(&tree::FILES));
}

#[test]
fn findings_read_as_places_with_an_advice_each() {
    let findings = [
        Finding::new("a.rs", 3, "do this"),
        Finding::new("b.md", 1, "do that"),
    ];
    assert_eq!(
        listing(&findings),
        "2 to tidy:\na.rs:3: do this\nb.md:1: do that"
    );
}
