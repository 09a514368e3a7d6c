//! The shape of a Rust file: how it opens, how long it is, and what it is called.

use super::Finding;
use super::code::{code, first_word, line_at, places};

/// A file is under this many source lines: about what one sitting can read.
const FILE_LINES_LIMIT: usize = 400;

/// A `main.rs` only wires, so it never has more lines than this.
const MAIN_LINES_MAX: usize = 40;

/// Names that say nothing, and so collect everything.
const EMPTY_NAMES: [&str; 6] = ["common", "helpers", "manager", "models", "types", "utils"];

/// Every Rust file opens with `//!`: what lives here, and what does not.
pub(super) fn head(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) || text.starts_with("//!") {
        return Vec::new();
    }
    vec![Finding::new(
        path,
        1,
        "open the file with `//!` and a sentence on what lives here",
    )]
}

/// Files are split by concern before they grow long. Tests are not counted.
pub(super) fn length(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let all = text.lines().count();
    let may_be_long = is_rust(path) && !is_test(path) && all >= FILE_LINES_LIMIT;
    let lines = if may_be_long { source_lines(text) } else { 0 };
    if lines >= FILE_LINES_LIMIT {
        let advice = format!("{lines} source lines: split it by concern, under {FILE_LINES_LIMIT}");
        findings.push(Finding::new(path, FILE_LINES_LIMIT, advice));
    }
    if (path == "main.rs" || path.ends_with("/main.rs")) && all > MAIN_LINES_MAX {
        let advice = format!("{all} lines: a main only wires, keep it to {MAIN_LINES_MAX}");
        findings.push(Finding::new(path, MAIN_LINES_MAX + 1, advice));
    }
    findings
}

/// No file, folder or module of Rust code has a name that says nothing.
pub(super) fn names(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) {
        return Vec::new();
    }
    let code = code(text);
    let parts = path.trim_end_matches(".rs").split('/');
    let declared = places(&code, "mod ").map(|at| {
        let (_, name) = code.split_at(at + "mod ".len());
        (line_at(&code, at), first_word(name))
    });
    let names = parts.map(|part| (1, part)).chain(declared);
    let empty = names.filter(|(_, name)| EMPTY_NAMES.contains(name));
    let advice = |name| format!("`{name}` says nothing: name it after what it holds");
    empty
        .map(|(line, name)| Finding::new(path, line, advice(name)))
        .collect()
}

/// Whether a path is Rust source.
pub(super) fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

/// Whether a whole file is tests: in a `tests` folder, or the `tests.rs` of a module.
pub(super) fn is_test(path: &str) -> bool {
    path.trim_end_matches(".rs")
        .split('/')
        .any(|part| part == "tests")
}

/// The lines before the tests at the file's bottom, comments and blank lines counted.
pub(super) fn source_lines(text: &str) -> usize {
    let code = code(text);
    let lines: Vec<_> = code.lines().map(str::trim).collect();
    let opens_tests = |at: usize| {
        let mut after = lines
            .iter()
            .skip(at + 1)
            .filter(|line| !line.starts_with("#["));
        after
            .next()
            .map(|line| line.trim_start_matches("pub(super) "))
            .is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    let tests = lines
        .iter()
        .enumerate()
        .find(|(at, line)| **line == "#[cfg(test)]" && opens_tests(*at));
    tests.map_or(lines.len(), |(at, _)| at)
}

#[test]
fn a_file_without_a_head_is_found() {
    assert_eq!(head("a.rs", "use std::fs;\n//! Late.").len(), 1);
    assert_eq!(head("a.rs", "// Not a head.\n").len(), 1);
    assert_eq!(head("a.rs", "").len(), 1);
    assert_eq!(head("a.rs", "//! Says it.\n"), []);
    assert_eq!(head("a.toml", "x = 1"), []);
}

#[test]
fn a_long_file_is_found_and_its_tests_do_not_count() {
    let long = "x();\n".repeat(FILE_LINES_LIMIT);
    let fits = "x();\n".repeat(FILE_LINES_LIMIT - 1);
    assert_eq!(length("src/a.rs", &long).len(), 1);
    assert_eq!(length("src/a.rs", &fits), []);
    assert_eq!(length("src/a/tests.rs", &long), []);
    assert_eq!(length("tests/it/a.rs", &long), []);

    let tested = format!("{fits}#[cfg(test)]\n#[expect(x)]\nmod tests {{\n{long}}}\n");
    assert_eq!(length("src/a.rs", &tested), []);
    let elsewhere = format!("#[cfg(test)]\nmod tests;\n{long}");
    assert_eq!(length("src/a.rs", &elsewhere).len(), 1);
}

#[test]
fn a_test_block_in_a_comment_hides_nothing() {
    let long = "x();\n".repeat(FILE_LINES_LIMIT);
    let sly = format!("/*\n#[cfg(test)]\nmod tests {{\n*/\n{long}");
    assert_eq!(length("src/a.rs", &sly).len(), 1);
}

#[test]
fn a_long_main_is_found() {
    let fits = "x();\n".repeat(MAIN_LINES_MAX);
    assert_eq!(length("crates/cli/src/main.rs", &fits), []);
    let told = length("crates/cli/src/main.rs", &format!("{fits}y();\n"));
    assert_eq!(told.len(), 1);
    let told = length("crates/cli/src/domain.rs", &format!("{fits}y();\n"));
    assert_eq!(told, []);
}

#[test]
fn an_empty_name_is_found_in_a_path_and_in_a_declaration() {
    assert_eq!(names("crates/x/src/utils.rs", "").len(), 1);
    assert_eq!(names("crates/common/src/lib.rs", "").len(), 1);
    assert_eq!(
        names("src/lib.rs", "//! Head.\n\nmod helpers;\n"),
        [Finding::new(
            "src/lib.rs",
            3,
            "`helpers` says nothing: name it after what it holds"
        )]
    );
    assert_eq!(names("src/lib.rs", "pub(crate) mod manager {}").len(), 1);
    assert_eq!(names("src/lib.rs", "// mod utils\nmod utilities;"), []);
    assert_eq!(names("docs/common.md", "mod utils;"), []);
}
