//! Removes anything that looks like a secret from a text before it is stored, logged, sent or shown.

use crate::fence::{clip, clip_encoded};

/// Replacement for a secret.
pub const MASK: &str = "[secret]";

/// Prefixes of the secrets of the services we use, and the minimum number of characters after them.
///
/// GitHub: classic, fine-grained, App, refresh and OAuth tokens. Google: API keys. AWS: access key ids. Slack, OpenAI
/// and Standard Webhooks by their prefixes.
const PREFIXES: [(&str, usize); 17] = [
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("AIza", 30),
    ("AQ.", 20),
    ("ya29.", 20),
    ("AKIA", 16),
    ("ASIA", 16),
    ("sk-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("whsec_", 16),
    ("gaf_", 20),
    ("eyJ", 60),
];

/// The text without anything that looks like a secret. Takes time in proportion to the length of the text.
pub fn redact(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let length = if inside_word(&text.as_bytes()[..at]) {
            None
        } else {
            secret_len(&text[at..])
        };
        let taken = length.unwrap_or(c.len_utf8());
        clean.push_str(length.map_or_else(|| &text[at..at + taken], |_| MASK));
        at += taken;
    }
    mask_key_blocks(&clean)
}

/// Whether the next characters continue a word, as the `sk-` in `task-7` does. A letter that only ends an escape, as
/// in `\n` or `%3D`, begins no word.
fn inside_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't'] => false,
        [.., b'\\', b'u', a, b, c, d]
            if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) =>
        {
            false
        }
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => false,
        [.., last] => last.is_ascii_alphanumeric(),
        [] => false,
    }
}

/// How long the secret is that a text begins with, if it begins with one.
fn secret_len(text: &str) -> Option<usize> {
    PREFIXES.iter().find_map(|(prefix, more)| {
        let tail = text.strip_prefix(prefix)?.as_bytes();
        let begins = tail.len() >= *more && tail[..*more].iter().all(|b| is_token_byte(*b));
        let length = || tail.iter().take_while(|b| is_token_byte(**b)).count();
        begins.then(|| prefix.len() + length())
    })
}

/// A text from outside as it may be stored and shown: without hidden characters, without secrets, at most `chars_max` characters.
///
/// Hidden characters go first, since they could hide a secret, and the cut comes last, since it could leave half of one.
pub fn presentable(text: &str, chars_max: usize) -> String {
    clip(&redact(&clip(text, usize::MAX)), chars_max)
}

/// The same with a limit in bytes as JSON, for texts in records.
pub fn storable(text: &str, bytes_max: usize) -> String {
    clip_encoded(&redact(&clip(text, usize::MAX)), bytes_max)
}

/// What stands within a sentence of ours: without the full stop of its own.
pub fn clause(text: &str) -> &str {
    text.trim_end().trim_end_matches('.')
}

/// A text as the end of a sentence of ours: with one full stop, or with the question mark that it has.
pub fn closed(text: &str) -> String {
    let text = clause(text);
    match text.ends_with('?') {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// Whether a text contains anything that looks like a secret.
pub fn holds_secret(text: &str) -> bool {
    redact(text) != text
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.+/=".contains(&byte)
}

/// Private keys in PEM: everything between the lines, and to the end if the end is missing.
fn mask_key_blocks(text: &str) -> String {
    // A certificate may precede its key.
    let is_key = |at: &usize| {
        let line = text[*at..].lines().next();
        line.is_some_and(|line| line.contains("PRIVATE KEY"))
    };
    let mut begins = text.match_indices("-----BEGIN ").map(|(at, _)| at);
    let Some(start) = begins.find(is_key) else {
        return text.to_owned();
    };
    let end = text[start..].find("-----END ").and_then(|end| {
        let line = &text[start + end..];
        line[9..]
            .find("-----")
            .map(|close| start + end + 9 + close + 5)
    });
    let after = end.map_or(String::new(), |end| mask_key_blocks(&text[end..]));
    format!("{}{MASK}{after}", &text[..start])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_with_one_mark() {
        for (text, told) in [("late", "late."), ("late. ", "late."), ("`qa`?", "`qa`?")] {
            assert_eq!(closed(text), told);
        }
    }

    #[test]
    fn a_key_behind_a_certificate_is_masked() {
        let block = |what: &str, body: &str| {
            format!("-----BEGIN {what}-----\n{body}\n-----END {what}-----")
        };
        let certificate = block("CERTIFICATE", "public");
        let text = format!("{certificate}\n{}\nend", block("PRIVATE KEY", "hidden"));
        assert_eq!(redact(&text), format!("{certificate}\n[secret]\nend"));
        assert_eq!(redact(&certificate), certificate);
    }

    #[test]
    fn masks_every_known_shape_and_keeps_the_rest() {
        for (prefix, more) in PREFIXES {
            let secret = format!("{prefix}{}", "A1b2".repeat(more));
            assert_eq!(
                redact(&format!("x={secret}, y")),
                "x=[secret], y",
                "{prefix}"
            );
        }
        for text in [
            "the task sk-1",
            "asking",
            "AKIA",
            "ghp_short",
            "a normal sentence. AQ. done",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn an_escape_before_a_secret_does_not_hide_it() {
        let secret = format!("ghp_{}", "A1b2".repeat(9));
        for escape in [
            r"\n", r"\t", r"\r", r"\u003d", "%20", "%3D", "%3d", "=", "\"", "_", "é",
        ] {
            let text = format!("token{escape}{secret}");
            assert_eq!(redact(&text), format!("token{escape}{MASK}"));
        }
        for text in [
            "task-14550388554331055113",
            "x%task-14550388554331055113",
            r"\task-14550388554331055113",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn masks_private_keys_even_when_cut() {
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(redact(key), "a\n[secret]\nb");
        assert_eq!(
            redact("a\n-----BEGIN PRIVATE KEY-----\nMIIE"),
            "a\n[secret]"
        );
    }
    #[test]
    fn presentable_texts_hide_no_secret_behind_hidden_characters_or_cuts() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let split = secret.replacen("789", "78\u{200b}9", 1);
        assert_eq!(
            presentable(&format!("key {split} end"), 99),
            "key [secret] end"
        );
        assert_eq!(presentable(&format!("key {secret}"), 9), "key [secr…");
        assert_eq!(presentable("plain", 99), "plain");
    }
    #[test]
    fn a_text_full_of_secrets_takes_no_longer_than_another() {
        let text = "sk-0123456789abcdefghijABCD ".repeat(40_000);
        assert_eq!(redact(&text), "[secret] ".repeat(40_000));
        let almost = "sk-".repeat(6) + " ";
        assert_eq!(redact(&almost.repeat(40_000)), almost.repeat(40_000));
    }
}
