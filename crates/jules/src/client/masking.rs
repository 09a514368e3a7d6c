//! Makes foreign text fit to be shown: no secrets, no control characters, not too long.

use domain::fence::is_invisible;
use domain::redact::{MASK, redact};

/// How many characters of a failure's message are kept, as `domain::failure` promises.
const MESSAGE_CHARS_MAX: usize = 1024;

/// The text on one line, without `key` and anything that looks like a secret, at most 1,024 characters.
pub(super) fn shown(text: &str, key: &str) -> String {
    let key = key.trim();
    let hidden = if key.is_empty() {
        text.to_owned()
    } else {
        text.replace(key, MASK)
    };
    let line: String = hidden
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !is_invisible(*c))
        .collect();
    let masked = redact(&line);
    let mut words = masked.split(' ').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_owned();
    let line = words.fold(first, |line, word| line + " " + word);
    match line.char_indices().nth(MESSAGE_CHARS_MAX) {
        None => line,
        Some(_) => line
            .chars()
            .take(MESSAGE_CHARS_MAX - 1)
            .chain(['…'])
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_shaped_like_a_key_is_masked() {
        for prefix in ["AIzaSy", "AQ.", "ghp_"] {
            let text = format!("x={prefix}{}, end", "0123456789".repeat(4));
            assert_eq!(shown(&text, ""), "x=[secret], end");
        }
    }

    #[test]
    fn the_key_itself_is_masked_whatever_its_shape() {
        assert_eq!(
            shown("bad key canary-1 given", "canary-1\n"),
            "bad key [secret] given"
        );
    }

    #[test]
    fn a_key_broken_by_unseen_characters_is_masked_still() {
        assert_eq!(
            shown("AIza\u{7}0123456789012345\u{200b}678901234567890", ""),
            "[secret]"
        );
    }

    #[test]
    fn control_characters_go_and_white_space_becomes_one_blank() {
        assert_eq!(shown("a\u{1b}[31mb\r\n\t c\u{202e}d", ""), "a[31mb cd");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let cut = shown(&"ä".repeat(5000), "");
        assert_eq!(cut.chars().count(), MESSAGE_CHARS_MAX);
        assert!(cut.ends_with("ä…"));
        assert_eq!(shown(&"ä".repeat(1024), ""), "ä".repeat(1024));
    }
}
