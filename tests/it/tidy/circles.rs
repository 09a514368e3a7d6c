//! Circles of files: each file can be read after those it uses, so that none needs all others.
//!
//! A module and those inside it may use each other.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::code::line_at;
use super::modules::{Crate, Use, crates};
use super::shrinking::{allowed, shrunk};
use super::tree::File;

/// How many files of a crate stood in circles when this rule came. The numbers may only shrink.
const KNOWN: [(&str, usize); 1] = [("tests", 2)];

/// The file with that list.
const LIST: &str = "tests/it/tidy/circles.rs";

/// The first use of a module by another, by their keys.
type Uses<'a> = BTreeMap<(&'a str, &'a str), Use<'a>>;

/// No files of a crate use each other in a circle, but for as many as the list says; and no number of it is too large.
pub(super) fn few(files: &[File]) -> Vec<Finding> {
    beyond(files, &KNOWN)
}

fn beyond(files: &[File], known: &[(&str, usize)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut numbers = BTreeMap::new();
    for it in &crates(files) {
        let uses = uses(it);
        let circles = circles(&uses);
        let number = circles.iter().map(BTreeSet::len).sum::<usize>();
        numbers.insert(it.home, number);
        if number > allowed(known, it.home) {
            let found = circles.iter().flat_map(|circle| told(it, circle, &uses));
            findings.extend(found);
        }
    }
    findings.extend(shrunk(LIST, known, &numbers));
    findings
}

/// The uses between modules of which neither is inside the other.
fn uses<'a>(of: &Crate<'a>) -> Uses<'a> {
    let mut uses = Uses::new();
    for it in of.uses() {
        if !holds(it.by, it.of) && !holds(it.of, it.by) {
            uses.entry((it.by, it.of)).or_insert(it);
        }
    }
    uses
}

/// Whether a module is, or is inside, another.
fn holds(outer: &str, key: &str) -> bool {
    let inside = key.strip_prefix(outer);
    outer.is_empty() || inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The largest sets of modules of which each leads to all others.
fn circles<'a>(uses: &Uses<'a>) -> Vec<BTreeSet<&'a str>> {
    let mut next: BTreeMap<&'a str, Vec<&'a str>> = BTreeMap::new();
    for &(by, of) in uses.keys() {
        next.entry(by).or_default().push(of);
    }
    let reached: BTreeMap<_, _> = next.keys().map(|by| (*by, from(by, &next))).collect();
    let leads = |by: &str, of: &str| reached.get(by).is_some_and(|it| it.contains(of));
    let mut circles: Vec<BTreeSet<&'a str>> = Vec::new();
    for (by, all) in &reached {
        if leads(by, by) && !circles.iter().any(|circle| circle.contains(by)) {
            let circle = all.iter().copied().filter(|of| leads(of, by));
            circles.push(circle.collect());
        }
    }
    circles
}

/// All modules to which one leads.
fn from<'a>(start: &str, next: &BTreeMap<&str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&'a str> = next.get(start).cloned().unwrap_or_default();
    while let Some(key) = open.pop() {
        if found.insert(key) {
            open.extend(next.get(key).into_iter().flatten());
        }
    }
    found
}

/// The files of a circle at the first of them, and then each use that comes back.
fn told(of: &Crate<'_>, circle: &BTreeSet<&str>, uses: &Uses<'_>) -> Vec<Finding> {
    let file = |key: &str| of.modules.get(key).map(|module| module.file);
    let paths: Vec<_> = circle
        .iter()
        .filter_map(|key| Some(file(key)?.path.as_str()))
        .collect();
    let advice = format!(
        "{} files form a circle, move what both ends of a use need to a file below both: {}",
        paths.len(),
        paths.join(", ")
    );
    let first = paths.first().copied().unwrap_or(LIST);
    let mut findings = vec![Finding::new(first, 1, advice)];
    for it in coming_back(circle, uses) {
        let (Some(by), Some(of)) = (file(it.by), file(it.of)) else {
            continue;
        };
        let advice = format!("`{}` comes back to {}", it.path, of.path);
        findings.push(Finding::new(&by.path, line_at(&by.text, it.at), advice));
    }
    findings
}

