//! What every reading of GitHub shows about access: whether GitHub accepts our credential, and whether the repository
//! is still the expected one.

use domain::event::Event;
use domain::facts::PullFacts;
use domain::failure::{Failure, FailureClass};
use domain::github_access::{self, RepositoryAccess};
use domain::ids::{PullRef, RepositoryIdentity};
use domain::policy::Source;
use domain::step::Step;
use jiff::SignedDuration;

use super::Dispatcher;
use crate::backend::{DECIDE_AGAIN_MAX, Error, IndexEntry, UnitOfWork, ignore_conflict};
use crate::keys;
use crate::ports::{PullGlance, Reading};
use crate::save::EventRoute;
use crate::settings::Budgets;

/// Interval of records of budgets, which are for people.
const BUDGETS_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// What a reading showed of the repository it was about.
enum RepositoryAnswer<'a> {
    /// It answered.
    Answered(&'a RepositoryIdentity),
    /// It did not.
    Failed(&'a Failure),
    /// It answered, and has no such pull request.
    WithoutPull(&'a RepositoryIdentity),
}

impl Dispatcher {
    /// A pull request in the very repository that the source means.
    pub(super) async fn facts_of(
        &self,
        source: &Source,
        pull: &PullRef,
        reading: Reading,
    ) -> Result<PullFacts, Error> {
        let read = self
            .readers
            .pulls
            .facts(pull, reading, self.backend.now())
            .await;
        let seen = read.as_ref().map(|facts| &facts.repo);
        self.must_be_meant(source, Some(pull.number), seen).await?;
        self.record_budgets().await?;
        Ok(read?)
    }

    /// The same for one cheap read.
    pub(super) async fn glance_of(
        &self,
        source: &Source,
        pull: &PullRef,
    ) -> Result<PullGlance, Error> {
        let read = self.readers.pulls.glance(pull).await;
        let seen = read.as_ref().map(|glance| &glance.repo);
        self.must_be_meant(source, None, seen).await?;
        Ok(read?)
    }

    /// Refuses to go on about a repository that is another one than the source means.
    pub(super) async fn repository_must_be_meant(&self, source: &Source) -> Result<(), Error> {
        let read = self.readers.pulls.identify(&source.repo).await;
        self.must_be_meant(source, None, read.as_ref()).await?;
        read?;
        Ok(())
    }

    /// Whether the name of a source leads to another repository now, or to none that can be read: what is written or looked for there by
    /// a number alone waits.
    pub(super) async fn is_astray(&self, source: &Source) -> Result<bool, Error> {
        match self.repository_must_be_meant(source).await {
            Err(Error::Outside(_)) => Ok(true),
            read => read.map(|()| false),
        }
    }

    /// Records what a reading says, and refuses an answer of another repository: it is as if there had been none.
    async fn must_be_meant(
        &self,
        source: &Source,
        number: Option<u64>,
        read: Result<&RepositoryIdentity, &Failure>,
    ) -> Result<(), Error> {
        let seen = match read {
            Ok(identity) => RepositoryAnswer::Answered(identity),
            Err(failure) if failure.class == FailureClass::NotFound => {
                // Either the pull request is missing or the whole repository is.
                match self.readers.pulls.identify(&source.repo).await {
                    Ok(identity) => {
                        let seen = RepositoryAnswer::WithoutPull(&identity);
                        return self.note(source, number, &seen).await.map(drop);
                    }
                    Err(failure) => {
                        let seen = RepositoryAnswer::Failed(&failure);
                        return self.note(source, number, &seen).await.map(drop);
                    }
                }
            }
            Err(failure) => RepositoryAnswer::Failed(failure),
        };
        let reach = self.note(source, number, &seen).await?;
        match seen {
            RepositoryAnswer::Answered(identity) if !reach.is(identity.id) => {
                Err(Error::Outside(another(source, identity)))
            }
            RepositoryAnswer::Answered(_)
            | RepositoryAnswer::Failed(_)
            | RepositoryAnswer::WithoutPull(_) => Ok(()),
        }
    }

    /// Saves what a reading says, if it says anything new.
    async fn note(
        &self,
        source: &Source,
        number: Option<u64>,
        seen: &RepositoryAnswer<'_>,
    ) -> Result<RepositoryAccess, Error> {
        let store = &self.backend.store;
        for _ in 0..DECIDE_AGAIN_MAX {
            let now = self.backend.now();
            let (found, access) = (store.reach(&source.repo).await?, store.access().await?);
            let step = decide(&found.value, source, number, seen, now);
            let failure = match seen {
                RepositoryAnswer::Failed(failure) => Some(*failure),
                RepositoryAnswer::Answered(_) | RepositoryAnswer::WithoutPull(_) => None,
            };
            let signed_in = github_access::signed_in(&access.value, &source.account, failure, now);
            let mut unit = self.backend.unit();
            if step.aggregate != found.value {
                self.put_reach(&mut unit, &step.aggregate, found.version)
                    .await?;
            }
            if signed_in.aggregate != access.value {
                unit.save(&(), &signed_in.aggregate, Some(access.version));
            }
            let events: Vec<Event> = step.events.into_iter().chain(signed_in.events).collect();
            self.announce(&mut unit, source, &events).await?;
            match self.backend.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome.map(|()| step.aggregate),
            }
        }
        Ok(self.backend.store.reach(&source.repo).await?.value)
    }

    async fn put_reach(
        &self,
        unit: &mut UnitOfWork,
        reach: &RepositoryAccess,
        version: u64,
    ) -> Result<(), Error> {
        unit.save(&reach.repo, reach, Some(version));
        if let Some(id) = reach.id
            && self.backend.store.repo_of(id).await?.is_none()
        {
            let place = IndexEntry::default();
            unit.put(keys::repository(id), &reach.repo, None, place);
        }
        Ok(())
    }

    /// An error of GitHub concerns the account's agent, like an error of its key.
    pub(super) async fn announce(
        &self,
        unit: &mut UnitOfWork,
        source: &Source,
        events: &[Event],
    ) -> Result<(), Error> {
        if events.is_empty() {
            return Ok(());
        }
        let account = self.backend.store.account(&source.account).await?;
        let named = account.and_then(|found| found.value.agent);
        let agent = self
            .backend
            .awake(named.or_else(|| source.agent.clone()))
            .await?;
        let route = EventRoute {
            agent,
            repo: Some(source.repo.clone()),
            resume: None,
        };
        self.backend.save_account_events(unit, events, &route).await
    }

    /// Stores the budgets that GitHub last reported, for `gaffer status`.
    pub(super) async fn record_budgets(&self) -> Result<(), Error> {
        let budgets = self.readers.pulls.budgets();
        let (found, now) = (self.backend.store.budgets().await?, self.backend.now());
        let known = &found.value;
        let fresh = known
            .at
            .is_some_and(|at| now.duration_since(at).abs() < BUDGETS_EVERY);
        if budgets == known.budgets || fresh {
            return Ok(());
        }
        let recorded = Budgets {
            at: Some(now),
            budgets,
            usage: self.readers.pulls.usage(),
        };
        let mut unit = self.backend.unit();
        unit.save(&(), &recorded, Some(found.version));
        ignore_conflict(self.backend.commit(unit).await)
    }
}

fn decide(
    reach: &RepositoryAccess,
    source: &Source,
    number: Option<u64>,
    seen: &RepositoryAnswer<'_>,
    now: jiff::Timestamp,
) -> Step<RepositoryAccess> {
    let account = &source.account;
    match (seen, number) {
        (RepositoryAnswer::Failed(failure), _) => {
            github_access::refused(reach, account, failure, now)
        }
        (RepositoryAnswer::Answered(identity), None)
        | (RepositoryAnswer::WithoutPull(identity), None) => {
            github_access::answered(reach, account, identity, now)
        }
        (RepositoryAnswer::Answered(identity), Some(number)) => {
            let step = github_access::answered(reach, account, identity, now);
            if step.aggregate.is(identity.id) {
                github_access::pull_found(step, number)
            } else {
                step
            }
        }
        (RepositoryAnswer::WithoutPull(identity), Some(number)) => {
            let mut step = github_access::answered(reach, account, identity, now);
            if step.aggregate.is(identity.id) {
                let lost = github_access::pull_lost(&step.aggregate, account, number, now);
                step.events.extend(lost.events);
                step.aggregate = lost.aggregate;
            }
            step
        }
    }
}

fn another(source: &Source, seen: &RepositoryIdentity) -> Failure {
    let message = format!(
        "the repository that answers to {} is {} with the number {}, which is not the one that is meant; the status says what to do",
        source.repo, seen.name, seen.id
    );
    Failure::new(FailureClass::NotFound, message)
}
