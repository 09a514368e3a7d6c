//! Rust source without its comments and literals, so that a rule about code is not set off by prose.

use std::collections::BTreeMap;
use std::ops::Range;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use proc_macro2::{TokenStream, TokenTree};

/// The code of each text so far: most rules read the same files, and lexing takes longer than all searches.
static KNOWN: Mutex<BTreeMap<String, Arc<str>>> = Mutex::new(BTreeMap::new());

/// The same text with every byte of comments, strings and character literals turned into a space.
/// Line breaks stay, so line numbers hold. Text that is no Rust comes back as it is.
pub(super) fn code(text: &str) -> Arc<str> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(code) = known.get(text) {
        return Arc::clone(code);
    }
    let code: Arc<str> = blanked(text).into();
    known.insert(text.to_owned(), Arc::clone(&code));
    code
}

fn blanked(text: &str) -> String {
    let Ok(tokens) = TokenStream::from_str(text) else {
        return text.to_owned();
    };
    let mut code = text.as_bytes().to_vec();
    blank_literals(tokens, &mut code);
    blank_comments(&mut code);
    String::from_utf8_lossy(&code).into_owned()
}

/// Documentation is made of literals, too. The place of a token is slow to find, so only literals are asked for theirs.
fn blank_literals(tokens: TokenStream, code: &mut [u8]) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => blank_literals(group.stream(), code),
            TokenTree::Literal(literal) => blank(code, literal.span().byte_range()),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Other comments are no tokens. Where no literal is left, each `//` and each `/*` begins one.
fn blank_comments(code: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = code[at..].iter().position(|it| *it == b'/') {
        at += found;
        let length = comment_length(&code[at..]);
        blank(code, at..at + length);
        at += length.max(1);
    }
}

/// The length of the comment at the start; 0 if none is there.
fn comment_length(code: &[u8]) -> usize {
    match code.get(..2) {
        Some(b"//") => {
            let end = code.iter().position(|it| *it == b'\n');
            end.unwrap_or(code.len())
        }
        Some(b"/*") => block_length(code),
        Some(_) | None => 0,
    }
}

fn block_length(code: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(pair) = code.get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

fn blank(code: &mut [u8], place: Range<usize>) {
    for byte in &mut code[place] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// The lines, from 1, on which `word` stands: not as a part of a longer word.
pub(super) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    places(code, word).map(|at| line_at(code, at)).collect()
}

/// The line, from 1, of a byte offset.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    let (before, _) = text.split_at(at);
    before.matches('\n').count() + 1
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

/// The word at the start; empty if none is there.
pub(super) fn first_word(code: &str) -> &str {
    code.split(|it: char| !is_word(it))
        .next()
        .unwrap_or_default()
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
        ("a / \"/*\" / b // \" /* c", "a /      / b"),
        (
            "/*/ a */ b /**/ c /*! d */ e\n// é",
            "         b      c          e\n",
        ),
    ] {
        let code = code(text);
        let lines: Vec<&str> = code.lines().map(str::trim_end).collect();
        assert_eq!(lines.join("\n"), shown, "{text}");
    }
}

#[test]
fn text_that_is_no_rust_hides_nothing() {
    assert_eq!(&*code("a \"b\nc"), "a \"b\nc");
}

#[test]
fn a_word_is_not_found_inside_a_longer_one() {
    let told = lines_with("operand\nrand::x\nrandom\n(rand)", "rand");
    assert_eq!(told, [2, 4]);
    let told = lines_with("std::iox\nstd::io::x\nmystd::io", "std::io");
    assert_eq!(told, [2]);
    assert_eq!(lines_with("a.await?\nb.awaited", ".await"), [1]);
}

#[test]
fn what_is_enclosed_may_enclose() {
    assert_eq!(enclosed("a, b::{c}, d}; e}", '{', '}'), "a, b::{c}, d");
    assert_eq!(enclosed("never closed", '{', '}'), "never closed");
}
