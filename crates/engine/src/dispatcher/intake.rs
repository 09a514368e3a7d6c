//! Issues that become deliveries, and closed issues that end them.

use domain::delivery::{
    Actor, Closed, Delivery, DeliveryInput, IntakeLabel, IssueRef, IssueSight, IssueState,
    IssueTrouble, of_issue,
};
use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use domain::intake::{Intake, IntakeReading};
use domain::policy::Source;
use domain::webhook_activity;
use domain::when::plus;
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use crate::backend::{Error, IndexEntry, ignore_conflict};
use crate::deliveries::{CreateRefused, DeliveryOrder};
use crate::keys;
use crate::ports::{Expect, IssueFacts, Key};
use crate::readings::ReadIssue;
use crate::retention;
use crate::store::{Aggregate, Initial};
use crate::work::INTAKE;

/// How far GitHub's clock, which dates changes, may differ from ours.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_mins(15);

/// What a reading of issues led to.
#[derive(Debug, Default)]
struct IntakeCounts {
    created: u32,
    closed: u32,
}

/// What was read of a source's issues.
#[derive(Debug)]
struct Listed {
    issues: Vec<IssueFacts>,
    /// Issues of deliveries that the list does not show.
    others: Vec<IssueRef>,
    /// Up to which change or moment it shows everything.
    read_to: Option<Timestamp>,
}

impl Listed {
    fn changed(issues: Vec<IssueFacts>) -> Self {
        Self {
            read_to: issues.iter().map(|issue| issue.updated_at).max(),
            issues,
            others: Vec::new(),
        }
    }
}

impl Aggregate for Intake {
    type Id = RepoName;
    const KIND: &'static str = "intake of";

    fn key(id: &RepoName) -> Key {
        keys::key(format!("{INTAKE}{}", id.key()), keys::META)
    }
    fn name(id: &RepoName) -> String {
        id.to_string()
    }
    fn due(&self) -> Option<Timestamp> {
        self.due
    }
}

impl Initial for Intake {
    fn initial(_: &RepoName) -> Self {
        Self::default()
    }
}

impl Dispatcher {
    /// Reads the issues of a source: all that changed since the last reading, or one that a webhook named. In a source without a label all
    /// are those of its open deliveries.
    pub(super) async fn intake(&self, repo: &RepoName, number: Option<u64>) -> Result<(), Error> {
        let source = self.backend.store.source(repo).await?;
        let Some(source) = source.map(|found| found.value) else {
            return self.backend.end_of_source::<Intake>(repo).await;
        };
        match (number, &source.deliveries.label) {
            (Some(number), _) if source.paused => {
                // With a label by the next reading of all; without one it is asked for with the end of the pause.
                tracing::debug!(%repo, number, "the source is paused: its issue is read later");
                Ok(())
            }
            (Some(number), label) => {
                let issue = IssueRef {
                    repo: repo.clone(),
                    number,
                };
                // Without a label only issues matter of which there is a delivery.
                if label.is_none() && !self.has_open_delivery(&issue).await? {
                    return Ok(());
                }
                self.repository_must_be_meant(&source).await?;
                self.take_issue(&issue, &source).await
            }
            (None, Some(label)) => self.sweep_issues(repo, &source, label).await,
            (None, None) => {
                // Its row would stay due for ever.
                self.backend.end_of_source::<Intake>(repo).await?;
                self.backend.ask_for_issues(repo).await
            }
        }
    }

    async fn has_open_delivery(&self, issue: &IssueRef) -> Result<bool, Error> {
        let found = self.backend.delivery_of_issue(issue).await?;
        Ok(found.is_some_and(|found| !found.value.is_terminal()))
    }

