//! Rust source without its comments and literals, so that a rule about code is not set off by prose.

/// The same text with every character of comments, strings and character literals turned into a
/// space. Line breaks stay, so line numbers hold.
pub(super) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after_word = code.chars().next_back().is_some_and(is_word);
        let hidden = hidden_length(rest, after_word);
        let (taken, left) = rest.split_at(hidden.max(first.len_utf8()));
        if hidden == 0 {
            code.push(first);
        } else {
            code.extend(taken.chars().map(|it| if it == '\n' { '\n' } else { ' ' }));
        }
        rest = left;
    }
    code
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

/// How many bytes at the start of `rest` are a comment or a literal; 0 if it is code.
fn hidden_length(rest: &str, after_word: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    let raw = if after_word { 0 } else { raw_string(rest) };
    match rest.chars().next() {
        Some('"') => quoted(rest, '"'),
        Some('\'') => character(rest),
        Some(_) | None => raw,
    }
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        let step = if tail.starts_with("/*") {
            depth += 1;
            2
        } else if tail.starts_with("*/") {
            depth -= 1;
            2
        } else {
            tail.chars().next().map_or(1, char::len_utf8)
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// From `r`, `br` or `cr` over as many `#` as there are, to the quote with as many after it.
fn raw_string(rest: &str) -> usize {
    let prefix = usize::from(rest.starts_with(['b', 'c']));
    let Some(after) = rest.get(prefix..).and_then(|it| it.strip_prefix('r')) else {
        return 0;
    };
    let hashes = after.len() - after.trim_start_matches('#').len();
    let Some(body) = after.get(hashes..).and_then(|it| it.strip_prefix('"')) else {
        return 0;
    };
    let close = format!("\"{}", "#".repeat(hashes));
    let start = rest.len() - body.len();
    body.find(&close)
        .map_or(rest.len(), |at| start + at + close.len())
}

/// From the opening quote to the closing one, past what is escaped.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, it) in rest.char_indices().skip(1) {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if it == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// A character literal; 0 for a lifetime, which opens alike.
fn character(rest: &str) -> usize {
    let mut inside = rest.chars().skip(1);
    match (inside.next(), inside.next()) {
        (Some('\\'), _) => quoted(rest, '\''),
        (Some(it), Some('\'')) => 2 + it.len_utf8(),
        (Some(_), _) | (None, _) => 0,
    }
}

#[test]
fn comments_and_literals_are_blank_and_lines_stay() {
    let text = "a // b\nc /* d /* e */\nf */ g\n\"h \\\" // i\" j\n";
    assert_eq!(
        code(text),
        "a     \nc             \n     g\n            j\n"
    );
}

#[test]
fn raw_strings_characters_and_lifetimes_are_told_apart() {
    assert_eq!(code("r#\"a\" b\"# c"), "          c");
    assert_eq!(code("br\"a\\\" b"), "       b");
    assert_eq!(code("'\"' a '\\'' b"), "    a      b");
    assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
    assert_eq!(code("r#fn(bar)"), "r#fn(bar)");
    assert_eq!(code("'é' \"ü\" z"), "        z");
}

#[test]
fn what_never_closes_hides_the_rest() {
    assert_eq!(code("a \"b\nc"), "a   \n ");
    assert_eq!(code("a /* b\nc"), "a     \n ");
    assert_eq!(code("a r#\"b\"\nc").trim_end(), "a");
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
