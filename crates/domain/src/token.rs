//! Tokens of our own HTTP API: each has a name and a scope, and only its digest is stored.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ids::{AgentName, PersonaName, TokenName};

/// Prefix of all our tokens, which makes them recognisable anywhere.
const PREFIX: &str = "gaf_";

/// What a token allows: each scope also what the one before it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Looking at everything.
    Read,
    /// Giving orders, and taking and acknowledging wakes.
    Write,
    /// What changes whose a thing is: taking a session over from another installation.
    Admin,
}

impl Scope {
    /// The word used in input and output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// A token as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its name, which is part of it too.
    pub name: TokenName,
    /// The SHA-256 of the token, in hex.
    pub digest: String,
    /// Its scope.
    pub scope: Scope,
    /// The agent that has it; a person without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The only persona as which it sends and reads mail; any without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<PersonaName>,
    /// Since when.
    pub created_at: Timestamp,
    /// Until when; for ever without it.
    pub expires_at: Option<Timestamp>,
    /// Since when it opens nothing any more.
    pub revoked_at: Option<Timestamp>,
}

/// What a token is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// Its scope.
    pub scope: Scope,
    /// The agent that has it; a person without one.
    pub agent: Option<AgentName>,
    /// The only persona as which it sends and reads mail.
    pub persona: Option<PersonaName>,
}

impl Rights {
    /// Those of an agent, or of a person.
    pub fn new(scope: Scope, agent: Option<&AgentName>) -> Self {
        Self {
            scope,
            agent: agent.cloned(),
            persona: None,
        }
    }
}

/// Why a known token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenRejection {
    /// A person revoked it.
    Revoked,
    /// Its time is over.
    Expired,
}

impl Token {
    /// A new token and its text, made of random bytes, which is shown once and kept nowhere.
    pub fn new(
        name: TokenName,
        rights: Rights,
        created_at: Timestamp,
        expires_at: Option<Timestamp>,
        random: [u8; 32],
    ) -> (Self, String) {
        let text = format!("{PREFIX}{name}_{}", hex::encode(random));
        let token = Self {
            digest: digest(&text),
            name,
            scope: rights.scope,
            agent: rights.agent,
            persona: rights.persona,
            created_at,
            expires_at,
            revoked_at: None,
        };
        (token, text)
    }

    /// Its present scope.
    pub fn scope_at(&self, now: Timestamp) -> Result<Scope, TokenRejection> {
        match (self.revoked_at, self.expires_at) {
            (Some(_), _) => Err(TokenRejection::Revoked),
            (None, Some(at)) if at <= now => Err(TokenRejection::Expired),
            (None, Some(_) | None) => Ok(self.scope),
        }
    }
}

/// The name in a token; `None` for other shapes, as of the first token of an installation.
pub fn name_in(text: &str) -> Option<TokenName> {
    let (name, rest) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let is_whole = rest.len() == 64 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.parse().ok().filter(|_| is_whole)
}

/// What is stored of a token.
pub fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::presentable;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_token_names_itself_and_is_recognised_as_a_secret() {
        let name: TokenName = "ci-bot".parse().unwrap();
        let until = Some(at(100));
        let (token, text) = Token::new(
            name.clone(),
            Rights::new(Scope::Read, None),
            at(0),
            until,
            [7; 32],
        );
        assert_eq!(name_in(&text), Some(name));
        assert_eq!(token.digest, digest(&text));
        let stored = serde_json::to_string(&token).unwrap();
        assert!(!stored.contains(&text[text.len() - 20..]), "{stored}");
        assert_eq!(
            presentable(&format!("it is {text}!"), 80),
            "it is [secret]!"
        );
        assert_eq!(token.scope_at(at(99)), Ok(Scope::Read));
        assert_eq!(token.scope_at(at(100)), Err(TokenRejection::Expired));
        let revoked_at = Some(at(50));
        let revoked = Token {
            revoked_at,
            ..token
        };
        assert_eq!(revoked.scope_at(at(99)), Err(TokenRejection::Revoked));
    }

    #[test]
    fn what_is_of_another_shape_names_no_token() {
        let hex = "0".repeat(64);
        for text in [
            "gaf_0123456789abcdef".to_owned(),
            format!("gaf_{hex}"),
            format!("gaf_ci_{}", &hex[1..]),
            format!("gaf_ci_{hex}0"),
            format!("gaf_CI_{hex}"),
            format!("gaf_../x_{hex}"),
            format!("gaf__{hex}"),
            format!("gaf_installation_{hex}"),
            format!("xyz_ci_{hex}"),
        ] {
            assert_eq!(name_in(&text), None, "{text}");
        }
    }

    #[test]
    fn each_scope_allows_what_the_one_before_it_does() {
        assert!(Scope::Read < Scope::Write && Scope::Write < Scope::Admin);
    }
}
