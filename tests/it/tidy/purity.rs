//! The domain is pure: no I/O, no clock, no randomness, no logging (invariant 1).

use super::Finding;
use super::arrows::Package;
use super::code::{code, enclosed, line_at, lines_with, places};
use super::shape::is_rust;

const DOMAIN: &str = "crates/domain/";

/// All that the domain is built from: data, text and hashes, nothing that acts.
const DEPENDENCIES: [&str; 7] = [
    "hex",
    "jiff",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
    "ulid",
];

/// What no line of the domain says.
const FORBIDDEN: [&str; 15] = [
    ".await",
    "async fn",
    "println!",
    "rand",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "Timestamp::now",
    "tracing",
    "Ulid::new",
];

/// The domain's dependencies are exactly the list above.
pub(super) fn dependencies(packages: &[Package]) -> Vec<Finding> {
    let Some(domain) = packages.iter().find(|package| package.name == "domain") else {
        return vec![Finding::new(
            "Cargo.toml",
            1,
            "the crate `domain` is gone: guard its heir",
        )];
    };
    let used = || {
        domain
            .dependencies
            .iter()
            .filter(|it| !it.is_ours())
            .map(|it| it.name.as_str())
    };
    let added = used()
        .filter(|name| !DEPENDENCIES.contains(name))
        .map(|name| {
            let advice =
                format!("`{name}` is not for the domain: do it in the engine or an adapter");
            Finding::new(&domain.manifest, domain.line_of(name), advice)
        });
    let gone = DEPENDENCIES
        .iter()
        .filter(|name| !used().any(|used| used == **name))
        .map(|name| {
            let advice =
                format!("`{name}` is used no more: take it off DEPENDENCIES (tests/it/tidy)");
            Finding::new(&domain.manifest, 1, advice)
        });
    added.chain(gone).collect()
}

/// The domain's source, its tests included, says nothing that reaches outside.
pub(super) fn source(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) || !path.starts_with(DOMAIN) {
        return Vec::new();
    }
    let code = code(text);
    let advice = |word| format!("`{word}`: the domain is pure, take the value as an argument");
    let spelt_out = FORBIDDEN.iter().flat_map(|word| {
        let lines = lines_with(&code, word).into_iter();
        lines.map(move |line| Finding::new(path, line, advice(word)))
    });
    let grouped = FORBIDDEN.iter().flat_map(|word| {
        let lines = grouped_lines(&code, word).into_iter();
        lines.map(move |line| Finding::new(path, line, advice(word)))
    });
    spelt_out.chain(grouped).collect()
}

/// The lines of groups, as in `use std::{fmt, io};`, that hold a path's last word after the rest.
fn grouped_lines(code: &str, path: &str) -> Vec<usize> {
    let steps: Vec<_> = path.split("::").collect();
    let splits = (1..steps.len()).map(|at| steps.split_at(at));
    let lines = splits.flat_map(|(outer, inner)| {
        let open = format!("{}::{{", outer.join("::"));
        let inner = inner.join("::");
        let holds = |at: usize| {
            let body = code.get(at + open.len()..).unwrap_or_default();
            places(enclosed(body, '{', '}'), &inner).next().is_some()
        };
        let found: Vec<_> = places(code, &open).filter(|at| holds(*at)).collect();
        found.into_iter().map(|at| line_at(code, at))
    });
    lines.collect()
}

#[test]
fn a_dependency_that_acts_is_found() {
    let mut others = DEPENDENCIES.to_vec();
    let domain = super::arrows::package("domain", &[], &others);
    assert_eq!(dependencies(&[domain]), []);

    others.push("tokio");
    let findings = dependencies(&[super::arrows::package("domain", &[], &others)]);
    let advice = "`tokio` is not for the domain: do it in the engine or an adapter";
    assert_eq!(
        findings,
        [Finding::new("crates/domain/Cargo.toml", 9, advice)]
    );
}

#[test]
fn a_list_that_names_too_much_is_found() {
    let fewer = super::arrows::package("domain", &[], &["hex", "jiff", "serde", "serde_json"]);
    assert_eq!(dependencies(&[fewer]).len(), 3);
    assert_eq!(dependencies(&[]).len(), 1);
}

#[test]
fn each_forbidden_word_is_found_in_the_domain_only() {
    for word in FORBIDDEN {
        let text = format!("fn f() {{\n    {word} x\n}}\n");
        let lines: Vec<_> = source("crates/domain/src/a.rs", &text)
            .iter()
            .map(|it| it.line)
            .collect();
        assert_eq!(lines, [2], "{word}");
        assert_eq!(source("crates/engine/src/a.rs", &text), [], "{word}");
    }
}

#[test]
fn prose_and_longer_words_are_not_the_world() {
    let text = "//! Reads no std::fs and no tracing.\nlet operand = \"std::io\"; // println!";
    assert_eq!(source("crates/domain/src/a.rs", text), []);
    assert_eq!(
        source("crates/domain/src/a.rs", "use std::{fmt, ops::Deref};"),
        []
    );
}

#[test]
fn a_group_does_not_hide_the_world() {
    for text in [
        "use std::{fmt, fs};",
        "use std::{\n    fmt,\n    io::{self, Read},\n};",
        "use std::time::{Duration, Instant};",
        "use std::{time::SystemTime};",
    ] {
        assert_eq!(source("crates/domain/src/a.rs", text).len(), 1, "{text}");
    }
}