/// Few uses without which the circle is none: those that go up when its files are laid one on another,
/// first what needs nothing of the rest, else what the rest needs most.
fn coming_back<'u, 'a>(circle: &BTreeSet<&str>, uses: &'u Uses<'a>) -> Vec<&'u Use<'a>> {
    let mut left = circle.clone();
    let mut found = Vec::new();
    loop {
        let inside: Vec<_> = uses
            .values()
            .filter(|it| left.contains(it.by) && left.contains(it.of))
            .collect();
        let lowest = left.iter().copied().min_by_key(|key| {
            let needs = inside.iter().filter(|it| it.by == *key).count();
            let needed = inside.iter().filter(|it| it.of == *key).count();
            (needs > 0, needs + inside.len() - needed)
        });
        let Some(lowest) = lowest else {
            return found;
        };
        left.remove(lowest);
        found.extend(inside.into_iter().filter(|it| it.by == lowest));
    }
}

/// The findings over the files of one crate, given as their names and texts.
#[cfg(test)]
fn over(texts: &[(&str, &str)], known: &[(&str, usize)]) -> Vec<String> {
    let file = |(name, text): &(&str, &str)| File {
        path: format!("crates/a/src/{name}.rs"),
        text: (*text).to_owned(),
    };
    let files: Vec<_> = texts.iter().map(file).collect();
    let findings = beyond(&files, known);
    findings.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
const ROOT: (&str, &str) = ("lib", "mod one;\nmod two;");

#[test]
fn a_circle_is_found_with_what_comes_back() {
    let texts = [
        ROOT,
        (
            "one",
            "use std::fmt;\nuse crate::two::Two;\npub struct One;",
        ),
        ("two", "pub struct Two;\nfn f() -> super::one::One {}"),
    ];
    let found = over(&texts, &[]);
    let circle = "crates/a/src/one.rs:1: 2 files form a circle, move what both ends of a use need to a file below both: \
        crates/a/src/one.rs, crates/a/src/two.rs";
    let back = "crates/a/src/one.rs:2: `crate::two::Two` comes back to crates/a/src/two.rs";
    assert_eq!(found, [circle, back]);
    assert_eq!(over(&texts, &[("crates/a", 2)]), [""; 0]);
}

#[test]
fn a_listed_number_that_is_too_large_is_found() {
    let found = over(&[ROOT, ("one", ""), ("two", "")], &[("crates/a", 2)]);
    let advice = "crates/a has 0 now, not 2: write that into the list";
    assert_eq!(found, [format!("{LIST}:1: {advice}")]);
}

#[test]
fn a_circle_is_found_however_its_uses_are_written() {
    let root = "mod one;\nmod two;\npub use two::three::{self as third, g};";
    let three = "use crate::one;\npub fn g(x: one::Inner) {}";
    for (exported, used) in [
        // Through a re-export: of a name, of all, and of a module under another name.
        ("pub use inner::Inner;", "crate::g::<u8>();"),
        ("pub use inner::*;", "use crate::g;"),
        (
            "pub(crate) use self::inner::Inner;",
            "use crate::{third::{g as h}, x};",
        ),
        // What a macro declares, and an import of all.
        ("pub use inner::Inner;", "use crate::two::three::Made;"),
        ("pub use inner::Inner;", "use super::super::two::three::*;"),
    ] {
        let (one, inner) = (
            format!("mod inner;\n{exported}"),
            format!("{used}\nstruct Inner;"),
        );
        let texts = [
            ("lib", root),
            ("one", one.as_str()),
            ("one/inner", inner.as_str()),
            ("two", "mod three;"),
            ("two/three", three),
        ];
        let found = over(&texts, &[]);
        assert_eq!(found.len(), 2, "{exported} {used}: {found:?}");
    }
}

#[test]
fn parents_children_tests_and_mere_exports_form_no_circle() {
    for (one, two) in [
        // One way only.
        ("use crate::two::Two;", "pub struct Two;"),
        // Between a module and those inside it.
        ("mod inner;\nuse inner::Inner;\npub struct One;", ""),
        // Back for tests only, in words only, and for a re-export that is not used.
        (
            "use crate::two::Two;\npub struct One;",
            "#[cfg(test)]\nmod tests { use crate::one::One; }",
        ),
        (
            "use crate::two::Two;\npub struct One;",
            "// crate::one::One\nconst A: &str = \"crate::one::One\";",
        ),
        (
            "use crate::two::Two;\npub struct One;",
            "pub use crate::one::One;\npub struct Two;",
        ),
        (
            "use crate::two::Two;\npub struct One;",
            "use other::one::One;\nfn f() -> impl A + use<'a> {}",
        ),
    ] {
        let inner = ("one/inner", "use super::One;\npub struct Inner;");
        let found = over(&[ROOT, ("one", one), ("two", two), inner], &[]);
        assert_eq!(found, [""; 0], "{one} {two}");
    }
}
