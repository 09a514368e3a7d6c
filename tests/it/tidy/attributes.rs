//! Attributes and macros that would let code pretend: ignored tests, missing work, silenced lints.

use super::Finding;
use super::code::{code, enclosed, line_at, lines_with, places};
use super::shape::is_rust;

/// Macros that stand for work not done.
const UNDONE: [&str; 2] = ["todo!", "unimplemented!"];

/// Every test runs, everything named is done, and a silenced lint says why.
pub(super) fn honest(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) {
        return Vec::new();
    }
    let code = code(text);
    let mut findings: Vec<_> = attributes(&code)
        .filter_map(|(line, body)| Some(Finding::new(path, line, fault(body)?)))
        .collect();
    for word in UNDONE {
        let advice = format!("`{word}`: do the work, or leave the item out");
        let lines = lines_with(&code, word).into_iter();
        findings.extend(lines.map(|line| Finding::new(path, line, advice.as_str())));
    }
    findings
}

/// Each attribute with its line and what is between its brackets.
fn attributes(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices('#').filter_map(|(at, _)| {
        let after = code.get(at + 1..)?.trim_start();
        let body = after
            .strip_prefix('!')
            .unwrap_or(after)
            .trim_start()
            .strip_prefix('[')?;
        Some((line_at(code, at), enclosed(body, '[', ']')))
    })
}

fn fault(body: &str) -> Option<&'static str> {
    let has = |word| places(body, word).next().is_some();
    let (name, rest) = body.split_at(body.find(['(', '=']).unwrap_or(body.len()));
    // What `cfg_attr` puts on for some builds is judged as if it stood there itself.
    let is = |word| name.trim() == word || (name.trim() == "cfg_attr" && has(word));
    if is("ignore") {
        return Some("no test is ignored: make it run, or assert what happens today and say why");
    }
    if is("allow") && !(rest.starts_with('(') && has("reason")) {
        return Some("no bare allow: `#[expect(.., reason = \"..\")]`, or mend what the lint says");
    }
    if is("expect") && !has("reason") {
        return Some("say why: `#[expect(.., reason = \"..\")]`");
    }
    None
}

#[test]
fn an_ignored_test_is_found() {
    assert_eq!(honest("a.rs", "#[test]\n#[ignore]\nfn f() {}").len(), 1);
    assert_eq!(honest("a.rs", "#[ignore = \"slow\"]").len(), 1);
    assert_eq!(honest("a.rs", "#[cfg_attr(windows, ignore)]").len(), 1);
    assert_eq!(
        honest("a.rs", "#[serde(ignore)]\nlet ignore = 1; // #[ignore]"),
        []
    );
}

#[test]
fn undone_work_is_found_with_its_line() {
    let findings = honest(
        "a.rs",
        "fn f() {\n    todo!()\n}\nfn g() { unimplemented!(\"x\") }",
    );
    let lines: Vec<_> = findings.iter().map(|finding| finding.line).collect();
    assert_eq!(lines, [2, 4]);
    assert_eq!(
        honest("a.rs", "// todo!()\nlet x = \"todo!()\"; my_todo!();"),
        []
    );
}

#[test]
fn a_silenced_lint_needs_a_reason() {
    assert_eq!(honest("a.rs", "#[allow(dead_code)]").len(), 1);
    assert_eq!(honest("a.rs", "#![allow(clippy::all)]").len(), 1);
    assert_eq!(honest("a.rs", "# [ allow ( dead_code ) ]").len(), 1);
    assert_eq!(
        honest("a.rs", "#[cfg_attr(test, allow(dead_code))]").len(),
        1
    );
    assert_eq!(honest("a.rs", "#[expect(dead_code)]").len(), 1);
    assert_eq!(
        honest(
            "a.rs",
            "#[expect(\n    dead_code,\n    reason = \"a ] b\"\n)]"
        ),
        []
    );
    assert_eq!(
        honest(
            "a.rs",
            "#[allow(unused, reason = \"only on one platform\")]"
        ),
        []
    );
    assert_eq!(
        honest("a.rs", "x.expect(\"y\"); allow(z); // #[allow(q)]"),
        []
    );
}

#[test]
fn only_rust_is_read() {
    assert_eq!(honest("a.md", "#[ignore] todo!()"), []);
}
