//! What every reading of GitHub shows about access: whether GitHub accepts our credential, and whether the repository
//! is still the expected one.

use domain::event::Event;
use domain::facts::PullFacts;
use domain::failure::{Failure, FailureClass};
use domain::ids::{Identity, PullRef};
use domain::policy::Source;
use domain::reach::{self, Reach};
use domain::step::Step;
use jiff::SignedDuration;

use super::Dispatcher;
use crate::desk::{DECIDE_AGAIN_MAX, Error, Place, Unit, ignore_conflict};
use crate::keys;
use crate::ports::{PullGlance, Reading};
use crate::save::Route;
use crate::settings::Budgets;

/// Interval of records of budgets, which are for people.
const BUDGETS_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// What a reading showed of the repository it was about.
enum Seen<'a> {
    /// It answered.
    Answered(&'a Identity),
    /// It did not.
    Failed(&'a Failure),
    /// It answered, and has no such pull request.
    WithoutPull(&'a Identity),
}

impl Dispatcher {
    /// A pull request in the very repository that the source means.
    pub(super) async fn facts_of(
        &self,
        source: &Source,
        pull: &PullRef,
        reading: Reading,
    ) -> Result<PullFacts, Error> {
        let read = self.eyes.pulls.facts(pull, reading, self.desk.now()).await;
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
        let read = self.eyes.pulls.glance(pull).await;
        let seen = read.as_ref().map(|glance| &glance.repo);
        self.must_be_meant(source, None, seen).await?;
        Ok(read?)
    }

    /// Records what a reading says, and refuses an answer of another repository: it is as if there had been none.
    async fn must_be_meant(
        &self,
        source: &Source,
        number: Option<u64>,
        read: Result<&Identity, &Failure>,
    ) -> Result<(), Error> {
        let seen = match read {
            Ok(identity) => Seen::Answered(identity),
            Err(failure) if failure.class == FailureClass::NotFound => {
                // Either the pull request is missing or the whole repository is.
                match self.eyes.pulls.identify(&source.repo).await {
                    Ok(identity) => {
                        let seen = Seen::WithoutPull(&identity);
                        return self.note(source, number, &seen).await.map(drop);
                    }
                    Err(failure) => {
                        let seen = Seen::Failed(&failure);
                        return self.note(source, number, &seen).await.map(drop);
                    }
                }
            }
            Err(failure) => Seen::Failed(failure),
        };
        let reach = self.note(source, number, &seen).await?;
        match seen {
            Seen::Answered(identity) if !reach.is(identity.id) => {
                Err(Error::Outside(another(source, identity)))
            }
            Seen::Answered(_) | Seen::Failed(_) | Seen::WithoutPull(_) => Ok(()),
        }
    }

    /// Saves what a reading says, if it says anything new.
    async fn note(
        &self,
        source: &Source,
        number: Option<u64>,
        seen: &Seen<'_>,
    ) -> Result<Reach, Error> {
        let store = &self.desk.store;
        for _ in 0..DECIDE_AGAIN_MAX {
            let now = self.desk.now();
            let (found, access) = (store.reach(&source.repo).await?, store.access().await?);
            let step = decide(&found.value, source, (number, seen), now);
            let failure = match seen {
                Seen::Failed(failure) => Some(*failure),
                Seen::Answered(_) | Seen::WithoutPull(_) => None,
            };
            let signed_in = reach::signed_in(&access.value, &source.account, failure, now);
            let mut unit = self.desk.unit();
            if step.aggregate != found.value {
                self.put_reach(&mut unit, &step.aggregate, found.version)
                    .await?;
            }
            if signed_in.aggregate != access.value {
                unit.save(&(), &signed_in.aggregate, Some(access.version));
            }
            let events: Vec<Event> = step.events.into_iter().chain(signed_in.events).collect();
            self.tell(&mut unit, source, &events).await?;
            match self.desk.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome.map(|()| step.aggregate),
            }
        }
        Ok(self.desk.store.reach(&source.repo).await?.value)
    }

    async fn put_reach(&self, unit: &mut Unit, reach: &Reach, version: u64) -> Result<(), Error> {
        unit.save(&reach.repo, reach, Some(version));
        if let Some(id) = reach.id
            && self.desk.store.repo_of(id).await?.is_none()
        {
            let place = Place::default();
            unit.put(keys::repository(id), &reach.repo, None, place);
        }
        Ok(())
    }

    /// An error of GitHub concerns the account's agent, like an error of its key.
    async fn tell(&self, unit: &mut Unit, source: &Source, events: &[Event]) -> Result<(), Error> {
        if events.is_empty() {
            return Ok(());
        }
        let account = self.desk.store.account(&source.account).await?;
        let named = account.and_then(|found| found.value.agent);
        let agent = self
            .desk
            .awake(named.or_else(|| source.agent.clone()))
            .await?;
        let route = Route {
            agent,
            repo: Some(source.repo.clone()),
            resume: None,
        };
        self.desk.save_account_events(unit, events, &route).await
    }

    /// Stores the budgets that GitHub last reported, for `gaffer status`.
    pub(super) async fn record_budgets(&self) -> Result<(), Error> {
        let budgets = self.eyes.pulls.budgets();
        let (found, now) = (self.desk.store.budgets().await?, self.desk.now());
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
            usage: self.eyes.pulls.usage(),
        };
        let mut unit = self.desk.unit();
        unit.save(&(), &recorded, Some(found.version));
        ignore_conflict(self.desk.commit(unit).await)
    }
}

fn decide(
    reach: &Reach,
    source: &Source,
    (number, seen): (Option<u64>, &Seen<'_>),
    now: jiff::Timestamp,
) -> Step<Reach> {
    let account = &source.account;
    match (seen, number) {
        (Seen::Failed(failure), _) => reach::refused(reach, account, failure, now),
        (Seen::Answered(identity), None) | (Seen::WithoutPull(identity), None) => {
            reach::answered(reach, account, identity, now)
        }
        (Seen::Answered(identity), Some(number)) => {
            let step = reach::answered(reach, account, identity, now);
            if step.aggregate.is(identity.id) {
                reach::pull_found(step, number)
            } else {
                step
            }
        }
        (Seen::WithoutPull(identity), Some(number)) => {
            let mut step = reach::answered(reach, account, identity, now);
            if step.aggregate.is(identity.id) {
                let lost = reach::pull_lost(&step.aggregate, account, number, now);
                step.events.extend(lost.events);
                step.aggregate = lost.aggregate;
            }
            step
        }
    }
}

fn another(source: &Source, seen: &Identity) -> Failure {
    let message = format!(
        "the repository that answers to {} is {} with the number {}, which is not the one that is meant; the status says what to do",
        source.repo, seen.name, seen.id
    );
    Failure::new(FailureClass::NotFound, message)
}
