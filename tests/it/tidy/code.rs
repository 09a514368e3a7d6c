//! Rust source without its comments and literals, so that a rule about code is not set off by prose.

use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{Span, TokenStream, TokenTree};

/// The same text with every byte of comments, strings and character literals turned into a space.
/// Line breaks stay, so line numbers hold. Text that is no Rust comes back as it is.
pub(super) fn code(text: &str) -> String {
    let Ok(tokens) = TokenStream::from_str(text) else {
        return text.to_owned();
    };
    let blank = text.bytes().map(|it| if it == b'\n' { it } else { b' ' });
    let mut code: Vec<u8> = blank.collect();
    for place in places_of(tokens, text) {
        if let (Some(to), Some(from)) = (code.get_mut(place.clone()), text.get(place)) {
            to.copy_from_slice(from.as_bytes());
        }
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// Where the tokens are that are code: everything but literals, and doc comments, which are tokens too.
fn places_of(tokens: TokenStream, text: &str) -> Vec<Range<usize>> {
    let is_comment = |span: Span| {
        let at = text.get(span.byte_range()).unwrap_or_default();
        at.starts_with("//") || at.starts_with("/*")
    };
    let mut places = Vec::new();
    for token in tokens {
        match token {
            _ if is_comment(token.span()) => {}
            TokenTree::Literal(_) => {}
            TokenTree::Group(group) => {
                places.push(group.span_open().byte_range());
                places.extend(places_of(group.stream(), text));
                places.push(group.span_close().byte_range());
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => places.push(token.span().byte_range()),
        }
    }
    places
}

/// The lines, from 1, on which `word` stands: not as a part of a longer word.
pub(super) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    places(code, word).map(|at| line_at(code, at)).collect()
}

/// The line, from 1, of a byte offset.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The byte offsets at which `word` stands alone.
pub(super) fn places<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| {
            let (before, from) = code.split_at(at);
            let after = from.get(word.len()..).unwrap_or_default();
            let joined_before = joins(before.chars().next_back(), word.chars().next());
            let joined_after = joins(word.chars().next_back(), after.chars().next());
            !joined_before && !joined_after
        })
}

/// What is before the `close` that matches an `open` just passed; all of it if none does.
pub(super) fn enclosed(body: &str, open: char, close: char) -> &str {
    let mut depth = 1_usize;
    for (at, it) in body.char_indices() {
        if it == open {
            depth += 1;
        } else if it == close {
            depth -= 1;
        }
        if depth == 0 {
            return body.get(..at).unwrap_or(body);
        }
    }
    body
}

/// Whether two neighbours belong to one word.
fn joins(left: Option<char>, right: Option<char>) -> bool {
    left.is_some_and(is_word) && right.is_some_and(is_word)
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

#[test]
fn comments_and_literals_are_blank_and_lines_stay() {
    for (text, shown) in [
        ("a // b\nc /* d /* e */\nf */ g", "a\nc\n     g"),
        ("\"h \\\" // i\" j", "            j"),
        ("/// x\n//! y\nfn f() {}", "\n\nfn f() {}"),
        ("r#\"a\" b\"# c; '\"' d", "          c;     d"),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        ("r#fn(bar)", "r#fn(bar)"),
        ("'é' \"ü\" z", "          z"),
    ] {
        let code = code(text);
        let lines: Vec<&str> = code.lines().map(str::trim_end).collect();
        assert_eq!(lines.join("\n"), shown, "{text}");
    }
}

#[test]
fn text_that_is_no_rust_hides_nothing() {
    assert_eq!(code("a \"b\nc"), "a \"b\nc");
}

#[test]
fn a_word_is_not_found_inside_a_longer_one() {
    assert_eq!(
        lines_with("operand\nrand::x\nrandom\n(rand)", "rand"),
        [2, 4]
    );
    assert_eq!(
        lines_with("std::iox\nstd::io::x\nmystd::io", "std::io"),
        [2]
    );
    assert_eq!(lines_with("a.await?\nb.awaited", ".await"), [1]);
}

#[test]
fn what_is_enclosed_may_enclose() {
    assert_eq!(enclosed("a, b::{c}, d}; e}", '{', '}'), "a, b::{c}, d");
    assert_eq!(enclosed("never closed", '{', '}'), "never closed");
}
