//! Ignored tests. Missing work and lints that are silenced without a reason are clippy's to find.

use super::Finding;
use super::code::{code, enclosed, line_at, places};
use super::shape::is_rust;

/// Every test runs.
pub(super) fn honest(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) {
        return Vec::new();
    }
    let code = code(text);
    let ignored = attributes(&code).filter(|(_, body)| ignores(body));
    let advice = "no test is ignored: make it run, or assert what happens today and say why";
    ignored
        .map(|(at, _)| Finding::new(path, line_at(&code, at), advice))
        .collect()
}

/// Each attribute with its place and what is between its brackets.
fn attributes(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices('#').filter_map(|(at, _)| {
        let after = code.get(at + 1..)?.trim_start();
        let body = after
            .strip_prefix('!')
            .unwrap_or(after)
            .trim_start()
            .strip_prefix('[')?;
        Some((at, enclosed(body, '[', ']')))
    })
}

fn ignores(body: &str) -> bool {
    let (name, _) = body.split_at(body.find(['(', '=']).unwrap_or(body.len()));
    // What `cfg_attr` puts on for some builds is judged as if it stood there itself.
    let conditional = || name.trim() == "cfg_attr" && places(body, "ignore").next().is_some();
    name.trim() == "ignore" || conditional()
}

#[test]
fn an_ignored_test_is_found() {
    assert_eq!(honest("a.rs", "#[test]\n#[ignore]\nfn f() {}").len(), 1);
    assert_eq!(honest("a.rs", "#[ignore = \"slow\"]").len(), 1);
    assert_eq!(honest("a.rs", "#[cfg_attr(windows, ignore)]").len(), 1);
    let told = honest("a.rs", "#[serde(ignore)]\nlet ignore = 1; // #[ignore]");
    assert_eq!(told, []);
}

#[test]
fn only_rust_is_read() {
    assert_eq!(honest("a.md", "#[ignore]"), []);
}
