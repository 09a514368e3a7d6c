//! Adding and changing sources: the rules that every surface keeps.

use domain::account::Account;
use domain::ids::RepoName;
use domain::policy::{OddSource, Source};

use crate::backend::{Backend, Error, decide_again};
use crate::settings::Agent;

/// Why a source is not added or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceRefused {
    /// Its settings do not go together.
    Odd(OddSource),
    /// There is one of this repository.
    Exists(Box<Source>),
}

impl Backend {
    /// Adds a source.
    ///
    /// # Errors
    /// With [`Error::NoSuch`] for an account or an agent that there is not.
    pub async fn add_source(&self, source: &Source) -> Result<Result<(), SourceRefused>, Error> {
        self.must_be_named(None, source).await?;
        if let Err(odd) = source.check() {
            return Ok(Err(SourceRefused::Odd(odd)));
        }
        let saved = self.save_source(None, source).await;
        if saved.as_ref().is_err_and(Error::is_conflict)
            && let Some(found) = self.store.source(&source.repo).await?
        {
            return Ok(Err(SourceRefused::Exists(Box::new(found.value))));
        }
        saved?;
        self.listen_to_more().await?;
        Ok(Ok(()))
    }

    /// Changes a source; returns it as it then is. What `decide` refuses, nothing changes.
    ///
    /// # Errors
    /// With [`Error::NoSuch`] for a source that there is not, or an account or an agent that it would newly name.
    pub async fn change_source<E: From<Error>>(
        &self,
        repo: &RepoName,
        decide: impl Fn(&Source) -> Result<Source, E>,
    ) -> Result<Result<Source, OddSource>, E> {
        decide_again(format!("source {repo}"), async || {
            let found = self.must::<Source>(repo).await?;
            let next = decide(&found.value)?;
            if next == found.value {
                return Ok(Some(Ok(next)));
            }
            self.must_be_named(Some(&found.value), &next).await?;
            // A pause is never refused.
            if !found.value.is_same_but_paused(&next)
                && let Err(odd) = next.check()
            {
                return Ok(Some(Err(odd)));
            }
            match self.save_source(Some(&found), &next).await {
                Err(error) if error.is_conflict() => Ok(None),
                outcome => Ok(outcome.map(|()| Some(Ok(next)))?),
            }
        })
        .await
    }

    /// Refuses a source that names, other than before, an account or an agent that there is not.
    async fn must_be_named(&self, before: Option<&Source>, next: &Source) -> Result<(), Error> {
        if before.is_none_or(|before| before.account != next.account) {
            self.must::<Account>(&next.account).await?;
        }
        match &next.agent {
            Some(agent) if before.is_none_or(|before| before.agent != next.agent) => {
                self.must::<Agent>(agent).await.map(drop)
            }
            Some(_) | None => Ok(()),
        }
    }
}
