//! Parameters that are tuples: their parts have no names where the function is called.

use std::collections::BTreeMap;

use super::Finding;
use super::code::line_at;
use super::modules::{Module, crates};
use super::shrinking::{allowed, shrunk};
use super::tokens::{Token, group_length};
use super::tree::File;

/// How many functions of a crate took a tuple when this rule came. The numbers may only shrink.
const KNOWN: [(&str, usize); 4] = [
    ("crates/domain", 2),
    ("crates/engine", 9),
    ("crates/github", 3),
    ("crates/sandbox", 15),
];

/// The file with that list.
const LIST: &str = "tests/it/tidy/tuples.rs";

/// No function outside tests takes a tuple, but for as many as the list says; and no number of it is too large.
pub(super) fn few(files: &[File]) -> Vec<Finding> {
    beyond(files, &KNOWN)
}

fn beyond(files: &[File], known: &[(&str, usize)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut numbers = BTreeMap::new();
    for it in &crates(files) {
        let found: Vec<_> = it.modules.values().flat_map(taking).collect();
        numbers.insert(it.home, found.len());
        if found.len() > allowed(known, it.home) {
            findings.extend(found);
        }
    }
    findings.extend(shrunk(LIST, known, &numbers));
    findings
}

/// The functions of a module that take a tuple.
fn taking(module: &Module<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, token) in module.body.iter().enumerate() {
        let after = &module.body[index + 1..];
        if token.text != "fn" || !parameters(after).into_iter().any(is_tuple) {
            continue;
        }
        let name = after.first().map_or("", |it| it.text);
        let advice =
            format!("`{name}` takes a tuple: give its parts names, in a type or one by one");
        let line = line_at(&module.file.text, token.at);
        found.push(Finding::new(&module.file.path, line, advice));
    }
    found
}

/// The parameters of the function whose name is at the start; none of a type `fn(A)`.
fn parameters<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let Some((name, rest)) = tokens.split_first() else {
        return Vec::new();
    };
    let list = &rest[generics_length(rest)..];
    if !name.is_word() || list.first().is_none_or(|it| it.text != "(") {
        return Vec::new();
    }
    let inside = list.get(1..group_length(list) - 1);
    parts(inside.unwrap_or_default(), ",")
}

/// How many tokens the generic parameters at the start have, with their brackets.
fn generics_length(tokens: &[Token<'_>]) -> usize {
    let (mut depth, mut before) = (0_usize, "");
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "<" => depth += 1,
            ">" if before != "-" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return if at == 0 { 0 } else { at + 1 };
        }
        before = token.text;
    }
    tokens.len()
}

/// What stands between the signs outside of all brackets.
fn parts<'t, 'a>(tokens: &'t [Token<'a>], sign: &str) -> Vec<&'t [Token<'a>]> {
    let (mut depth, mut before) = (0_usize, "");
    let parts = tokens.split(|token| {
        match token.text {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            ">" if before != "-" => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = token.text;
        depth == 0 && token.text == sign
    });
    parts.collect()
}

/// Whether the type of a parameter is a tuple, or a reference to one.
fn is_tuple(parameter: &[Token<'_>]) -> bool {
    let Some(mut kind) = parts(parameter, ":").get(1).copied() else {
        return false;
    };
    while let [first, rest @ ..] = kind {
        kind = match first.text {
            "&" | "mut" => rest,
            "'" => rest.get(1..).unwrap_or_default(),
            _ => break,
        };
    }
    let is_group =
        kind.first().is_some_and(|it| it.text == "(") && group_length(kind) == kind.len();
    let inside = kind.get(1..kind.len().saturating_sub(1));
    is_group && inside.is_some_and(|inside| parts(inside, ",").len() > 1)
}

#[cfg(test)]
fn lines(text: &str) -> Vec<usize> {
    let files = [File {
        path: "crates/a/src/lib.rs".to_owned(),
        text: text.to_owned(),
    }];
    let found = beyond(&files, &[]);
    found.into_iter().map(|it| it.line).collect()
}

#[test]
fn a_function_that_takes_a_tuple_is_found() {
    for text in [
        "fn f((a, b): (A, B)) {}",
        "fn f(&self, x: (A, B)) -> C;",
        "fn f<'a, F: Fn(&A) -> B>(g: F, x: &'a mut (A, Vec<B>)) {}",
        "impl A {\n    pub(crate) async fn f(\n        x: &(A, B),\n    ) {}\n}",
    ] {
        assert_eq!(lines(text).len(), 1, "{text}");
    }
    assert_eq!(lines("fn f() {}\n\nfn g(x: (A, B), y: (C, D)) {}"), [3]);
}

#[test]
fn other_parameters_are_no_tuples() {
    for text in [
        "fn f(Path((a, b)): Path<(A, B)>) {}",
        "fn f(x: (), y: &(impl Fn(A, B) -> C + Sync), z: [(A, B); 2]) -> (A, B) {}",
        "fn f(x: fn((A, B)) -> C, y: impl Fn((A, B))) { let g = |x: (A, B)| x; }",
        "// fn f(x: (A, B))\nconst A: &str = \"fn f(x: (A, B))\";",
        "#[cfg(test)]\nmod tests {\n    fn f(x: (A, B)) {}\n}\n#[cfg(test)]\nfn g(x: (A, B)) {}",
    ] {
        assert_eq!(lines(text), [0; 0], "{text}");
    }
}

#[test]
fn a_listed_number_has_to_be_the_one_found() {
    let files = [File {
        path: "crates/a/src/lib.rs".to_owned(),
        text: "fn f(x: (A, B)) {}".to_owned(),
    }];
    for (number, found) in [(0, "crates/a/src/lib.rs"), (2, LIST)] {
        let findings = beyond(&files, &[("crates/a", number)]);
        let at: Vec<_> = findings.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(at, [found], "{number}");
    }
    assert_eq!(beyond(&files, &[("crates/a", 1)]), []);
}
