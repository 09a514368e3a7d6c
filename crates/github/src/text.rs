//! Text from outside, made fit to be stored and shown: no control characters, no secrets, and never too long.

use domain::fence::is_invisible;
use domain::redact::redact;

/// A failure's message is at most this many characters.
pub(crate) const MESSAGE_CHARS_MAX: usize = 1_024;

/// One line without control or invisible characters and without secrets, cut to `longest` characters.
pub(crate) fn line(text: &str, longest: usize) -> String {
    // Cut generously first, so that a huge text costs little; then again, since masking can change the length.
    let spaced = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c });
    let shown: String = spaced
        .filter(|c| !is_invisible(*c))
        .take(longest.saturating_mul(4))
        .collect();
    redact(&shown).chars().take(longest).collect()
}

/// A text that is cut to `longest` characters, and otherwise stays as it is: it is stored nowhere in this form.
pub(crate) fn cut(mut text: String, longest: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(longest) {
        text.truncate(end);
    }
    text
}

/// The last `longest` characters of a log, without terminal escapes, invisible characters, the times that GitHub puts
/// before each line, and secrets.
pub(crate) fn tail(text: &str, longest: usize) -> String {
    let plain = without_escapes(text);
    let lines: Vec<&str> = plain
        .lines()
        .map(|line| without_time(line.trim_end()))
        .collect();
    let clean = redact(lines.join("\n").trim());
    let count = clean.chars().count();
    clean.chars().skip(count.saturating_sub(longest)).collect()
}

/// Takes out ANSI escape sequences and every control character but the end of a line and the tab.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_until(&mut rest, is_final),
            // A lone carriage return overwrites the line on a terminal: show both.
            '\r' if rest.peek() != Some(&'\n') => plain.push('\n'),
            '\n' | '\t' => plain.push(c),
            visible if !is_invisible(visible) => plain.push(visible),
            _invisible => {}
        }
    }
    plain
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(rest: &mut Rest<'_>) {
    match rest.next() {
        Some('[') => skip_until(rest, is_final),
        // A title or a link: up to the bell or `ESC \`, whose `\` is skipped by the next round.
        Some(']' | 'P' | '^' | '_') => {
            skip_until(rest, |c| c == '\u{7}' || c == '\\' || c == '\u{9c}')
        }
        Some(_) | None => {}
    }
}

/// Skips up to and with the first character that ends the sequence, but never over the end of the line.
fn skip_until(rest: &mut Rest<'_>, ends: fn(char) -> bool) {
    while let Some(c) = rest.next_if(|c| *c != '\n') {
        if ends(c) {
            return;
        }
    }
}

fn is_final(c: char) -> bool {
    ('\u{40}'..='\u{7e}').contains(&c)
}

fn without_time(line: &str) -> &str {
    match line.split_once(' ') {
        Some((time, rest)) if time.ends_with('Z') && time.parse::<jiff::Timestamp>().is_ok() => {
            rest
        }
        Some(_) | None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_control_characters_no_secrets_and_a_limit() {
        let token = format!("ghp_{}", "a1".repeat(18));
        assert_eq!(
            line(&format!("a\r\nX-Evil: 1\u{202e} {token}"), 100),
            "a  X-Evil: 1 [secret]"
        );
        assert_eq!(line(&"é".repeat(5_000), 1_024).chars().count(), 1_024);
    }

    #[test]
    fn a_tail_is_plain_text() {
        let log = "\u{feff}2026-11-21T10:00:00.1234567Z \u{1b}[36;1mcargo test\u{1b}[0m\r\n2026-11-21T10:00:01.0000000Z \u{1b}]8;;https://x\u{1b}\\bad\u{7}\n50%\r100%\0";
        assert_eq!(tail(log, 4_000), "cargo test\nbad\n50%\n100%");
    }

    #[test]
    fn a_tail_keeps_the_end() {
        assert_eq!(tail("äbcdef", 3), "def");
        assert_eq!(tail("\u{1b}[never ended\nnext", 10), "ended\nnext");
        assert_eq!(tail(&format!("{}end", "x".repeat(10_000)), 5), "xxend");
    }
}
