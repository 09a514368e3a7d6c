//! New jobs: from an order, once for each idempotency key.

use domain::ids::JobId;
use domain::job::{self, Job, NewJob};
use domain::policy::Source;
use domain::refusal::{IDEMPOTENCY_KEY, NotNow};
use domain::step::Step;
use serde::{Deserialize, Serialize};

use super::{IdempotencyKey, Order};
use crate::backend::{Backend, DECIDE_AGAIN_MAX, Error, IndexEntry};
use crate::keys;
use crate::retention;
use crate::settings::Agent;

/// The order that was carried out under a name, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdempotentOrder {
    /// A digest of the whole order.
    pub order: String,
    /// The job it became; of a sprint, that of its one pull request.
    pub job: JobId,
}

impl Backend {
    /// Creates a job; it starts when its account has room.
    pub async fn create_job(&self, order: Order) -> Result<Job, Error> {
        self.create_job_by(order, None).await
    }

    /// The same, with who ordered it and through what.
    pub async fn create_job_by(&self, order: Order, by: Option<&str>) -> Result<Job, Error> {
        let step = self.created(order, by).await?;
        let mut unit = self.unit();
        self.save_job(&mut unit, None, &step).await?;
        self.commit(unit).await?;
        Ok(step.aggregate)
    }

    /// Creates a job under a name, once: the same name with the same order returns the same job, however often it comes.
    pub async fn create_job_once(
        &self,
        order: Order,
        once: &IdempotencyKey,
        by: Option<&str>,
    ) -> Result<Job, Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            if let Some(found) = self
                .store
                .read::<IdempotentOrder>(&keys::once(&once.name))
                .await?
            {
                if found.value.order != once.order {
                    return Err(reused().into());
                }
                return Ok(self.must_job(&found.value.job).await?.value);
            }
            let step = self.created(order.clone(), by).await?;
            let mut unit = self.unit();
            self.save_job(&mut unit, None, &step).await?;
            let carried = IdempotentOrder {
                order: once.order.clone(),
                job: step.aggregate.id.clone(),
            };
            let place = IndexEntry::until(self.now(), retention::ONCE);
            unit.put(keys::once(&once.name), &carried, None, place);
            match self.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(step.aggregate),
            }
        }
        let sentence = "the same request is being carried out just now: try again".to_owned();
        Err(Error::NotNow(NotNow::new("busy", sentence)))
    }

    async fn created(&self, order: Order, by: Option<&str>) -> Result<Step<Job>, Error> {
        let now = self.now();
        let mut step = job::create(self.new_job(order).await?, now)?;
        if let Some(by) = by {
            job::record_order(&mut step.aggregate, job::Order::Create, by, now);
        }
        Ok(step)
    }

    async fn new_job(&self, order: Order) -> Result<NewJob, Error> {
        let source = self.must::<Source>(&order.repo).await?.value;
        if let Some(agent) = &order.agent {
            self.must::<Agent>(agent).await?;
        }
        let branch = order.branch.or_else(|| source.branch.clone());
        let branch = branch.ok_or_else(|| branchless(&source))?;
        if order.terms.loosen(&source.policy) {
            return Err(looser(&source).into());
        }
        Ok(NewJob {
            id: JobId::from_ulid(self.ulid()),
            installation: self.installation.clone(),
            account: source.account,
            repo: source.repo,
            branch,
            title: order.title,
            prompt: order.prompt,
            agent: order.agent,
            resume: order.resume,
            priority: order.priority.unwrap_or_default(),
            terms: order.terms,
            part: None,
            delivery: None,
        })
    }
}

fn branchless(source: &Source) -> NotNow {
    let repo = &source.repo;
    let sentence = format!(
        "`branch` is missing and source {repo} names none: give one, or have the source name one"
    );
    NotNow::new("branch_missing", sentence).about("branch")
}

fn looser(source: &Source) -> NotNow {
    let repo = &source.repo;
    let sentence = format!(
        "`constraints.require_plan_approval` is `false`, but the plans of {repo} need an approval: leave it out, or set the source's `plan_approval` to `auto`"
    );
    NotNow::new("looser_than_source", sentence).about("constraints.require_plan_approval")
}

pub(crate) fn reused() -> NotNow {
    let sentence =
        "this name stands for another order already: give every order its own".to_owned();
    NotNow::new("idempotency_key_reused", sentence).about(IDEMPOTENCY_KEY)
}
