//! The address of a web page that may be shown to people: of a session, or of a check. Only services supply them;
//! text that others wrote never becomes one.

use serde::{Deserialize, Serialize};

use crate::address::{is_https, is_local, is_plain};
use crate::ids::SessionId;
use crate::redact::holds_secret;

/// Longest address, in characters.
const CHARS_MAX: usize = 200;

/// The address of a page: https, or on this machine, as the sandbox's pages are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebPage(String);

/// It is no address that may be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no address of a page: https, plain characters, at most {CHARS_MAX} of them")]
pub struct InvalidWebPage;

impl WebPage {
    /// The page at an address from a service; `None` for anything odd.
    pub fn from_service(address: &str) -> Option<Self> {
        let fits = address.len() <= CHARS_MAX && is_plain(address);
        let known = is_https(address) || is_local(address);
        (fits && known && !holds_secret(address)).then(|| Self(address.to_owned()))
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl WebPage {
    /// The page of a session: the one from Jules, else the usual address of Jules's sessions.
    pub fn session_page(session: &SessionId, told: Option<&str>) -> Self {
        let usual = || Self(format!("https://jules.google.com/session/{session}"));
        told.and_then(Self::from_service).unwrap_or_else(usual)
    }
}

impl TryFrom<String> for WebPage {
    type Error = InvalidWebPage;

    fn try_from(address: String) -> Result<Self, InvalidWebPage> {
        Self::from_service(&address).ok_or(InvalidWebPage)
    }
}

impl From<WebPage> for String {
    fn from(page: WebPage) -> Self {
        page.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_those_of_services_and_of_the_sandbox() {
        for address in [
            "https://jules.google.com/session/11430824456154075364",
            "https://github.com/acme/shop/runs/7?check_suite_focus=true#step:3",
            "http://127.0.0.1:8080/session/1",
            "http://localhost:8080/",
        ] {
            assert_eq!(WebPage::from_service(address).unwrap().as_str(), address);
        }
    }

    #[test]
    fn odd_addresses_are_none() {
        let long = format!("https://example.com/{}", "x".repeat(CHARS_MAX));
        for address in [
            "",
            "jules.google.com/session/1",
            "http://jules.google.com/session/1",
            "javascript:alert(1)",
            "https://",
            "https://host/x",
            "https://user@example.com/",
            "https://user:word@example.com/",
            "https://example.com/a b",
            "https://example.com/\n",
            "https://example.com/<script>",
            "https://ex\u{430}mple.com/",
            "https://example.com/ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "http://127.0.0.1/",
            "http://127.0.0.1:x@evil.example/",
            "http://127.0.0.1.evil.example:80/",
            &long,
        ] {
            assert_eq!(WebPage::from_service(address), None, "{address}");
        }
    }
}
