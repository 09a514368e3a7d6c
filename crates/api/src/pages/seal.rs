//! Seals: sessions, links that sign in, and the tokens of forms.
//!
//! A seal names a token of ours and is an HMAC over its digest, under a key derived from the installation's token.
//! The digest is looked up at each request and is no part of what the browser has: a token that was revoked, rotated
//! or removed ends its seals, and nothing is stored.

use std::fmt;
use std::str::FromStr;

use domain::ids::TokenName;
use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// How long a session lasts: a working day.
pub(crate) const SESSION_FOR: SignedDuration = SignedDuration::from_hours(12);

/// How long a link signs in: it may stay in a terminal or in a history of visited pages.
pub(crate) const LINK_FOR: SignedDuration = SignedDuration::from_mins(1);

/// Stands for the installation's own token, which has no name. No name of a token is empty.
const UNNAMED: &str = "";

/// What a seal is for: none stands in for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A cookie.
    Session,
    /// A link that signs in.
    Link,
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Link => "link",
        }
    }

    /// How long such a seal is good.
    pub(crate) fn lasts(self) -> SignedDuration {
        match self {
            Self::Session => SESSION_FOR,
            Self::Link => LINK_FOR,
        }
    }
}

/// One of the installation's own tokens: what it seals with, and its digest.
#[derive(Clone)]
pub(crate) struct SealKey {
    key: [u8; 32],
    digest: [u8; 32],
}

/// The digest of a token.
pub(crate) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

impl SealKey {
    /// The keys of all tokens that are not empty.
    pub(crate) fn derive_all(tokens: &[SecretString]) -> Vec<Self> {
        let tokens = tokens.iter().map(|token| token.expose_secret().trim());
        let named = tokens.filter(|token| !token.is_empty());
        let derived = |token: &str| Self {
            key: mac(token.as_bytes(), &["gaffer dashboard"]),
            digest: digest(token),
        };
        named.map(derived).collect()
    }

    /// The digest of the token.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Seals the name of a token and its digest.
    pub(crate) fn seal(
        &self,
        purpose: Purpose,
        name: Option<&TokenName>,
        digest: &[u8; 32],
        now: Timestamp,
    ) -> Sealed {
        let name = name.cloned();
        let until = (now + purpose.lasts()).as_second();
        let mac = self.mac_of(purpose, name.as_ref(), digest, until);
        Sealed { name, until, mac }
    }

    /// Whether a seal was made with this key over this digest.
    pub(crate) fn made(&self, sealed: &Sealed, purpose: Purpose, digest: &[u8; 32]) -> bool {
        let right = self.mac_of(purpose, sealed.name.as_ref(), digest, sealed.until);
        bool::from(subtle::ConstantTimeEq::ct_eq(
            right.as_slice(),
            sealed.mac.as_slice(),
        ))
    }

    /// What every form of a session carries.
    pub(crate) fn form_token(&self, session: &Sealed) -> String {
        hex::encode(mac(&self.key, &["form", &session.to_string()]))
    }

    fn mac_of(
        &self,
        purpose: Purpose,
        name: Option<&TokenName>,
        digest: &[u8; 32],
        until: i64,
    ) -> [u8; 32] {
        let name = name.map_or(UNNAMED, TokenName::as_str);
        let parts = [
            purpose.word(),
            name,
            &until.to_string(),
            &hex::encode(digest),
        ];
        mac(&self.key, &parts)
    }
}

/// An HMAC over some parts, none of which holds a line feed.
fn mac(key: &[u8], parts: &[&str]) -> [u8; 32] {
    // HMAC takes keys of every length, so the other arm is for the compiler.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return [0; 32];
    };
    for part in parts {
        mac.update(part.as_bytes());
        mac.update(b"\n");
    }
    mac.finalize().into_bytes().into()
}

/// A seal as a browser has it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// The token that was shown; none for the installation's own.
    pub(crate) name: Option<TokenName>,
    /// The second at which it ends.
    pub(crate) until: i64,
    mac: [u8; 32],
}

impl Sealed {
    /// When it ends.
    pub(crate) fn ends(&self) -> Timestamp {
        Timestamp::from_second(self.until).unwrap_or(Timestamp::MAX)
    }
}

/// A text is no seal.
pub(crate) struct NotSealed;

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map_or(UNNAMED, TokenName::as_str);
        write!(f, "{name}.{}.{}", self.until, hex::encode(self.mac))
    }
}

impl FromStr for Sealed {
    type Err = NotSealed;

    fn from_str(text: &str) -> Result<Self, NotSealed> {
        let mut parts = text.splitn(3, '.');
        let (Some(name), Some(until), Some(sealed)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(NotSealed);
        };
        let name = match name {
            UNNAMED => None,
            name => Some(name.parse().map_err(|_| NotSealed)?),
        };
        let mut mac = [0; 32];
        hex::decode_to_slice(sealed, &mut mac).map_err(|_| NotSealed)?;
        let until = until.parse().map_err(|_| NotSealed)?;
        Ok(Self { name, until, mac })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(token: &str) -> SealKey {
        let keys = SealKey::derive_all(&[SecretString::from(token)]);
        keys.into_iter().next().unwrap()
    }

    #[test]
    fn a_seal_is_good_for_its_key_purpose_token_and_time_only() {
        let (ours, other) = (key("gaf_ours"), key("gaf_other"));
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let name: TokenName = "zai".parse().unwrap();
        let shown = digest("gaf_zai_1");
        let sealed = ours.seal(Purpose::Session, Some(&name), &shown, now);
        assert_eq!(sealed.until, (now + SESSION_FOR).as_second());
        let text = sealed.to_string();
        let read = text.parse::<Sealed>().ok().unwrap();
        assert!(read == sealed && ours.made(&read, Purpose::Session, &shown));
        assert!(!ours.made(&read, Purpose::Link, &shown));
        assert!(!other.made(&read, Purpose::Session, &shown));
        assert!(!ours.made(&read, Purpose::Session, &digest("gaf_zai_2")));
        let later = Sealed {
            until: read.until + 1,
            ..read.clone()
        };
        assert!(!ours.made(&later, Purpose::Session, &shown));
        let unnamed = Sealed {
            name: None,
            ..read.clone()
        };
        assert!(!ours.made(&unnamed, Purpose::Session, &shown));
        assert_ne!(ours.form_token(&read), ours.form_token(&later));
        assert_ne!(ours.form_token(&read), other.form_token(&read));
        assert!(!text.contains(&hex::encode(shown)), "{text}");
    }

    #[test]
    fn odd_texts_are_no_seals() {
        let mac = "0".repeat(64);
        for text in [
            "",
            ".",
            "..",
            &format!("x.{mac}"),
            &format!(".x.{mac}"),
            &format!("../x.1.{mac}"),
            &format!(".1.{mac}0"),
            &format!(".1.{}", "g".repeat(64)),
        ] {
            assert!(text.parse::<Sealed>().is_err(), "{text}");
        }
        assert!(format!(".1.{mac}").parse::<Sealed>().is_ok());
    }

    #[test]
    fn an_empty_token_seals_nothing() {
        let tokens = ["".into(), "  ".into()];
        assert!(SealKey::derive_all(&tokens).is_empty());
    }
}
