//! Reads an aggregate, decides and saves it, and decides again when another process saved it in between.

use std::fmt::Display;

use domain::refusal::NotNow;

use super::{Backend, DECIDE_AGAIN_MAX, Error, IndexEntry, UnitOfWork};
use crate::store::{Aggregate, Initial, Versioned};

/// The code of a refusal because others go on changing what was decided about.
const BUSY: &str = "busy";

impl Error {
    /// Whether others changed the basis of the decision each time that it was made: a moment later it can be made.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::NotNow(refused) if refused.code == BUSY)
    }
}

impl UnitOfWork {
    /// Puts the next state of an aggregate at its own place; `found` is the version that was read, none for a new one.
    pub fn save<T: Aggregate>(&mut self, id: &T::Id, value: &T, found: Option<u64>) {
        self.put(T::key(id), value, found, value.index_entry());
    }

    /// The same with a due that the aggregate cannot know.
    pub fn save_due<T: Aggregate>(
        &mut self,
        id: &T::Id,
        due: jiff::Timestamp,
        value: &T,
        found: Option<u64>,
    ) {
        self.save_at(id, value, found, Some(due));
    }

    /// The same for one that may be due no more.
    pub fn save_at<T: Aggregate>(
        &mut self,
        id: &T::Id,
        value: &T,
        found: Option<u64>,
        due: Option<jiff::Timestamp>,
    ) {
        let place = IndexEntry {
            due,
            ..value.index_entry()
        };
        self.put(T::key(id), value, found, place);
    }
}

impl Backend {
    /// Commits a unit; false when another process changed what it rests on, and nothing was saved.
    pub async fn try_commit(&self, unit: UnitOfWork) -> Result<bool, Error> {
        match self.commit(unit).await {
            Err(error) if error.is_conflict() => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }

    /// Saves a new aggregate; false when there is one already.
    pub async fn insert<T: Aggregate>(&self, id: &T::Id, value: &T) -> Result<bool, Error> {
        let mut unit = self.unit();
        unit.save(id, value, None);
        self.try_commit(unit).await
    }

    /// An aggregate that has to exist.
    ///
    /// # Errors
    /// With [`Error::NoSuch`] if it does not.
    pub async fn must<T: Aggregate>(&self, id: &T::Id) -> Result<Versioned<T>, Error> {
        let found = self.store.get::<T>(id).await?;
        found.ok_or_else(|| Error::NoSuch {
            what: T::KIND,
            name: T::name(id),
        })
    }

    /// Decides about an aggregate that has to exist. Saves nothing when it stays as it is.
    pub async fn update<T, R, E>(
        &self,
        id: &T::Id,
        decide: impl Fn(&T) -> Result<(T, R), E>,
    ) -> Result<R, E>
    where
        T: Aggregate,
        E: From<Error>,
    {
        let decide = &decide;
        decide_again(described::<T>(id), || async move {
            let found = self.must::<T>(id).await?;
            self.save_decided(id, found, decide).await
        })
        .await
    }

    /// The same about one that has a value before its first save.
    pub async fn update_or_initial<T, R, E>(
        &self,
        id: &T::Id,
        decide: impl Fn(&T) -> Result<(T, R), E>,
    ) -> Result<R, E>
    where
        T: Initial,
        E: From<Error>,
    {
        let decide = &decide;
        decide_again(described::<T>(id), || async move {
            let found = self.store.get_or_initial::<T>(id).await;
            let found = found.map_err(Error::from)?;
            self.save_decided(id, found, decide).await
        })
        .await
    }

    async fn save_decided<T, R, E>(
        &self,
        id: &T::Id,
        found: Versioned<T>,
        decide: &impl Fn(&T) -> Result<(T, R), E>,
    ) -> Result<Option<R>, E>
    where
        T: Aggregate,
        E: From<Error>,
    {
        let (next, answer) = decide(&found.value)?;
        if next == found.value {
            return Ok(Some(answer));
        }
        let mut unit = self.unit();
        unit.save(id, &next, Some(found.version));
        Ok(self.try_commit(unit).await?.then_some(answer))
    }
}

/// Repeats a decision until it is saved: `once` reads, decides and commits, and answers none after a conflict.
pub async fn decide_again<R, E, F>(what: impl Display, once: impl Fn() -> F) -> Result<R, E>
where
    E: From<Error>,
    F: Future<Output = Result<Option<R>, E>>,
{
    for _ in 0..DECIDE_AGAIN_MAX {
        if let Some(answer) = once().await? {
            return Ok(answer);
        }
    }
    let sentence = format!("{what} is being changed by others just now: try again");
    Err(Error::NotNow(NotNow::new(BUSY, sentence)).into())
}

/// Ignores a conflict: the other writer goes on with it.
pub(crate) fn ignore_conflict(outcome: Result<(), Error>) -> Result<(), Error> {
    match outcome {
        Err(error) if error.is_conflict() => Ok(()),
        outcome => outcome,
    }
}

fn described<T: Aggregate>(id: &T::Id) -> String {
    format!("{} `{}`", T::KIND, T::name(id))
}
