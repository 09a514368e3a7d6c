//! The code that GitHub's page gives: taken from an address or a terminal, checked, and never shown.

use std::fmt;

use url::Url;

use crate::error::Error;

/// Longest code, in characters: GitHub's have 40.
const CODE_CHARS_MAX: usize = 200;

/// A code, good for one exchange.
pub(super) struct Code(String);

impl Code {
    /// The text, for the exchange.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

pub(super) fn plain(text: &str) -> Result<Code, Error> {
    let fits = (1..=CODE_CHARS_MAX).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if fits {
        return Ok(Code(text.to_owned()));
    }
    Err(Error::usage(
        "what was given is no code",
        "give the `code` from the address that GitHub went back to",
    ))
}

/// A code, or the whole address that GitHub went back to; the latter has to carry the state of this setup.
pub(super) fn pasted(text: &str, state: Option<&str>) -> Result<Code, Error> {
    let text = text.trim();
    if !text.contains("://") {
        return plain(text);
    }
    let parameter = |name: &str| {
        let url: Url = text.parse().ok()?;
        let mut pairs = url.query_pairs();
        let found = pairs.find(|(key, _)| key == name)?;
        Some(found.1.into_owned())
    };
    if parameter("state").as_deref() != state {
        return Err(Error::refused(
            "wrong_state",
            "that address belongs to another setup",
            "type `gaffer github setup` and begin at the page it tells",
        ));
    }
    plain(&parameter("code").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_taken_from_an_address_of_this_setup_only() {
        let address = "http://127.0.0.1:9/made?code=abc123&state=s1";
        assert_eq!(pasted(address, Some("s1")).unwrap().expose(), "abc123");
        assert_eq!(pasted(" abc123\n", None).unwrap().expose(), "abc123");
        for (text, state) in [
            (address, Some("s2")),
            (address, None),
            ("http://127.0.0.1:9/made?state=s1", Some("s1")),
            ("", None),
            ("a b", None),
            ("a/../b", None),
        ] {
            assert!(pasted(text, state).is_err(), "{text}");
        }
    }
}
