//! The installation's own tokens: those configured at the start, and the one that is kept where secrets are.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::live::LiveSecret;
use crate::pages::SealKey;

/// Accepted tokens.
pub(crate) struct Tokens {
    /// Tokens configured at the start.
    fixed: Digests,
    /// What seals sessions of the dashboard, of the same tokens.
    fixed_keys: Vec<SealKey>,
    /// What is kept where secrets are, and may change there.
    kept: Option<LiveSecret>,
}

impl Tokens {
    /// Those configured at the start, and the one that is kept where secrets are.
    pub(crate) fn new(fixed: &[SecretString], kept: Option<LiveSecret>) -> Self {
        Self {
            fixed: Digests::digest_all(fixed),
            fixed_keys: SealKey::derive_all(fixed),
            kept,
        }
    }

    /// Whether the given token is one of them.
    pub(crate) async fn open_for(&self, given: &str) -> bool {
        if self.fixed.hold(given) {
            return true;
        }
        let Some(kept) = &self.kept else {
            return false;
        };
        Digests::digest_all(&kept.live_secrets().await).hold(given)
            || Digests::digest_all(&kept.read_again().await).hold(given)
    }

    /// The first of the installation's tokens whose key is the wanted one.
    pub(crate) async fn sealed_by(&self, is_wanted: impl Fn(&SealKey) -> bool) -> Option<SealKey> {
        if let Some(key) = self.fixed_keys.iter().find(|key| is_wanted(key)) {
            return Some(key.clone());
        }
        let kept = self.kept.as_ref()?;
        let cached = SealKey::derive_all(&kept.live_secrets().await);
        if let Some(key) = cached.into_iter().find(&is_wanted) {
            return Some(key);
        }
        let read = SealKey::derive_all(&kept.read_again().await);
        read.into_iter().find(&is_wanted)
    }
}

/// Digests of tokens: of equal length, so that comparing them reveals nothing about a token.
struct Digests(Vec<[u8; 32]>);

impl Digests {
    /// An empty token opens nothing.
    fn digest_all(tokens: &[SecretString]) -> Self {
        let tokens = tokens.iter().map(|token| token.expose_secret().trim());
        let named = tokens.filter(|token| !token.is_empty());
        Self(named.map(digest).collect())
    }

    fn hold(&self, given: &str) -> bool {
        let given = digest(given);
        let mut matches = Choice::from(0);
        for token in &self.0 {
            // No early return: the duration must not reveal which token matched.
            matches |= token.ct_eq(&given);
        }
        bool::from(matches)
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}
