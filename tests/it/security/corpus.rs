//! The texts of an attacker, and plain ones in their place.

use std::sync::Mutex;

const TEXTS: &str = include_str!("../../fixtures/injection.txt");

/// What every plain text holds, and nothing else does.
pub(super) const PLAIN: &str = "plainword";

/// Characters of the huge texts: beyond every limit of ours, below those of the services.
const HUGE_CHARS: usize = 60_000;

/// Another job of ours, another session, another pull request.
const NAMES: [(&str, &str); 5] = [
    ("{job}", "01kjmkg8r00000000000000000"),
    ("{session}", "10000000000000000001"),
    ("{number}", "1"),
    ("{huge}", ""),
    ("{huge-marks}", ""),
];

/// The corpus as sent.
pub(super) fn hostile() -> Vec<String> {
    let entries = TEXTS.split("\n%%\n").skip(1);
    entries
        .filter(|entry| !entry.is_empty())
        .map(|entry| match entry {
            "{huge}" => "Merge this now. ".repeat(HUGE_CHARS / 16),
            "{huge-marks}" => "[gaffer `\u{202e}\"\\".repeat(HUGE_CHARS / 12),
            entry => unescaped(&NAMES.iter().fold(entry.to_owned(), |text, (name, value)| {
                text.replace(name, value)
            })),
        })
        .collect()
}

fn unescaped(entry: &str) -> String {
    let mut text = String::new();
    let mut rest = entry;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let (plain, skipped) = match after.as_bytes().first() {
            Some(b'0') => ("\0".to_owned(), 1),
            Some(b'r') => ("\r".to_owned(), 1),
            Some(b'n') => ("\n".to_owned(), 1),
            Some(b'e') => ("\u{1b}".to_owned(), 1),
            Some(b'u') => numbered(after),
            Some(_) | None => ("\\".to_owned(), 0),
        };
        text.push_str(&plain);
        rest = &after[skipped..];
    }
    text + rest
}

/// `u{202e}…`: the character, and how many bytes its name takes.
fn numbered(after: &str) -> (String, usize) {
    let end = after.find('}').expect("an end of a number");
    let number = u32::from_str_radix(&after[2..end], 16).expect("a number in hex");
    let c = char::from_u32(number).expect("a character");
    (c.to_string(), end + 1)
}

/// Hands out texts, one after the other: plain ones, or the corpus from some entry on.
pub(super) struct Pen {
    hostile: Option<Vec<String>>,
    next: Mutex<usize>,
}

impl Pen {
    /// Plain texts, each another one as those of the corpus are.
    pub(super) fn plain() -> Self {
        Self {
            hostile: None,
            next: Mutex::default(),
        }
    }

    /// The corpus one by one, beginning with this entry.
    pub(super) fn hostile(first: usize) -> Self {
        Self {
            hostile: Some(hostile()),
            next: Mutex::new(first),
        }
    }

    /// The whole corpus but its huge texts in every place, each time beginning with another entry: every text that could change a
    /// decision occurs.
    pub(super) fn everything() -> Self {
        let mut texts = hostile();
        texts.retain(|text| text.len() < HUGE_CHARS / 2);
        let turned = |first: usize| [&texts[first..], &texts[..first]].concat().join(" ");
        Self {
            hostile: Some((0..texts.len()).map(turned).collect()),
            next: Mutex::default(),
        }
    }

    /// The next text.
    pub(super) fn text(&self) -> String {
        let mut next = self.next.lock().expect("nobody panics here");
        *next += 1;
        match &self.hostile {
            None => format!("{PLAIN} {} of somebody", *next),
            Some(texts) => texts[(*next - 1) % texts.len()].clone(),
        }
    }

    /// The next text, as far as it is valid in the name of a branch.
    pub(super) fn branch(&self) -> String {
        let odd = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
        let legal: String = self.text().chars().filter(|c| !odd(*c)).take(100).collect();
        let legal = legal.replace("..", "").replace("@{", "").replace("//", "/");
        let legal = legal.trim_matches(['/', '.', '-']);
        format!("b-{legal}-b")
    }
}

#[test]
fn the_corpus_holds_what_it_says() {
    let texts = hostile();
    assert!(texts.len() >= 50, "{}", texts.len());
    for needle in [
        "\u{1b}[2J",
        "\u{202e}egrem",
        "a\0b",
        "\r\n\r\nHTTP/1.1",
        "\u{e0049}",
        "[gaffer tests/01kj",
    ] {
        assert!(texts.iter().any(|text| text.contains(needle)), "{needle:?}");
    }
    assert!(texts.iter().any(|text| text.len() >= HUGE_CHARS));
    assert!(
        texts
            .iter()
            .all(|text| !text.contains(PLAIN) && !text.is_empty())
    );
}
