//! Tokens of our own HTTP API, as people make and revoke them.

use domain::ids::TokenName;
use domain::job::NotNow;
use domain::token::{Scope, Token};
use jiff::SignedDuration;

use crate::desk::{DECIDE_AGAIN_MAX, Desk, Error, Place};
use crate::store::Versioned;
use crate::{forget, keys};

impl Desk {
    /// Makes a token out of random bytes; answers it with its text, which is kept nowhere.
    pub async fn create_token(
        &self,
        name: &TokenName,
        scope: Scope,
        lasts: Option<SignedDuration>,
        random: [u8; 32],
    ) -> Result<(Token, String), Error> {
        let now = self.now();
        let until = lasts.and_then(|lasts| now.checked_add(lasts).ok());
        let (token, text) = Token::new(name.clone(), scope, (now, until), random);
        let before = self.store.token(name).await?;
        if before
            .as_ref()
            .is_some_and(|it| it.value.scope_at(now).is_ok())
        {
            return Err(taken(name));
        }
        match self.save_token(before.as_ref(), &token).await {
            Err(error) if error.is_conflict() => Err(taken(name)),
            Err(error) => Err(error),
            Ok(()) => Ok((token, text)),
        }
    }

    /// Revokes a token everywhere. Doing it twice changes nothing.
    pub async fn revoke_token(&self, name: &TokenName) -> Result<Token, Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let found = self.store.token(name).await?;
            let found = found.ok_or_else(|| Error::NoSuch {
                what: "token",
                name: name.to_string(),
            })?;
            if found.value.revoked_at.is_some() {
                return Ok(found.value);
            }
            let revoked = Token {
                revoked_at: Some(self.now()),
                ..found.value.clone()
            };
            match self.save_token(Some(&found), &revoked).await {
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(revoked),
            }
        }
        Err(Error::NotNow(NotNow::new(
            "busy",
            format!("token `{name}` is being changed by others just now: try again"),
        )))
    }

    async fn save_token(
        &self,
        found: Option<&Versioned<Token>>,
        token: &Token,
    ) -> Result<(), Error> {
        let ended = token.revoked_at.or(token.expires_at);
        let place = Place {
            due: None,
            list: keys::listed(keys::TOKENS, token.name.as_str()),
            forget: ended.and_then(|at| forget::after(at, forget::TOKEN)),
        };
        let mut unit = self.unit();
        let version = found.map(|found| found.version);
        unit.put(keys::token(&token.name), token, version, place);
        self.commit(unit).await
    }
}

fn taken(name: &TokenName) -> Error {
    Error::NotNow(NotNow::new(
        "exists",
        format!("token `{name}` is already there; revoke it first, or take another name"),
    ))
}
