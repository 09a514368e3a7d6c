//! Finds a secret in a text, whole or in part, also when it was encoded or broken into pieces.

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// So many letters and digits of a secret in a row are a leak of it.
const PIECE_CHARS: usize = 20;

/// Looks for some secrets in all their forms at once.
pub(super) struct Scanner {
    pieces: AhoCorasick,
    /// Which secret a piece is of, and in which form.
    names: Vec<(String, &'static str)>,
}

impl Scanner {
    /// A scanner for these secrets.
    pub(super) fn new(secrets: &[String]) -> Self {
        let (mut all, mut names) = (Vec::new(), Vec::new());
        for secret in secrets {
            for (form, text) in forms(secret) {
                for piece in pieces(&squeezed_form(&text)) {
                    all.push(piece);
                    names.push((secret.clone(), form));
                }
            }
        }
        let pieces = AhoCorasick::new(&all).expect("patterns");
        Self { pieces, names }
    }

    /// The first secret that a text holds, with its form; `None` if it holds none.
    pub(super) fn leak(&self, text: &str) -> Option<&(String, &'static str)> {
        let found = self.pieces.find(&squeezed(text))?;
        self.names.get(found.pattern().as_usize())
    }
}

/// Only letters and digits, so that white space, quotes and hidden characters between them hide nothing. Escaped ones go as wholes.
fn squeezed(text: &str) -> String {
    let whole = ["\\n", "\\r", "\\t"]
        .iter()
        .fold(text.to_owned(), |text, escape| text.replace(escape, " "));
    squeezed_form(&whole)
}

fn squeezed_form(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// All pieces of a form that are long enough to be nothing else; a short form is one piece.
fn pieces(form: &str) -> Vec<String> {
    if form.len() <= PIECE_CHARS {
        return vec![form.to_owned()];
    }
    let ends = PIECE_CHARS..=form.len();
    ends.map(|end| form[end - PIECE_CHARS..end].to_owned())
        .collect()
}

fn forms(secret: &str) -> Vec<(&'static str, String)> {
    let each = |form: &dyn Fn(u8) -> String| secret.bytes().map(form).collect::<String>();
    let mut forms = vec![
        ("plain", secret.to_owned()),
        ("reversed", secret.chars().rev().collect()),
        ("hex", each(&|b| format!("{b:02x}"))),
        ("HEX", each(&|b| format!("{b:02X}"))),
        ("percent", each(&|b| format!("%{b:02x}"))),
        ("PERCENT", each(&|b| format!("%{b:02X}"))),
        ("unicode escapes", each(&|b| format!("\\u{b:04x}"))),
        ("UNICODE escapes", each(&|b| format!("\\u{b:04X}"))),
    ];
    for shift in 0..3 {
        forms.push((
            "base64",
            shifted(secret, shift, |bytes| STANDARD_NO_PAD.encode(bytes)),
        ));
        forms.push((
            "base64url",
            shifted(secret, shift, |bytes| URL_SAFE_NO_PAD.encode(bytes)),
        ));
    }
    forms
}

/// The characters that stand for a secret alone, when so many bytes went before it.
fn shifted(secret: &str, shift: usize, encode: impl Fn(&[u8]) -> String) -> String {
    let bytes = [vec![0; shift], secret.as_bytes().to_vec()].concat();
    let encoded = encode(&bytes);
    let first = (shift * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    encoded[first..last].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "AQ.Zk93mQx7Lt-2vB_8sHc4Yd1Rg6";

    #[test]
    fn every_disguise_is_seen_through() {
        let scanner = Scanner::new(&[SECRET.to_owned()]);
        let spaced = |by: &str| {
            let chars: Vec<String> = SECRET.chars().map(String::from).collect();
            chars.join(by)
        };
        let header = STANDARD_NO_PAD.encode(format!("user:{SECRET}"));
        let json = serde_json::to_string(&spaced("\n")).expect("JSON");
        for text in [
            format!("key={SECRET}&alt=json"),
            spaced(" "),
            spaced("\n"),
            spaced("\u{200b}"),
            spaced("\", \""),
            json,
            header.clone(),
            URL_SAFE_NO_PAD.encode(format!("a{SECRET}")),
            header
                .as_bytes()
                .chunks(8)
                .map(|it| String::from_utf8_lossy(it) + "\r\n")
                .collect(),
            SECRET.bytes().map(|b| format!("{b:02X}:")).collect(),
            SECRET.bytes().map(|b| format!("%{b:02x}")).collect(),
            SECRET.bytes().map(|b| format!("\\u{b:04x}")).collect(),
            SECRET.chars().rev().collect(),
            format!("begins with {}…", &SECRET[..24]),
            format!("ends with {}", &SECRET[5..]),
        ] {
            assert!(scanner.leak(&text).is_some(), "{text}");
        }
        for text in [
            "",
            "AQ.Zk93",
            "[secret]",
            "nothing of it",
            "AQ.Another0123456789012345678",
        ] {
            assert_eq!(scanner.leak(text), None, "{text}");
        }
    }
}
