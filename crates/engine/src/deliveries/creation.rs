//! New deliveries: of an issue, or of what a person or an agent asks for.

use domain::delivery::{
    self, Actor, Child, Delivery, DeliveryKind, IssueRef, IssueText, NewDelivery, Ref,
    is_same_trigger,
};
use domain::ids::{DeliveryId, RepoName};
use domain::pipeline::RequirementRef;
use domain::policy::Source;
use domain::priority::Priority;
use domain::refusal::NotNow;

use super::DELIVERIES_OF_ISSUE_MAX;
use crate::backend::{Backend, Error, IndexEntry, decide_again};
use crate::keys;
use crate::store::Versioned;
use crate::work::Work;

/// What is wanted of a new delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryOrder {
    /// The repository, which has to be a source.
    pub repo: RepoName,
    /// The issue that triggers it.
    pub issue: Option<IssueRef>,
    /// The requirement of the pipeline that it implements.
    pub requirement: Option<RequirementRef>,
    /// Whether an issue whose delivery is closed gets another one.
    pub again: bool,
    /// What it is about.
    pub text: IssueText,
    /// What it refers to, besides its issue.
    pub refs: Vec<Ref>,
    /// How much it matters; the usual without one.
    pub priority: Option<Priority>,
    /// The delivery that it is a part of.
    pub parent: Option<DeliveryId>,
    /// The id that it is to have; drawn without one.
    pub id: Option<DeliveryId>,
    /// Who wants it.
    pub by: Actor,
}

impl DeliveryOrder {
    /// A part of a delivery, under the id that was saved with the split.
    pub(crate) fn of_part(whole: &Delivery, child: &Child) -> Self {
        Self {
            repo: whole.repo.clone(),
            issue: None,
            requirement: None,
            again: false,
            text: IssueText {
                summary: child.summary.clone(),
                description: whole.description.clone(),
                acceptance_criteria: child.acceptance_criteria.clone(),
            },
            refs: Ref::of_part(whole),
            priority: Some(whole.priority),
            parent: Some(whole.id.clone()),
            id: Some(child.id.clone()),
            by: Actor::System,
        }
    }

    /// The delivery that it asks for.
    pub(super) fn to_new(&self, id: DeliveryId, seq: u64, repo: &RepoName) -> NewDelivery {
        NewDelivery {
            id,
            seq,
            kind: match (&self.issue, &self.requirement) {
                (_, Some(_)) => DeliveryKind::Requirement,
                (Some(_), None) => DeliveryKind::Issue,
                (None, None) => DeliveryKind::Adhoc,
            },
            repo: repo.clone(),
            issue: self.issue.clone(),
            requirement: self.requirement.clone(),
            summary: self.text.summary.clone(),
            description: self.text.description.clone(),
            acceptance_criteria: self.text.acceptance_criteria.clone(),
            refs: self.refs.clone(),
            priority: self.priority.unwrap_or_default(),
            parent: self.parent.clone(),
            by: self.by.clone(),
        }
    }
}

/// Why no delivery was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateRefused {
    /// The issue has a delivery.
    Exists(Box<Delivery>),
}

impl Backend {
    /// Creates a delivery. An issue that was seen before has one already.
    pub async fn create_delivery(
        &self,
        order: &DeliveryOrder,
    ) -> Result<Result<Delivery, CreateRefused>, Error> {
        decide_again(format!("a delivery in {}", order.repo), || {
            self.create_once(order)
        })
        .await
    }

    /// `None` when the source was changed meanwhile.
    async fn create_once(
        &self,
        order: &DeliveryOrder,
    ) -> Result<Option<Result<Delivery, CreateRefused>>, Error> {
        let source = self.source_of_deliveries(&order.repo).await?;
        let (id, found) = match (&order.id, &order.issue) {
            (Some(id), _) => (id.clone(), self.store.get::<Delivery>(id).await?),
            (None, Some(issue)) => self.next_of_issue(issue).await?,
            (None, None) => (DeliveryId::from_ulid(self.ulid()), None),
        };
        match found.map(|found| found.value) {
            // Under its id there is one, or another one before it.
            Some(found) if found.id == id || !order.again || !found.is_terminal() => {
                Ok(Some(Err(CreateRefused::Exists(Box::new(found)))))
            }
            Some(_) | None => self.create_under(id, order, &source).await,
        }
    }

    async fn create_under(
        &self,
        id: DeliveryId,
        order: &DeliveryOrder,
        source: &Versioned<Source>,
    ) -> Result<Option<Result<Delivery, CreateRefused>>, Error> {
        let (version, source) = (source.version, &source.value);
        let new = order.to_new(id, self.next_seq().await?, &source.repo);
        // A part goes by the rules of what it is a part of, also where it is made later.
        let rules = match &new.parent {
            Some(parent) => self.must::<Delivery>(parent).await?.value.rules,
            None => source.delivery_rules(),
        };
        let step = delivery::create(&new, &rules, self.now())?;
        let mut unit = self.unit();
        self.save_delivery(&mut unit, None, &step).await?;
        // A source that is removed meanwhile would leave the delivery without one.
        unit.check(keys::source(&source.repo), version);
        let (pk, id) = (keys::delivery_pk(&new.id), new.id.clone());
        unit.enqueue(&pk, Work::Delivery { id });
        if self.try_commit(unit).await? {
            return Ok(Some(Ok(step.aggregate)));
        }
        let Some(found) = self.store.get::<Delivery>(&new.id).await? else {
            return Ok(None);
        };
        let found = found.value;
        if !is_same_trigger(&found, &new) {
            let sentence = format!("another delivery has the id {}: try again", new.id);
            return Err(NotNow::new("id_taken", sentence).into());
        }
        Ok(Some(Err(CreateRefused::Exists(Box::new(found)))))
    }

    /// The source of a repository whose deliveries can start sessions.
    async fn source_of_deliveries(&self, repo: &RepoName) -> Result<Versioned<Source>, Error> {
        let source = self.must::<Source>(repo).await?;
        if source.value.branch.is_none() {
            let sentence = format!(
                "source {repo} names no branch, and the sessions of its deliveries have to start from one: have the source name one"
            );
            return Err(NotNow::new("branch_missing", sentence).about("repo").into());
        }
        Ok(source)
    }

    /// The id of the next delivery of an issue, with the newest one so far. Once it has had as many as it may, the id is
    /// that of the last.
    pub(super) async fn next_of_issue(
        &self,
        issue: &IssueRef,
    ) -> Result<(DeliveryId, Option<Versioned<Delivery>>), Error> {
        let (mut turn, mut newest) = (1, None);
        loop {
            let id = DeliveryId::of_issue_again(&issue.repo, issue.number, turn);
            match self.store.get::<Delivery>(&id).await? {
                None => return Ok((id, newest)),
                Some(found) if turn == DELIVERIES_OF_ISSUE_MAX => return Ok((id, Some(found))),
                Some(found) => (turn, newest) = (turn + 1, Some(found)),
            }
        }
    }

    /// Draws the number of a new delivery. A number whose delivery is never saved stays unused.
    async fn next_seq(&self) -> Result<u64, Error> {
        decide_again("the count of deliveries", || async {
            let found = self.store.read::<u64>(&keys::delivery_count()).await?;
            let next = found.as_ref().map_or(0, |found| found.value) + 1;
            let mut unit = self.unit();
            let version = found.map(|found| found.version);
            unit.put(
                keys::delivery_count(),
                &next,
                version,
                IndexEntry::default(),
            );
            Ok(self.try_commit(unit).await?.then_some(next))
        })
        .await
    }
}
