//! What `gaffer doctor` asks Jules beyond the usual reads.

use async_trait::async_trait;
use domain::failure::Failure;
use domain::ids::{AccountName, BranchName, RepoName};
use engine::ports::JulesProbe;
use jiff::SignedDuration;

use crate::client::{Call, Client, garbled};
use crate::wire;

/// A read-only view of Jules.
#[derive(Debug, Clone)]
pub struct Probe {
    client: Client,
}

impl Probe {
    /// A probe over a client.
    pub fn new(client: Client) -> Self {
        Self { client }
    }
}

#[async_trait]
impl JulesProbe for Probe {
    async fn branches(
        &self,
        account: &AccountName,
        repo: &RepoName,
    ) -> Result<Option<Vec<BranchName>>, Failure> {
        let doing = format!("reading the branches of `{repo}`");
        let path = ["sources", "github", repo.owner(), repo.name()];
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        let call = Call::get(doing, path);
        let body = self.client.call(account, &call).await?;
        let body = String::from_utf8(body).map_err(|_| garbled(&call.doing, "it is not UTF-8"))?;
        Ok(wire::branches(&body))
    }

    fn ahead(&self) -> Option<SignedDuration> {
        self.client.ahead()
    }
}
