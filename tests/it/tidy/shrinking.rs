//! Numbers of faults that crates had when their rule came: each may only shrink.

use std::collections::BTreeMap;

use super::Finding;

/// The number that a crate may have.
pub(super) fn allowed(known: &[(&str, usize)], home: &str) -> usize {
    let known = known.iter().find(|(of, _)| *of == home);
    known.map_or(0, |(_, number)| *number)
}

/// The numbers of the list in the file `list` that are larger than what was found.
pub(super) fn shrunk(
    list: &str,
    known: &[(&str, usize)],
    found: &BTreeMap<&str, usize>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (home, number) in known {
        let now = found.get(home).copied().unwrap_or_default();
        if now < *number {
            let advice = format!("{home} has {now} now, not {number}: write that into the list");
            findings.push(Finding::new(list, 1, advice));
        }
    }
    findings
}

#[test]
fn a_number_that_is_too_large_is_found() {
    let known = [("crates/a", 2), ("crates/b", 1), ("crates/c", 1)];
    let found = BTreeMap::from([("crates/a", 1), ("crates/b", 1)]);
    let advice: Vec<_> = shrunk("list.rs", &known, &found)
        .into_iter()
        .map(|it| it.advice)
        .collect();
    let left = "crates/a has 1 now, not 2: write that into the list";
    let gone = "crates/c has 0 now, not 1: write that into the list";
    assert_eq!(advice, [left, gone]);
    assert_eq!(allowed(&known, "crates/a"), 2);
    assert_eq!(allowed(&known, "crates/d"), 0);
}
