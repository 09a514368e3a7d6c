//! Whose account the credential belongs to.

use std::sync::PoisonError;

use domain::failure::Failure;
use domain::ids::RepoName;
use serde_json::json;

use super::Client;
use super::admission::VIEWER;
use crate::wire::issues::ViewerAnswer;

/// Cache limit: more credentials than are ever in use; an App has a new one each hour.
const VIEWERS_MAX: usize = 100;

impl Client {
    /// The number of the account that writes what we write in a repository. An App's installation writes as the App's bot.
    pub(crate) async fn viewer(&self, repo: &RepoName, doing: &str) -> Result<u64, Failure> {
        let pass = self.pass(repo, self.deadline()).await?;
        let viewers = || {
            self.0
                .viewers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let known = viewers().get(&pass.fingerprint).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found: ViewerAnswer = self.query(repo, VIEWER, json!({}), doing).await?;
        let mut viewers = viewers();
        if viewers.len() >= VIEWERS_MAX {
            viewers.clear();
        }
        viewers.insert(pass.fingerprint, found.viewer.id);
        Ok(found.viewer.id)
    }
}
