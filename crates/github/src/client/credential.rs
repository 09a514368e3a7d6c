//! What is held of the credential between calls, and what a call is signed in with.

use std::collections::HashMap;

use domain::ids::RepoName;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::broker::BudgetOwner;

/// After a 401 the secret is read again at once, but not more often than this.
pub(crate) const REREAD_EVERY: SignedDuration = SignedDuration::from_mins(1);

#[derive(Clone)]
pub(crate) struct InstallationToken {
    pub(super) token: SecretString,
    pub(super) expires_at: Timestamp,
}

/// What is held between calls.
#[derive(Default)]
pub(crate) struct CachedCredential {
    pub(super) secret: Option<(SecretString, Timestamp)>,
    reread_at: Option<Timestamp>,
    /// The installation of each repository, and when we asked for it.
    pub(super) installations: HashMap<RepoName, (u64, Timestamp)>,
    pub(super) tokens: HashMap<u64, InstallationToken>,
}

impl std::fmt::Debug for CachedCredential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held")
    }
}

impl CachedCredential {
    /// Whether the refused bearer is not the one that would be used now; a refused installation token is forgotten.
    pub(super) fn replaced_meanwhile(&mut self, refused: &SecretString, is_app: bool) -> bool {
        if is_app {
            let before = self.tokens.len();
            self.tokens.retain(|_, token| !same(&token.token, refused));
            return self.tokens.len() == before;
        }
        self.secret
            .as_ref()
            .is_some_and(|(secret, _)| !same(secret, refused))
    }

    /// Takes the one reading that each minute allows.
    pub(super) fn may_reread(&mut self, now: Timestamp) -> bool {
        let may = self
            .reread_at
            .is_none_or(|at| now.duration_since(at) >= REREAD_EVERY);
        if may {
            self.reread_at = Some(now);
        }
        may
    }

    /// The key was refused: it is read again with the next call, at most once a minute.
    pub(super) fn forget_key(&mut self, now: Timestamp) {
        if self.may_reread(now) {
            self.secret = None;
        }
    }
}

/// What a call is signed in with.
#[derive(Debug, Clone)]
pub(crate) struct Authorization {
    pub(crate) bearer: SecretString,
    /// Whose budget it spends.
    pub(crate) purse: BudgetOwner,
    /// Identifies this bearer without revealing it.
    pub(crate) fingerprint: String,
}

impl Authorization {
    pub(super) fn new(bearer: SecretString, purse: impl FnOnce(&str) -> BudgetOwner) -> Self {
        let fingerprint = fingerprint(&bearer);
        Self {
            purse: purse(&fingerprint),
            bearer,
            fingerprint,
        }
    }
}

/// 128 bits of the SHA-256 of a bearer, kept in memory only.
fn fingerprint(bearer: &SecretString) -> String {
    let mut hex = hex::encode(Sha256::digest(bearer.expose_secret()));
    hex.truncate(32);
    hex
}

pub(super) fn same(one: &SecretString, other: &SecretString) -> bool {
    one.expose_secret() == other.expose_secret()
}
