//! The domain, the scaffold and the weaver are pure: no I/O, no clock, no randomness, no logging (invariant 1).

use super::Finding;
use super::arrows::Package;
use super::code::{code, enclosed, line_at, lines_with, places};
use super::shape::is_rust;

/// Each pure crate with all that it is built from: data, text and hashes, nothing that acts.
const PURE: [(&str, &[&str]); 3] = [
    (
        "domain",
        &[
            "hex",
            "jiff",
            // Only in the feature `schema`, which `client` asks for: it describes types as data.
            "schemars",
            "serde",
            "serde_json",
            "sha2",
            "strsim",
            "thiserror",
            "ulid",
        ],
    ),
    (
        "scaffold",
        &[
            "croner",
            "include_dir",
            "jiff",
            "minijinja",
            "serde",
            "serde-saphyr",
            "serde_json",
            "strsim",
            "thiserror",
            "toml_edit",
        ],
    ),
    (
        "weave",
        &[
            "diffy",
            "flate2",
            "gix-hash",
            "gix-merge",
            "hex",
            "thiserror",
        ],
    ),
];

/// What no line of a pure crate says.
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

/// The dependencies of a pure crate are exactly those of its list.
pub(super) fn dependencies(packages: &[Package]) -> Vec<Finding> {
    let found = PURE.iter().flat_map(|(name, listed)| {
        match packages.iter().find(|package| package.name == *name) {
            Some(package) => besides(package, listed),
            None => {
                let advice = format!("the crate `{name}` is gone: guard its heir");
                vec![Finding::new("Cargo.toml", 1, advice)]
            }
        }
    });
    found.collect()
}

/// What a pure crate depends on besides its list, and what the list names in vain.
fn besides(package: &Package, listed: &[&str]) -> Vec<Finding> {
    let used = || {
        package
            .dependencies
            .iter()
            .filter(|it| !it.is_ours())
            .map(|it| it.name.as_str())
    };
    let pure = &package.name;
    let added = used().filter(|name| !listed.contains(name)).map(|name| {
        let advice = format!("`{name}` is not for `{pure}`: do it in the engine or an adapter");
        Finding::new(&package.manifest, package.line_of(name), advice)
    });
    let gone = listed
        .iter()
        .filter(|name| !used().any(|used| used == **name))
        .map(|name| {
            let advice = format!("`{name}` is used no more: take it off PURE (tests/it/tidy)");
            Finding::new(&package.manifest, 1, advice)
        });
    added.chain(gone).collect()
}

/// The source of a pure crate, its tests included, says nothing that reaches outside.
pub(super) fn source(path: &str, text: &str) -> Vec<Finding> {
    let holds_it = |name: &str| path.starts_with(&format!("crates/{name}/"));
    let Some((name, _)) = PURE.iter().find(|(name, _)| holds_it(name)) else {
        return Vec::new();
    };
    if !is_rust(path) {
        return Vec::new();
    }
    let code = code(text);
    let advice = |word| format!("`{word}`: `{name}` is pure, take the value as an argument");
    // Whether a path is spelt out or grouped, its last step stands in the code.
    let ends_here = |path: &str| {
        path.rsplit("::")
            .next()
            .is_some_and(|step| code.contains(step))
    };
    let suspects = FORBIDDEN.into_iter().filter(|word| ends_here(word));
    let found = suspects.flat_map(|word| {
        let lines = lines_with(&code, word).into_iter();
        let lines = lines.chain(grouped_lines(&code, word));
        lines.map(move |line| Finding::new(path, line, advice(word)))
    });
    found.collect()
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

/// The pure crates as they should be.
#[cfg(test)]
fn as_listed() -> Vec<Package> {
    let package = |(name, listed): &(&str, &[&str])| super::arrows::package(name, &[], listed);
    PURE.iter().map(package).collect()
}

#[test]
fn a_dependency_that_acts_is_found() {
    assert_eq!(dependencies(&as_listed()), []);
    for (at, (name, listed)) in PURE.iter().enumerate() {
        let mut others = listed.to_vec();
        others.push("tokio");
        let mut packages = as_listed();
        packages[at] = super::arrows::package(name, &[], &others);
        let manifest = format!("crates/{name}/Cargo.toml");
        let advice = format!("`tokio` is not for `{name}`: do it in the engine or an adapter");
        let line = listed.len() + 2;
        let told = dependencies(&packages);
        assert_eq!(told, [Finding::new(&manifest, line, advice)]);
    }
}

#[test]
fn a_list_that_names_too_much_is_found() {
    let mut packages = as_listed();
    packages[0] = super::arrows::package("domain", &[], &["hex", "jiff", "serde", "serde_json"]);
    assert_eq!(dependencies(&packages).len(), 5);
    assert_eq!(dependencies(&[]).len(), PURE.len());
}

#[test]
fn each_forbidden_word_is_found_in_pure_crates_only() {
    for word in FORBIDDEN {
        let text = format!("fn f() {{\n    {word} x\n}}\n");
        for (name, _) in PURE {
            let found = source(&format!("crates/{name}/src/a.rs"), &text);
            let lines: Vec<_> = found.iter().map(|it| it.line).collect();
            assert_eq!(lines, [2], "{word} in {name}");
        }
        assert_eq!(source("crates/engine/src/a.rs", &text), [], "{word}");
        assert_eq!(source("crates/domain-x/src/a.rs", &text), [], "{word}");
    }
}

#[test]
fn prose_and_longer_words_are_not_the_world() {
    let text = "//! Reads no std::fs and no tracing.\nlet operand = \"std::io\"; // println!";
    assert_eq!(source("crates/domain/src/a.rs", text), []);
    let told = source("crates/domain/src/a.rs", "use std::{fmt, ops::Deref};");
    assert_eq!(told, []);
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
