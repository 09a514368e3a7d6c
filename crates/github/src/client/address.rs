//! Where the API is, and which other addresses belong to it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::Error;

/// Everything but unreserved characters is encoded, so that a name stays one segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// GitHub Enterprise Server serves REST below this path.
const ENTERPRISE_REST: &str = "/api/v3";

/// The base of all addresses: an origin and a path without its last slash.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    url: Url,
    origin: String,
    path: String,
}

impl Base {
    /// Reads the configured address.
    pub(crate) fn new(url: &Url) -> Result<Self, Error> {
        let plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || !plain {
            return Err(Error::Address(
                url.host_str().unwrap_or("no host").to_owned(),
            ));
        }
        let origin = url.origin().ascii_serialization();
        let path = url.path().trim_end_matches('/').to_owned();
        Ok(Self {
            url: url.clone(),
            origin,
            path,
        })
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The absolute address of a REST path, which begins with a slash and is encoded already.
    pub(crate) fn rest(&self, path: &str) -> String {
        format!("{}{}{path}", self.origin, self.path)
    }

    /// The absolute address of GraphQL, which Enterprise Server keeps beside REST and not below it.
    pub(crate) fn graphql(&self) -> String {
        let above = self
            .path
            .strip_suffix(ENTERPRISE_REST)
            .map(|above| format!("{above}/api"));
        format!(
            "{}{}/graphql",
            self.origin,
            above.as_deref().unwrap_or(&self.path)
        )
    }

    /// Whether an address in an answer belongs to the same API, so that the credential may go there.
    pub(crate) fn contains(&self, address: &str) -> bool {
        let Ok(other) = Url::parse(address) else {
            return false;
        };
        let below = other
            .path()
            .strip_prefix(self.path.as_str())
            .is_some_and(|rest| rest.starts_with('/'));
        let plain = other.username().is_empty() && other.password().is_none();
        other.origin() == self.url.origin() && below && plain
    }

    /// Whether a log may be fetched from an address: encrypted, or on the API's own origin.
    pub(crate) fn may_fetch(&self, address: &str) -> bool {
        let Ok(other) = Url::parse(address) else {
            return false;
        };
        other.scheme() == "https" || other.origin() == self.url.origin()
    }
}

/// One segment of a path; a branch's slashes are encoded too.
pub(crate) fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// A value in a query.
pub(crate) fn encoded(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

/// A branch as the rest of a path, with its slashes kept.
pub(crate) fn branch_path(name: &str) -> String {
    name.split('/').map(segment).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(url: &str) -> Base {
        Base::new(&url.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_base_path_is_kept() {
        for url in [
            "http://127.0.0.1:1234/github",
            "http://127.0.0.1:1234/github/",
        ] {
            assert_eq!(
                base(url).rest("/repos/o/r"),
                "http://127.0.0.1:1234/github/repos/o/r"
            );
            assert_eq!(base(url).graphql(), "http://127.0.0.1:1234/github/graphql");
        }
        assert_eq!(
            base("https://api.github.com").rest("/repos"),
            "https://api.github.com/repos"
        );
        assert_eq!(
            base("https://api.github.com").graphql(),
            "https://api.github.com/graphql"
        );
        assert_eq!(
            base("https://ghe.example/api/v3").graphql(),
            "https://ghe.example/api/graphql"
        );
    }

    #[test]
    fn only_addresses_of_the_same_api_belong_to_it() {
        let base = base("https://api.github.com/v");
        assert!(base.contains("https://api.github.com/v/repos?page=2"));
        assert!(base.contains("https://API.github.com:443/v/repos"));
        let foreign = [
            "http://api.github.com/v/repos",
            "https://api.github.com:444/v/repos",
            "https://api.github.com.evil.example/v/repos",
            "https://api.github.com@evil.example/v/repos",
            "https://u:p@api.github.com/v/repos",
            "https://api.github.com/vv/repos",
            "https://api.github.com/v/../w",
            "//evil.example/v/repos",
            "/v/repos",
            "file:///v/repos",
        ];
        for address in foreign {
            assert!(!base.contains(address), "{address}");
        }
    }

    #[test]
    fn odd_bases_are_refused_without_repeating_a_password() {
        for url in [
            "ftp://h/",
            "https://u:canary@h/",
            "https://h/?q",
            "https://h/#f",
            "data:x",
        ] {
            let refusal = Base::new(&url.parse().unwrap()).unwrap_err().to_string();
            assert!(!refusal.contains("canary"), "{refusal}");
        }
    }

    #[test]
    fn names_stay_one_segment() {
        assert_eq!(segment("feat/x y#%?"), "feat%2Fx%20y%23%25%3F");
        assert_eq!(branch_path("feat/ü"), "feat/%C3%BC");
    }
}
