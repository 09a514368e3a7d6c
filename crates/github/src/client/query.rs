//! Questions to GraphQL.

use domain::failure::Failure;
use domain::ids::RepoName;
use http::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Client;
use super::call::{Call, Purpose, success};
use crate::graph;

impl Client {
    /// Asks GraphQL, which is posted and changes nothing.
    pub(crate) async fn query<T: DeserializeOwned>(
        &self,
        repo: &RepoName,
        document: &'static str,
        variables: Value,
        doing: &str,
    ) -> Result<T, Failure> {
        let call = Call {
            method: Method::POST,
            url: self.base().graphql(),
            repo,
            body: Some(json!({ "query": document, "variables": variables })),
            doing,
        };
        let exchanged = Box::pin(self.perform(&call, Purpose::Read, false)).await?;
        let received = exchanged.received;
        let answer = success(&call, received, None)?.json(doing)?;
        graph::data(&answer, doing)
    }
}
