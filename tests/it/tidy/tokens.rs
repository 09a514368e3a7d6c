//! The tokens of Rust code, for rules about its structure, and what of them is shipped.

use super::code::{code, first_word};

/// A word, `::`, or another sign of code.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// The byte offset in the file.
    pub(super) at: usize,
}

impl Token<'_> {
    pub(super) fn is_word(&self) -> bool {
        !first_word(self.text).is_empty()
    }
}

/// The attribute before what only tests have.
const ONLY_IN_TESTS: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// The tokens of a file, without those of items that only tests have.
pub(super) fn shipped(text: &str) -> Vec<Token<'_>> {
    let all = tokens(text);
    let mut kept = Vec::new();
    let mut rest = all.as_slice();
    while let [token, after @ ..] = rest {
        let texts = rest.iter().map(|it| it.text);
        if texts.take(ONLY_IN_TESTS.len()).eq(ONLY_IN_TESTS) {
            let item = &rest[ONLY_IN_TESTS.len()..];
            rest = &item[item_length(item)..];
        } else {
            kept.push(*token);
            rest = after;
        }
    }
    kept
}

/// All tokens but literals and comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let code = code(text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = code.get(at..) {
        let from = rest.trim_start();
        let Some(sign) = from.chars().next() else {
            break;
        };
        at += rest.len() - from.len();
        let length = match first_word(from).len() {
            0 if from.starts_with("::") => 2,
            0 => sign.len_utf8(),
            word => word,
        };
        // Code stands at the places that it has in the text.
        let token = text.get(at..at + length);
        found.extend(token.map(|text| Token { text, at }));
        at += length;
    }
    found
}

/// How many tokens the group at the start has, with its brackets.
pub(super) fn group_length(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// How many tokens the item at the start has, with the attributes before it.
fn item_length(tokens: &[Token<'_>]) -> usize {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.text {
            ";" => return at + 1,
            ")" | "]" | "}" => return at,
            "{" => {
                at += group_length(&tokens[at..]);
                let ends = tokens.get(at).is_some_and(|it| it.text == ";");
                return at + usize::from(ends);
            }
            "(" | "[" => at += group_length(&tokens[at..]),
            _ => at += 1,
        }
    }
    at
}

#[test]
fn tokens_of_tests_comments_and_literals_are_left_out() {
    for (text, shown) in [
        ("a::b(\"c\") // d", "a :: b ( )"),
        (
            "#[cfg(test)]\nmod tests {\n    fn f() {}\n}\nfn g() {}",
            "fn g ( ) { }",
        ),
        (
            "#[cfg(test)]\n#[expect(a)]\nfn f(x: [u8; 2]) {}\nfn g();",
            "fn g ( ) ;",
        ),
        (
            "#[cfg(test)]\nuse a::{b, c};\n#[cfg(test)]\nmod d;\nuse e;",
            "use e ;",
        ),
        ("{ a; #[cfg(test)] }", "{ a ; }"),
        ("#[cfg(unix)] a", "# [ cfg ( unix ) ] a"),
    ] {
        let texts: Vec<_> = shipped(text).iter().map(|it| it.text).collect();
        assert_eq!(texts.join(" "), shown, "{text}");
    }
}
