//! Takes out of a text whatever looks like a secret, before the text is stored, logged, sent or shown.

/// What stands in for a secret.
pub const MASK: &str = "[secret]";

/// How the secrets of the services we meet begin, and how many more characters they have at least.
///
/// GitHub: classic, fine-grained, App, refresh and OAuth tokens. Google: API keys. AWS: access key ids. Slack, OpenAI and Standard Webhooks by their prefixes.
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

/// The text without anything that looks like a secret.
pub fn redact(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, length)) = find(rest) {
        clean.push_str(&rest[..at]);
        clean.push_str(MASK);
        rest = &rest[at + length..];
    }
    clean.push_str(rest);
    mask_key_blocks(&clean)
}

/// Whether a text holds anything that looks like a secret.
pub fn holds_secret(text: &str) -> bool {
    redact(text) != text
}

fn find(text: &str) -> Option<(usize, usize)> {
    PREFIXES
        .iter()
        .filter_map(|(prefix, more)| find_prefixed(text, prefix, *more))
        .min()
}

fn find_prefixed(text: &str, prefix: &str, more: usize) -> Option<(usize, usize)> {
    text.match_indices(prefix).find_map(|(at, _)| {
        let inside_word = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let tail = text[at + prefix.len()..]
            .bytes()
            .take_while(|b| is_token_byte(*b))
            .count();
        (!inside_word && tail >= more).then_some((at, prefix.len() + tail))
    })
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.+/=".contains(&byte)
}

/// Private keys in PEM: everything between the lines, and to the end if the end is missing.
fn mask_key_blocks(text: &str) -> String {
    let Some(start) = text.find("-----BEGIN ").filter(|at| {
        text[*at..]
            .lines()
            .next()
            .is_some_and(|line| line.contains("PRIVATE KEY"))
    }) else {
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
    fn masks_private_keys_even_when_cut() {
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(redact(key), "a\n[secret]\nb");
        assert_eq!(
            redact("a\n-----BEGIN PRIVATE KEY-----\nMIIE"),
            "a\n[secret]"
        );
    }
}
