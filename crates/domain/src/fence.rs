//! Text from outside is data: clipped, stripped of invisible characters, and fenced before it is passed on.

/// The first `chars_max` characters of a text without control characters other than newline and tab; marks a cut.
pub fn clip(text: &str, chars_max: usize) -> String {
    let visible = |c: &char| !is_invisible(*c);
    let mut clipped: String = text.chars().filter(visible).take(chars_max).collect();
    if text.chars().filter(visible).count() > chars_max {
        clipped.push('…');
    }
    clipped
}

/// Whether a text ends like one that [`clip_encoded`] has cut. A text that happens to end like this counts too.
pub fn is_clipped(text: &str, bytes_max: usize) -> bool {
    /// The longest form of a character in JSON, in bytes: the omitted one may have needed this many.
    const CHARACTER_BYTES_MAX: usize = 6;
    text.ends_with('…') && encoded_len(text) + CHARACTER_BYTES_MAX > bytes_max
}

/// The first characters of a text that take at most `bytes_max` bytes in JSON, without the quotes around it; marks a cut.
pub fn clip_encoded(text: &str, bytes_max: usize) -> String {
    let clipped = clip(text, usize::MAX);
    if encoded_len(&clipped) <= bytes_max {
        return clipped;
    }
    let mut left = bytes_max.saturating_sub('…'.len_utf8());
    let fits = |c: &char| {
        let fits = encoded_char_len(*c) <= left;
        left = left.saturating_sub(encoded_char_len(*c));
        fits
    };
    let mut cut: String = clipped.chars().take_while(fits).collect();
    cut.push('…');
    cut
}

/// The last characters of a text within both limits, `bytes_max` as JSON; marks a cut.
pub fn tail(text: &str, chars_max: usize, bytes_max: usize) -> String {
    let clipped = clip(text, usize::MAX);
    let mut left = bytes_max.saturating_sub('…'.len_utf8());
    let fits = |(_, c): &(usize, char)| {
        let fits = encoded_char_len(*c) <= left;
        left = left.saturating_sub(encoded_char_len(*c));
        fits
    };
    let from_the_end = clipped.char_indices().rev().take(chars_max);
    let begin = from_the_end.take_while(fits).last();
    match begin.map_or(clipped.len(), |(at, _)| at) {
        0 => clipped,
        at => format!("…{}", &clipped[at..]),
    }
}

/// How many bytes a text takes in JSON, without the quotes around it.
pub fn encoded_len(text: &str) -> usize {
    text.chars().map(encoded_char_len).sum()
}

fn encoded_char_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\t' | '\r' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => c.len_utf8(),
    }
}

/// Whether a character is invisible or changes how others look: control characters except newline and tab, and format
/// characters that hide, reorder or smuggle text.
///
/// The list is Unicode's: bidirectional controls, default ignorable characters with the variation selectors, line
/// separators and tags.
pub fn is_invisible(c: char) -> bool {
    let control = c.is_control() && c != '\n' && c != '\t';
    let format = matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    control || format
}

/// Wraps a text from outside so that a reader sees where it begins and ends and whose it is.
///
/// The fence is longer than any run of backticks inside, so the text cannot close it. One in the name of its origin would leave it
/// unopened.
pub fn fence(origin: &str, text: &str, chars_max: usize) -> String {
    let text = clip(text, chars_max);
    let origin = origin.replace('`', "'");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    format!(
        "{ticks}text {origin}\n{text}\n{ticks}",
        text = text.trim_end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_by_characters_and_says_so() {
        assert_eq!(clip("äöü", 2), "äö…");
        assert_eq!(clip("äöü", 3), "äöü");
    }

    #[test]
    fn hidden_characters_do_not_pass() {
        assert_eq!(clip("a\u{202e}b\u{0007}c\u{e0041}\nd\te", 99), "abc\nd\te");
    }

    #[test]
    fn nothing_that_is_not_seen_passes() {
        // One of each kind: a soft hyphen, both ways of turning text, a joiner, fillers, separators, selectors, tags.
        for c in "\u{ad}\u{34f}\u{61c}\u{3164}\u{200d}\u{2028}\u{2067}\u{206a}\u{fe0f}\u{feff}\u{fff9}\u{e0100}\u{e0041}\r\u{1b}\0\u{9b}".chars() {
            assert_eq!(clip(&format!("a{c}b"), 9), "ab", "{c:?}");
        }
        for c in "é€🦀中ﬁ\u{301}".chars() {
            assert_eq!(clip(&format!("a{c}b"), 9), format!("a{c}b"));
        }
    }

    #[test]
    fn a_text_cannot_close_its_fence() {
        let fenced = fence("log", "x\n`````\ny", 99);
        assert!(fenced.starts_with("``````text log\n"), "{fenced}");
        assert!(fenced.ends_with("\n``````"), "{fenced}");
    }
    #[test]
    fn encoded_lengths_are_those_of_json() {
        for text in ["", "plain", "a\"b\\c\nd\te\rf\u{8}\u{c}\u{1}g", "äöü€🦀"] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(encoded_len(text) + 2, json.len(), "{json}");
        }
    }

    #[test]
    fn of_a_log_the_end_is_kept() {
        assert_eq!(tail("abc", 3, 99), "abc");
        assert_eq!(tail("abcdef", 3, 99), "…def");
        assert_eq!(tail("abc\"\"", 99, 7), "…\"\"");
        assert_eq!(tail("🦀🦀", 99, 7), "…🦀");
        assert_eq!(tail("🦀🦀", 99, 1), "…");
        assert_eq!(tail("", 9, 9), "");
    }

    #[test]
    fn clips_by_bytes_of_json() {
        assert_eq!(clip_encoded("abc", 3), "abc");
        assert_eq!(clip_encoded("abcdef", 5), "ab…");
        assert_eq!(clip_encoded("\"\"\"\"", 7), "\"\"…");
        assert_eq!(clip_encoded("🦀🦀", 7), "🦀…");
        assert_eq!(clip_encoded("🦀🦀", 1), "…");
    }
}
