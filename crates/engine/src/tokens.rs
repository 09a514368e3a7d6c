//! Tokens of our own HTTP API, as people make and revoke them.

use domain::ids::TokenName;
use domain::refusal::NotNow;
use domain::token::{Rights, Token};
use jiff::SignedDuration;

use crate::backend::{Backend, Error};

impl Backend {
    /// Makes a token of a person, an agent or a persona out of random bytes; answers it with its text, which is kept
    /// nowhere.
    pub async fn create_token(
        &self,
        name: &TokenName,
        rights: Rights,
        lasts: Option<SignedDuration>,
        random: [u8; 32],
    ) -> Result<(Token, String), Error> {
        let now = self.now();
        let until = lasts.and_then(|lasts| now.checked_add(lasts).ok());
        let (token, text) = Token::new(name.clone(), rights, now, until, random);
        let before = self.store.token(name).await?;
        if before
            .as_ref()
            .is_some_and(|it| it.value.scope_at(now).is_ok())
        {
            return Err(taken(name));
        }
        let mut unit = self.unit();
        unit.save(name, &token, before.map(|found| found.version));
        match self.try_commit(unit).await? {
            true => Ok((token, text)),
            false => Err(taken(name)),
        }
    }

    /// Revokes a token everywhere. Doing it twice changes nothing.
    pub async fn revoke_token(&self, name: &TokenName) -> Result<Token, Error> {
        let now = self.now();
        self.update(name, |token: &Token| {
            let revoked = Token {
                revoked_at: token.revoked_at.or(Some(now)),
                ..token.clone()
            };
            Ok((revoked.clone(), revoked))
        })
        .await
    }
}

fn taken(name: &TokenName) -> Error {
    Error::NotNow(NotNow::new(
        "exists",
        format!("token `{name}` is already there; revoke it first, or take another name"),
    ))
}
