//! Calls about deliveries: one method for each route.

use domain::ids::{InvalidId, JobName, RepoName};
use reqwest::Method;
use serde::Serialize;

use super::{
    ApproveDelivery, CancelDelivery, CreateDelivery, Deliveries, DeliveryView, DeliveryWhy,
    EditDelivery, PlanRequest, RejectDelivery, RetryDelivery, SplitRequest, StartDelivery,
    VerdictRequest,
};
use crate::client::{Answer, Call, Client};
use crate::error::Error;

/// Where deliveries are.
const AT: [&str; 2] = ["api", "deliveries"];

/// Which deliveries are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryQuery {
    /// Only those in this phase.
    pub phase: Option<String>,
    /// Only those of this repository.
    pub repo: Option<RepoName>,
    /// Only those that wait for this party: `person` or `agent`.
    pub needs: Option<String>,
    /// Only those that are not over.
    pub open: bool,
    /// How many at most; [`DELIVERIES_LIMIT`](crate::wire::DELIVERIES_LIMIT) without it.
    pub limit: Option<u32>,
    /// Where an earlier list ended.
    pub after: Option<String>,
}

/// The path of a delivery. Its name is one segment, whatever it contains, so that it cannot form another path. A
/// delivery is named like a job: by an id, or by its issue or its pull request.
pub(super) fn path(name: &str, rest: &[&str]) -> Result<Vec<String>, InvalidId> {
    let named = name.parse::<JobName>().map_err(|wrong| InvalidId {
        kind: "delivery",
        ..wrong
    })?;
    let mut path: Vec<String> = AT.map(str::to_owned).into();
    path.push(named.to_string());
    path.extend(rest.iter().map(|segment| (*segment).to_owned()));
    Ok(path)
}

impl Client {
    /// The newest deliveries first that are asked for.
    pub async fn deliveries(&self, asked: &DeliveryQuery) -> Result<Deliveries, Error> {
        let given = [
            ("phase", asked.phase.clone()),
            ("repo", asked.repo.as_ref().map(ToString::to_string)),
            ("needs", asked.needs.clone()),
            ("open", asked.open.then(|| "1".to_owned())),
            ("limit", asked.limit.map(|limit| limit.to_string())),
            ("after", asked.after.clone()),
        ];
        let call =
            given.into_iter().fold(
                Call::new(Method::GET, &AT),
                |call, (name, value)| match value {
                    Some(value) => call.with(name, value),
                    None => call,
                },
            );
        self.done(call).await
    }

    /// Creates a delivery from an issue or the caller's own words. Repeated requests with the same `key` create one. It
    /// comes later where the issue could not be read in time: then the request has to be repeated.
    pub async fn create_delivery(
        &self,
        wanted: &CreateDelivery,
        key: Option<&str>,
    ) -> Result<Answer<DeliveryView>, Error> {
        self.answer(Call::new(Method::POST, &AT).body(wanted).key(key))
            .await
    }

    /// One delivery.
    pub async fn delivery(&self, id: &str) -> Result<DeliveryView, Error> {
        self.done(Call::new(Method::GET, &path(id, &[])?)).await
    }

    /// Why a delivery is where it is.
    pub async fn delivery_why(&self, id: &str) -> Result<DeliveryWhy, Error> {
        self.done(Call::new(Method::GET, &path(id, &["why"])?))
            .await
    }

    /// Changes what a delivery says of itself.
    pub async fn edit_delivery(
        &self,
        id: &str,
        edit: &EditDelivery,
    ) -> Result<DeliveryView, Error> {
        let call = Call::new(Method::PATCH, &path(id, &[])?);
        self.done(call.body(edit)).await
    }

    /// Begins a delivery that waits at its plan.
    pub async fn start_delivery(&self, id: &str) -> Result<DeliveryView, Error> {
        self.order(id, "start", &StartDelivery {}).await
    }

    /// Lets a delivery go on from a checkpoint.
    pub async fn approve_delivery(
        &self,
        id: &str,
        approve: &ApproveDelivery,
    ) -> Result<DeliveryView, Error> {
        self.order(id, "approve", approve).await
    }

    /// Sends a delivery back from a checkpoint.
    pub async fn reject_delivery(
        &self,
        id: &str,
        reject: &RejectDelivery,
    ) -> Result<DeliveryView, Error> {
        self.order(id, "reject", reject).await
    }

    /// Tries the failed phase of a delivery again.
    pub async fn retry_delivery(
        &self,
        id: &str,
        retry: &RetryDelivery,
    ) -> Result<DeliveryView, Error> {
        self.order(id, "retry", retry).await
    }

    /// Cancels what a delivery is doing.
    pub async fn cancel_delivery(&self, id: &str) -> Result<DeliveryView, Error> {
        self.order(id, "cancel", &CancelDelivery {}).await
    }

    /// Says what the review of a delivery came to.
    pub async fn judge_delivery(
        &self,
        id: &str,
        verdict: &VerdictRequest,
    ) -> Result<DeliveryView, Error> {
        self.order(id, "verdict", verdict).await
    }

    /// Sends the plan of a delivery.
    pub async fn plan_delivery(&self, id: &str, plan: &PlanRequest) -> Result<DeliveryView, Error> {
        self.order(id, "plan", plan).await
    }

    /// Splits a delivery into smaller ones.
    pub async fn split_delivery(
        &self,
        id: &str,
        split: &SplitRequest,
    ) -> Result<DeliveryView, Error> {
        self.order(id, "split", split).await
    }

    async fn order(
        &self,
        id: &str,
        verb: &str,
        body: &impl Serialize,
    ) -> Result<DeliveryView, Error> {
        let call = Call::new(Method::POST, &path(id, &[verb])?);
        self.done(call.body(body)).await
    }
}
