//! The files that a repository gets are files here too: no long text stands in the code that hands them out.

use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};

use super::Finding;
use super::shape::{is_rust, is_test, source_lines};

/// The code whose texts are assets.
const SOURCE: &str = "crates/scaffold/src/";

/// More lines than this are a file.
const LINES_MAX: usize = 3;

/// More characters than this are one, too.
const CHARS_MAX: usize = 200;

/// Literals that should be files under `assets`. Tests may write what they like.
pub(super) fn short(path: &str, text: &str) -> Vec<Finding> {
    if !is_rust(path) || is_test(path) || !path.starts_with(SOURCE) {
        return Vec::new();
    }
    let Ok(tokens) = TokenStream::from_str(text) else {
        return Vec::new();
    };
    let code_ends = source_lines(text);
    let mut found = Vec::new();
    literals(tokens, text, &mut |line, literal| {
        let long = literal.lines().count() > LINES_MAX || literal.chars().count() > CHARS_MAX;
        if long && line <= code_ends {
            let advice = "a text this long is a file: put it under `assets`";
            found.push(Finding::new(path, line, advice));
        }
    });
    found
}

/// Calls `see` with each literal and its line, but for documentation, which is made of literals too.
fn literals(tokens: TokenStream, text: &str, see: &mut impl FnMut(usize, &str)) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals(group.stream(), text, see),
            TokenTree::Literal(literal) => {
                let span = literal.span();
                let written = text.get(span.byte_range()).unwrap_or_default();
                if !written.starts_with('/') {
                    see(span.start().line, written);
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

#[test]
fn a_file_in_a_literal_is_found() {
    let path = "crates/scaffold/src/a.rs";
    let lines = |text: &str| {
        let found = short(path, text).into_iter();
        found.map(|it| it.line).collect::<Vec<_>>()
    };
    assert_eq!(lines("//! A.\nconst A: &str = \"a\nb\nc\nd\";"), [2]);
    let long = "x".repeat(CHARS_MAX);
    assert_eq!(lines(&format!("fn f() {{\n    g(r#\"{long}\"#);\n}}")), [2]);
    let told = lines(&format!("//! {long}\n/// {long}\n// {long}\nfn f() {{}}"));
    assert_eq!(told, [0; 0]);
    assert_eq!(lines("const A: &str = \"a\nb\nc\";"), [0; 0]);
}

#[test]
fn tests_and_other_crates_write_what_they_like() {
    let text = "const A: &str = \"a\nb\nc\nd\";";
    assert_eq!(short("crates/scaffold/src/a/tests.rs", text), []);
    assert_eq!(short("crates/domain/src/a.rs", text), []);
    let tested = format!("#[cfg(test)]\nmod tests {{\n{text}\n}}");
    assert_eq!(short("crates/scaffold/src/a.rs", &tested), []);
}