    /// Reads all issues that changed, and keeps what came of it. A source whose issues cannot be read stops no other.
    async fn sweep_issues(
        &self,
        repo: &RepoName,
        source: &Source,
        label: &IntakeLabel,
    ) -> Result<(), Error> {
        let found = self.backend.store.get_or_initial::<Intake>(repo).await?;
        let now = self.backend.now();
        let outcome = match source.paused {
            true => None,
            false => Some(self.swept(repo, source, label, &found.value).await),
        };
        let has_webhooks = self.has_webhooks(repo, now).await?;
        let next = match outcome {
            None => found.value.skipped(now),
            Some(Ok((read_to, done))) => {
                let reading = IntakeReading {
                    label,
                    read_to,
                    created: done.created,
                    closed: done.closed,
                    has_webhooks,
                };
                found.value.read(reading, now)
            }
            Some(Err(Error::Outside(failure))) => {
                tracing::warn!(%repo, %failure, "the issues could not be read");
                let wait = failure.asked_wait();
                found.value.failed(&failure.to_string(), now, wait)
            }
            Some(Err(error @ (Error::NotNow(_) | Error::Transition(_)))) => {
                found.value.failed(&error.to_string(), now, None)
            }
            Some(Err(error)) => return Err(error),
        };
        let mut unit = self.backend.unit();
        unit.save(repo, &next, Some(found.version));
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Up to where all was read, and what came of it.
    async fn swept(
        &self,
        repo: &RepoName,
        source: &Source,
        label: &IntakeLabel,
        intake: &Intake,
    ) -> Result<(Option<Timestamp>, IntakeCounts), Error> {
        let changed = match intake.since(label) {
            Some(since) => self.changed_since(repo, since).await?,
            None => None,
        };
        let listed = match changed {
            Some(changed) => changed,
            None => self.all_open(repo, label).await?,
        };
        if !listed.issues.is_empty() || !listed.others.is_empty() {
            self.repository_must_be_meant(source).await?;
        }
        let mut found = IntakeCounts::default();
        let mut refused = None;
        for facts in listed.issues.iter().filter(|facts| !facts.is_pull) {
            match self.take_listed(facts, source, &mut found).await {
                // It stops no other issue, and all are read again.
                Err(error @ (Error::NotNow(_) | Error::Transition(_))) => {
                    refused.get_or_insert(error);
                }
                outcome => outcome?,
            }
        }
        // Last: one that cannot be read keeps no issue from becoming a delivery.
        for issue in &listed.others {
            found.closed += u32::from(self.take_closed(issue, source).await?);
        }
        match refused {
            Some(error) => Err(error),
            None => Ok((listed.read_to, found)),
        }
    }

    /// What changed; none where that is more than can be read.
    async fn changed_since(
        &self,
        repo: &RepoName,
        since: Timestamp,
    ) -> Result<Option<Listed>, Error> {
        match self.readers.issues.issues_since(repo, since).await {
            Err(failure) if failure.class == FailureClass::Garbled => {
                tracing::warn!(%repo, %failure, "what changed could not be read: all open issues are read");
                Ok(None)
            }
            changed => Ok(Some(Listed::changed(changed?))),
        }
    }

    /// All open issues with a label, and those of open deliveries that are not among them: they may have been closed.
    async fn all_open(&self, repo: &RepoName, label: &IntakeLabel) -> Result<Listed, Error> {
        let began = self.backend.now();
        let readers = &self.readers.issues;
        let issues = readers.issues_labelled(repo, label.as_str()).await?;
        let is_listed = |number: u64| issues.iter().any(|facts| facts.number == number);
        let open = self.backend.store.open_deliveries().await?.into_iter();
        let others = open
            .filter_map(|found| found.value.issue)
            .filter(|issue| issue.repo == *repo && !is_listed(issue.number))
            .collect();
        Ok(Listed {
            issues,
            others,
            // The newest of them may have changed a year ago, and everything else since. GitHub's clock is not ours.
            read_to: Some(plus(began, -CLOCKS_DIFFER)),
        })
    }

    /// Does what an issue asks for as a list shows it.
    async fn take_listed(
        &self,
        facts: &IssueFacts,
        source: &Source,
        found: &mut IntakeCounts,
    ) -> Result<(), Error> {
        let issue = IssueRef {
            repo: source.repo.clone(),
            number: facts.number,
        };
        if !facts.is_open {
            found.closed += u32::from(self.take_closed(&issue, source).await?);
        } else if self.is_in_doubt(&issue).await? {
            // A list may lag behind what was read by its number.
            self.take_issue(&issue, source).await?;
        } else if self.take_open(&issue, facts, source).await? {
            found.created += 1;
        }
        Ok(())
    }

    /// Reads one issue for a caller who waits, and keeps what was read.
    pub(super) async fn read_issue(&self, issue: &IssueRef) -> Result<(), Error> {
        let read_at = self.backend.now();
        let kept = match self.readers.issues.issue(issue).await {
            Ok(facts) => ReadIssue::from_facts(&facts, read_at),
            Err(failure) => ReadIssue::failed(&failure, read_at),
        };
        let mut unit = self.backend.unit();
        let place = IndexEntry::until(read_at, retention::ANSWER);
        unit.put_if(keys::issue_read(issue), &kept, Expect::Any, place);
        self.backend.commit(unit).await
    }

    /// Reads one issue and does what it asks for.
    async fn take_issue(&self, issue: &IssueRef, source: &Source) -> Result<(), Error> {
        let read_at = self.backend.now();
        let facts = match self.readers.issues.issue(issue).await {
            Ok(facts) => facts,
            // It was deleted or moved, or may not be read: another reading helps only after a person has changed something.
            Err(failure) if failure.class.is_hidden() => {
                return self.unreadable(issue, &failure, read_at).await;
            }
            Err(failure) => return Err(failure.into()),
        };
        if facts.is_pull {
            return Ok(());
        }
        if !facts.is_open {
            let state = IssueState::Closed(facts.closed_by);
            return self
                .see_issue(issue, IssueSight { read_at, state })
                .await
                .map(drop);
        }
        self.see_issue(
            issue,
            IssueSight {
                read_at,
                state: IssueState::Open,
            },
        )
        .await?;
        self.take_open(issue, &facts, source).await.map(drop)
    }

    /// An open issue with the label becomes a delivery. Returns whether it did.
    async fn take_open(
        &self,
        issue: &IssueRef,
        facts: &IssueFacts,
        source: &Source,
    ) -> Result<bool, Error> {
        let label = source.deliveries.label.as_ref();
        if !label.is_some_and(|label| label.is_among(&facts.labels)) {
            return Ok(false);
        }
        let order = DeliveryOrder {
            repo: issue.repo.clone(),
            issue: Some(issue.clone()),
            requirement: None,
            again: false,
            text: of_issue(issue.number, &facts.title, facts.body.as_deref()),
            refs: Vec::new(),
            priority: None,
            parent: None,
            id: None,
            by: Actor::System,
        };
        match self.backend.create_delivery(&order).await? {
            Ok(delivery) => {
                tracing::info!(delivery.id = %delivery.id, %issue, "an issue became a delivery");
                Ok(true)
            }
            Err(CreateRefused::Exists(_)) => Ok(false),
        }
    }

    /// Whether something is odd about an issue as its delivery saw it last.
    async fn is_in_doubt(&self, issue: &IssueRef) -> Result<bool, Error> {
        let found = self.backend.delivery_of_issue(issue).await?;
        let open = found.filter(|found| !found.value.is_terminal());
        Ok(open.is_some_and(|found| found.value.trouble.is_some()))
    }

    /// An issue that a list shows as closed: only a reading by its number closes its delivery. Returns whether it did.
    async fn take_closed(&self, issue: &IssueRef, source: &Source) -> Result<bool, Error> {
        let found = self.backend.delivery_of_issue(issue).await?;
        let open = found.filter(|found| !found.value.is_terminal());
        let Some(id) = open.map(|found| found.value.id) else {
            return Ok(false);
        };
        self.take_issue(issue, source).await?;
        let trouble = self.backend.must::<Delivery>(&id).await?.value.trouble;
        if matches!(trouble, Some(IssueTrouble::Closed { .. })) {
            // Its session and its pull request are read now, so that what they decide counts as done by this reading.
            if let Err(error) = Box::pin(self.delivery(&id)).await {
                tracing::warn!(delivery.id = %id, %error, "it is looked at again after its issue was closed");
            }
        }
        let after = self.backend.must::<Delivery>(&id).await?.value;
        Ok(after.closed == Some(Closed::IssueClosed))
    }

    async fn unreadable(
        &self,
        issue: &IssueRef,
        failure: &Failure,
        read_at: Timestamp,
    ) -> Result<(), Error> {
        let state = IssueState::Unreadable(failure.to_string());
        self.see_issue(issue, IssueSight { read_at, state }).await
    }

    /// Shows an issue to its delivery, if it has one.
    async fn see_issue(&self, issue: &IssueRef, sight: IssueSight) -> Result<(), Error> {
        let Some(found) = self.backend.delivery_of_issue(issue).await? else {
            return Ok(());
        };
        let input = DeliveryInput::Issue(sight);
        self.show_delivery(&found.value.id, &input).await.map(drop)
    }

    /// Whether webhooks of a repository arrive.
    async fn has_webhooks(&self, repo: &RepoName, now: Timestamp) -> Result<bool, Error> {
        let known = self.backend.store.feed(repo).await?;
        Ok(webhook_activity::health(known, now).is_arriving())
    }
}
